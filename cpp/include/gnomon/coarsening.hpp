// Ever smaller graphs that look alike from afar: strongly connected nodes are merged into one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gnomon/csr_matrix.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

struct Coarsening {
    std::vector<std::int32_t> aggregate;  ///< node of the coarse graph for each node of the fine one
    CsrMatrix graph;                      ///< weights between aggregates summed; within one: its diagonal entry
};

/// Merges each node with up to 7 strong neighbours that are still free, in order of the nodes.
/// Row sums of the coarse graph are the sums of the row sums of the nodes merged.
Coarsening coarsen(const CsrView<float>& graph, const Context& context);

/// The nodes of the finest graph, those that are merged side by side, on every level of a chain that is not empty.
std::vector<std::int32_t> nested_order(std::span<const Coarsening> chain);

}  // namespace gnomon
