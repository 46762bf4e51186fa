// Output kernels that are no similarities: potentials and distances, unbounded at 0 or far away.
#pragma once

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

}  // namespace gnomon
