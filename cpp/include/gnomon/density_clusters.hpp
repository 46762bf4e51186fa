// Clusters of rows whose distances are written out, by density; equal distances are taken in one order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gnomon/span.hpp"

namespace gnomon {

/// HDBSCAN: the cluster of each row, -1 for none; excess of mass decides, and all rows may be one cluster.
///
/// distances (n, n): symmetric, positive but for zeros on the diagonal. n_core in [1, n]: the distance to how many
/// rows, the row itself counted, tells how dense it is around a row. min_size >= 2: fewest rows of a cluster. Rows join
/// in the order of the smallest spanning tree, grown from row 0; of equal distances the first in it, and the lowest
/// row, counts.
///
/// Campello, Moulavi & Sander, "Density-based clustering based on hierarchical density estimates", PAKDD 2013.
void density_clusters(Span2<const double> distances, std::size_t n_core, std::size_t min_size,
                      std::span<std::int64_t> labels);

}  // namespace gnomon
