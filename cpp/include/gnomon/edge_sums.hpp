// The sparse half of a loss: what the edges of a graph pull, or push.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gnomon/levels.hpp"
#include "gnomon/pair_laws.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Where sums of rows go, and what they are added to: base_scale * base, which may have no rows and then counts as 0.
struct AddedSums {
    Span2<const float> base;
    float base_scale;
    Span2<float> out;

    /// Writes the sums of `count` rows from i on, (count, d).
    GNOMON_INLINE void write(std::size_t i, std::size_t count, std::size_t d, const float* sums) const {
        float* to = out.row(i);
        const float* from = base.rows() == 0 ? nullptr : base.row(i);
        for (std::size_t c = 0; c < count * d; ++c) to[c] = from == nullptr ? sums[c] : sums[c] + base_scale * from[c];
    }
};

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
