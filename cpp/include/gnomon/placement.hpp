// New points among fixed ones, each where its own distances are best kept.
#pragma once

#include <span>

#include "gnomon/output_kernels.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// What points are placed by: anchors (m, d), their weights (m) and candidates (g, d), positions to begin from.
struct Placement {
    OutputKernel kernel;
    Span2<const float> anchors;
    std::span<const float> weights;
    Span2<const float> candidates;
    int n_starts = 1;   ///< best candidates that are tried
    int max_iter = 50;  ///< most Levenberg-Marquardt steps of the best of them
};

/// Minimises E_i(y) = sum_j weights_j (k(|y - anchor_j|^2) - targets_ij)^2 for each row i of targets (n, m): of the
/// candidates the n_starts best are improved, and the best end is positions_i (n, d), with energies_i = E_i there.
/// Never above the best candidate. own_i, if not negative, is an anchor that row i leaves out (its own). Each row is a
/// function of itself alone.
void place_points(const Placement& placement, Span2<const float> targets, std::span<const std::int32_t> own,
                  Span2<float> positions, std::span<double> energies, const Context& context);

}  // namespace gnomon
