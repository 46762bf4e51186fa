// Small matrices are diagonalised and inverted lane by lane; displacements of sparse and dense rows agree; Jacobians of
// linear maps are exact and do not depend on the number of threads.
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"
#include "gnomon/batched_cholesky.hpp"
#include "gnomon/batched_eigen.hpp"
#include "gnomon/jacobians.hpp"

using namespace gnomon;

static void eigenvectors_diagonalise_their_matrix() {
    std::mt19937 rng(0);
    std::normal_distribution<double> normal;
    for (const std::size_t order : {1U, 2U, 3U, 5U, 15U, 40U}) {
        std::vector<double> a(order * order * kEigenBatch), v(a.size());
        for (std::size_t l = 0; l < kEigenBatch; ++l)
            for (std::size_t p = 0; p < order; ++p)
                for (std::size_t q = 0; q <= p; ++q)
                    a[(p * order + q) * kEigenBatch + l] = a[(q * order + p) * kEigenBatch + l] = normal(rng);
        for (std::size_t p = 0; p < order * order; ++p) a[p * kEigenBatch + 3] = 0;  // one lane is the zero matrix
        const std::vector<double> before = a;
        symmetric_eigen(order, a.data(), v.data());
        double worst = 0;
        for (std::size_t l = 0; l < kEigenBatch; ++l)
            for (std::size_t p = 0; p < order; ++p)
                for (std::size_t q = 0; q < order; ++q) {
                    double product = 0, dot = 0;
                    for (std::size_t j = 0; j < order; ++j) {
                        product += before[(q * order + j) * kEigenBatch + l] * v[(p * order + j) * kEigenBatch + l];
                        dot += v[(p * order + j) * kEigenBatch + l] * v[(q * order + j) * kEigenBatch + l];
                    }
                    const double lambda = a[(p * order + p) * kEigenBatch + l];
                    worst = std::max(worst, std::fabs(product - lambda * v[(p * order + q) * kEigenBatch + l]));
                    worst = std::max(worst, std::fabs(dot - (p == q)));
                }
        CHECK(worst < 1e-12);
    }
}

static void a_lane_does_not_depend_on_the_others() {
    std::mt19937 rng(1);
    std::normal_distribution<double> normal;
    constexpr std::size_t kOrder = 6;
    std::vector<double> a(kOrder * kOrder * kEigenBatch), v(a.size());
    for (std::size_t p = 0; p < kOrder; ++p)
        for (std::size_t q = 0; q <= p; ++q)
            for (std::size_t l = 0; l < kEigenBatch; ++l)
                a[(p * kOrder + q) * kEigenBatch + l] = a[(q * kOrder + p) * kEigenBatch + l] = normal(rng);
    std::vector<double> alone(a.size(), 0.0), w(a.size());
    for (std::size_t e = 0; e < kOrder * kOrder; ++e) alone[e * kEigenBatch] = a[e * kEigenBatch + 3];
    symmetric_eigen(kOrder, a.data(), v.data());
    symmetric_eigen(kOrder, alone.data(), w.data());
    for (std::size_t e = 0; e < kOrder * kOrder; ++e) CHECK(v[e * kEigenBatch + 3] == w[e * kEigenBatch]);
}

static void factors_invert_their_matrix_lane_by_lane() {
    std::mt19937 rng(3);
    std::normal_distribution<double> normal;
    for (const std::size_t order : {1U, 2U, 3U, 15U}) {
        std::vector<double> a(order * order * kEigenBatch), b(2 * order * kEigenBatch), inverse(a.size());
        std::vector<double> scratch(b.size()), diagonal(order * kEigenBatch);
        const double shift[kEigenBatch] = {1, 2, 0.5, 0};
        for (std::size_t l = 0; l + 1 < kEigenBatch; ++l) {  // the last lane is the zero matrix: it has no inverse
            std::vector<double> z(order * order);
            for (double& value : z) value = normal(rng);
            for (std::size_t p = 0; p < order; ++p)
                for (std::size_t q = 0; q < order; ++q)
                    for (std::size_t j = 0; j < order; ++j)
                        a[(p * order + q) * kEigenBatch + l] += z[p * order + j] * z[q * order + j];
        }
        for (double& value : b) value = normal(rng);
        std::vector<double> x = b;
        inverse_factors(order, a.data(), shift, inverse.data());
        solve_by_factors(order, 2, inverse.data(), x.data(), scratch.data());
        inverse_diagonals(order, inverse.data(), diagonal.data());
        for (std::size_t l = 0; l + 1 < kEigenBatch; ++l)
            for (std::size_t p = 0; p < order; ++p) {
                std::vector<double> unit(order * kEigenBatch);
                unit[p * kEigenBatch + l] = 1;
                solve_by_factors(order, 1, inverse.data(), unit.data(), scratch.data());
                CHECK_CLOSE(unit[p * kEigenBatch + l], diagonal[p * kEigenBatch + l], 1e-12);
                for (std::size_t c = 0; c < 2; ++c) {
                    double sum = shift[l] * x[(p * 2 + c) * kEigenBatch + l];
                    for (std::size_t q = 0; q < order; ++q)
                        sum += a[(p * order + q) * kEigenBatch + l] * x[(q * 2 + c) * kEigenBatch + l];
                    CHECK_CLOSE(sum, b[(p * 2 + c) * kEigenBatch + l], 1e-10);
                }
            }
        CHECK(!(diagonal[kEigenBatch - 1] < 1e300));
    }
}

struct Case {
    static constexpr std::size_t kRows = 300, kFeatures = 11, kNeighbors = 7, kComponents = 2;
    std::vector<float> x = std::vector<float>(kRows * kFeatures);
    std::vector<double> y = std::vector<double>(kRows * kComponents), map;
    std::vector<std::int32_t> indices = std::vector<std::int32_t>(kRows * kNeighbors);
    std::vector<float> weights = std::vector<float>(kRows * kNeighbors, 1.0F);
    std::vector<std::int64_t> rows;

    Case() {
        std::mt19937 rng(2);
        std::normal_distribution<float> normal;
        for (float& value : x) value = rng() % 2 == 0 ? 0.0F : normal(rng);
        for (std::size_t c = 0; c < kComponents * kFeatures; ++c) map.push_back(static_cast<double>(normal(rng)));
        for (std::size_t i = 0; i < kRows; ++i) {
            for (std::size_t c = 0; c < kComponents; ++c)
                for (std::size_t f = 0; f < kFeatures; ++f)
                    y[i * kComponents + c] += map[c * kFeatures + f] * static_cast<double>(x[i * kFeatures + f]);
            for (std::size_t j = 0; j < kNeighbors; ++j)
                indices[i * kNeighbors + j] = static_cast<std::int32_t>((i + 1 + 13 * j) % kRows);
            rows.push_back(static_cast<std::int64_t>(i));
        }
    }
    RowSource dense() const { return Span2(x.data(), kRows, kFeatures); }
    Neighborhoods hoods() const { return {{indices.data(), kRows, kNeighbors}, {weights.data(), kRows, kNeighbors}}; }
};

static void sparse_and_dense_displacements_agree() {
    const Case c;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> columns;
    std::vector<float> values;
    for (std::size_t i = 0; i < Case::kRows; ++i) {
        for (std::size_t f = 0; f < Case::kFeatures; ++f)
            if (c.x[i * Case::kFeatures + f] != 0) {
                columns.push_back(static_cast<std::int32_t>(f));
                values.push_back(c.x[i * Case::kFeatures + f]);
            }
        offsets.push_back(static_cast<std::int64_t>(columns.size()));
    }
    const RowSource sparse = SparseRows<float>{{offsets, columns, values}, Case::kFeatures};
    CHECK(n_rows(sparse) == Case::kRows && n_features(sparse) == Case::kFeatures);
    Displacements a, b;
    for (std::size_t i = 0; i < 50; ++i) {
        const std::span<const std::int32_t> near(c.indices.data() + i * Case::kNeighbors, Case::kNeighbors);
        const std::span<const float> weights(c.weights.data() + i * Case::kNeighbors, Case::kNeighbors);
        a.gather(c.dense(), i, near, weights);
        b.gather(sparse, i, near, weights);
        for (std::size_t j = 0; j < Case::kNeighbors; ++j) {
            std::size_t nonzero = 0, found = 0;
            for (std::size_t f = 0; f < Case::kFeatures; ++f) nonzero += a.row(j)[f] != 0;
            for (std::size_t column = 0; column < b.n_columns(); ++column) {
                CHECK(b.row(j)[column] == a.row(j)[b.feature(column)]);
                found += b.row(j)[column] != 0;
            }
            CHECK(found == nonzero);
        }
    }
}

struct Result {
    std::vector<double> coefficients, ellipses;
    std::vector<float> r2, predicted, r2_error, square;
    std::vector<std::int32_t> dimension;

    Result(const Case& c, int n_threads)
        : coefficients(Case::kRows * Case::kNeighbors * Case::kComponents),
          ellipses(Case::kRows * Case::kComponents * Case::kComponents),
          r2(Case::kRows),
          predicted(Case::kRows),
          r2_error(Case::kRows),
          square(Case::kRows),
          dimension(Case::kRows) {
        const std::size_t d = Case::kComponents;
        local_jacobians(c.dense(), {c.y.data(), Case::kRows, d}, c.hoods(), c.rows, {0.0, 1.0},
                        {{coefficients.data(), Case::kRows, Case::kNeighbors * d},
                         {ellipses.data(), Case::kRows, d * d},
                         r2,
                         predicted,
                         r2_error,
                         square,
                         dimension},
                        {n_threads});
    }
};

static void linear_maps_are_fitted_exactly_by_any_number_of_threads() {
    const Case c;
    const Result one(c, 1);
    for (const float r : one.r2) CHECK_CLOSE(r, 1.0, 1e-6);
    for (const int n_threads : {2, 3, 5}) {
        const Result many(c, n_threads);
        CHECK(std::memcmp(one.coefficients.data(), many.coefficients.data(), one.coefficients.size() * 8) == 0);
        CHECK(std::memcmp(one.ellipses.data(), many.ellipses.data(), one.ellipses.size() * 8) == 0);
        CHECK(std::memcmp(one.predicted.data(), many.predicted.data(), one.predicted.size() * 4) == 0);
    }
}

int main() {
    eigenvectors_diagonalise_their_matrix();
    a_lane_does_not_depend_on_the_others();
    factors_invert_their_matrix_lane_by_lane();
    sparse_and_dense_displacements_agree();
    linear_maps_are_fitted_exactly_by_any_number_of_threads();
    return failures != 0;
}
