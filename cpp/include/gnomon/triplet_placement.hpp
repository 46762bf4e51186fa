// New points among the fixed points of a map by triplets: nearer to some neighbours than to points of reference.
#pragma once

#include <cstdint>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// What rows are placed by: the neighbours of each (m, k), and far points (a, d) that all share.
struct TripletPlacement {
    Span2<const float> points;  ///< the map, (n, d)
    Span2<const float> far;     ///< (a, d)
    int max_iter = 100;
    double tolerance = 1e-4;  ///< a point rests when a step is no longer than this
};

/// Minimises sum_jl w_jl D_j / (D_j + D_l), D = 1 + squared distance, j the neighbours of a row and l the far points,
/// for each row of weights (m, k a). Begins at the best of the neighbours' mean and places. Writes positions (m, d) and
/// losses (m, 2): at the mean and at the end, which is never higher. A row is a function of itself alone.
void place_by_triplets(const TripletPlacement& placement, Span2<const std::int32_t> neighbors,
                       Span2<const float> weights, Span2<float> positions, Span2<double> losses,
                       const Context& context);

}  // namespace gnomon
