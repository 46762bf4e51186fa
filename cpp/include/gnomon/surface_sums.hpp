// Sums over pairs of points of a curved surface, by geodesic distances: forces are vectors at the points, the slope of
// the law at the squared distance times the vector that leads away from the other point.
#pragma once

#include <span>
#include <vector>

#include "gnomon/pair_laws.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/sampled_descent.hpp"
#include "gnomon/span.hpp"
#include "gnomon/surfaces.hpp"

namespace gnomon {

/// The points of a map on a surface and Adam's averages, of the force (n, width) and of its square (n).
struct SurfaceState {
    Span2<double> Y, first_moment;
    std::span<double> second_moment;
};

/// The epochs [begin, end) of sampled_epochs on a surface: no axis is preferred, and each point moves along a geodesic.
void surface_epochs(const Surface& surface, const CsrView<float>& edges, const SamplingWeights& weights,
                    const OutputKernel& kernel, const SamplingParameters& parameters, const SampledSchedule& schedule,
                    std::int64_t begin, std::int64_t end, const SurfaceState& state, const Context& context);

/// energies_i = sum_l v_l F(d_il^2) and force_i = -sum_l v_l dF/ds(d_il^2) log_i(y_l), the vector from z_i to y_l, over
/// the points l of Y, without l = i where `own` says that Z is Y. An empty v counts as 1.
void surface_pair_sums(const Surface& surface, PairLaw law, const OutputKernel& kernel, Span2<const double> Z,
                       Span2<const double> Y, std::span<const float> v, bool own, std::span<double> energies,
                       Span2<double> force, const Context& context);

}  // namespace gnomon
