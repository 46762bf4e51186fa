// Lengths of shortest paths in a sparse graph, from many sources at a time.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Where paths begin: the starts of source s are vertices (n_sources, width), reached at lengths (n_sources, width);
/// infinite lengths count as absent.
struct PathStarts {
    Span2<const std::int32_t> vertices;
    Span2<const double> lengths;
};

/// Writes the length of the shortest path from each source to each vertex (n_sources, n), inf where there is none.
/// `graph` is symmetric, its values >= 0; those of 0 are edges. A length is the smallest of all paths' sums, each
/// summed in double from the source on, so that neither threads nor the order of the work matter.
template <class T>
void geodesic_distances(const CsrView<float>& graph, const PathStarts& starts, Span2<T> lengths,
                        const Context& context);

extern template void geodesic_distances(const CsrView<float>&, const PathStarts&, Span2<float>, const Context&);
extern template void geodesic_distances(const CsrView<float>&, const PathStarts&, Span2<double>, const Context&);

}  // namespace gnomon
