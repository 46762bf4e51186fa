#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "gnomon/all_pairs.hpp"
#include "gnomon/attraction.hpp"
#include "gnomon/particle_mesh.hpp"
#include "gnomon/sampled_forces.hpp"

namespace gnomon::bindings {
namespace {

using Points = Matrix<const float>;
using FloatMatrix = nb::ndarray<nb::numpy, float, nb::ndim<2>>;

PairLaw pair_law(const std::string& name) {
    if (name == "partition") return PairLaw::partition;
    if (name == "cross_entropy_force") return PairLaw::cross_entropy_force;
    if (name == "cross_entropy_energy") return PairLaw::cross_entropy_energy;
    throw std::invalid_argument("unknown pair law");
}

Output<float> bind_attraction(const Offsets& offsets, const Columns& columns, const Values& values, const Points& Y,
                              const OutputKernel& kernel, float scale, const Points& base, float base_scale,
                              int n_threads) {
    auto out = make_output<float>({Y.shape(0), Y.shape(1)});
    run_released(n_threads, [&](const Context& context) {
        attraction(csr(offsets, columns, values), view(Y), kernel, scale, view(base), base_scale,
                   {out.data(), Y.shape(0), Y.shape(1)}, context);
    });
    return out;
}

double bind_attraction_energy(const Offsets& offsets, const Columns& columns, const Values& values, const Points& Y,
                              const OutputKernel& kernel, int n_threads) {
    double energy = 0;
    run_released(n_threads, [&](const Context& context) {
        energy = attraction_energy(csr(offsets, columns, values), view(Y), kernel, context);
    });
    return energy;
}

nb::tuple bind_all_pairs(const std::string& law, const Points& Y, const Values& weights, const OutputKernel& kernel,
                         int n_threads) {
    auto force = make_output<float>({Y.shape(0), Y.shape(1)});
    double energy = 0;
    run_released(n_threads, [&](const Context& context) {
        energy =
            all_pairs(pair_law(law), view(Y), view(weights), kernel, {force.data(), Y.shape(0), Y.shape(1)}, context);
    });
    return nb::make_tuple(force, energy);
}

nb::tuple bind_evaluate(ParticleMesh& mesh, const Points& Y, int n_threads) {
    auto force = make_output<float>({Y.shape(0), Y.shape(1)});
    double energy = 0;
    run_released(n_threads, [&](const Context& context) {
        energy = mesh.evaluate(view(Y), {force.data(), Y.shape(0), Y.shape(1)}, context);
    });
    return nb::make_tuple(force, energy);
}

nb::tuple bind_sampled_forces(const Offsets& offsets, const Columns& columns, const Values& values,
                              const Values& degrees, const OutputKernel& kernel, const SamplingParameters& parameters,
                              std::int64_t epoch, const Points& Y, int n_threads) {
    const std::size_t n = Y.shape(0), d = Y.shape(1);
    auto attraction = make_output<float>({n, d}), repulsion = make_output<float>({n, d});
    run_released(n_threads, [&](const Context& context) {
        sampled_forces(csr(offsets, columns, values), view(degrees), kernel, parameters, epoch, view(Y),
                       {attraction.data(), n, d}, {repulsion.data(), n, d}, context);
    });
    return nb::make_tuple(attraction, repulsion);
}

}  // namespace

void register_objectives(nb::module_& m) {
    m.attr("max_components") = kMaxComponents;
    nb::class_<OutputKernel>(m, "OutputKernel",
                             "A similarity of two points of the embedding, known to the kernels by name.")
        .def(
            "__init__",
            [](OutputKernel* self, const std::string& name, float a, float b) {
                new (self) OutputKernel(output_kernel(name, a, b));
            },
            nb::arg("name"), nb::arg("a") = 1.0F, nb::arg("b") = 1.0F);
    m.def("attraction", &bind_attraction, nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("Y").noconvert(), nb::arg("kernel"), nb::arg("scale"),
          nb::arg("base").noconvert(), nb::arg("base_scale"), nb::arg("n_threads"),
          "scale * sum_j A_ij pull(s_ij) (y_i - y_j) + base_scale * base; a base without rows counts as 0.");
    m.def("attraction_energy", &bind_attraction_energy, nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("Y").noconvert(), nb::arg("kernel"), nb::arg("n_threads"),
          "sum_ij A_ij (-log k(s_ij)).");
    m.def("all_pairs", &bind_all_pairs, nb::arg("law"), nb::arg("Y").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("kernel"), nb::arg("n_threads"), "(sum_j c_ij (y_i - y_j), sum_ij e_ij) over all pairs i != j.");
    nb::class_<ParticleMesh>(m, "ParticleMesh",
                             "Sums of a smooth kernel over all pairs of points in 1 or 2 dimensions.")
        .def(nb::init<const OutputKernel&, float>(), nb::arg("kernel"), nb::arg("spacing"))
        .def("evaluate", &bind_evaluate, nb::arg("Y").noconvert(), nb::arg("n_threads"),
             "(sum_j -k'(s_ij) (y_i - y_j), sum_{i != j} k(s_ij)).")
        .def_prop_ro("spacing", &ParticleMesh::spacing, "Spacing of the mesh in the last evaluation, in units of Y.");
    nb::class_<SamplingParameters>(m, "SamplingParameters", "How the repulsion of an epoch is sampled.")
        .def(
            "__init__",
            [](SamplingParameters* self, std::uint64_t seed, float edge_scale, float repulsion, int n_draws,
               float force_limit) { new (self) SamplingParameters{seed, edge_scale, repulsion, n_draws, force_limit}; },
            nb::arg("seed"), nb::arg("edge_scale"), nb::arg("repulsion"), nb::arg("n_draws"), nb::arg("force_limit"));
    m.def("sampled_forces", &bind_sampled_forces, nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("degrees").noconvert(), nb::arg("kernel"), nb::arg("parameters"),
          nb::arg("epoch"), nb::arg("Y").noconvert(), nb::arg("n_threads"),
          "(attraction, repulsion) of one sampled epoch.");
}

}  // namespace gnomon::bindings
