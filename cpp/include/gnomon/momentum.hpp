// One step of gradient descent with momentum and a gain for each coordinate (Jacobs' delta-bar-delta).
#pragma once

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

struct MomentumParameters {
    float learning_rate = 1.0F;
    float momentum = 0.8F;
    float max_step = 0.0F;  ///< a point moves at most so far in one step; 0: no limit
    bool gains = true;      ///< adapt a gain for each coordinate
    bool centered = true;   ///< move the mean of the embedding to the origin afterwards
};

struct MomentumReport {
    double gradient_norm;  ///< Euclidean norm of the whole gradient; not finite if any entry is not
    double step_norm;      ///< Euclidean norm of the whole step
};

/// velocity <- momentum * velocity - learning_rate * gain * gradient; Y <- Y + velocity. A gain grows by 0.2 while the
/// velocity goes down the gradient, else shrinks to 0.8 of itself, not below 0.01. All spans: (n, d).
MomentumReport momentum_step(Span2<float> Y, Span2<const float> gradient, Span2<float> velocity, Span2<float> gains,
                             const MomentumParameters& parameters, const Context& context);

}  // namespace gnomon
