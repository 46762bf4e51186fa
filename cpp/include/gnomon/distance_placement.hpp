// New points placed among fixed ones so that their distances to these come near to given ones.
#pragma once

#include <cstddef>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Lowers sum_j w_ij (delta_ij - |y_i - z_j|)^2 of each point i of Y, in place, by majorization: y_i becomes the
/// weighted mean over j of z_j + delta_ij (y_i - z_j) / |y_i - z_j|, until a step is at most `tol` or max_iter are
/// done. Y: (m, d), anchors z: (n, d), delta: (m, n), weights: (m, n), or empty for 1. Each point depends on its row
/// alone.
void place_by_distances(Span2<double> Y, Span2<const double> anchors, Span2<const double> delta,
                        Span2<const double> weights, int max_iter, double tol, const Context& context);

}  // namespace gnomon
