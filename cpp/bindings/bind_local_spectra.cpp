#include <nanobind/stl/tuple.h>

#include <tuple>

#include "gnomon/local_spectra.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

std::tuple<Output<double>, Output<double>> spectra(const Table& X, std::size_t first,
                                                   const Matrix<const std::int32_t>& indices,
                                                   const Matrix<const float>& present, bool centred, int n_threads) {
    const Arguments check("local_spectra");
    const std::size_t m = indices.shape(0), k = indices.shape(1);
    check.at_most("first", first, X.n_rows());
    check.at_most("the number of rows of indices", m, X.n_rows() - first);
    check.indices("indices", indices, X.n_rows());
    check.shape("present", present, m, k);
    auto values = make_output<double>({m, k});
    auto vectors = make_output<double>({m, k, k});
    run_released(n_threads, [&](const Context& context) {
        local_spectra(X.rows(), first, view(indices), view(present), centred, {values.data(), m, k},
                      {vectors.data(), m, k * k}, context);
    });
    return {values, vectors};
}

}  // namespace

void register_local_spectra(nb::module_& m) {
    m.def("local_spectra", &spectra, nb::arg("X"), nb::arg("first"), nb::arg("indices").noconvert(),
          nb::arg("present").noconvert(), nb::arg("centred"), nb::arg("n_threads"),
          "Eigenvalues (m, k) and eigenvectors (m, k, k) of the Gram matrices of the neighbours of m rows from first "
          "on.");
}

}  // namespace gnomon::bindings
