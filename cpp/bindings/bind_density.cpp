#include <nanobind/stl/pair.h>

#include "gnomon/density.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

using Points = Matrix<const float>;

Output<double> bind_map_radii(const Graph& edges, const OutputKernel& kernel, const Points& Y, int n_threads) {
    check_points(Arguments("map_radii"), edges, Y);
    auto radii = make_output<double>({Y.shape(0)});
    run_released(n_threads, [&](const Context& context) {
        map_radii(edges.view(), kernel, view(Y), {radii.data(), Y.shape(0)}, context);
    });
    return radii;
}

std::pair<double, Output<float>> bind_density_correlation(const Graph& edges, const OutputKernel& kernel,
                                                          const Vector<const double>& standard, double shift,
                                                          const Points& Y, bool with_gradient, int n_threads) {
    const Arguments check("density_correlation");
    check_points(check, edges, Y);
    check.length("standard", standard, edges.n());
    const std::size_t n = with_gradient ? Y.shape(0) : 0, d = Y.shape(1);
    auto gradient = make_output<float>({n, d});
    double correlation = 0;
    run_released(n_threads, [&](const Context& context) {
        correlation = density_correlation(edges.view(), kernel, view(Y), {view(standard), shift},
                                          {gradient.data(), n, d}, context);
    });
    return {correlation, gradient};
}

Output<float> bind_edge_distances(const Graph& edges, const Matrix<const std::int32_t>& indices,
                                  const Points& distances, int n_threads) {
    const Arguments check("edge_distances");
    check.equal("the number of rows of indices", indices.shape(0), edges.n());
    check.shape("distances", distances, indices.shape(0), indices.shape(1));
    const CsrView<float>& graph = edges.view();
    auto out = make_output<float>({graph.columns.size()});
    run_released(n_threads, [&](const Context& context) {
        edge_distances(graph.offsets, graph.columns, view(indices), view(distances), {out.data(), graph.columns.size()},
                       context);
    });
    return out;
}

}  // namespace

void register_density(nb::module_& m) {
    m.def("map_radii", &bind_map_radii, nb::arg("edges"), nb::arg("kernel"), nb::arg("Y").noconvert(),
          nb::arg("n_threads"), "Log radii (n,) of a map along edges of weight 1.");
    m.def("density_correlation", &bind_density_correlation, nb::arg("edges"), nb::arg("kernel"),
          nb::arg("standard").noconvert(), nb::arg("shift"), nb::arg("Y").noconvert(), nb::arg("with_gradient"),
          nb::arg("n_threads"), "(correlation of the log radii, its gradient (n, d) or (0, d)).");
    m.def("edge_distances", &bind_edge_distances, nb::arg("edges"), nb::arg("indices").noconvert(),
          nb::arg("distances").noconvert(), nb::arg("n_threads"),
          "Distances of edges, found in a table of neighbours; NaN where it has them from neither end.");
}

}  // namespace gnomon::bindings
