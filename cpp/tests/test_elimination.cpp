// Plans of an elimination against plain symbolic factors, factors by fronts against products with the matrix, local
// spectra against their definition.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "check.hpp"
#include "gnomon/elimination.hpp"
#include "gnomon/front_factor.hpp"
#include "gnomon/local_spectra.hpp"

using namespace gnomon;

// Every column of the factor, found by eliminating sets, lies inside its front.
static void plans_hold_the_factor() {
    constexpr std::size_t n = 200;
    std::mt19937 rng(0);
    std::vector<std::set<std::int32_t>> rows(n);
    for (std::size_t e = 0; e < 2 * n; ++e) {
        const auto i = static_cast<std::int32_t>(rng() % n), j = static_cast<std::int32_t>(rng() % n);
        rows[static_cast<std::size_t>(i)].insert(j);
        rows[static_cast<std::size_t>(j)].insert(i);
    }
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> columns, order(n);
    for (const auto& row : rows) {
        columns.insert(columns.end(), row.begin(), row.end());
        offsets.push_back(static_cast<std::int64_t>(columns.size()));
    }
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), rng);
    const FrontPlan plan = plan_fronts(offsets, columns, order, 1e9);
    std::vector<std::int32_t> place_of(n);
    for (std::size_t p = 0; p < n; ++p) place_of[static_cast<std::size_t>(plan.order[p])] = static_cast<int>(p);
    std::vector<std::set<std::int32_t>> left(n);
    for (std::size_t i = 0; i < n; ++i)
        for (const std::int32_t j : rows[i])
            left[static_cast<std::size_t>(place_of[i])].insert(place_of[static_cast<std::size_t>(j)]);
    for (std::size_t f = 0; f + 1 < plan.starts.size(); ++f) {
        const auto begin = plan.places.begin() + plan.offsets[f], end = plan.places.begin() + plan.offsets[f + 1];
        CHECK(std::is_sorted(begin, end));
        for (std::int32_t p = plan.starts[f]; p < plan.starts[f + 1]; ++p) {
            auto& row = left[static_cast<std::size_t>(p)];
            for (const std::int32_t q : row) {
                if (q <= p) continue;
                CHECK(q < plan.starts[f + 1] || std::binary_search(begin, end, q));
                for (const std::int32_t r : row)
                    if (r > p) left[static_cast<std::size_t>(q)].insert(r);
            }
        }
        const std::int32_t parent = plan.parents[f];
        CHECK(begin == end ? parent == -1
                           : *begin >= plan.starts[static_cast<std::size_t>(parent)] &&
                                 *begin < plan.starts[static_cast<std::size_t>(parent) + 1]);
    }
    CHECK(plan_fronts(offsets, columns, order, 10.0).parents.empty());
}

// Two fronts against the factor of the whole matrix: arrow-shaped, with 40 columns before 3 that all touch.
static void fronts_solve_what_the_matrix_maps() {
    constexpr std::size_t n = 43, p = 40, q = n - p;
    std::vector<double> A(n * n, 0.0), X(n * 2);
    FrontEntries entries{{0, 0, 0}, {}, {}, {}};
    const auto put = [&](std::size_t i, std::size_t j, double value, std::size_t front) {
        A[i * n + j] = A[j * n + i] = value;
        entries.rows.push_back(static_cast<std::int32_t>(front ? i - p : i));
        entries.columns.push_back(static_cast<std::int32_t>(front ? j - p : j));
        entries.values.push_back(value);
        for (std::size_t f = front; f < 2; ++f) ++entries.ranges[f + 1];
    };
    for (std::size_t j = 0; j < p; ++j) {
        put(j, j, 3.0 + 0.01 * static_cast<double>(j), 0);
        if (j + 1 < p) put(j + 1, j, -1.0, 0);
        for (std::size_t i = p; i < n; ++i) put(i, j, 0.1 * static_cast<double>(i - p + 1), 0);
    }
    for (std::size_t j = p; j < n; ++j)
        for (std::size_t i = j; i < n; ++i) put(i, j, i == j ? 20.0 : 0.5, 1);
    FrontFactor factor({{0, p, n}, {1, -1}, {0, q, q}, {40, 41, 42}}, entries, 0.25);
    CHECK(factor.advance(1.0, {}));
    CHECK(factor.n_eliminated() == 32);
    CHECK(factor.advance(1e9, {}));
    CHECK(factor.n_eliminated() == n);
    std::vector<double> B(n * 2, 0.0);
    for (std::size_t i = 0; i < X.size(); ++i) X[i] = std::sin(static_cast<double>(i));
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t c = 0; c < 2; ++c) {
            B[i * 2 + c] = 0.25 * X[i * 2 + c];
            for (std::size_t j = 0; j < n; ++j) B[i * 2 + c] += A[i * n + j] * X[j * 2 + c];
        }
    }
    factor.solve({B.data(), n, 2}, {});
    for (std::size_t i = 0; i < X.size(); ++i) CHECK_CLOSE(B[i], X[i], 1e-12);
    FrontFactor indefinite({{0, p, n}, {1, -1}, {0, q, q}, {40, 41, 42}}, entries, -5.0);
    CHECK(!indefinite.advance(1e9, {}));
}

static void local_spectra_diagonalise_the_gram_matrix() {
    constexpr std::size_t n = 21, k = 6, d = 4;
    std::mt19937 rng(1);
    std::normal_distribution<double> normal;
    std::vector<double> X(n * d), values(n * k), vectors(n * k * k);
    for (double& x : X) x = normal(rng);
    std::vector<std::int32_t> indices(n * k);
    std::vector<float> present(n * k, 1.0F);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < k; ++j) indices[i * k + j] = static_cast<std::int32_t>((i + j + 1) % n);
    present[3 * k + 2] = 0.0F;
    local_spectra(Span2<const double>{X.data(), n, d}, 0, {indices.data(), n, k}, {present.data(), n, k}, true,
                  {values.data(), n, k}, {vectors.data(), n, k * k}, {3});
    for (std::size_t i = 0; i < n; ++i) {
        double mean[d] = {}, count = 0;
        for (std::size_t j = 0; j < k; ++j) count += static_cast<double>(present[i * k + j]);
        for (std::size_t j = 0; j < k; ++j)
            for (std::size_t c = 0; c < d; ++c)
                mean[c] += static_cast<double>(present[i * k + j]) *
                           X[static_cast<std::size_t>(indices[i * k + j]) * d + c] / count;
        for (std::size_t p = 0; p < k; ++p) {
            for (std::size_t q = 0; q < k; ++q) {
                double gram = 0, spectral = 0;
                for (std::size_t c = 0; c < d; ++c)
                    gram += (X[static_cast<std::size_t>(indices[i * k + p]) * d + c] - mean[c]) *
                            (X[static_cast<std::size_t>(indices[i * k + q]) * d + c] - mean[c]);
                gram *= static_cast<double>(present[i * k + p] * present[i * k + q]);
                const double* v = vectors.data() + i * k * k;
                for (std::size_t l = 0; l < k; ++l) spectral += v[p * k + l] * values[i * k + l] * v[q * k + l];
                CHECK_CLOSE(spectral, gram, 1e-12);
            }
        }
        for (std::size_t l = 0; l + 1 < k; ++l) CHECK(values[i * k + l] >= values[i * k + l + 1]);
    }
    CHECK_CLOSE(std::fabs(vectors[3 * k * k + 2 * k + k - 1]), 1.0, 0);  // the missing neighbour comes last
}

int main() {
    plans_hold_the_factor();
    fronts_solve_what_the_matrix_maps();
    local_spectra_diagonalise_the_gram_matrix();
    return failures != 0;
}
