#include <nanobind/stl/pair.h>

#include "checks.hpp"
#include "gnomon/placement.hpp"

namespace gnomon::bindings {
namespace {

using Points = Matrix<const float>;

std::pair<Output<float>, Output<double>> bind_place_points(const Points& targets, const Points& anchors,
                                                           const Values& weights, const Points& candidates,
                                                           const Vector<const std::int32_t>& own,
                                                           const OutputKernel& kernel, int n_starts, int max_iter,
                                                           int n_threads) {
    const Arguments check("place_points");
    const std::size_t n = targets.shape(0), d = anchors.shape(1);
    check.components(d);
    check.equal("the number of columns of targets", targets.shape(1), anchors.shape(0));
    check.length("weights", weights, anchors.shape(0));
    check.equal("the number of columns of candidates", candidates.shape(1), d);
    check.at_least("the number of candidates", static_cast<std::int64_t>(candidates.shape(0)), 1);
    check.length("own", own, n);
    check.at_most("the number of anchors", anchors.shape(0), INT32_MAX);
    check.indices("own", view(own), anchors.shape(0), INT32_MIN);
    check.at_least("n_starts", n_starts, 1);
    auto positions = make_output<float>({n, d});
    auto energies = make_output<double>({n});
    run_released(n_threads, [&](const Context& context) {
        place_points({kernel, view(anchors), view(weights), view(candidates), n_starts, max_iter}, view(targets),
                     view(own), {positions.data(), n, d}, {energies.data(), n}, context);
    });
    return {positions, energies};
}

}  // namespace

void register_placement(nb::module_& m) {
    m.def("place_points", &bind_place_points, nb::arg("targets").noconvert(), nb::arg("anchors").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("candidates").noconvert(), nb::arg("own").noconvert(),
          nb::arg("kernel"), nb::arg("n_starts"), nb::arg("max_iter"), nb::arg("n_threads"),
          "(positions, energies) that minimise sum_j weights_j (k(|y - anchor_j|^2) - targets_ij)^2 for each row, from "
          "the best candidates; row i leaves the anchor own_i out unless it is negative.");
}

}  // namespace gnomon::bindings
