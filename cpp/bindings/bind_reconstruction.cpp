#include "gnomon/reconstruction.hpp"
#include "row_source.hpp"

namespace gnomon::bindings {
namespace {

Output<double> weights_of(const RowSource& X, const Matrix<const std::int32_t>& indices,
                          const Matrix<const float>& present, double regularization, bool non_negative, int n_threads) {
    const std::size_t n = indices.shape(0), k = indices.shape(1);
    auto weights = make_output<double>({n, k});
    run_released(n_threads, [&](const Context& context) {
        reconstruction_weights(X, view(indices), view(present), {regularization, non_negative}, {weights.data(), n, k},
                               context);
    });
    return weights;
}

}  // namespace

void register_reconstruction(nb::module_& m) {
    m.def(
        "reconstruction_weights",
        [](const AnyMatrix& X, const Matrix<const std::int32_t>& indices, const Matrix<const float>& present,
           double regularization, bool non_negative, int n_threads) {
            return weights_of(dense_rows(X), indices, present, regularization, non_negative, n_threads);
        },
        nb::arg("X").noconvert(), nb::arg("indices").noconvert(), nb::arg("present").noconvert(),
        nb::arg("regularization"), nb::arg("non_negative"), nb::arg("n_threads"),
        "Weights (n, k) that rebuild each row from its neighbours.");
    m.def(
        "reconstruction_weights_sparse",
        [](const Offsets& offsets, const Columns& columns, const AnyVector& values, std::size_t n_features,
           const Matrix<const std::int32_t>& indices, const Matrix<const float>& present, double regularization,
           bool non_negative, int n_threads) {
            return weights_of(sparse_rows(offsets, columns, values, n_features), indices, present, regularization,
                              non_negative, n_threads);
        },
        nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
        nb::arg("n_features"), nb::arg("indices").noconvert(), nb::arg("present").noconvert(),
        nb::arg("regularization"), nb::arg("non_negative"), nb::arg("n_threads"),
        "reconstruction_weights of a table in CSR form with sorted columns.");
}

}  // namespace gnomon::bindings
