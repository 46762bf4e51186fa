#include "gnomon/reconstruction.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

Output<double> weights_of(const Table& X, const Matrix<const std::int32_t>& indices, const Matrix<const float>& present,
                          double regularization, bool non_negative, int n_threads) {
    const Arguments check("reconstruction_weights");
    const std::size_t n = indices.shape(0), k = indices.shape(1);
    check.at_most("the number of rows of indices", n, X.n_rows());
    check.indices("indices", indices, X.n_rows());
    check.shape("present", present, n, k);
    auto weights = make_output<double>({n, k});
    run_released(n_threads, [&](const Context& context) {
        reconstruction_weights(X.rows(), view(indices), view(present), {regularization, non_negative},
                               {weights.data(), n, k}, context);
    });
    return weights;
}

}  // namespace

void register_reconstruction(nb::module_& m) {
    m.def("reconstruction_weights", &weights_of, nb::arg("X"), nb::arg("indices").noconvert(),
          nb::arg("present").noconvert(), nb::arg("regularization"), nb::arg("non_negative"), nb::arg("n_threads"),
          "Weights (n, k) that rebuild each of the first n rows from its neighbours.");
}

}  // namespace gnomon::bindings
