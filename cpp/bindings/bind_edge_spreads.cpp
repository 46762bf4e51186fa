#include <nanobind/stl/pair.h>

#include "arrays.hpp"
#include "gnomon/edge_spreads.hpp"
#include "gnomon/embedding_frames.hpp"

namespace gnomon::bindings {
namespace {

using Points = Matrix<const float>;

using Frames = Matrix<const double>;

std::pair<Output<double>, Output<double>> bind_edge_spreads(const Offsets& offsets, const Columns& columns,
                                                            const Values& values, const Points& Y,
                                                            const OutputKernel& kernel, const Frames& frames,
                                                            int n_threads) {
    const std::size_t n = Y.shape(0), width = frames.shape(1) / Y.shape(1);
    auto spreads = make_output<double>({n, width}), sums = make_output<double>({n});
    run_released(n_threads, [&](const Context& context) {
        edge_spreads(kernel, csr(offsets, columns, values), view(Y), view(frames),
                     {{spreads.data(), n, width}, {sums.data(), n}}, context);
    });
    return {spreads, sums};
}

Output<float> bind_edge_spread_gradient(const Offsets& offsets, const Columns& columns, const Values& values,
                                        const Points& Y, const OutputKernel& kernel, const Frames& frames,
                                        const Matrix<double>& spreads, const Vector<double>& sums,
                                        const Matrix<const double>& slopes, int n_threads) {
    const std::size_t n = Y.shape(0), d = Y.shape(1);
    auto out = make_output<float>({n, d});
    run_released(n_threads, [&](const Context& context) {
        edge_spread_gradient(kernel, csr(offsets, columns, values), view(Y), view(frames), {view(spreads), view(sums)},
                             view(slopes), {out.data(), n, d}, context);
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

void register_edge_spreads(nb::module_& m) {
    m.def("edge_spreads", &bind_edge_spreads, nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("Y").noconvert(), nb::arg("kernel"), nb::arg("frames").noconvert(),
          nb::arg("n_threads"),
          "(sum_j k (q_il . (y_i - y_j))^2 / sum_j k, sum_j k) over each point's edges, for frames (n, d * L).");
    m.def("edge_spread_gradient", &bind_edge_spread_gradient, nb::arg("offsets").noconvert(),
          nb::arg("columns").noconvert(), nb::arg("values").noconvert(), nb::arg("Y").noconvert(), nb::arg("kernel"),
          nb::arg("frames").noconvert(), nb::arg("spreads").noconvert(), nb::arg("sums").noconvert(),
          nb::arg("slopes").noconvert(), nb::arg("n_threads"),
          "Gradient of a function of the spreads, (n, L), with the given slopes, frames held fixed.");
    m.def("embedding_frames", &bind_embedding_frames, nb::arg("Y").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("coefficients").noconvert(), nb::arg("ranks").noconvert(), nb::arg("n_threads"),
          "Polar factors of sum_j (y_j - y_i) coefficients_ij', 0 where there is none.");
}

}  // namespace gnomon::bindings
