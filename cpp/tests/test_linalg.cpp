// Moments against plain loops, Jacobi's method against its definition, block products against dense ones, a ring's
// spectrum against its closed form.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "gnomon/block_vectors.hpp"
#include "gnomon/coarsening.hpp"
#include "gnomon/moments.hpp"
#include "gnomon/small_eigen.hpp"
#include "gnomon/spectral.hpp"

using namespace gnomon;

template <class T>
static void moments_agree_with_loops(double tolerance) {
    constexpr std::size_t n = 1300, width = 101, d = 11;
    std::mt19937 rng(0);
    std::normal_distribution<double> normal(5.0, 1.0);
    std::vector<T> X(n * width), scores(n * d);
    for (T& x : X) x = static_cast<T>(normal(rng));
    std::vector<double> means(width), directions(width * d);
    for (double& w : directions) w = normal(rng);
    const Span2<const T> view{X.data(), n, width};
    column_means(view, means, {3});
    project(view, means, {directions.data(), width, d}, {scores.data(), n, d}, {3});
    double worst_score = 0, furthest = 0;
    for (std::size_t a = 0; a < width; ++a) {
        double mean = 0;
        for (std::size_t i = 0; i < n; ++i) mean += X[i * width + a] / static_cast<double>(n);
        CHECK_CLOSE(means[a], mean, 1e-12);
        for (std::size_t i = 0; i < n; ++i) furthest = std::max(furthest, std::fabs(X[i * width + a] - means[a]));
    }
    for (std::size_t i = 0; i < n; i += 97) {
        for (std::size_t c = 0; c < d; ++c) {
            double sum = 0;
            for (std::size_t j = 0; j < width; ++j) sum += (X[i * width + j] - means[j]) * directions[j * d + c];
            worst_score = std::max(worst_score, std::fabs(sum - scores[i * d + c]));
        }
    }
    CHECK(worst_score < tolerance * 100);
    CHECK(largest_deviation(view, means, {3}) == furthest);

    for (std::size_t i = 0; i < n; ++i) X[i * width + 4] = X[i * width + 5] = X[4];
    X[(n - 1) * width + 5] += 1;
    std::vector<std::uint8_t> varies(width);
    mark_varying(view, varies, {3});
    for (std::size_t a = 0; a < width; ++a) CHECK(varies[a] == (a == 4 ? 0 : 1));
    const std::vector<std::int64_t> columns{0, 1, 5, 7, 8, 100};
    std::vector<T> centred(n * columns.size());
    centre(view, means, 0.5, columns, {centred.data(), n, columns.size()});
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const auto a = static_cast<std::size_t>(columns[c]);
            CHECK(centred[i * columns.size() + c] == static_cast<T>((X[i * width + a] - means[a]) * 0.5));
        }
    }
}

static void jacobi_diagonalizes() {
    constexpr std::size_t m = 13;
    std::mt19937 rng(1);
    std::normal_distribution<double> normal;
    std::vector<double> a(m * m);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = i; j < m; ++j) a[i * m + j] = a[j * m + i] = normal(rng);
    }
    const SmallEigen eigen = small_eigen(a, m);
    for (std::size_t j = 0; j < m; ++j) {
        CHECK(j == 0 || eigen.values[j] <= eigen.values[j - 1]);
        for (std::size_t i = 0; i < m; ++i) {
            double product = 0, dot = 0;
            for (std::size_t k = 0; k < m; ++k) {
                product += a[i * m + k] * eigen.vectors[k * m + j];
                dot += eigen.vectors[k * m + i] * eigen.vectors[k * m + j];
            }
            CHECK_CLOSE(product, eigen.values[j] * eigen.vectors[i * m + j], 1e-12);
            CHECK_CLOSE(dot, i == j, 1e-12);
        }
    }
}

static void block_products_agree_with_loops() {
    for (const std::size_t width : kBlockWidths) {
        constexpr std::size_t n = 5000;
        std::mt19937 rng(2);
        std::normal_distribution<float> normal;
        std::vector<float> x(n * width), y(n * width);
        for (float& v : x) v = normal(rng);
        for (float& v : y) v = normal(rng);
        const std::vector<double> products = inner_products({x.data(), n, width}, {y.data(), n, width}, {2});
        for (std::size_t a = 0; a < width; a += 3) {
            double sum = 0;
            for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i * width + a]) * y[i * width + 5];
            CHECK_CLOSE(products[a * width + 5], sum, 1e-2);
        }
        orthonormalize({x.data(), n, width}, {2});
        const std::vector<double> identity = inner_products({x.data(), n, width}, {x.data(), n, width}, {2});
        for (std::size_t k = 0; k < identity.size(); ++k) CHECK_CLOSE(identity[k], k / width == k % width, 1e-5);
    }
}

/// A ring of n nodes with unit weights.
static CsrMatrix ring(std::size_t n) {
    CsrMatrix graph;
    graph.offsets.push_back(0);
    for (std::size_t i = 0; i < n; ++i) {
        graph.columns.push_back(static_cast<std::int32_t>((i + n - 1) % n));
        graph.columns.push_back(static_cast<std::int32_t>((i + 1) % n));
        graph.values.insert(graph.values.end(), {1.0F, 1.0F});
        graph.offsets.push_back(static_cast<std::int64_t>(graph.columns.size()));
    }
    return graph;
}

static void coarsening_keeps_the_row_sums() {
    const CsrMatrix fine = ring(1001);
    const Coarsening step = coarsen(fine.view(), {3});
    CHECK(step.graph.rows() < 600);
    std::vector<double> expected(step.graph.rows()), found(step.graph.rows());
    for (const std::int32_t a : step.aggregate) expected[static_cast<std::size_t>(a)] += 2.0;
    for (std::size_t a = 0; a < found.size(); ++a) {
        for (std::int64_t e = step.graph.offsets[a]; e < step.graph.offsets[a + 1]; ++e)
            found[a] += step.graph.values[e];
        CHECK(found[a] == expected[a]);
    }
}

static void a_ring_has_its_spectrum() {
    constexpr std::size_t n = 3000, width = 8;
    const CsrMatrix graph = ring(n);
    std::vector<float> vectors(n * width);
    std::vector<double> eigenvalues(width), residuals(width);
    const SpectralOptions options{2, 0.1F, 0.0, 2000, std::numeric_limits<double>::infinity(), 0};
    const SpectralOutcome outcome =
        spectral_vectors(graph.view(), options, {vectors.data(), n, width}, eigenvalues, residuals, {2});
    CHECK(outcome.converged);
    CHECK(outcome.n_levels >= 2);
    const double expected = 1.0 - std::cos(2.0 * M_PI / n);
    for (const std::size_t j : {0, 1}) CHECK_CLOSE(1.0 - eigenvalues[j], expected, 1e-6);
}

int main() {
    moments_agree_with_loops<float>(1e-4);
    moments_agree_with_loops<double>(1e-12);
    jacobi_diagonalizes();
    block_products_agree_with_loops();
    coarsening_keeps_the_row_sums();
    a_ring_has_its_spectrum();
    return failures != 0;
}
