// Descent of a cross-entropy with sampled repulsion: every epoch each point feels all its edges, weighted, and a few
// points drawn at random, and moves by Adam. Points read the last epoch's positions only, so no two threads meet.
#pragma once

#include <cstdint>

#include "gnomon/sampled_forces.hpp"

namespace gnomon {

struct SampledSchedule {
    float learning_rate = 1.0F;  ///< falls linearly to 0 at epoch max_epochs
    std::int64_t max_epochs = 200;
    /// Whether rotating the start rotates the result, up to rounding: Adam's average of squares is that of a point's
    /// components, and the limit of a pair's force bounds its length. Else both are each component's own.
    bool isotropic = false;
};

/// The embedding and Adam's averages of the force and of its square; (n, d) each.
struct SampledState {
    Span2<float> Y, first_moment, second_moment;
};

/// Runs the epochs [begin, end). The epoch number alone decides draws and learning rate, so blocks of epochs join
/// without a seam. `added`, (n, d) or no rows, joins the forces of each of them, in units of the edges' scale.
void sampled_epochs(const CsrView<float>& edges, const SamplingWeights& weights, const OutputKernel& kernel,
                    const SamplingParameters& parameters, const SampledSchedule& schedule, std::int64_t begin,
                    std::int64_t end, const SampledState& state, Span2<const float> added, const Context& context);

}  // namespace gnomon
