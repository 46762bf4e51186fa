// The similarities k(s) of two points of the embedding at squared distance s, sixteen distances at once. An objective
// sees a kernel only through these five functions, so a new kernel is one struct, one line in with_kernel and no loop.
//
//   value(s)   k                      slope(s)  -k' (>= 0)
//   deficit(s) 1 - k without cancellation at small s
//   pull(s)    -k' / k                push(s)   -k' / (1 - k), s > 0
#pragma once

#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "gnomon/simd.hpp"

namespace gnomon {

/// k = 1 / (1 + s): Student's t with one degree of freedom.
struct Cauchy {
    GNOMON_INLINE simd::f32 value(simd::f32 s) const { return 1.0F / (1.0F + s); }
    GNOMON_INLINE simd::f32 deficit(simd::f32 s) const { return s / (1.0F + s); }
    GNOMON_INLINE simd::f32 pull(simd::f32 s) const { return 1.0F / (1.0F + s); }
    GNOMON_INLINE simd::f32 push(simd::f32 s) const { return 1.0F / (s * (1.0F + s)); }
    GNOMON_INLINE void value_and_slope(simd::f32 s, simd::f32& value, simd::f32& slope) const {
        value = 1.0F / (1.0F + s);
        slope = value * value;
    }
};

/// k = 1 / (1 + a s^b).
struct RationalPower {
    float a, b;

    // Below the smallest distance the slope of s^b, infinite at 0 for b < 1, stays finite: 0 * slope must be 0.
    static constexpr float kSmallest = 1e-12F;

    GNOMON_INLINE simd::f32 power(simd::f32 s) const { return a * simd::pow(simd::max(s, simd::splat(kSmallest)), b); }
    GNOMON_INLINE simd::f32 value(simd::f32 s) const { return 1.0F / (1.0F + power(s)); }
    GNOMON_INLINE simd::f32 deficit(simd::f32 s) const {
        const simd::f32 p = power(s);
        return p / (1.0F + p);
    }
    GNOMON_INLINE simd::f32 pull(simd::f32 s) const {
        const simd::f32 p = power(s);
        return b * p / (simd::max(s, simd::splat(kSmallest)) * (1.0F + p));
    }
    GNOMON_INLINE simd::f32 push(simd::f32 s) const { return b / (s * (1.0F + power(s))); }
    GNOMON_INLINE void value_and_slope(simd::f32 s, simd::f32& value, simd::f32& slope) const {
        const simd::f32 p = power(s);
        value = 1.0F / (1.0F + p);
        slope = b * p * value * value / simd::max(s, simd::splat(kSmallest));
    }
};

/// Which kernel, chosen at run time.
struct OutputKernel {
    enum class Kind { cauchy, rational_power };
    Kind kind = Kind::cauchy;
    float a = 1.0F;
    float b = 1.0F;
};

inline OutputKernel output_kernel(std::string_view name, float a, float b) {
    if (name == "cauchy") return {OutputKernel::Kind::cauchy, 1.0F, 1.0F};
    if (name == "umap") return {OutputKernel::Kind::rational_power, a, b};
    throw std::invalid_argument("unknown output kernel");
}

/// Calls body with the kernel's own type. Mark the lambda GNOMON_INLINE_LAMBDA inside a GNOMON_CLONES function.
template <class Body>
GNOMON_INLINE void with_kernel(const OutputKernel& kernel, Body&& body) {
    if (kernel.kind == OutputKernel::Kind::cauchy)
        body(Cauchy{});
    else
        body(RationalPower{kernel.a, kernel.b});
}

/// The largest number of components that the kernels' scratch arrays hold.
inline constexpr int kMaxComponents = 256;

/// Calls body with the number of components as a constant for 1, 2 and 3, and with 0 for "read it at run time".
template <class Body>
GNOMON_INLINE void with_components(std::size_t n_components, Body&& body) {
    switch (n_components) {
        case 1:
            return body(std::integral_constant<int, 1>{});
        case 2:
            return body(std::integral_constant<int, 2>{});
        case 3:
            return body(std::integral_constant<int, 3>{});
        default:
            return body(std::integral_constant<int, 0>{});
    }
}

}  // namespace gnomon

// Inlines a lambda into the function that calls it, so that it is compiled for that function's instruction set.
#define GNOMON_INLINE_LAMBDA __attribute__((always_inline))
