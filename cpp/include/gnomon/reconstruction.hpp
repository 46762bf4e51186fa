// Weights that rebuild each row from its neighbours: the affine or convex combination of them that lies nearest.
#pragma once

#include <cstdint>

#include "gnomon/parallel.hpp"
#include "gnomon/rows.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

struct ReconstructionParams {
    double regularization;  ///< > 0, added to the diagonal in units of the sum of the squared distances
    bool non_negative;      ///< weights of a convex combination; else their sum alone is fixed
};

/// Minimises |x_i - sum_j w_ij x_j|^2 + regularization * sum_j |x_j - x_i|^2 * |w_i|^2 with sum_j w_ij = 1.
///
/// indices, present (n, k): neighbours of each row; those with present == 0 are not read and get weight 0.
/// weights (n, k): rows sum to 1, or to 0 without any neighbour; equal where all neighbours lie on the point.
void reconstruction_weights(const RowSource& X, Span2<const std::int32_t> indices, Span2<const float> present,
                            const ReconstructionParams& params, Span2<double> weights, const Context& context);

}  // namespace gnomon
