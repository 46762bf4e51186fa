// An order of points in which those that are near each other in a map are near each other in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "gnomon/span.hpp"

namespace gnomon {

/// The rows of a map (n, d) along a Morton curve through its first three components; rows that are not finite come
/// last. Kernels that read neighbours visit points in this order, so that neighbours are still in the cache.
std::vector<std::int32_t> map_order(Span2<const double> places);

}  // namespace gnomon
