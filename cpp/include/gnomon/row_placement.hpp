// New points among the fixed points of a map, each where its own loss is least:
//
//   L(y) = sum_j w_j A(|y - z_j|^2) + link(sum_l v_l B(|y - z_l|^2)),
//
// attraction A to a few neighbours, repulsion B from many sources, summed one by one or read off a table.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/pair_laws.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// scale * F(k(s)).
struct PairTerm {
    OutputKernel kernel;
    PairLaw law = PairLaw::value;
    float scale = 1.0F;
};

/// How the sum R of the repulsions enters the loss.
enum class RepulsionLink {
    sum,      ///< strength * R
    log,      ///< strength * log R
    contrast  ///< sum_j w_j log(k_j + strength * R), k the kernel of the attraction
};

/// A function on a grid as coefficients of cubic B-splines, (rows, columns): node (r, c) lies at
/// (low[0] + c * spacing, low[1] + r * spacing). One row for a map of one component.
struct SplineTable {
    Span2<const double> coefficients;
    double low[2] = {0.0, 0.0};
    double spacing = 1.0;
};

/// What rows are placed by.
struct RowPlacement {
    Span2<const float> points;  ///< the map, (n, d)
    PairTerm attraction, repulsion;
    RepulsionLink link = RepulsionLink::sum;
    double strength = 1.0;
    Span2<const float> sources;      ///< points that repel, (q, d); none where a table stands for their sum
    std::span<const float> charges;  ///< v, (q)
    SplineTable table;               ///< R; empty where there are sources
    int max_iter = 100;
    double tolerance = 1e-4;  ///< a point rests when a step is no longer than this
};

/// Places each row from the best of these: the weighted mean of its neighbours' places, and the places of the first few
/// of them. neighbors (m, k): in [0, n); weights (m, k). Writes positions (m, d) and losses (m, 2): at the mean and at
/// the end, which is never higher. A row is a function of its own neighbours and weights alone.
void place_rows(const RowPlacement& placement, Span2<const std::int32_t> neighbors, Span2<const float> weights,
                Span2<float> positions, Span2<double> losses, const Context& context);

/// The loss of rows at given positions, (m), and its gradient, (m, d). Infinite outside the table.
void row_losses(const RowPlacement& placement, Span2<const std::int32_t> neighbors, Span2<const float> weights,
                Span2<const float> positions, std::span<double> losses, Span2<double> gradients,
                const Context& context);

}  // namespace gnomon
