#include <nanobind/stl/pair.h>

#include "arrays.hpp"
#include "gnomon/adam.hpp"
#include "gnomon/distance_placement.hpp"
#include "gnomon/momentum.hpp"
#include "gnomon/sampled_descent.hpp"

namespace gnomon::bindings {
namespace {

using MutablePoints = Matrix<float>;

template <class T>
std::pair<double, double> bind_momentum_step(const Matrix<T>& Y, const Matrix<const T>& gradient,
                                             const Matrix<T>& velocity, const Matrix<T>& gains,
                                             const MomentumParameters& parameters, int n_threads) {
    StepReport report{};
    run_released(n_threads, [&](const Context& context) {
        report = momentum_step(view(Y), view(gradient), view(velocity), view(gains), parameters, context);
    });
    return {report.gradient_norm, report.step_norm};
}

template <class T>
std::pair<double, double> bind_adam_step(const Matrix<T>& Y, const Matrix<const T>& gradient,
                                         const Matrix<T>& first_moment, const Matrix<T>& second_moment,
                                         const AdamParameters& parameters, std::int64_t iteration, int n_threads) {
    StepReport report{};
    run_released(n_threads, [&](const Context& context) {
        report =
            adam_step(view(Y), view(gradient), view(first_moment), view(second_moment), parameters, iteration, context);
    });
    return {report.gradient_norm, report.step_norm};
}

void bind_sampled_epochs(const Offsets& offsets, const Columns& columns, const Values& values, const Values& u,
                         const Values& v, const OutputKernel& kernel, const SamplingParameters& parameters,
                         const SampledSchedule& schedule, std::int64_t begin, std::int64_t end, const MutablePoints& Y,
                         const MutablePoints& first_moment, const MutablePoints& second_moment,
                         const Matrix<const float>& added, int n_threads) {
    run_released(n_threads, [&](const Context& context) {
        sampled_epochs(csr(offsets, columns, values), {view(u), view(v)}, kernel, parameters, schedule, begin, end,
                       {view(Y), view(first_moment), view(second_moment)}, view(added), context);
    });
}

/// The steps of one number type; their names are overloaded by it.
template <class T>
void register_steps(nb::module_& m) {
    m.def("momentum_step", &bind_momentum_step<T>, nb::arg("Y").noconvert(), nb::arg("gradient").noconvert(),
          nb::arg("velocity").noconvert(), nb::arg("gains").noconvert(), nb::arg("parameters"), nb::arg("n_threads"),
          "Move Y one step, in place; return (norm of the gradient, norm of the step).");
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
               bool centered) {
                new (self) MomentumParameters{learning_rate, momentum, max_step, gains, centered};
            },
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
            [](SampledSchedule* self, float learning_rate, std::int64_t max_epochs, bool isotropic) {
                new (self) SampledSchedule{learning_rate, max_epochs, isotropic};
            },
            nb::arg("learning_rate"), nb::arg("max_epochs"), nb::arg("isotropic") = false);
    m.def("sampled_epochs", &bind_sampled_epochs, nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(),
          nb::arg("values").noconvert(), nb::arg("u").noconvert(), nb::arg("v").noconvert(), nb::arg("kernel"),
          nb::arg("parameters"), nb::arg("schedule"), nb::arg("begin"), nb::arg("end"), nb::arg("Y").noconvert(),
          nb::arg("first_moment").noconvert(), nb::arg("second_moment").noconvert(), nb::arg("added").noconvert(),
          nb::arg("n_threads"),
          "Run the epochs [begin, end) in place; added forces (n, d), in units of the edges' scale, or no rows.");
    m.def(
        "place_by_distances",
        [](const Matrix<double>& y, const Matrix<const double>& anchors, const Matrix<const double>& delta,
           const Matrix<const double>& weights, int max_iter, double tol, int n_threads) {
            run_released(n_threads, [&](const Context& context) {
                place_by_distances(view(y), view(anchors), view(delta), view(weights), max_iter, tol, context);
            });
        },
        nb::arg("Y").noconvert(), nb::arg("anchors").noconvert(), nb::arg("distances").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("max_iter"), nb::arg("tol"), nb::arg("n_threads"),
        "Lower sum_j w_ij (delta_ij - |y_i - z_j|)^2 of each point in place; weights that are empty count as 1.");
}

}  // namespace gnomon::bindings
