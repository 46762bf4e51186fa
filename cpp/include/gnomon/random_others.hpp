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

}  // namespace gnomon
