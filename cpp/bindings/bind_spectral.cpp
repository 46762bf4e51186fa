#include "arrays.hpp"
#include "gnomon/spectral.hpp"

namespace gnomon::bindings {
namespace {

nb::tuple bound_spectral_vectors(const Offsets& offsets, const Columns& columns, const Values& values,
                                 std::size_t n_wanted, std::size_t width, float tolerance, int max_rounds,
                                 double seconds, std::uint64_t seed, int n_threads) {
    const std::size_t n = offsets.shape(0) - 1;
    auto vectors = make_output<float>({n, width});
    auto eigenvalues = make_output<double>({width});
    auto residuals = make_output<double>({width});
    SpectralOutcome outcome;
    run_released(n_threads, [&](const Context& context) {
        outcome = spectral_vectors(csr(offsets, columns, values), {n_wanted, tolerance, max_rounds, seconds, seed},
                                   {vectors.data(), n, width}, {eigenvalues.data(), width}, {residuals.data(), width},
                                   context);
    });
    return nb::make_tuple(vectors, eigenvalues, residuals, outcome.converged, outcome.out_of_time, outcome.n_rounds,
                          outcome.n_levels);
}

}  // namespace

void register_spectral(nb::module_& m) {
    m.def("spectral_vectors", &bound_spectral_vectors, nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("n_wanted"), nb::arg("width"), nb::arg("tolerance"),
          nb::arg("max_rounds"), nb::arg("seconds"), nb::arg("seed"), nb::arg("n_threads"),
          "Leading non-trivial eigenvectors (n, width) of D^-1/2 A D^-1/2, eigenvalues, residuals, converged, "
          "out_of_time, rounds, levels.");
}

}  // namespace gnomon::bindings
