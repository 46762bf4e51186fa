// The sparse half of a loss: what the edges of a graph pull, or push.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/pair_laws.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// out_i = scale * sum_j A_ij dF/ds(s_ij) (y_i - y_j) + base_scale * base_i; base may have no rows, which counts as 0.
/// For the law log, dF/ds = -k' / k. Y: (n, d); base, out: the same or fewer rows, the first ones. Each row is owned by
/// one chunk.
void edge_sums(PairLaw law, const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y, float scale,
               Span2<const float> base, float base_scale, Span2<float> out, const Context& context);

/// Sums of the rows of a matrix, added up in double from one row to the next within each block of some thousand rows.
void edge_degrees(std::span<const std::int64_t> offsets, std::span<const float> values, std::span<float> degrees,
                  const Context& context);

/// sum_ij A_ij F(s_ij).
double edge_energy(PairLaw law, const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y,
                   const Context& context);

}  // namespace gnomon
