#include "checks.hpp"
#include "gnomon/inner_products.hpp"
#include "gnomon/moments.hpp"

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
void bound_inner_products(const Matrix<const T>& B, const Matrix<double>& out) {
    Arguments("inner_products").shape("out", out, B.shape(1), B.shape(1));
    run_released(1, [&](const Context&) { inner_products(view(B), view(out)); });
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
    m.def("inner_products", &bound_inner_products<T>, nb::arg("B").noconvert(), nb::arg("out").noconvert(),
          "Write B' B to out (c, c), for B (n, c); on one thread.");
}

}  // namespace

void register_moments(nb::module_& m) {
    register_for<float>(m);
    register_for<double>(m);
}

}  // namespace gnomon::bindings
