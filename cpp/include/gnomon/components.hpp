// Which nodes of a graph hang together.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/span.hpp"

namespace gnomon {

/// labels (n): the connected component of each node, an edge taken in both directions, numbered from 0 in the order of
/// their first nodes.
void graph_components(const CsrView<float>& graph, std::span<std::int32_t> labels);

}  // namespace gnomon
