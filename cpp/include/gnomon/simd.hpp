// Sixteen lanes, whatever the machine has: compilers split them over narrower registers. Lanes are combined in one
// fixed order and no multiply-add is fused (-ffp-contract=off), so every instruction set gives the same bits.
#pragma once

#include <cstdint>
#include <cstring>

// Compile a hot function once for each instruction-set level and pick at load time. Everything it calls must be
// always_inline (GNOMON_INLINE), or it is compiled for the baseline only; lambdas are not cloned.
#if defined(GNOMON_USE_CLONES)
#define GNOMON_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"), noinline))
#else
#define GNOMON_CLONES
#endif
#define GNOMON_INLINE [[gnu::always_inline]] inline

namespace gnomon::simd {

inline constexpr int kLanes = 16;

using f32 = float __attribute__((vector_size(64)));
using i32 = std::int32_t __attribute__((vector_size(64)));
using u32 = std::uint32_t __attribute__((vector_size(64)));

/// The same number in all lanes. Through memory, which compilers see through: a vector built from a scalar is put
/// together lane by lane where GCC 12 inlines it into a clone.
template <class V, class T>
GNOMON_INLINE V splat_as(T x) {
    T lanes[kLanes];
    for (int l = 0; l < kLanes; ++l) lanes[l] = x;
    V v;
    std::memcpy(&v, lanes, sizeof v);
    return v;
}
GNOMON_INLINE f32 splat(float x) { return splat_as<f32>(x); }
GNOMON_INLINE i32 splat(std::int32_t x) { return splat_as<i32>(x); }
GNOMON_INLINE u32 splat(std::uint32_t x) { return splat_as<u32>(x); }

template <class V, class T>
GNOMON_INLINE V load_as(const T* p) {
    V v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
GNOMON_INLINE f32 load(const float* p) { return load_as<f32>(p); }
GNOMON_INLINE i32 load(const std::int32_t* p) { return load_as<i32>(p); }
template <class V, class T>
GNOMON_INLINE void store(T* p, V v) {
    std::memcpy(p, &v, sizeof v);
}

/// 0, 1, ..., 15.
GNOMON_INLINE i32 lane_index() { return i32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }

GNOMON_INLINE f32 select(i32 mask, f32 yes, f32 no) { return mask ? yes : no; }

/// Each lane of yes where a < b, of no elsewhere, by the sign of the difference: GCC 12 does comparisons of vectors
/// longer than the machine's lane by lane, but arithmetic on them in pieces.
GNOMON_INLINE f32 select_less(f32 a, f32 b, f32 yes, f32 no) {
    const i32 less = reinterpret_cast<i32>(a - b) >> 31;
    return reinterpret_cast<f32>((less & reinterpret_cast<i32>(yes)) | (~less & reinterpret_cast<i32>(no)));
}
GNOMON_INLINE f32 min(f32 a, f32 b) { return select_less(a, b, a, b); }
GNOMON_INLINE f32 max(f32 a, f32 b) { return select_less(b, a, a, b); }
GNOMON_INLINE f32 clamp(f32 x, float low, float high) { return min(max(x, splat(low)), splat(high)); }

/// Whether any lane of a mask is set.
GNOMON_INLINE bool any(i32 mask) {
    using i64x8 = long long __attribute__((vector_size(64)));
    const i64x8 m = reinterpret_cast<i64x8>(mask);
    return (m[0] | m[1] | m[2] | m[3] | m[4] | m[5] | m[6] | m[7]) != 0;
}

/// Sum of the lanes, always by halves: lane l with l + 8, then l + 4, l + 2, l + 1.
GNOMON_INLINE float sum(f32 v) {
    using f32x8 = float __attribute__((vector_size(32)));
    using f32x4 = float __attribute__((vector_size(16)));
    const f32x8 a = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                    __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    const f32x4 b = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
    return (b[0] + b[2]) + (b[1] + b[3]);
}

/// The smallest lane of a vector without NaN.
GNOMON_INLINE float least(f32 v) {
    using f32x8 = float __attribute__((vector_size(32)));
    using f32x4 = float __attribute__((vector_size(16)));
    const f32x8 low = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7);
    const f32x8 high = __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
    const f32x8 a = low < high ? low : high;
    const f32x4 left = __builtin_shufflevector(a, a, 0, 1, 2, 3), right = __builtin_shufflevector(a, a, 4, 5, 6, 7);
    const f32x4 b = left < right ? left : right;
    const float c = b[0] < b[1] ? b[0] : b[1], d = b[2] < b[3] ? b[2] : b[3];
    return c < d ? c : d;
}

/// log2(x) for x > 0, relative error below 1e-6. No libm: libm picks its version by processor.
GNOMON_INLINE f32 log2(f32 x) {
    // x = m 2^exponent with m in (1/sqrt(2), sqrt(2)]; 0x3f3504f4 is the float next to 1/sqrt(2)
    const i32 bits = reinterpret_cast<i32>(x);
    const i32 exponent = (bits - 0x3f3504f4) >> 23;
    const f32 m = reinterpret_cast<f32>(bits - (exponent << 23));
    // log2 m = 2 / ln 2 * artanh((m - 1) / (m + 1)): an odd series in |t| < 0.1716.
    const f32 t = (m - 1.0F) / (m + 1.0F);
    const f32 t2 = t * t;
    const f32 p = 2.88539008F + t2 * (0.961796694F + t2 * (0.577078016F + t2 * (0.412198583F + t2 * 0.32059890F)));
    return __builtin_convertvector(exponent, f32) + t * p;
}

/// 2^x, relative error below 3e-7, for x clamped to [-126, 126].
GNOMON_INLINE f32 exp2(f32 x) {
    x = clamp(x, -126.0F, 126.0F);
    const f32 shifted = x + 12582912.0F;  // 1.5 * 2^23: the addition rounds to the nearest integer
    const f32 f = x - (shifted - 12582912.0F);
    const f32 p =
        1.0F + f * (0.693147182F + f * (0.240226462F + f * (0.0555033210F +
                                                            f * (0.00961846F + f * (0.00133989F + f * 0.000153979F)))));
    return reinterpret_cast<f32>(reinterpret_cast<i32>(p) + (reinterpret_cast<i32>(shifted) << 23));
}

/// exp(x) through exp2.
GNOMON_INLINE f32 exp(f32 x) { return exp2(x * 1.44269504F); }

/// exp(x) - 1 without cancellation near 0.
GNOMON_INLINE f32 expm1(f32 x) {
    const f32 series =
        x *
        (1.0F +
         x * (0.5F + x * (1.66666667e-1F +
                          x * (4.16666667e-2F + x * (8.33333333e-3F + x * (1.38888889e-3F + x * 1.98412698e-4F))))));
    return select_less(x * x, splat(0.25F), series, exp(x) - 1.0F);
}

/// log(1 + x) for x >= 0, of full relative accuracy near 0.
GNOMON_INLINE f32 log1p(f32 x) {
    const f32 u = 1.0F + x, lost = x - (u - 1.0F);  // what rounding took from u, exactly
    const i32 bits = reinterpret_cast<i32>(u);
    const i32 exponent = (bits - 0x3f3504f4) >> 23;
    const f32 m = reinterpret_cast<f32>(bits - (exponent << 23));
    const f32 scale = reinterpret_cast<f32>((127 - exponent) << 23);
    const f32 t = (m - 1.0F + lost * scale) / (m + 1.0F);
    const f32 t2 = t * t;
    const f32 p = 2.0F + t2 * (0.666666667F + t2 * (0.4F + t2 * (0.285714286F + t2 * 0.222222222F)));
    return 0.693147181F * __builtin_convertvector(exponent, f32) + t * p;
}

/// x^p for x > 0.
GNOMON_INLINE f32 pow(f32 x, float p) { return exp2(p * log2(x)); }

/// The 32-bit mixer of random.hpp, lane by lane.
GNOMON_INLINE u32 mix32(u32 x) {
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    x ^= x >> 16;
    return x;
}

/// Square root lane by lane (correctly rounded everywhere).
GNOMON_INLINE f32 sqrt(f32 x) {
    f32 r;
    for (int l = 0; l < kLanes; ++l) r[l] = __builtin_sqrtf(x[l]);
    return r;
}

}  // namespace gnomon::simd
