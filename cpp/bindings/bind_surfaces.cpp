#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "gnomon/surface_sums.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

void bind_surface_epochs(const Surface& surface, const Graph& edges, const Values& u, const Values& v,
                         const OutputKernel& kernel, const SamplingParameters& parameters,
                         const SampledSchedule& schedule, std::int64_t begin, std::int64_t end, const Matrix<double>& Y,
                         const Matrix<double>& first_moment, const Vector<double>& second_moment, int n_threads) {
    const Arguments check("surface_epochs");
    check.shape("Y", Y, edges.n(), surface.width());
    check.shape("first_moment", first_moment, edges.n(), surface.width());
    check.length("second_moment", second_moment, edges.n());
    check.length("u", u, edges.n());
    check.length_if_any("v", v, edges.n());
    check.at_least("begin", begin, 0);
    check.at_least("end", end, begin);
    run_released(n_threads, [&](const Context& context) {
        surface_epochs(surface, edges.view(), {view(u), view(v)}, kernel, parameters, schedule, begin, end,
                       {view(Y), view(first_moment), view(second_moment)}, context);
    });
}

std::pair<Output<double>, Output<double>> bind_surface_pair_sums(const Surface& surface, const std::string& law,
                                                                 const OutputKernel& kernel,
                                                                 const Matrix<const double>& Z,
                                                                 const Matrix<const double>& Y, const Values& v,
                                                                 bool own, int n_threads) {
    const Arguments check("surface_pair_sums");
    check.shape("Y", Y, Y.shape(0), surface.width());
    check.shape("Z", Z, own ? Y.shape(0) : Z.shape(0), surface.width());
    check.length_if_any("v", v, Y.shape(0));
    auto energies = make_output<double>({Z.shape(0)});
    auto force = make_output<double>({Z.shape(0), Z.shape(1)});
    run_released(n_threads, [&](const Context& context) {
        surface_pair_sums(surface, pair_law(law), kernel, view(Z), view(Y), view(v), own, {energies.data(), Z.shape(0)},
                          {force.data(), Z.shape(0), Z.shape(1)}, context);
    });
    return {energies, force};
}

}  // namespace

void register_surfaces(nb::module_& m) {
    nb::class_<Surface>(m, "Surface", "A sphere or hyperboloid of some radius.")
        .def(
            "__init__",
            [](Surface* self, const std::string& name, double radius) {
                new (self) Surface(surface_named(name, radius));
            },
            nb::arg("name"), nb::arg("radius"));
    m.def("surface_epochs", &bind_surface_epochs, nb::arg("surface"), nb::arg("edges"), nb::arg("u").noconvert(),
          nb::arg("v").noconvert(), nb::arg("kernel"), nb::arg("parameters"), nb::arg("schedule"), nb::arg("begin"),
          nb::arg("end"), nb::arg("Y").noconvert(), nb::arg("first_moment").noconvert(),
          nb::arg("second_moment").noconvert(), nb::arg("n_threads"),
          "Run the epochs [begin, end) on a surface, in place.");
    m.def("surface_pair_sums", &bind_surface_pair_sums, nb::arg("surface"), nb::arg("law"), nb::arg("kernel"),
          nb::arg("Z").noconvert(), nb::arg("Y").noconvert(), nb::arg("v").noconvert(), nb::arg("own"),
          nb::arg("n_threads"), "(energies, forces) of the points Z among all points Y; v weighs these (empty: 1).");
}

}  // namespace gnomon::bindings
