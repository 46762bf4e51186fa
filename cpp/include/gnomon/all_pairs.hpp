// The dense half of a neighbour embedding, summed over all pairs: the reference that every faster evaluation is
// measured against, and the fastest one for a few thousand points.
#pragma once

#include <span>

#include "gnomon/output_kernels.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// What one ordered pair contributes: a coefficient c_ij of the force and an energy e_ij.
enum class PairLaw {
    partition,            ///< c = -k', e = k: the normaliser of a Kullback-Leibler divergence
    cross_entropy_force,  ///< c = (w_i + w_j) push(max(s, floor)), e = 0
    cross_entropy_energy  ///< c = 0, e = -(w_i + w_j) log(1 - k), continued linearly in s below the floor
};

/// Squared distance below which the repulsion of a cross-entropy is held constant (infinite at 0 otherwise).
inline constexpr float kRepulsionFloor = 1e-3F;

/// force_i = sum_j c_ij (y_i - y_j) over j != i; returns sum_ij e_ij. Y, force: (n, d); weights: (n), or empty where
/// the law has none. Lanes in float32, blocks of 1024 terms in double.
double all_pairs(PairLaw law, Span2<const float> Y, std::span<const float> weights, const OutputKernel& kernel,
                 Span2<float> force, const Context& context);

}  // namespace gnomon
