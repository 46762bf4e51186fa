#include <nanobind/stl/pair.h>

#include "arrays.hpp"
#include "gnomon/edge_moments.hpp"
#include "gnomon/embedding_frames.hpp"

namespace gnomon::bindings {
namespace {

using Points = Matrix<const float>;

std::pair<Output<double>, Output<double>> bind_edge_moments(const Offsets& offsets, const Columns& columns,
                                                            const Values& values, const Points& Y,
                                                            const OutputKernel& kernel, int n_threads) {
    const std::size_t n = Y.shape(0), d = Y.shape(1), size = d * (d + 1) / 2;
    auto totals = make_output<double>({n, size}), sums = make_output<double>({n});
    run_released(n_threads, [&](const Context& context) {
        edge_moments(kernel, csr(offsets, columns, values), view(Y), {totals.data(), n, size}, {sums.data(), n},
                     context);
    });
    return {totals, sums};
}

Output<float> bind_edge_moment_gradient(const Offsets& offsets, const Columns& columns, const Values& values,
                                        const Points& Y, const OutputKernel& kernel, const Points& slopes,
                                        int n_threads) {
    const std::size_t n = Y.shape(0), d = Y.shape(1);
    auto out = make_output<float>({n, d});
    run_released(n_threads, [&](const Context& context) {
        edge_moment_gradient(kernel, csr(offsets, columns, values), view(Y), view(slopes), {out.data(), n, d}, context);
    });
    return out;
}

Output<double> bind_embedding_frames(const Points& Y, const Matrix<const std::int32_t>& indices,
                                     const Points& coefficients, const Vector<const std::int32_t>& ranks,
                                     int n_threads) {
    const std::size_t n = Y.shape(0), d = Y.shape(1), k = indices.shape(1);
    const std::size_t width = k > 0 ? coefficients.shape(1) / k : 0;
    auto frames = make_output<double>({n, d, width});
    run_released(n_threads, [&](const Context& context) {
        embedding_frames(view(Y), view(indices), view(coefficients), view(ranks), {frames.data(), n, d * width},
                         context);
    });
    return frames;
}

}  // namespace

void register_edge_moments(nb::module_& m) {
    m.def("edge_moments", &bind_edge_moments, nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("Y").noconvert(), nb::arg("kernel"), nb::arg("n_threads"),
          "(sum_j k a a', sum_j k) over each point's edges, a = y_i - y_j, matrices as their upper triangle.");
    m.def("edge_moment_gradient", &bind_edge_moment_gradient, nb::arg("offsets").noconvert(),
          nb::arg("columns").noconvert(), nb::arg("values").noconvert(), nb::arg("Y").noconvert(), nb::arg("kernel"),
          nb::arg("slopes").noconvert(), nb::arg("n_threads"),
          "Gradient of a function of M_i = sum_j k a a' / sum_j k, given dL/dM_i / sum_j k and <dL/dM_i, M_i> / sum_j "
          "k for each point.");
    m.def("embedding_frames", &bind_embedding_frames, nb::arg("Y").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("coefficients").noconvert(), nb::arg("ranks").noconvert(), nb::arg("n_threads"),
          "Polar factors of sum_j (y_j - y_i) coefficients_ij', 0 where there is none.");
}

}  // namespace gnomon::bindings
