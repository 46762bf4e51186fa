// Descent of a cross-entropy with sampled repulsion: every epoch each point feels its edges, weighted, all or by turns,
// and a few points drawn at random, and moves by Adam. Points read the last epoch's positions only, so no two threads
// meet.
#pragma once

#include <cstdint>

#include "gnomon/sampled_forces.hpp"

namespace gnomon {

struct SampledSchedule {
    float learning_rate = 1.0F;  ///< falls to 0 at epoch max_epochs
    std::int64_t max_epochs = 200;
    /// Whether rotating the start rotates the result, up to rounding: Adam's average of squares is that of a point's
    /// components, and the limit of a pair's force bounds its length. Else both are each component's own.
    bool isotropic = false;
    bool quadratic = false;  ///< whether the rate falls as the square of the epochs left; else in proportion to them
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

/// Rows [first, first + own) of a whole map, with what an epoch moves them by.
struct OwnedRows {
    std::size_t first = 0;
    /// Columns count the own rows and then those of `halo`, which have no edges of their own here.
    const CsrView<float>& edges;
    std::span<const float> u;
    std::span<const std::int32_t>
        halo;  ///< rows of the whole map: those after the own ones, and then those before, ascending
};

/// Runs one epoch of these rows; each comes out as sampled_epochs of the whole map has it. first is a multiple of 64.
/// known: the rows of the whole map whose places are given: the own ones, the halo, and what mark_draws marks.
/// places, (known, d): from those of the first row on, and then those before it; where the halo is all other known
/// rows, nothing is copied. state: Y is written alone, the averages are moved on.
void sampled_epoch_of(const OwnedRows& owned, const OutputKernel& kernel, const SamplingParameters& parameters,
                      const SampledSchedule& schedule, std::int64_t epoch, const ConstRowSet& known,
                      Span2<const float> places, const SampledState& state, const Context& context);

}  // namespace gnomon
