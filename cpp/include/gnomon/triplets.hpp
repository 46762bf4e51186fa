// Triplets of an embedding: point i should be nearer to j than to k. Every point i has a list of others and the same
// pattern of pairs (j, k) of places in that list, so that a distance used by several triplets is computed once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// The triplets of n points: others (n, m); closer, farther (t): places in [0, m), the same for all points;
/// weights (n, t).
struct TripletView {
    Span2<const std::int32_t> others;
    std::span<const std::int32_t> closer;
    std::span<const std::int32_t> farther;
    Span2<const float> weights;
};

/// Which part of the gradient is wanted: factors on what pulls i and j together and on what drives i and k apart.
struct TripletParts {
    float closer = 1.0F;
    float farther = 1.0F;
};

/// Gradients of sum_t w_t D_ij / (D_ij + D_ik), D = 1 + |y_i - y_j|^2. The places where a point stands in the lists of
/// others are sorted once, so that every point gathers its own force and nothing is written twice.
class TripletForces {
public:
    explicit TripletForces(const TripletView& triplets);

    /// out (n, d): the gradient. The arrays that the triplets view must be those of the construction.
    void gradient(const TripletView& triplets, Span2<const float> Y, TripletParts parts, Span2<float> out,
                  const Context& context);

private:
    std::vector<std::int64_t> offsets_;  // (n + 1) of the places where each point is an other
    std::vector<std::int32_t> owners_;   // (n m) whose list it is
    std::vector<std::uint32_t> places_;  // (n m) where in the flattened lists
    std::vector<float> coefficients_;    // (n, m) of the last gradient: force for each unit of y_i - y_other
};

/// sum_t w_t D_ij / (D_ij + D_ik).
double triplet_loss(const TripletView& triplets, Span2<const float> Y, const Context& context);

}  // namespace gnomon
