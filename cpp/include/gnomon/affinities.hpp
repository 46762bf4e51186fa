// Conditional affinities: how strongly each row is attracted to each of its neighbours, from distances alone.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// What makes the weights of a row from its distances: scale * 2^(-beta (d^2 - smallest^2) / (largest^2 mean)), and the
/// scale alone where beta is 0.
struct GaussianRow {
    double mean = 1.0;
    float smallest = 0.0F, largest = 1.0F;
    float beta = 0.0F, scale = 0.0F;
};

/// The rows of gaussian_weights, calibrated: their weights are made when they are wanted, in an eighth of the time that
/// the calibration takes.
class GaussianRows {
public:
    /// distances (n, k): read as long as this lives; bandwidths (n): written.
    GaussianRows(Span2<const float> distances, float log2_perplexity, std::span<float> bandwidths,
                 const Context& context);

    std::size_t n_weighted() const;  ///< rows that have a neighbour
    void weigh(std::size_t row, float* weights) const;

private:
    Span2<const float> distances_;
    std::vector<GaussianRow> rows_;
};

/// Gaussian weights p_{j|i} of a given entropy: each row of `weights` sums to 1 and has entropy log2(perplexity) bits.
/// distances (n, k): any order; entries that are not finite are left out (weight 0).
/// weights (n, k), bandwidths (n): written; the bandwidth is sigma in exp(-d^2 / (2 sigma^2)).
/// Rows with fewer neighbours than the perplexity, or equal distances throughout, get equal weights.
void gaussian_weights(Span2<const float> distances, float log2_perplexity, Span2<float> weights,
                      std::span<float> bandwidths, const Context& context);

/// Fuzzy memberships exp(-max(0, d - rho) / sigma) whose sum over a row of m neighbours is log2(m + 1).
/// distances (n, k): ascending in each row; entries that are not finite are left out (weight 0).
/// usual_distance: whose thousandth bounds sigma from below where rho is 0; negative: the mean of the distances.
/// weights (n, k), nearest (n), bandwidths (n): written; `nearest` is rho, `bandwidths` sigma.
void membership_weights(Span2<const float> distances, double local_connectivity, double usual_distance,
                        Span2<float> weights, std::span<float> nearest, std::span<float> bandwidths,
                        const Context& context);

}  // namespace gnomon
