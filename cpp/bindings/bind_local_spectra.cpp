#include <nanobind/stl/tuple.h>

#include <tuple>

#include "gnomon/local_spectra.hpp"
#include "row_source.hpp"

namespace gnomon::bindings {
namespace {

std::tuple<Output<double>, Output<double>> spectra_of(const RowSource& X, std::size_t first,
                                                      const Matrix<const std::int32_t>& indices,
                                                      const Matrix<const float>& present, bool centred, int n_threads) {
    const std::size_t m = indices.shape(0), k = indices.shape(1);
    auto values = make_output<double>({m, k});
    auto vectors = make_output<double>({m, k, k});
    run_released(n_threads, [&](const Context& context) {
        local_spectra(X, first, view(indices), view(present), centred, {values.data(), m, k},
                      {vectors.data(), m, k * k}, context);
    });
    return {values, vectors};
}

}  // namespace

void register_local_spectra(nb::module_& m) {
    m.def(
        "local_spectra",
        [](const AnyMatrix& X, std::size_t first, const Matrix<const std::int32_t>& indices,
           const Matrix<const float>& present, bool centred,
           int n_threads) { return spectra_of(dense_rows(X), first, indices, present, centred, n_threads); },
        nb::arg("X").noconvert(), nb::arg("first"), nb::arg("indices").noconvert(), nb::arg("present").noconvert(),
        nb::arg("centred"), nb::arg("n_threads"),
        "Eigenvalues (m, k) and eigenvectors (m, k, k) of the Gram matrices of the neighbours of m rows from first "
        "on.");
    m.def(
        "local_spectra_sparse",
        [](const Offsets& offsets, const Columns& columns, const AnyVector& values, std::size_t n_features,
           std::size_t first, const Matrix<const std::int32_t>& indices, const Matrix<const float>& present,
           bool centred, int n_threads) {
            return spectra_of(sparse_rows(offsets, columns, values, n_features), first, indices, present, centred,
                              n_threads);
        },
        nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
        nb::arg("n_features"), nb::arg("first"), nb::arg("indices").noconvert(), nb::arg("present").noconvert(),
        nb::arg("centred"), nb::arg("n_threads"), "local_spectra of a table in CSR form with sorted columns.");
}

}  // namespace gnomon::bindings
