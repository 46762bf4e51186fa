// The shortest trees of neighbourhoods in a map.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Prim's algorithm from each of some rows (m) over its neighbours (n, k) whose `used` (n, k) is true; places (n, d).
/// Step s writes the length of its edge in `edges` (m, k) and in `joined` (m, k) which place it joins to those before,
/// 0 for the row itself, 1 for its first neighbour; NaN and 0 past the last. A row without a place has no edges.
void shortest_trees(Span2<const double> places, Span2<const std::int32_t> neighbors, Span2<const bool> used,
                    std::span<const std::int64_t> rows, Span2<double> edges, Span2<std::int64_t> joined,
                    const Context& context);

}  // namespace gnomon
