// Where the leading tangent directions of the data point in a map: the orthonormal frame closest to the local Jacobian.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// J_i = sum_j (y_j - y_i) coefficients_ij' over the neighbours of point i, of shape (d, rank_i), and its polar factor
/// Q_i, the closest matrix with orthonormal columns. Y: (n, d); indices: (n, k); coefficients: (n, k * L); ranks: (n),
/// at most min(d, L); frames: (n, d * L), row-major, columns from rank_i on 0, and all 0 where J_i has no full rank, so
/// that there is no closest frame. A neighbour with coefficients of 0 takes no part.
void embedding_frames(Span2<const float> Y, Span2<const std::int32_t> indices, Span2<const float> coefficients,
                      std::span<const std::int32_t> ranks, Span2<double> frames, const Context& context);

}  // namespace gnomon
