// Spreads along frames equal plain sums, their gradient finite differences; frames are polar factors; bits do not
// depend on the number of threads.
#include <algorithm>
#include <vector>

#include "check.hpp"
#include "gnomon/edge_spreads.hpp"
#include "gnomon/embedding_frames.hpp"
#include "gnomon/random.hpp"

using namespace gnomon;

namespace {

constexpr std::size_t kPoints = 300;

/// A ring in which each point has the edges i +- 1, 2 and 17; those of 2 have no weight.
struct Ring {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> columns;
    std::vector<float> values;

    Ring() {
        for (std::size_t i = 0; i < kPoints; ++i) {
            for (const std::size_t step : {1UL, 2UL, 17UL})
                for (const std::size_t j : {i + step, i + kPoints - step}) {
                    columns.push_back(static_cast<std::int32_t>(j % kPoints));
                    values.push_back(step == 2 ? 0.0F : 0.5F);
                }
            offsets.push_back(static_cast<std::int64_t>(columns.size()));
        }
    }
    CsrView<float> view() const { return {offsets, columns, values}; }
};

std::vector<float> points(std::size_t d) {
    std::vector<float> y(kPoints * d);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 3.0F * unit_float(draw(2, d, i, 0));
    return y;
}

/// Frames of d axes, turned in the plane of the first two by an angle that differs from point to point.
std::vector<double> turned_axes(std::size_t d) {
    std::vector<double> frames(kPoints * d * d);
    for (std::size_t i = 0; i < kPoints; ++i) {
        double* frame = frames.data() + i * d * d;
        for (std::size_t c = 0; c < d; ++c) frame[c * d + c] = 1;
        if (d < 2) continue;
        const double angle = 0.1 * static_cast<double>(i);
        frame[0] = frame[d + 1] = std::cos(angle);
        frame[1] = -(frame[d] = std::sin(angle));
    }
    return frames;
}

struct Found {
    std::vector<double> values, sums;
    std::vector<float> gradient;
    double total = 0;  // sum_il (l + 1) spread_il
};

Found evaluate(const std::vector<float>& y, std::size_t d, int n_threads) {
    const Ring ring;
    const OutputKernel kernel = output_kernel("umap", 1.5F, 0.9F);
    const std::vector<double> frames = turned_axes(d);
    Found found{std::vector<double>(kPoints * d), std::vector<double>(kPoints), std::vector<float>(kPoints * d)};
    std::vector<double> slopes(kPoints * d);
    for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = static_cast<double>(i % d + 1);
    const Spreads spreads{{found.values.data(), kPoints, d}, found.sums};
    const Span2<const float> Y{y.data(), kPoints, d};
    const Span2<const double> Q{frames.data(), kPoints, d * d};
    edge_spreads(kernel, ring.view(), Y, Q, spreads, {n_threads});
    edge_spread_gradient(kernel, ring.view(), Y, Q, spreads, {slopes.data(), kPoints, d},
                         {found.gradient.data(), kPoints, d}, {n_threads});
    for (std::size_t i = 0; i < slopes.size(); ++i) found.total += slopes[i] * found.values[i];
    return found;
}

void test_spreads_add_up_to_mean_squares(std::size_t d) {
    const std::vector<float> y = points(d);
    const Found found = evaluate(y, d, 1);
    const Ring ring;
    for (std::size_t i = 0; i < kPoints; i += 29) {
        double squares = 0, sum = 0, all = 0;
        for (auto e = ring.offsets[i]; e < ring.offsets[i + 1]; ++e) {
            const auto at = static_cast<std::size_t>(e), j = static_cast<std::size_t>(ring.columns[at]);
            if (ring.values[at] == 0) continue;
            double s = 0;
            for (std::size_t c = 0; c < d; ++c) s += std::pow(static_cast<double>(y[i * d + c] - y[j * d + c]), 2);
            const double k = 1 / (1 + 1.5 * std::pow(s, 0.9));
            squares += k * s;
            sum += k;
        }
        for (std::size_t l = 0; l < d; ++l) all += found.values[i * d + l];
        CHECK_CLOSE(found.sums[i], sum, 1e-5);
        CHECK_CLOSE(all, squares / sum, 1e-5);
    }
}

void test_gradient_is_that_of_finite_differences(std::size_t d) {
    const std::vector<float> y = points(d);
    const Found found = evaluate(y, d, 1);
    for (std::size_t at = 0; at < y.size(); at += 97) {
        constexpr float kStep = 1.0F / 256;
        std::vector<float> up = y, down = y;
        up[at] += kStep;
        down[at] -= kStep;
        const double slope =
            (evaluate(up, d, 1).total - evaluate(down, d, 1).total) / (2.0 * static_cast<double>(kStep));
        CHECK_CLOSE(static_cast<double>(found.gradient[at]), slope, 2e-2);
    }
}

void test_bits_for_any_number_of_threads(std::size_t d) {
    const Found one = evaluate(points(d), d, 1);
    for (const int n_threads : {2, 3, 5}) {
        const Found other = evaluate(points(d), d, n_threads);
        CHECK(one.values == other.values);
        CHECK(one.gradient == other.gradient);
    }
}

void test_frames_are_polar_factors() {
    // J = [[2, 0], [0, -3]] and [[0, -1], [4, 0]] from two neighbours at unit steps; the third has rank 1.
    const std::vector<float> y{0, 0, 1, 0, 0, 1};
    const std::vector<std::int32_t> indices{1, 2, 1, 2, 1, 2};
    std::vector<float> all{2, 0, 0, -3};
    std::vector<double> frames(12, 7.0);
    std::vector<float> coefficients(12);
    std::copy(all.begin(), all.end(), coefficients.begin());
    const std::vector<std::int32_t> ranks{2, 1, 0};
    embedding_frames({y.data(), 3, 2}, {indices.data(), 3, 2}, {coefficients.data(), 3, 4}, ranks,
                     {frames.data(), 3, 4}, {1});
    const std::vector<double> expected{1, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0};
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK_CLOSE(frames[i], expected[i], 1e-12);
}

}  // namespace

int main() {
    for (const std::size_t d : {1UL, 2UL, 3UL, 4UL}) {
        test_spreads_add_up_to_mean_squares(d);
        test_gradient_is_that_of_finite_differences(d);
        test_bits_for_any_number_of_threads(d);
    }
    test_frames_are_polar_factors();
    return failures != 0;
}
