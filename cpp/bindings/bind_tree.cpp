#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "gnomon/tree.hpp"

namespace gnomon::bindings {
namespace {

using Points = Matrix<const float>;
using ForceAndEnergy = std::pair<Output<float>, double>;

ForceAndEnergy evaluate(Tree& tree, const std::string& law, const Points& Y, const Values& u, const Values& v,
                        const OutputKernel& kernel, int n_threads, bool with_energy) {
    auto force = make_output<float>({Y.shape(0), Y.shape(1)});
    double energy = 0;
    run_released(n_threads, [&](const Context& context) {
        energy = tree.evaluate(pair_law(law), view(Y), view(u), view(v), kernel, with_energy,
                               {force.data(), Y.shape(0), Y.shape(1)}, context);
    });
    return {force, energy};
}

ForceAndEnergy tree_sums(const std::string& law, const Points& Y, const Values& u, const Values& v,
                         const OutputKernel& kernel, float theta, int n_threads, bool with_energy) {
    Tree tree(theta);
    return evaluate(tree, law, Y, u, v, kernel, n_threads, with_energy);
}

}  // namespace

void register_tree(nb::module_& m) {
    nb::class_<Tree>(m, "Tree", "Barnes-Hut sums over all pairs of points in 1, 2 or 3 dimensions; keeps its memory.")
        .def(nb::init<float>(), nb::arg("theta"))
        .def("evaluate", &evaluate, nb::arg("law"), nb::arg("Y").noconvert(), nb::arg("u").noconvert(),
             nb::arg("v").noconvert(), nb::arg("kernel"), nb::arg("n_threads"), nb::arg("with_energy") = true,
             "(sum_j w_ij F'(k_ij) k'(s_ij) (y_i - y_j), sum_{i != j} w_ij F(k_ij)), w_ij = u_i v_j + v_i u_j, or 1 "
             "where u and v are empty; without energy the second is 0.");
    m.def("tree_sums", &tree_sums, nb::arg("law"), nb::arg("Y").noconvert(), nb::arg("u").noconvert(),
          nb::arg("v").noconvert(), nb::arg("kernel"), nb::arg("theta"), nb::arg("n_threads"),
          nb::arg("with_energy") = true, "What Tree(theta).evaluate gives.");
}

}  // namespace gnomon::bindings
