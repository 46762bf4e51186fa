#include "gnomon/geodesics.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

template <class T>
void bound_geodesic_distances(const Graph& graph, const Matrix<const std::int32_t>& vertices,
                              const Matrix<const double>& starts, const Matrix<T>& out, int n_threads) {
    const Arguments check("geodesic_distances");
    check.not_negative("the lengths of edges", graph.view().values);
    check.at_least("the number of columns of vertices", static_cast<std::int64_t>(vertices.shape(1)), 1);
    check.indices("vertices", vertices, graph.n());
    check.shape("starts", starts, vertices.shape(0), vertices.shape(1));
    check.not_negative("starts", std::span(starts.data(), starts.size()));
    check.shape("out", out, vertices.shape(0), graph.n());
    run_released(n_threads, [&](const Context& context) {
        geodesic_distances(graph.view(), {view(vertices), view(starts)}, view(out), context);
    });
}

template <class T>
void define_geodesics(nb::module_& m, const char* name) {
    m.def(name, &bound_geodesic_distances<T>, nb::arg("graph"), nb::arg("vertices").noconvert(),
          nb::arg("starts").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"),
          "Writes lengths (n_sources, n) of shortest paths from vertices (n_sources, width) reached at `starts`.");
}

}  // namespace

void register_geodesics(nb::module_& m) {
    define_geodesics<float>(m, "geodesic_distances_single");
    define_geodesics<double>(m, "geodesic_distances_double");
}

}  // namespace gnomon::bindings
