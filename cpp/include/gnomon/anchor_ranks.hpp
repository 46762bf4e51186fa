// How the ranks of all rows, seen from a few of them, compare between the data and a map, for neighbourhoods of any
// size.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// What to sum. Ranks count from 1, the nearest; equal distances are ranked by row number. r is a rank in the data, e
/// the rank of the same row in the map.
struct AnchorRankParams {
    std::span<const std::int64_t> sizes;   ///< (g): sizes k of neighbourhoods, ascending, each in [1, n - 1]
    std::span<const double> weights;       ///< (n): weight of a row whose max(r, e) is the place in this list
    std::span<const std::int32_t> groups;  ///< (m): group of each anchor, for `coranked`
    double unit = 1.0;                     ///< what a distance is multiplied by to be in units of the data
    bool squared = false;                  ///< whether distances are squares; then their root is multiplied
    std::uint64_t seed = 0;                ///< of the pairs
};

/// One entry or row for each of the m anchors, but for `coranked`, which has one for each group of anchors. Exact for
/// the distances given.
struct AnchorRankOutputs {
    Span2<std::int32_t> nearest_in_data;  ///< (m, any number up to n - 1): row numbers, nearest first
    Span2<std::int32_t> nearest_in_map;   ///< (m, the same number)
    Span2<std::int64_t> shared;           ///< (m, g): rows with max(r, e) <= k
    Span2<std::int64_t> intruders;        ///< (m, g): sum of r - k over rows with e <= k < r
    Span2<std::int64_t> extruders;        ///< (m, g): sum of e - k over rows with r <= k < e
    Span2<double> errors_in_map;          ///< (m, g): sum of |r - e| / e over rows with e <= k
    Span2<double> errors_in_data;         ///< (m, g): sum of |r - e| / r over rows with r <= k
    std::span<double> weighted;           ///< (m): sum of the weights
    std::span<std::int64_t> discordant;  ///< (m): pairs of rows in opposite order, counted twice, ties on one side once
    Span2<double> moments;               ///< (m, 5): sums of x, y, x^2, y^2, x y over the distances to other rows
    Span2<double> data_distances;        ///< (m, p): to p rows drawn at random, with replacement
    Span2<double> map_distances;         ///< (m, p): to the same rows in the map
    Span2<std::int64_t> coranked;        ///< (groups, n): pairs of an anchor and a row by max(r, e)
};

/// Compares anchors from their rows of distances to all n rows of the data. `distances` (m, n) may be any increasing
/// function of the true distances; Y (n, d) holds all places; `anchors` (m) the row numbers; 3 <= n < 2^31.
void rank_anchors(Span2<const float> distances, Span2<const double> Y, std::span<const std::int64_t> anchors,
                  const AnchorRankParams& params, const AnchorRankOutputs& out, const Context& context);
void rank_anchors(Span2<const double> distances, Span2<const double> Y, std::span<const std::int64_t> anchors,
                  const AnchorRankParams& params, const AnchorRankOutputs& out, const Context& context);

}  // namespace gnomon
