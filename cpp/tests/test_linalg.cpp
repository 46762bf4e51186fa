// Moments and products against plain loops, eigenvectors against their definition, elementary functions against libm,
// block products against dense ones, a ring's spectrum against its closed form.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "check.hpp"
#include "gnomon/block_vectors.hpp"
#include "gnomon/coarsening.hpp"
#include "gnomon/dense_eigen.hpp"
#include "gnomon/elementary.hpp"
#include "gnomon/inner_products.hpp"
#include "gnomon/moments.hpp"
#include "gnomon/random.hpp"
#include "gnomon/scatter_product.hpp"
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

    double trace = 0;
    std::vector<double> products(width * d), expected(width * d), on_one(width * d);
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> row(width), own(d);
        for (std::size_t a = 0; a < width; ++a) {
            row[a] = static_cast<double>(X[i * width + a]) - means[a];
            trace += row[a] * row[a];
            for (std::size_t c = 0; c < d; ++c) own[c] += row[a] * directions[a * d + c];
        }
        for (std::size_t a = 0; a < width; ++a)
            for (std::size_t c = 0; c < d; ++c) expected[a * d + c] += row[a] * own[c];
    }
    scatter_product(view, means, {directions.data(), width, d}, {products.data(), width, d}, {3});
    scatter_product(view, means, {directions.data(), width, d}, {on_one.data(), width, d}, {1});
    double largest = 0, worst = 0;
    for (std::size_t k = 0; k < products.size(); ++k) {
        largest = std::max(largest, std::fabs(expected[k]));
        worst = std::max(worst, std::fabs(products[k] - expected[k]));
    }
    CHECK(worst < 1e-13 * largest);
    CHECK(products == on_one);
    CHECK_CLOSE(scatter_trace(view, means, {3}), trace, 1e-12 * trace);
    CHECK(scatter_trace(view, means, {3}) == scatter_trace(view, means, {1}));

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

static void dense_eigenvectors_solve_their_equation() {
    for (const std::size_t n : {1, 2, 3, 17, 50}) {
        std::mt19937 rng(3);
        std::normal_distribution<double> normal;
        std::vector<double> a(n * n), values(n), vectors(n * n), once(n), few(n);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = i; j < n; ++j) a[i * n + j] = a[j * n + i] = i < n / 2 ? normal(rng) : i == j;
        }
        const Span2<const double> matrix{a.data(), n, n};
        constexpr double kAll = -std::numeric_limits<double>::infinity();
        CHECK(dense_eigen(matrix, kAll, values, {vectors.data(), n, n}, {2}) == n);
        const SmallEigen jacobi = small_eigen(a, n);
        for (std::size_t j = 0; j < n; ++j) {
            CHECK_CLOSE(values[j], jacobi.values[j], 1e-12);
            for (std::size_t i = 0; i < n; ++i) {
                double product = 0, dot = 0;
                for (std::size_t k = 0; k < n; ++k) {
                    product += a[i * n + k] * vectors[k * n + j];
                    dot += vectors[k * n + i] * vectors[k * n + j];
                }
                CHECK_CLOSE(product, values[j] * vectors[i * n + j], 1e-12);
                CHECK_CLOSE(dot, i == j, 1e-12);
            }
        }
        CHECK(dense_eigen(matrix, kAll, once, {few.data(), n, 1}, {1}) == 1);
        for (std::size_t i = 0; i < n; ++i) CHECK(once[i] == values[i] && few[i] == vectors[i * n]);
        CHECK(dense_eigen(matrix, values[0], once, {few.data(), n, 1}, {1}) == 0);
        a[0] = std::numeric_limits<double>::quiet_NaN();
        CHECK(dense_eigen(matrix, kAll, values, {vectors.data(), n, n}, {2}) == 0);
        CHECK(std::isnan(values[0]));
    }
}

static void products_agree_with_loops() {
    struct Shape {
        std::size_t rows, inner, columns;
    };
    for (const auto [m, k, p] :
         {Shape{70, 1100, 40}, Shape{33, 9, 65}, Shape{50, 1030, 3}, Shape{5, 7, 1}, Shape{3, 0, 9}}) {
        std::mt19937 rng(4);
        std::normal_distribution<double> normal;
        std::vector<double> a(m * k), b(k * p), out(m * p), again(m * p), ta(k * m), tb(p * k);
        for (double& x : a) x = normal(rng);
        for (double& x : b) x = normal(rng);
        for (std::size_t i = 0; i < m; ++i)
            for (std::size_t j = 0; j < k; ++j) ta[j * m + i] = a[i * k + j];
        for (std::size_t i = 0; i < k; ++i)
            for (std::size_t j = 0; j < p; ++j) tb[j * k + i] = b[i * p + j];
        for (const bool turn_a : {false, true}) {
            for (const bool turn_b : {false, true}) {
                const Span2<const double> A{turn_a ? ta.data() : a.data(), turn_a ? k : m, turn_a ? m : k};
                const Span2<const double> B{turn_b ? tb.data() : b.data(), turn_b ? p : k, turn_b ? k : p};
                product(A, turn_a, B, turn_b, {out.data(), m, p}, {1});
                product(A, turn_a, B, turn_b, {again.data(), m, p}, {3});
                CHECK(out == again);
                for (std::size_t i = 0; i < m; ++i) {
                    for (std::size_t j = 0; j < p; ++j) {
                        double sum = 0;
                        for (std::size_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * p + j];
                        CHECK_CLOSE(out[i * p + j], sum, 1e-11);
                    }
                }
            }
        }
    }
}

static void elementary_functions_are_those_of_the_library() {
    std::mt19937 rng(5);
    std::uniform_real_distribution<double> wide(-700, 700), near(-0.5, 1.5);
    const auto close = [](double found, double wanted, double units) {
        CHECK(std::fabs(found - wanted) <= units * 2.3e-16 * std::fabs(wanted));
    };
    for (int i = 0; i < 20000; ++i) {
        const double x = i % 2 ? wide(rng) : near(rng), y = std::exp(x);
        close(exact_exp(x), y, 2);
        close(exact_expm1(x), std::expm1(x), 5);
        close(exact_log(y), std::log(y), 2);
        close(exact_log1p(std::max(x, -0.9)), std::log1p(std::max(x, -0.9)), 2);
        close(exact_pow(y, 0.7), std::pow(y, 0.7), 600);
    }
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    CHECK(exact_exp(0.0) == 1.0 && exact_exp(-kInfinity) == 0.0 && exact_exp(kInfinity) == kInfinity);
    CHECK(exact_log(1.0) == 0.0 && exact_log(0.0) == -kInfinity && exact_log(kInfinity) == kInfinity);
    CHECK(std::isnan(exact_log(-1.0)) && std::isnan(exact_log(NAN)) && std::isnan(exact_exp(NAN)));
    CHECK(exact_log(5e-324) == std::log(5e-324) && exact_exp(-745.0) == std::exp(-745.0));
    CHECK(exact_pow(0.0, 0.0) == 1.0 && exact_pow(0.0, 2.0) == 0.0 && exact_pow(0.0, -1.0) == kInfinity);
}

static void block_products_agree_with_loops() {
    for (const std::size_t width : kBlockWidths) {
        constexpr std::size_t n = 5000;
        std::mt19937 rng(2);
        std::normal_distribution<float> normal;
        std::vector<float> x(n * width), y(n * width);
        for (float& v : x) v = normal(rng);
        for (float& v : y) v = normal(rng);
        const std::vector<double> products =
            inner_products(Span2<const float>{x.data(), n, width}, Span2<const float>{y.data(), n, width}, {2});
        for (std::size_t a = 0; a < width; a += 3) {
            double sum = 0;
            for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(x[i * width + a]) * y[i * width + 5];
            CHECK_CLOSE(products[a * width + 5], sum, 1e-2);
        }
        orthonormalize({x.data(), n, width}, {2});
        const std::vector<double> identity =
            inner_products(Span2<const float>{x.data(), n, width}, Span2<const float>{x.data(), n, width}, {2});
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
    const double expected = 1.0 - std::cos(2.0 * std::numbers::pi / n);
    for (const std::size_t j : {0, 1}) CHECK_CLOSE(1.0 - eigenvalues[j], expected, 1e-6);
}

static void merged_nodes_are_side_by_side() {
    const CsrMatrix graph = ring(1001);
    std::vector<Coarsening> chain;
    chain.push_back(coarsen(graph.view(), {1}));
    chain.push_back(coarsen(chain.back().graph.view(), {1}));
    const std::vector<std::int32_t> order = nested_order(chain);
    std::vector<int> seen(1001), changes(2);
    for (std::size_t t = 0; t < order.size(); ++t) {
        ++seen[static_cast<std::size_t>(order[t])];
        if (t == 0) continue;
        auto here = static_cast<std::size_t>(order[t]), before = static_cast<std::size_t>(order[t - 1]);
        for (const std::size_t l : {0, 1}) {
            here = static_cast<std::size_t>(chain[l].aggregate[here]);
            before = static_cast<std::size_t>(chain[l].aggregate[before]);
            changes[l] += here != before;
        }
    }
    for (const int times : seen) CHECK(times == 1);
    for (const std::size_t l : {0, 1}) CHECK(static_cast<std::size_t>(changes[l]) + 1 == chain[l].graph.rows());
}

static void a_reordered_matrix_has_the_same_entries() {
    CsrMatrix matrix = ring(7);
    std::iota(matrix.values.begin(), matrix.values.end(), 1.0F);
    const std::vector<std::int32_t> order{3, 0, 6, 1, 5, 2, 4};
    const CsrMatrix found = reordered(matrix.view(), order, {2});
    for (std::size_t t = 0; t < order.size(); ++t) {
        const std::int64_t e = found.offsets[t], from = matrix.offsets[order[t]];
        CHECK(found.offsets[t + 1] - e == 2);
        for (const std::int64_t k : {0, 1}) {
            CHECK(order[found.columns[e + k]] == matrix.columns[from + k]);
            CHECK(found.values[e + k] == matrix.values[from + k]);
        }
    }
}

/// A square lattice on a torus with its nodes numbered at random.
static CsrMatrix shuffled_torus(std::size_t side) {
    const std::size_t n = side * side;
    std::vector<std::int32_t> number(n), node(n);
    std::iota(number.begin(), number.end(), 0);
    for (std::size_t i = n; i-- > 1;) std::swap(number[i], number[draw(5, 1, i) % (i + 1)]);
    for (std::size_t i = 0; i < n; ++i) node[static_cast<std::size_t>(number[i])] = static_cast<std::int32_t>(i);
    CsrMatrix graph;
    graph.offsets.push_back(0);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t row = static_cast<std::size_t>(node[i]) / side,
                          column = static_cast<std::size_t>(node[i]) % side;
        for (const std::size_t step : {std::size_t{1}, side - 1}) {
            graph.columns.push_back(number[(row + step) % side * side + column]);
            graph.columns.push_back(number[row * side + (column + step) % side]);
        }
        graph.values.insert(graph.values.end(), 4, 1.0F);
        graph.offsets.push_back(static_cast<std::int64_t>(graph.columns.size()));
    }
    return graph;
}

/// So large that its nodes are put in another order: the vectors must come back in theirs.
static void a_large_graph_keeps_the_order_of_its_nodes() {
    constexpr std::size_t side = 363, n = side * side, width = 8;
    const CsrMatrix graph = shuffled_torus(side);
    std::vector<float> vectors(n * width), again(n * width);
    std::vector<double> eigenvalues(width), residuals(width);
    const SpectralOptions options{2, 0.1F, 0.0, 60, std::numeric_limits<double>::infinity(), 0};
    spectral_vectors(graph.view(), options, {vectors.data(), n, width}, eigenvalues, residuals, {2});
    for (const std::size_t j : {0, 1}) {
        double squared = 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            double product = -eigenvalues[j] * vectors[i * width + j];
            for (std::int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e)
                product += vectors[static_cast<std::size_t>(graph.columns[e]) * width + j] / 4.0;
            squared += product * product;
        }
        CHECK_CLOSE(std::sqrt(squared), residuals[j], 1e-5);
        CHECK(residuals[j] < 1e-3);
    }
    spectral_vectors(graph.view(), options, {again.data(), n, width}, eigenvalues, residuals, {1});
    CHECK(vectors == again);
}

int main() {
    moments_agree_with_loops<float>(1e-4);
    moments_agree_with_loops<double>(1e-12);
    jacobi_diagonalizes();
    dense_eigenvectors_solve_their_equation();
    products_agree_with_loops();
    elementary_functions_are_those_of_the_library();
    block_products_agree_with_loops();
    coarsening_keeps_the_row_sums();
    a_ring_has_its_spectrum();
    merged_nodes_are_side_by_side();
    a_reordered_matrix_has_the_same_entries();
    a_large_graph_keeps_the_order_of_its_nodes();
    return failures != 0;
}
