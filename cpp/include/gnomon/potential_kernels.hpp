// Output kernels that are no similarities: potentials and distances, unbounded at 0 or far away.
#include "gnomon/simd.hpp"

#ifndef GNOMON_POTENTIAL_KERNELS_HPP
#define GNOMON_POTENTIAL_KERNELS_HPP

#include <cmath>

#include "gnomon/elementary.hpp"

#endif

#if defined(GNOMON_POTENTIAL_KERNELS_TOGGLE) == defined(GNOMON_TOGGLE)
#ifdef GNOMON_POTENTIAL_KERNELS_TOGGLE
#undef GNOMON_POTENTIAL_KERNELS_TOGGLE
#else
#define GNOMON_POTENTIAL_KERNELS_TOGGLE
#endif

namespace GNOMON_SPACE {

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

/// k = u / (c + u^2) + arctan(u / sqrt(c)) / sqrt(c) with u^2 = 1 + s: its slope is that of (1 + s) / (c + 1 + s) over
/// u.
struct ShortReach {
    float c, root;

    explicit ShortReach(float reach) : c(reach), root(std::sqrt(reach)) {}

    /// arctan(x) for x > 0, within 2e-8 (Abramowitz & Stegun 4.4.49).
    GNOMON_INLINE static simd::f32 arctan(simd::f32 x) {
        const simd::f32 inverse = 1.0F / x, one = simd::splat(1.0F), z = simd::min(x, inverse), q = z * z;
        simd::f32 sum = 0.0028662257F * q - 0.0161657367F;
        for (const float term :
             {0.0429096138F, -0.0752896400F, 0.1065626393F, -0.1420889944F, 0.1999355085F, -0.3333314528F, 1.0F})
            sum = sum * q + term;
        const simd::f32 small = sum * z;
        return simd::select_less(x, one, small, 1.57079633F - small);
    }
    GNOMON_INLINE void value_and_slope(simd::f32 s, simd::f32& value, simd::f32& slope) const {
        const simd::f32 u = simd::sqrt(1.0F + s), sum = c + 1.0F + s;
        value = u / sum + arctan(u / root) / root;
        slope = c / (sum * sum * u);
    }
};

/// k = 1 - (1 + c (s / scale^2)^(a/2))^(-b/a) with c = 2^(a/b) - 1: grows from 0 to 1, one half at the distance scale.
struct Sigmoid {
    float half_a, half_b, order, log_c, inverse_scale;  // order = ln 2 * b / a; log_c = log2 c

    // Distances below 1e-9 count as that in the slope, infinite at 0 for a < 2; the value goes straight to 0. Squared
    // it is far above the smallest normal float.
    static constexpr float kSmallest = 1e-18F;

    Sigmoid(float a, float b, float scale)
        : half_a(0.5F * a),
          half_b(0.5F * b),
          order(0.69314718F * b / a),
          log_c(log2_of_factor(static_cast<double>(a) / static_cast<double>(b))),
          inverse_scale(1.0F / scale) {}

    /// log2(2^ratio - 1).
    static float log2_of_factor(double ratio) {
        return static_cast<float>(
            ratio > 50.0 ? ratio : 1.4426950408889634 * exact_log(exact_expm1(0.6931471805599453 * ratio)));
    }

    GNOMON_INLINE void value_and_slope(simd::f32 s, simd::f32& value, simd::f32& slope) const {
        const simd::f32 held = simd::max(s, simd::splat(kSmallest)), inverse = 1.0F / held, none{};
        // p = 2^power is the term added to 1; q is the smaller one of p and 1 / p, which never overflows
        const simd::f32 power = log_c + half_a * simd::log2(held * inverse_scale * inverse_scale);
        const simd::f32 positive = simd::max(power, none);
        const simd::f32 q = simd::exp2(power - 2.0F * positive);
        const simd::f32 exponent = order * (positive + 1.44269504F * simd::log1p(q));
        const simd::f32 share = simd::select_less(power, none, q, none + 1.0F) / (1.0F + q);  // p / (1 + p)
        value = -simd::expm1(-exponent) * (s * inverse);
        slope = half_b * share * simd::exp(-exponent) * inverse;
    }
};

}  // namespace GNOMON_SPACE

#endif
