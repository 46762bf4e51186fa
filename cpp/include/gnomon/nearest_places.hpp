// The nearest rows of every row of a map.
#pragma once

#include <cstdint>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Writes the nearest of all other rows of Y (n, d), finite, to each row, ascending by (squared distance, row number):
/// as many as `nearest` (n, k) has columns, k < n. Squares of coordinates are added one after the other. Fast in few
/// dimensions, where places that follow each other on a curve through space lie in small boxes.
void nearest_places(Span2<const double> Y, Span2<std::int32_t> nearest, const Context& context);

}  // namespace gnomon
