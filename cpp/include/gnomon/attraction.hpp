// The sparse half of every neighbour embedding: what the edges of a graph pull.
#pragma once

#include "gnomon/output_kernels.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// out_i = scale * sum_j A_ij pull(s_ij) (y_i - y_j) + base_scale * base_i; base may have no rows, which counts as 0.
/// Y, base, out: (n, d). Each row is owned by one chunk.
void attraction(const CsrView<float>& edges, Span2<const float> Y, const OutputKernel& kernel, float scale,
                Span2<const float> base, float base_scale, Span2<float> out, const Context& context);

/// sum_ij A_ij (-log k(s_ij)).
double attraction_energy(const CsrView<float>& edges, Span2<const float> Y, const OutputKernel& kernel,
                         const Context& context);

}  // namespace gnomon
