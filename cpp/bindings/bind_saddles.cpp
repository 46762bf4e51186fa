#include "checks.hpp"
#include "gnomon/saddles.hpp"

namespace gnomon::bindings {
namespace {

template <class T>
nb::tuple reachability(const Matrix<const T>& products, const Vector<const T>& squares, std::size_t k, int n_threads) {
    const Arguments check("reachability_tree");
    const std::size_t n = squares.shape(0);
    check.shape("products", products, n, n);
    check.at_least("k", static_cast<std::int64_t>(k), 1);
    check.require(k < n, "k", "below the number of rows");
    auto nearest = make_output<double>({n, k}), radii = make_output<double>({n}),
         merges = make_output<double>({n - 1, 4});
    run_released(n_threads, [&](const Context&) {
        reachability_tree(view(products), view(squares), {nearest.data(), n, k}, {radii.data(), n},
                          {merges.data(), n - 1, 4});
    });
    return nb::make_tuple(nearest, radii, merges);
}

template <class T>
void define_reachability(nb::module_& m) {
    m.def("reachability_tree", &reachability<T>, nb::arg("products").noconvert(), nb::arg("squares").noconvert(),
          nb::arg("k"), nb::arg("n_threads"),
          "Distances to the k nearest rows, radii, and single linkage of mutual reachability, from products.");
}

nb::tuple dips(const Vector<const double>& radii, const Matrix<const double>& merges, double dimension, int n_threads) {
    const Arguments check("density_dips");
    const std::size_t n = radii.shape(0), m = merges.shape(0);
    check.require(merges.shape(1) >= 3, "merges", "of at least 3 columns");
    for (std::size_t at = 0; at < m; ++at)
        for (const double part : {merges.data()[at * merges.shape(1)], merges.data()[at * merges.shape(1) + 1]})
            check.require(part >= 0 && part < static_cast<double>(n + at), "merges", "of parts that are made before");
    auto smaller = make_output<std::int64_t>({m});
    auto falls = make_output<double>({m});
    run_released(n_threads, [&](const Context&) {
        density_dips(view(radii), view(merges), dimension, {smaller.data(), m}, {falls.data(), m});
    });
    return nb::make_tuple(smaller, falls);
}

}  // namespace

void register_saddles(nb::module_& m) {
    define_reachability<float>(m);
    define_reachability<double>(m);
    m.def("density_dips", &dips, nb::arg("radii").noconvert(), nb::arg("merges").noconvert(), nb::arg("dimension"),
          nb::arg("n_threads"), "Rows of the smaller part of each merge, and the fall of log density before it.");
}

}  // namespace gnomon::bindings
