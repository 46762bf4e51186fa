// Orthonormal frames of the local tangent spaces of a table, held as coefficients of the neighbours' displacements.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/local_gram.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// What tangent_frames writes for each listed point; zeros where there is no frame.
struct FrameOutputs {
    Span2<double> values;               ///< (n, m): singular values, descending
    Span2<double> coefficients;         ///< (n, k * m): V_i = sum_j (x_j - x_i) coefficients_ij; may have no columns
    std::span<double> total;            ///< (n): sum of all squared singular values
    std::span<std::int32_t> dimension;  ///< (n): smallest number of directions that hold variance_share
    std::span<std::int32_t> gap;        ///< (n): number of directions before the largest drop of the singular values
};

/// For each listed point the leading singular values and right singular vectors of its weighted displacements.
/// Directions of singular value at most 1e-6 of the largest are left out: their columns are zero.
void tangent_frames(const RowSource& X, const Neighborhoods& neighborhoods, std::span<const std::int64_t> rows,
                    double variance_share, const FrameOutputs& out, const Context& context);

/// Frames of n_listed points as tangent_frames left them, of the points `rows`.
struct Frames {
    Neighborhoods neighborhoods;
    std::span<const std::int64_t> rows;
    Span2<const double> coefficients;  ///< (n_listed, k * m)
};

/// Writes the frames at `positions` of the list as (n, m * D), one direction after the other.
void expand_frames(const RowSource& X, const Frames& frames, std::span<const std::int64_t> positions, Span2<double> out,
                   const Context& context);
void expand_frames(const RowSource& X, const Frames& frames, std::span<const std::int64_t> positions, Span2<float> out,
                   const Context& context);

/// Root of the squares of row f of each frame, its columns multiplied by `scales` (n_listed, m): (n, D), which may have
/// no rows, and the mean over the points `defined`.
void frame_importance(const RowSource& X, const Frames& frames, Span2<const double> scales,
                      std::span<const std::uint8_t> defined, Span2<float> out, std::span<double> mean,
                      const Context& context);

/// Weighted root mean square of x_jf - x_if over the neighbours: (n, D), which may have no rows, and the mean.
void local_deviation(const RowSource& X, const Frames& frames, std::span<const std::uint8_t> defined, Span2<float> out,
                     std::span<double> mean, const Context& context);

/// For each edge (a, b), two positions in `frames` (n, m * D): sum of the singular values of V_a'V_b (nuclear) or
/// of their squares.
void frame_overlaps(Span2<const float> frames, std::size_t n_directions, Span2<const std::int32_t> edges, bool nuclear,
                    std::span<double> out, const Context& context);

}  // namespace gnomon
