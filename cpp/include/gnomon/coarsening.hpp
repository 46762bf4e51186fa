// Ever smaller graphs that look alike from afar: strongly connected nodes are merged into one.
#pragma once

#include <cstdint>
#include <vector>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// A square sparse matrix that owns its memory.
struct CsrMatrix {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> columns;
    std::vector<float> values;

    std::size_t rows() const { return offsets.size() - 1; }
    CsrView<float> view() const { return {offsets, columns, values}; }
};

struct Coarsening {
    std::vector<std::int32_t> aggregate;  ///< node of the coarse graph for each node of the fine one
    CsrMatrix graph;                      ///< weights between aggregates summed; within one: its diagonal entry
};

/// Merges each node with up to 7 strong neighbours that are still free, in order of the nodes.
/// Row sums of the coarse graph are the sums of the row sums of the nodes merged.
Coarsening coarsen(const CsrView<float>& graph, const Context& context);

}  // namespace gnomon
