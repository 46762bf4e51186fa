#include <nanobind/stl/tuple.h>

#include <tuple>

#include "arrays.hpp"
#include "gnomon/spectral.hpp"

namespace gnomon::bindings {
namespace {

std::tuple<Output<float>, Output<double>, Output<double>, bool, bool, int, int> bound_spectral_vectors(
    const Offsets& offsets, const Columns& columns, const Values& values, std::size_t n_wanted, std::size_t width,
    float tolerance, int max_products, double seconds, std::uint64_t seed, int n_threads) {
    const std::size_t n = offsets.shape(0) - 1;
    auto vectors = make_output<float>({n, width});
    auto eigenvalues = make_output<double>({width});
    auto residuals = make_output<double>({width});
    SpectralOutcome outcome;
    run_released(n_threads, [&](const Context& context) {
        outcome = spectral_vectors(csr(offsets, columns, values), {n_wanted, tolerance, max_products, seconds, seed},
                                   {vectors.data(), n, width}, {eigenvalues.data(), width}, {residuals.data(), width},
                                   context);
    });
    return std::make_tuple(vectors, eigenvalues, residuals, outcome.converged, outcome.out_of_time, outcome.n_products,
                           outcome.n_levels);
}

}  // namespace

void register_spectral(nb::module_& m) {
    m.def("spectral_vectors", &bound_spectral_vectors, nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("n_wanted"), nb::arg("width"), nb::arg("tolerance"),
          nb::arg("max_products"), nb::arg("seconds"), nb::arg("seed"), nb::arg("n_threads"),
          "Leading non-trivial eigenvectors (n, width) of D^-1/2 A D^-1/2, eigenvalues, residuals, converged, "
          "out_of_time, products, levels.");
}

}  // namespace gnomon::bindings
