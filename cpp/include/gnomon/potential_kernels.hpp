// Output kernels that are no similarities: potentials and distances, unbounded at 0 or far away.
#pragma once

#include <cmath>

#include "gnomon/simd.hpp"

namespace gnomon {

/// Squared distances below this count as this where a potential or a slope is infinite at 0.
inline constexpr float kClosest = 1e-12F;

/// k = -s / 2: the Gram matrix, but for what centring removes.
struct Linear {
    GNOMON_INLINE void value_and_slope(simd::f32 s, simd::f32& value, simd::f32& slope) const {
        value = -0.5F * s;
        slope = simd::f32{} - 0.5F;
    }
};

/// k = s^-p. Values and slopes end at 1e18, so that no product of two of them is infinite.
struct InversePower {
    float p;

    static constexpr float kLargest = 1e18F;

    GNOMON_INLINE void value_and_slope(simd::f32 s, simd::f32& value, simd::f32& slope) const {
        const simd::f32 held = simd::max(s, simd::splat(kClosest)), largest = simd::splat(kLargest);
        const simd::f32 power = simd::pow(held, -p);
        value = simd::min(power, largest);
        slope = -simd::min(p * power / held, largest);
    }
};

/// k = -log(s) / 2, whose force falls as one over the distance.
struct Logarithmic {
    GNOMON_INLINE void value_and_slope(simd::f32 s, simd::f32& value, simd::f32& slope) const {
        const simd::f32 held = simd::max(s, simd::splat(kClosest));
        value = -0.34657359F * simd::log2(held);
        slope = -0.5F / held;
    }
};

/// k = sqrt(s).
struct Distance {
    GNOMON_INLINE void value_and_slope(simd::f32 s, simd::f32& value, simd::f32& slope) const {
        value = simd::sqrt(s);
        slope = 0.5F / simd::sqrt(simd::max(s, simd::splat(kClosest)));
    }
};

/// k = 1 - (1 + c (s / scale^2)^(a/2))^(-b/a) with c = 2^(a/b) - 1: grows from 0 to 1, one half at the distance scale.
struct Sigmoid {
    float half_a, half_b, order, log_c, inverse_scale;  // order = b / a; log_c = log2 c

    // Distances below 1e-9 count as that, squared far above the smallest normal float: for a < 2 the slope is infinite
    // at 0.
    static constexpr float kSmallest = 1e-18F;

    Sigmoid(float a, float b, float scale)
        : half_a(0.5F * a),
          half_b(0.5F * b),
          order(b / a),
          log_c(static_cast<float>(std::log2(std::expm1(0.6931471805599453 * static_cast<double>(a) / b)))),
          inverse_scale(1.0F / scale) {}

    GNOMON_INLINE void value_and_slope(simd::f32 s, simd::f32& value, simd::f32& slope) const {
        const simd::f32 held = simd::max(s, simd::splat(kSmallest));
        const simd::f32 power = simd::exp2(log_c + half_a * simd::log2(held * inverse_scale * inverse_scale));
        const simd::f32 exponent = order * simd::log1p(power);
        value = -simd::expm1(-exponent);
        slope = half_b * power * simd::exp(-exponent) / ((1.0F + power) * held);
    }
};

}  // namespace gnomon
