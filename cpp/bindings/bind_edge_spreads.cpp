#include <nanobind/stl/pair.h>

#include <algorithm>

#include "gnomon/edge_spreads.hpp"
#include "gnomon/embedding_frames.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

using Points = Matrix<const float>;

using FlatFrames = Matrix<const double>;

/// Returns the number of directions in each frame.
std::size_t check_frames(const Arguments& check, const Graph& edges, const Points& Y, const FlatFrames& frames) {
    check_points(check, edges, Y);
    const std::size_t width = frames.shape(1) / Y.shape(1);
    check.shape("frames", frames, edges.n(), width * Y.shape(1));
    return width;
}

std::pair<Output<double>, Output<double>> bind_edge_spreads(const Graph& edges, const Points& Y,
                                                            const OutputKernel& kernel, const FlatFrames& frames,
                                                            int n_threads) {
    const std::size_t n = Y.shape(0), width = check_frames(Arguments("edge_spreads"), edges, Y, frames);
    auto spreads = make_output<double>({n, width}), sums = make_output<double>({n});
    run_released(n_threads, [&](const Context& context) {
        edge_spreads(kernel, edges.view(), view(Y), view(frames), {{spreads.data(), n, width}, {sums.data(), n}},
                     context);
    });
    return {spreads, sums};
}

Output<float> bind_edge_spread_gradient(const Graph& edges, const Points& Y, const OutputKernel& kernel,
                                        const FlatFrames& frames, const Matrix<double>& spreads,
                                        const Vector<double>& sums, const FlatFrames& slopes, int n_threads) {
    const Arguments check("edge_spread_gradient");
    const std::size_t n = Y.shape(0), d = Y.shape(1), width = check_frames(check, edges, Y, frames);
    check.shape("spreads", spreads, n, width);
    check.length("sums", sums, n);
    check.shape("slopes", slopes, n, width);
    auto out = make_output<float>({n, d});
    run_released(n_threads, [&](const Context& context) {
        edge_spread_gradient(kernel, edges.view(), view(Y), view(frames), {view(spreads), view(sums)}, view(slopes),
                             {out.data(), n, d}, context);
    });
    return out;
}

Output<double> bind_embedding_frames(const Points& Y, const Matrix<const std::int32_t>& indices,
                                     const Points& coefficients, const Vector<const std::int32_t>& ranks,
                                     int n_threads) {
    const std::size_t n = Y.shape(0), d = Y.shape(1), k = indices.shape(1);
    const std::size_t width = k > 0 ? coefficients.shape(1) / k : 0;
    const Arguments check("embedding_frames");
    check.components(d);
    check.equal("the number of rows of indices", indices.shape(0), n);
    check.indices("indices", indices, n);
    check.shape("coefficients", coefficients, n, k * width);
    check.length("ranks", ranks, n);
    check.indices("ranks", ranks, std::min(d, width) + 1);
    auto frames = make_output<double>({n, d, width});
    run_released(n_threads, [&](const Context& context) {
        embedding_frames(view(Y), view(indices), view(coefficients), view(ranks), {frames.data(), n, d * width},
                         context);
    });
    return frames;
}

}  // namespace

void register_edge_spreads(nb::module_& m) {
    m.def("edge_spreads", &bind_edge_spreads, nb::arg("edges"), nb::arg("Y").noconvert(), nb::arg("kernel"),
          nb::arg("frames").noconvert(), nb::arg("n_threads"),
          "(sum_j k (q_il . (y_i - y_j))^2 / sum_j k, sum_j k) over each point's edges, for frames (n, d * L).");
    m.def("edge_spread_gradient", &bind_edge_spread_gradient, nb::arg("edges"), nb::arg("Y").noconvert(),
          nb::arg("kernel"), nb::arg("frames").noconvert(), nb::arg("spreads").noconvert(), nb::arg("sums").noconvert(),
          nb::arg("slopes").noconvert(), nb::arg("n_threads"),
          "Gradient of a function of the spreads, (n, L), with the given slopes, frames held fixed.");
    m.def("embedding_frames", &bind_embedding_frames, nb::arg("Y").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("coefficients").noconvert(), nb::arg("ranks").noconvert(), nb::arg("n_threads"),
          "Polar factors of sum_j (y_j - y_i) coefficients_ij', 0 where there is none.");
}

}  // namespace gnomon::bindings
