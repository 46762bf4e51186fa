// How well a map keeps the neighbours and the order of distances of a few rows, ranked against all rows.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

struct MapScoreParams {
    std::size_t n_neighbors = 15;
    std::uint64_t seed = 0;
};

/// One entry or row for each of the m anchors; K = n_neighbors. Everything is exact for the distances given; equal
/// distances are ranked by row number.
struct MapScoreOutputs {
    std::span<std::int64_t> intruders;   ///< (m): sum of max(0, rank in the data - K) over the K nearest in the map
    std::span<std::int64_t> extruders;   ///< (m): sum of max(0, rank in the map - K) over the K nearest in the data
    std::span<std::int32_t> shared;      ///< (m): size of the intersection of both sets of K nearest
    Span2<std::int32_t> nearest_in_map;  ///< (m, any number up to n - 1, at least K): ascending by distance
    std::span<std::int32_t> agreeing;    ///< (m): drawn triplets in the same order, counted twice, ties once
    Span2<double> data_distances;        ///< (m, n_triplets): from the anchor to the first row of each triplet
    Span2<double> map_distances;         ///< (m, n_triplets): the same in the map, squared
};

/// Scores anchors from their rows of distances to all n rows of the data. `distances` (m, n) may be any increasing
/// function of the true distances; Y (n, d) holds all places; `anchors` (m) the row numbers; n_neighbors < n.
void score_map(Span2<const float> distances, Span2<const double> Y, std::span<const std::int64_t> anchors,
               const MapScoreParams& params, const MapScoreOutputs& out, const Context& context);
void score_map(Span2<const double> distances, Span2<const double> Y, std::span<const std::int64_t> anchors,
               const MapScoreParams& params, const MapScoreOutputs& out, const Context& context);

/// Adds to sums and squares (n), for each column j, the number of bounds (k, n) in column j that distances (m, n) in
/// the same column are below: summed over the m rows, and its square; k at most 2048.
void count_below_bounds(Span2<const float> distances, Span2<const float> bounds, std::span<std::int64_t> sums,
                        std::span<std::int64_t> squares, const Context& context);
void count_below_bounds(Span2<const double> distances, Span2<const double> bounds, std::span<std::int64_t> sums,
                        std::span<std::int64_t> squares, const Context& context);

/// The same for the squared distances from the places of some rows (m) to all n places of a map.
void count_below_in_map(Span2<const double> places, std::span<const std::int64_t> rows, Span2<const double> bounds,
                        std::span<std::int64_t> sums, std::span<std::int64_t> squares, const Context& context);

/// Pairs of rows that follow each other in a list, and where all rows of a map are for either row of a pair.
struct SeenPairs {
    Span2<const double> first, second;    ///< (n, d): places as the first and the second row of a pair see them
    std::span<const std::int64_t> rows;   ///< (m): the list
    std::span<const std::int64_t> pairs;  ///< positions in the list of the first rows of the pairs, below m - 1
};

/// Adds to halves (n), for each row of the table, twice the number of pairs to whose rows its distances are in the same
/// order in the data, `distances` (m, n), and in the map; a tie on one side counts once.
void count_agreeing(Span2<const float> distances, const SeenPairs& seen, std::span<std::int64_t> halves,
                    const Context& context);
void count_agreeing(Span2<const double> distances, const SeenPairs& seen, std::span<std::int64_t> halves,
                    const Context& context);

/// Squared distances from the place of row i to all n places of a map.
void squared_map_distances(Span2<const double> Y, std::size_t i, double* out);

}  // namespace gnomon
