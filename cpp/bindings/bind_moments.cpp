#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "checks.hpp"
#include "gnomon/dense_eigen.hpp"
#include "gnomon/elementary.hpp"
#include "gnomon/inner_products.hpp"
#include "gnomon/moments.hpp"
#include "gnomon/row_distances.hpp"
#include "gnomon/scatter_product.hpp"
#include "gnomon/small_svd.hpp"
#include "gnomon/sparse_product.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

template <class T>
Output<double> bound_column_means(const Matrix<const T>& X, int n_threads) {
    auto means = make_output<double>({X.shape(1)});
    run_released(n_threads,
                 [&](const Context& context) { column_means(view(X), {means.data(), means.size()}, context); });
    return means;
}

template <class T>
double bound_largest_deviation(const Matrix<const T>& X, const Vector<const double>& means, int n_threads) {
    Arguments("largest_deviation").length("means", means, X.shape(1));
    double largest = 0.0;
    run_released(n_threads,
                 [&](const Context& context) { largest = largest_deviation(view(X), view(means), context); });
    return largest;
}

template <class T>
Output<std::uint8_t> bound_mark_varying(const Matrix<const T>& X, int n_threads) {
    auto varies = make_output<std::uint8_t>({X.shape(1)});
    run_released(n_threads,
                 [&](const Context& context) { mark_varying(view(X), {varies.data(), varies.size()}, context); });
    return varies;
}

template <class T>
void bound_centre(const Matrix<const T>& X, const Vector<const double>& means, double scale,
                  const Vector<const std::int64_t>& columns, const Matrix<T>& out) {
    const Arguments check("centre");
    check.length("means", means, X.shape(1));
    check.indices("columns", columns, X.shape(1));
    check.ascending("columns", view(columns), true);
    check.shape("out", out, X.shape(0), columns.shape(0));
    run_released(1, [&](const Context&) { centre(view(X), view(means), scale, view(columns), view(out)); });
}

template <class T>
void bound_project(const Matrix<const T>& X, const Vector<const double>& means, const Matrix<const double>& directions,
                   const Matrix<T>& out, int n_threads) {
    const Arguments check("project");
    check.length("means", means, X.shape(1));
    check.equal("the number of rows of directions", directions.shape(0), X.shape(1));
    check.shape("out", out, X.shape(0), directions.shape(1));
    run_released(n_threads,
                 [&](const Context& context) { project(view(X), view(means), view(directions), view(out), context); });
}

template <class T>
void bound_scatter_product(const Matrix<const T>& X, const Vector<const double>& means,
                           const Matrix<const double>& vectors, const Matrix<double>& out, int n_threads) {
    const Arguments check("scatter_product");
    check.length("means", means, X.shape(1));
    check.equal("the number of rows of vectors", vectors.shape(0), X.shape(1));
    check.shape("out", out, X.shape(1), vectors.shape(1));
    run_released(n_threads, [&](const Context& context) {
        scatter_product(view(X), view(means), view(vectors), view(out), context);
    });
}

template <class T>
double bound_scatter_trace(const Matrix<const T>& X, const Vector<const double>& means, int n_threads) {
    Arguments("scatter_trace").length("means", means, X.shape(1));
    double trace = 0.0;
    run_released(n_threads, [&](const Context& context) { trace = scatter_trace(view(X), view(means), context); });
    return trace;
}

template <class T, class Out>
void bound_inner_products(const Matrix<const T>& B, const Matrix<Out>& out, int n_threads) {
    Arguments("inner_products").shape("out", out, B.shape(1), B.shape(1));
    run_released(n_threads, [&](const Context& context) { inner_products(view(B), view(out), context); });
}

void bound_product(const Matrix<const double>& A, bool transposed_a, const Matrix<const double>& B, bool transposed_b,
                   const Matrix<double>& out, int n_threads) {
    const Arguments check("product");
    const std::size_t rows = A.shape(transposed_a ? 1 : 0), columns = B.shape(transposed_b ? 0 : 1);
    check.equal("the terms of B", B.shape(transposed_b ? 1 : 0), A.shape(transposed_a ? 0 : 1));
    check.shape("out", out, rows, columns);
    run_released(n_threads, [&](const Context& context) {
        product(view(A), transposed_a, view(B), transposed_b, view(out), context);
    });
}

void bound_products(std::size_t count, const Matrix<const double>& A, bool transposed_a, const Matrix<const double>& B,
                    bool transposed_b, const Matrix<double>& out, int n_threads) {
    const Arguments check("products");
    check.at_least("count", static_cast<std::int64_t>(count), 1);
    check.equal("the rows of A beyond those of whole matrices", A.shape(0) % count, 0);
    check.equal("the rows of B beyond those of whole matrices", B.shape(0) % count, 0);
    const std::size_t a = A.shape(0) / count, b = B.shape(0) / count;
    check.equal("the terms of B", transposed_b ? B.shape(1) : b, transposed_a ? a : A.shape(1));
    check.shape("out", out, count * (transposed_a ? A.shape(1) : a), transposed_b ? b : B.shape(1));
    run_released(n_threads, [&](const Context& context) {
        products(count, view(A), transposed_a, view(B), transposed_b, view(out), context);
    });
}

void bound_row_distances(const Matrix<const double>& A, const Matrix<const double>& B, bool squared,
                         const Matrix<double>& out, int n_threads) {
    const Arguments check("row_distances");
    check.equal("the number of columns of B", B.shape(1), A.shape(1));
    check.shape("out", out, A.shape(0), B.shape(0));
    run_released(n_threads,
                 [&](const Context& context) { row_distances(view(A), view(B), squared, view(out), context); });
}

/// The two tables, if their product exists and both are of float64.
std::pair<const SparseRows<double>*, const SparseRows<double>*> factors(const Arguments& check, const Table& A,
                                                                        const Table& B) {
    const auto* left = std::get_if<SparseRows<double>>(&A.rows());
    const auto* right = std::get_if<SparseRows<double>>(&B.rows());
    check.require(left != nullptr, "A", "a sparse table of float64");
    check.require(right != nullptr, "B", "a sparse table of float64");
    check.equal("the number of rows of B", B.n_rows(), A.n_features());
    return {left, right};
}

void bound_dense_product(const Table& A, const Table& B, const Matrix<double>& out, int n_threads) {
    const Arguments check("dense_product");
    const auto [left, right] = factors(check, A, B);
    check.shape("out", out, A.n_rows(), B.n_features());
    run_released(n_threads, [&, left = left, right = right](const Context& context) {
        dense_product(*left, *right, view(out), context);
    });
}

void bound_sparse_product(const Table& A, const Matrix<const double>& X, const Matrix<double>& out, int n_threads) {
    const Arguments check("sparse_product");
    check.require(A.is_sparse(), "A", "a sparse table");
    check.equal("the number of rows of X", X.shape(0), A.n_features());
    check.shape("out", out, A.n_rows(), X.shape(1));
    run_released(n_threads, [&](const Context& context) {
        if (const auto* single = std::get_if<SparseRows<float>>(&A.rows()))
            sparse_product(*single, view(X), view(out), context);
        else
            sparse_product(std::get<SparseRows<double>>(A.rows()), view(X), view(out), context);
    });
}

std::tuple<Output<std::int64_t>, Output<std::int32_t>, Output<double>> bound_sparse_by_sparse(const Table& A,
                                                                                              const Table& B,
                                                                                              int n_threads) {
    const auto [left, right] = factors(Arguments("sparse_by_sparse"), A, B);
    SparseResult found;
    run_released(n_threads, [&, left = left, right = right](const Context& context) {
        found = sparse_product(*left, *right, context);
    });
    auto offsets = make_unset<std::int64_t>({found.offsets.size()});
    auto columns = make_unset<std::int32_t>({found.columns.size()});
    auto values = make_unset<double>({found.values.size()});
    std::copy(found.offsets.begin(), found.offsets.end(), offsets.data());
    std::copy(found.columns.begin(), found.columns.end(), columns.data());
    std::copy(found.values.begin(), found.values.end(), values.data());
    return std::make_tuple(offsets, columns, values);
}

void bound_small_svd(const Matrix<double>& columns, const Vector<double>& values, const Matrix<double>& right) {
    const Arguments check("small_svd");
    const std::size_t d = columns.shape(0);
    check.at_most("the number of columns", d, columns.shape(1));
    check.length("values", values, d);
    check.shape("right", right, d, d);
    run_released(1, [&](const Context&) { small_svd(view(columns), view(values), view(right)); });
}

void bound_eigen_each(const Matrix<const double>& matrices, const Matrix<double>& values, const Matrix<double>& vectors,
                      int n_threads) {
    const Arguments check("eigen_each");
    check.shape("matrices", matrices, values.shape(0) * values.shape(1), values.shape(1));
    check.shape("vectors", vectors, matrices.shape(0), matrices.shape(1));
    run_released(n_threads,
                 [&](const Context& context) { eigen_each(view(matrices), view(values), view(vectors), context); });
}

std::size_t bound_dense_eigen(const Matrix<const double>& matrix, double least, const Vector<double>& values,
                              const Matrix<double>& vectors, int n_threads) {
    const Arguments check("dense_eigen");
    const std::size_t n = matrix.shape(0);
    check.shape("matrix", matrix, n, n);
    check.length("values", values, n);
    check.equal("the number of rows of vectors", vectors.shape(0), n);
    check.at_most("the number of columns of vectors", vectors.shape(1), n);
    std::size_t kept = 0;
    run_released(n_threads, [&](const Context& context) {
        kept = dense_eigen(view(matrix), least, view(values), view(vectors), context);
    });
    return kept;
}

template <Elementary f>
void bound_elementary(const Vector<const double>& x, const Vector<double>& out, int n_threads) {
    Arguments("elementary functions").length("out", out, x.shape(0));
    run_released(n_threads, [&](const Context& context) { apply(f, view(x), view(out), context); });
}

void bound_power(const Vector<const double>& x, double p, const Vector<double>& out, int n_threads) {
    Arguments("power").length("out", out, x.shape(0));
    run_released(n_threads, [&](const Context& context) { power(view(x), p, view(out), context); });
}

template <class T, class Out>
void register_inner_products(nb::module_& m) {
    m.def("inner_products", &bound_inner_products<T, Out>, nb::arg("B").noconvert(), nb::arg("out").noconvert(),
          nb::arg("n_threads"), "Write B' B to out (c, c), for B (n, c).");
}

template <class T>
void register_for(nb::module_& m) {
    m.def("column_means", &bound_column_means<T>, nb::arg("X").noconvert(), nb::arg("n_threads"),
          "Means (D,) of the columns of X (n, D), in double.");
    m.def("largest_deviation", &bound_largest_deviation<T>, nb::arg("X").noconvert(), nb::arg("means").noconvert(),
          nb::arg("n_threads"), "The largest |x_ij - mean_j|.");
    m.def("mark_varying", &bound_mark_varying<T>, nb::arg("X").noconvert(), nb::arg("n_threads"),
          "Marks (D,): 1 for columns of X (n, D) that hold different numbers, 0 for constant ones.");
    m.def("centre", &bound_centre<T>, nb::arg("X").noconvert(), nb::arg("means").noconvert(), nb::arg("scale"),
          nb::arg("columns").noconvert(), nb::arg("out").noconvert(),
          "Write (X - means) scale, of some columns (c,), ascending, to out (n, c).");
    m.def("project", &bound_project<T>, nb::arg("X").noconvert(), nb::arg("means").noconvert(),
          nb::arg("directions").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"),
          "Write (X - means) directions to out (n, d), with directions (D, d).");
    m.def("scatter_product", &bound_scatter_product<T>, nb::arg("X").noconvert(), nb::arg("means").noconvert(),
          nb::arg("vectors").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"),
          "Write (X - means)' (X - means) vectors to out (D, d), with vectors (D, d).");
    m.def("scatter_trace", &bound_scatter_trace<T>, nb::arg("X").noconvert(), nb::arg("means").noconvert(),
          nb::arg("n_threads"), "The sum of all (x_ij - mean_j)^2.");
    register_inner_products<T, double>(m);
}

}  // namespace

void register_moments(nb::module_& m) {
    register_for<float>(m);
    register_for<double>(m);
    register_inner_products<float, float>(m);
    const auto elementary = [&](const char* name, auto function) {
        m.def(name, function, nb::arg("x").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"),
              "Write the function of each number to out, which may be x.");
    };
    elementary("exp", &bound_elementary<Elementary::exp>);
    elementary("expm1", &bound_elementary<Elementary::expm1>);
    elementary("log", &bound_elementary<Elementary::log>);
    elementary("log1p", &bound_elementary<Elementary::log1p>);
    m.def("power", &bound_power, nb::arg("x").noconvert(), nb::arg("p"), nb::arg("out").noconvert(),
          nb::arg("n_threads"), "Write x^p of each number >= 0 to out, which may be x.");
    m.def("product", &bound_product, nb::arg("A").noconvert(), nb::arg("transposed_a"), nb::arg("B").noconvert(),
          nb::arg("transposed_b"), nb::arg("out").noconvert(), nb::arg("n_threads"),
          "Write A B to out, of A and B as they are or transposed.");
    m.def("products", &bound_products, nb::arg("count"), nb::arg("A").noconvert(), nb::arg("transposed_a"),
          nb::arg("B").noconvert(), nb::arg("transposed_b"), nb::arg("out").noconvert(), nb::arg("n_threads"),
          "Write the products of `count` pairs of matrices that lie one below the other to out.");
    m.def("row_distances", &bound_row_distances, nb::arg("A").noconvert(), nb::arg("B").noconvert(), nb::arg("squared"),
          nb::arg("out").noconvert(), nb::arg("n_threads"),
          "Write the Euclidean distances, or their squares, between all rows of A (n, d) and all of B (m, d) to out.");
    m.def("dense_product", &bound_dense_product, nb::arg("A"), nb::arg("B"), nb::arg("out").noconvert(),
          nb::arg("n_threads"), "Write A B to out (n, m), of sparse tables of float64.");
    m.def("sparse_product", &bound_sparse_product, nb::arg("A"), nb::arg("X").noconvert(), nb::arg("out").noconvert(),
          nb::arg("n_threads"), "Write A X to out (n, width), of a sparse table A (n, n_features).");
    m.def("sparse_by_sparse", &bound_sparse_by_sparse, nb::arg("A"), nb::arg("B"), nb::arg("n_threads"),
          "Offsets, columns and values of A B, of sparse tables of float64.");
    m.def("small_svd", &bound_small_svd, nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
          nb::arg("right").noconvert(),
          "Turn the columns (d, n) of a matrix, one after the other, into its left singular vectors, and write its "
          "singular values (d,), falling, and its right singular vectors (d, d), one after the other.");
    m.def(
        "eigen_each", &bound_eigen_each, nb::arg("matrices").noconvert(), nb::arg("values").noconvert(),
        nb::arg("vectors").noconvert(), nb::arg("n_threads"),
        "Write eigenvalues (m, d), falling, and eigenvectors (m d, d), in columns, of m symmetric matrices (m d, d).");
    m.def("dense_eigen", &bound_dense_eigen, nb::arg("matrix").noconvert(), nb::arg("least"),
          nb::arg("values").noconvert(), nb::arg("vectors").noconvert(), nb::arg("n_threads"),
          "Write the eigenvalues of a symmetric matrix (n, n), falling, to values (n,) and the eigenvectors of those "
          "above least to the first columns of vectors (n, k), k at most; return how many.");
}

}  // namespace gnomon::bindings
