// One step of Adam (Kingma & Ba, ICLR 2015): steps of a size set by running averages of the gradient and its square.
#pragma once

#include <cstdint>

#include "gnomon/parallel.hpp"
#include "gnomon/simd.hpp"
#include "gnomon/span.hpp"
#include "gnomon/step_report.hpp"

namespace gnomon {

struct AdamParameters {
    double learning_rate = 1.0;
    double decay1 = 0.9, decay2 = 0.999;  ///< of the averages of the gradient and of its square
    double epsilon = 1e-7;                ///< added to the root of the corrected average of squares
};

/// What one iteration needs to move a coordinate.
template <class T>
struct AdamRates {
    T rate;            ///< learning rate with both bias corrections
    T fresh1, fresh2;  ///< 1 - decay: weight of the new force and of its square
    T tiny;            ///< keeps the quotient finite
};

/// How far a coordinate moves along a force (minus the gradient); its averages are brought up to date.
template <class T>
GNOMON_INLINE T adam_move(const AdamRates<T>& p, T force, T& first, T& second) {
    first += p.fresh1 * (force - first);
    second += p.fresh2 * (force * force - second);
    T root;
    if constexpr (sizeof(T) == sizeof(float))
        root = __builtin_sqrtf(second);
    else
        root = __builtin_sqrt(second);
    return p.rate * first / (root + p.tiny);
}

/// base to a whole power, without libm.
inline double whole_power(double base, std::int64_t exponent) {
    double result = 1;
    for (; exponent > 0; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

/// Moves Y one step; iteration counts from 0. All spans: (n, d). T: float or double.
template <class T>
StepReport adam_step(Span2<T> Y, Span2<const T> gradient, Span2<T> first_moment, Span2<T> second_moment,
                     const AdamParameters& parameters, std::int64_t iteration, const Context& context);

}  // namespace gnomon
