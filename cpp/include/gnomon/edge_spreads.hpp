// How far a map spreads along given directions around each point, and the gradient of any function of these spreads.
// With a = y_i - y_j over the edges of point i, k = k(|a|^2) and directions q_il,
//
//   M_i = sum_j k a a' / sum_j k,     spread_il = q_il' M_i q_il.
#pragma once

#include <span>

#include "gnomon/output_kernels.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Directions in the map and what was found along them. A row of frames holds a (d, L) matrix, row-major, whose columns
/// are the directions; a column of 0 is no direction.
struct Spreads {
    Span2<double> values;    ///< (n, L): spread_il; 0 where no similarity is left
    std::span<double> sums;  ///< (n): sum_j k
};

/// Edges of weight 0 do not count. frames: (n, d * L).
void edge_spreads(const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y,
                  Span2<const double> frames, const Spreads& spreads, const Context& context);

/// The gradient, (n, d), of a function of the spreads with these slopes, (n, L), frames held fixed. The graph's edges
/// are stored from both ends; spreads are those of Y.
void edge_spread_gradient(const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y,
                          Span2<const double> frames, const Spreads& spreads, Span2<const double> slopes,
                          Span2<float> out, const Context& context);

}  // namespace gnomon
