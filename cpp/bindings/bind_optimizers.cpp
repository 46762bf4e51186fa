#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>

#include "gnomon/adam.hpp"
#include "gnomon/distance_placement.hpp"
#include "gnomon/momentum.hpp"
#include "gnomon/sampled_descent.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

using MutablePoints = Matrix<float>;

template <class T>
void check_moments(const Arguments& check, const Matrix<T>& Y, const Matrix<T>& first, const Matrix<T>& second) {
    check.shape("first_moment", first, Y.shape(0), Y.shape(1));
    check.shape("second_moment", second, Y.shape(0), Y.shape(1));
}

template <class T>
std::pair<double, double> bind_momentum_step(const Matrix<T>& Y, const Matrix<const T>& gradient,
                                             const Matrix<T>& velocity, const Matrix<T>& gains,
                                             const MomentumParameters& parameters, int n_threads,
                                             const std::optional<Vector<const T>>& pull) {
    const Arguments check("momentum_step");
    if (pull) check.length("pull", *pull, Y.shape(0));
    check.shape("gradient", gradient, Y.shape(0), Y.shape(1));
    check.shape("velocity", velocity, Y.shape(0), Y.shape(1));
    check.shape("gains", gains, Y.shape(0), Y.shape(1));
    StepReport report{};
    run_released(n_threads, [&](const Context& context) {
        report = momentum_step(view(Y), view(gradient), pull ? view(*pull) : std::span<const T>(), view(velocity),
                               view(gains), parameters, context);
    });
    return {report.gradient_norm, report.step_norm};
}

template <class T>
std::pair<double, double> bind_adam_step(const Matrix<T>& Y, const Matrix<const T>& gradient,
                                         const Matrix<T>& first_moment, const Matrix<T>& second_moment,
                                         const AdamParameters& parameters, std::int64_t iteration, int n_threads) {
    const Arguments check("adam_step");
    check.shape("gradient", gradient, Y.shape(0), Y.shape(1));
    check_moments(check, Y, first_moment, second_moment);
    check.at_least("iteration", iteration, 0);
    StepReport report{};
    run_released(n_threads, [&](const Context& context) {
        report =
            adam_step(view(Y), view(gradient), view(first_moment), view(second_moment), parameters, iteration, context);
    });
    return {report.gradient_norm, report.step_norm};
}

void bind_sampled_epochs(const Graph& edges, const Values& u, const Values& v, const OutputKernel& kernel,
                         const SamplingParameters& parameters, const SampledSchedule& schedule, std::int64_t begin,
                         std::int64_t end, const MutablePoints& Y, const MutablePoints& first_moment,
                         const MutablePoints& second_moment, const Matrix<const float>& added, int n_threads,
                         const std::optional<Values>& zoom) {
    const Arguments check("sampled_epochs");
    check_points(check, edges, Y);
    check_moments(check, Y, first_moment, second_moment);
    check.shape_if_any("added", added, Y.shape(0), Y.shape(1));
    check.length("u", u, edges.n());
    check.length_if_any("v", v, edges.n());
    const std::span<const float> zooms = zoom ? view(*zoom) : std::span<const float>{};
    if (zoom) check.length("zoom", *zoom, edges.n());
    check.at_least("begin", begin, 0);
    check.at_least("end", end, begin);
    run_released(n_threads, [&](const Context& context) {
        sampled_epochs(edges.view(), {view(u), view(v), zooms}, kernel, parameters, schedule, begin, end,
                       {view(Y), view(first_moment), view(second_moment)}, view(added), context);
    });
}

/// The steps of one number type; their names are overloaded by it.
template <class T>
void register_steps(nb::module_& m) {
    m.def("momentum_step", &bind_momentum_step<T>, nb::arg("Y").noconvert(), nb::arg("gradient").noconvert(),
          nb::arg("velocity").noconvert(), nb::arg("gains").noconvert(), nb::arg("parameters"), nb::arg("n_threads"),
          nb::arg("pull").noconvert() = nb::none(),
          "Move Y one step, in place; return (norm of the gradient, norm of the step). The gradient at each point is "
          "divided by its pull first.");
    m.def("adam_step", &bind_adam_step<T>, nb::arg("Y").noconvert(), nb::arg("gradient").noconvert(),
          nb::arg("first_moment").noconvert(), nb::arg("second_moment").noconvert(), nb::arg("parameters"),
          nb::arg("iteration"), nb::arg("n_threads"),
          "Move Y one step, in place; return (norm of the gradient, norm of the step).");
}

}  // namespace

void register_optimizers(nb::module_& m) {
    nb::class_<MomentumParameters>(m, "MomentumParameters", "How momentum_step moves.")
        .def(
            "__init__",
            [](MomentumParameters* self, double learning_rate, double momentum, double max_step, bool gains,
               bool centered) { new (self) MomentumParameters{learning_rate, momentum, max_step, gains, centered}; },
            nb::arg("learning_rate"), nb::arg("momentum"), nb::arg("max_step"), nb::arg("gains"), nb::arg("centered"));
    nb::class_<AdamParameters>(m, "AdamParameters", "How adam_step moves.")
        .def(
            "__init__",
            [](AdamParameters* self, double learning_rate, double decay1, double decay2, double epsilon) {
                new (self) AdamParameters{learning_rate, decay1, decay2, epsilon};
            },
            nb::arg("learning_rate"), nb::arg("decay1"), nb::arg("decay2"), nb::arg("epsilon"));
    register_steps<float>(m);
    register_steps<double>(m);
    nb::class_<SampledSchedule>(m, "SampledSchedule", "How the learning rate of sampled epochs falls.")
        .def(
            "__init__",
            [](SampledSchedule* self, float learning_rate, std::int64_t max_epochs, bool isotropic, bool quadratic) {
                new (self) SampledSchedule{learning_rate, max_epochs, isotropic, quadratic};
            },
            nb::arg("learning_rate"), nb::arg("max_epochs"), nb::arg("isotropic") = false,
            nb::arg("quadratic") = false);
    m.def(
        "sampled_epochs", &bind_sampled_epochs, nb::arg("edges"), nb::arg("u").noconvert(), nb::arg("v").noconvert(),
        nb::arg("kernel"), nb::arg("parameters"), nb::arg("schedule"), nb::arg("begin"), nb::arg("end"),
        nb::arg("Y").noconvert(), nb::arg("first_moment").noconvert(), nb::arg("second_moment").noconvert(),
        nb::arg("added").noconvert(), nb::arg("n_threads"), nb::arg("zoom").noconvert() = nb::none(),
        "Run the epochs [begin, end) in place; added forces (n, d), in units of the edges' scale, or no rows; zoom as "
        "in sampled_forces.");
    m.def(
        "place_by_distances",
        [](const Matrix<double>& y, const Matrix<const double>& anchors, const Matrix<const double>& delta,
           const Matrix<const double>& weights, int max_iter, double tol, int n_threads) {
            const Arguments check("place_by_distances");
            check.components(y.shape(1));
            check.equal("the number of columns of anchors", anchors.shape(1), y.shape(1));
            check.shape("distances", delta, y.shape(0), anchors.shape(0));
            check.shape_if_any("weights", weights, y.shape(0), anchors.shape(0));
            run_released(n_threads, [&](const Context& context) {
                place_by_distances(view(y), view(anchors), view(delta), view(weights), max_iter, tol, context);
            });
        },
        nb::arg("Y").noconvert(), nb::arg("anchors").noconvert(), nb::arg("distances").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("max_iter"), nb::arg("tol"), nb::arg("n_threads"),
        "Lower sum_j w_ij (delta_ij - |y_i - z_j|)^2 of each point in place; weights that are empty count as 1.");
}

}  // namespace gnomon::bindings
