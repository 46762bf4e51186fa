#include "arrays.hpp"
#include "gnomon/geodesics.hpp"

namespace gnomon::bindings {
namespace {

template <class T>
void bound_geodesic_distances(const Offsets& offsets, const Columns& columns, const Values& values,
                              const Matrix<const std::int32_t>& vertices, const Matrix<const double>& starts,
                              const Matrix<T>& out, int n_threads) {
    run_released(n_threads, [&](const Context& context) {
        geodesic_distances(csr(offsets, columns, values), {view(vertices), view(starts)}, view(out), context);
    });
}

template <class T>
void define_geodesics(nb::module_& m, const char* name) {
    m.def(name, &bound_geodesic_distances<T>, nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("vertices").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("out").noconvert(), nb::arg("n_threads"),
          "Writes lengths (n_sources, n) of shortest paths from vertices (n_sources, width) reached at `starts`.");
}

}  // namespace

void register_geodesics(nb::module_& m) {
    define_geodesics<float>(m, "geodesic_distances_single");
    define_geodesics<double>(m, "geodesic_distances_double");
}

}  // namespace gnomon::bindings
