// A blend of charts: exact for an affine map, through its points, its derivative that of differences, and equal bytes
// for 1, 2, 3 and 5 threads.
#include <cmath>
#include <vector>

#include "check.hpp"
#include "gnomon/atlas.hpp"
#include "gnomon/random.hpp"

using namespace gnomon;

namespace {

constexpr std::size_t n = 60, D = 2, d = 2, k = 3;

std::vector<double> points(std::uint64_t seed, std::size_t count) {
    std::vector<double> result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(unit_float(draw(seed, 1, i)));
    return result;
}

}  // namespace

int main() {
    const std::vector<double> X = points(1, n * D);
    std::vector<double> Y, coefficients(n * k * d, 0.0), reach(n, 0.1);
    std::vector<std::int32_t> indices, chart, all;
    for (std::size_t i = 0; i < n; ++i) {
        Y.push_back(std::sin(3 * X[i * D]) + X[i * D + 1]);
        Y.push_back(X[i * D] * X[i * D + 1]);
        chart.push_back(static_cast<std::int32_t>(i));
        all.push_back(static_cast<std::int32_t>(i));
        for (std::size_t l = 1; l <= k; ++l) indices.push_back(static_cast<std::int32_t>((i + l) % n));
        for (std::size_t l = 0; l < k * d; ++l) coefficients[i * k * d + l] = 0.01 * static_cast<double>(l);
    }
    const Charts charts{{Y.data(), n, d}, {indices.data(), n, k}, {coefficients.data(), n, k * d}, chart, reach};
    const BlendParams params{7.5, 1.4, 1.0, 2.0};
    const RowSource table = Span2<const double>(X.data(), n, D);
    std::vector<std::int32_t> candidates;
    for (std::size_t i = 0; i < n; ++i) candidates.insert(candidates.end(), all.begin(), all.end());

    auto predict = [&](const std::vector<double>& rows, int n_threads, std::vector<double>* derivative) {
        const std::size_t m = rows.size() / D;
        std::vector<double> positions(m * d), spread(m), jacobians(m * d * D);
        std::vector<std::uint8_t> truncated(m);
        atlas_predict(table, Span2<const double>(rows.data(), m, D), {candidates.data(), m, n}, charts, params,
                      {{positions.data(), m, d}, spread, truncated, {jacobians.data(), derivative ? m : 0, d * D}},
                      {n_threads});
        if (derivative) *derivative = jacobians;
        return positions;
    };

    const std::vector<double> own = predict(X, 1, nullptr);
    for (std::size_t i = 0; i < n * d; ++i) CHECK(std::fabs(own[i] - Y[i]) < 1e-12);

    const std::vector<double> fresh = points(2, 40 * D);
    std::vector<double> derivative;
    const std::vector<double> first = predict(fresh, 1, &derivative);
    for (const int n_threads : {2, 3, 5}) CHECK(predict(fresh, n_threads, nullptr) == first);
    for (std::size_t f = 0; f < D; ++f) {
        std::vector<double> above = fresh, below = fresh;
        for (std::size_t i = 0; i < 40; ++i) above[i * D + f] += 1e-6, below[i * D + f] -= 1e-6;
        const std::vector<double> up = predict(above, 1, nullptr), down = predict(below, 1, nullptr);
        for (std::size_t i = 0; i < 40; ++i)
            for (std::size_t c = 0; c < d; ++c) {
                const double slope = (up[i * d + c] - down[i * d + c]) / 2e-6;
                CHECK(std::fabs(slope - derivative[(i * d + c) * D + f]) < 1e-5 * (1 + std::fabs(slope)));
            }
    }

    std::vector<double> before;
    for (const int n_threads : {1, 2, 3, 5}) {
        std::vector<double> rows(n * D);
        std::vector<std::uint8_t> truncated(n);
        atlas_invert(table, {Y.data(), n, d}, {candidates.data(), n, n}, charts, {7.5, 1.4, 0.0, 0.0},
                     {rows.data(), n, D}, truncated, {n_threads});
        if (before.empty()) before = rows;
        CHECK(rows == before);
    }
    return failures != 0;
}
