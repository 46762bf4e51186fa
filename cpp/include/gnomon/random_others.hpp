// Random points for every point: the partners of pairs and triplets that no neighbour graph proposes.
#pragma once

#include <cstdint>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Draws distinct points for every row i, uniformly among all but i itself and those in excluded(i, ...).
/// excluded: (n, e), entries in [0, n); out: (n, c), written, with c <= n - 1 - e.
/// Row i is a function of (seed, stream, i), n and its exclusions alone.
void random_others(std::uint64_t seed, std::uint64_t stream, Span2<const std::int32_t> excluded,
                   Span2<std::int32_t> out, const Context& context);

/// Where points drawn for a row must lie, and what it has where none is found.
struct Vicinity {
    Span2<const float> Y;                 ///< (n, d)
    float radius;                         ///< largest distance in Y
    int tries;                            ///< draws for each point wanted
    Span2<const std::int32_t> otherwise;  ///< (n, c), entries in [0, n), different in each row
};

/// Draws the same among the points within a radius in Y. Where as many draws as tries find none, one of otherwise(i,
/// ...) that the row does not have yet takes its place. Row i is a function of (seed, stream, i), n, its exclusions and
/// the vicinity alone.
void random_others_within(std::uint64_t seed, std::uint64_t stream, Span2<const std::int32_t> excluded,
                          const Vicinity& vicinity, Span2<std::int32_t> out, const Context& context);

}  // namespace gnomon
