// One step of gradient descent with momentum and a gain for each coordinate (Jacobs' delta-bar-delta).
#pragma once

#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"
#include "gnomon/step_report.hpp"

namespace gnomon {

struct MomentumParameters {
    double learning_rate = 1.0;
    double momentum = 0.8;
    double max_step = 0.0;  ///< a point moves at most so far in one step; 0: no limit
    bool gains = true;      ///< adapt a gain for each coordinate
    bool centered = true;   ///< move the mean of the embedding to the origin afterwards
};

/// velocity <- momentum * velocity - learning_rate * gain * gradient; Y <- Y + velocity. A gain grows by 0.2 while the
/// velocity goes down the gradient, else shrinks to 0.8 of itself, not below 0.01. All spans: (n, d). T: float or
/// double. pull, (n) or empty: what the gradient at each point is divided by first, for the norm too.
template <class T>
StepReport momentum_step(Span2<T> Y, Span2<const T> gradient, std::span<const T> pull, Span2<T> velocity,
                         Span2<T> gains, const MomentumParameters& parameters, const Context& context);

}  // namespace gnomon
