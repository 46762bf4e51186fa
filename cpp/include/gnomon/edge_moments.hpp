// Second moments of a map's displacements along the edges of a graph, weighted by the output kernel, and the gradient
// of any function of them. With a = y_i - y_j over the edges of point i and k = k(|a|^2),
//
//   M_i = sum_j k a a' / sum_j k.
//
// Symmetric matrices of order d are packed as their upper triangle, row by row: d (d + 1) / 2 numbers.
#pragma once

#include <span>

#include "gnomon/output_kernels.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// totals (n, d (d + 1) / 2): sum_j k a a', packed; sums (n): sum_j k. Edges of weight 0 do not count.
void edge_moments(const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y, Span2<double> totals,
                  std::span<double> sums, const Context& context);

/// The gradient of L(M_1, ..., M_n) for a graph whose edges are stored from both ends. A row of `slopes`, of length
/// d (d + 1) / 2 + 1, holds G_i / sum_j k, packed, with G_i = dL/dM_i, and <G_i, M_i> / sum_j k. out: (n, d).
void edge_moment_gradient(const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y,
                          Span2<const float> slopes, Span2<float> out, const Context& context);

}  // namespace gnomon
