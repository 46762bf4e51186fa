// Squared distances from a few rows of a table to all of them.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Writes to out (m, n) the squared distances from the rows `anchors` (m) of X (n, d) to all rows, of coordinates that
/// are first taken from `means` (d) and then times `scale`. Through inner products in float32; each pair's result
/// depends on its two rows alone, and is exactly 0 for equal rows. Those of bytes are sums of whole numbers, exact but
/// for one rounding; `means` do not enter them.
void anchor_squares(Span2<const float> X, std::span<const std::int64_t> anchors, std::span<const double> means,
                    double scale, Span2<float> out, const Context& context);
void anchor_squares(Span2<const double> X, std::span<const std::int64_t> anchors, std::span<const double> means,
                    double scale, Span2<float> out, const Context& context);
void anchor_squares(Span2<const std::uint8_t> X, std::span<const std::int64_t> anchors, std::span<const double> means,
                    double scale, Span2<float> out, const Context& context);

}  // namespace gnomon
