// Sixteen lanes, whatever the machine has. Lanes are combined in one fixed order and no multiply-add is fused
// (-ffp-contract=off), so every instruction set gives the same bits. In files that are compiled for each level
// (levels.hpp) the lanes are one register or several, of that level's width. Elsewhere they are one vector of 64 bytes,
// which compilers split where the machine has less: sums over a loop, comparisons and stores then go through memory.
#ifndef GNOMON_SIMD_HPP
#define GNOMON_SIMD_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "gnomon/levels.hpp"

namespace gnomon::simd {

inline constexpr int kLanes = 16;

}  // namespace gnomon::simd

namespace gnomon {

/// The least multiple of `step` that is not below n: rows that are padded for lanes and tiles.
constexpr std::size_t round_up(std::size_t n, std::size_t step) { return (n + step - 1) / step * step; }

}  // namespace gnomon

#endif

#if defined(GNOMON_SIMD_TOGGLE) == defined(GNOMON_TOGGLE)
#ifdef GNOMON_SIMD_TOGGLE
#undef GNOMON_SIMD_TOGGLE
#else
#define GNOMON_SIMD_TOGGLE
#endif

namespace GNOMON_SPACE::simd {

#ifdef GNOMON_LEVEL
using gnomon::simd::kLanes;
#endif

#ifndef GNOMON_VECTOR_BYTES
#define GNOMON_VECTOR_BYTES 64
#define GNOMON_WHOLE_VECTORS
#endif

template <class T, std::size_t Bytes>
struct Register {
    using type __attribute__((vector_size(Bytes))) = T;
};

/// Two halves of the lanes of a vector of T as one vector, each a register or again two halves.
template <class T, class Half>
struct Joined {
    Half low, high;

    GNOMON_INLINE T operator[](int lane) const {
        constexpr int kHalf = static_cast<int>(sizeof(Half) / sizeof(T));
        return lane < kHalf ? low[lane] : high[lane - kHalf];
    }
    GNOMON_INLINE friend Joined operator-(Joined a) { return {-a.low, -a.high}; }
    GNOMON_INLINE friend Joined operator~(Joined a) { return {~a.low, ~a.high}; }
    GNOMON_INLINE friend Joined operator<<(Joined a, int bits) { return {a.low << bits, a.high << bits}; }
    GNOMON_INLINE friend Joined operator>>(Joined a, int bits) { return {a.low >> bits, a.high >> bits}; }
#define GNOMON_OPERATOR(op)                                                                                    \
    GNOMON_INLINE friend Joined operator op(Joined a, Joined b) { return {a.low op b.low, a.high op b.high}; } \
    GNOMON_INLINE friend Joined operator op(Joined a, T b) { return {a.low op b, a.high op b}; }               \
    GNOMON_INLINE friend Joined operator op(T a, Joined b) { return {a op b.low, a op b.high}; }               \
    GNOMON_INLINE Joined& operator op## = (Joined b) { return *this = *this op b; }                            \
    GNOMON_INLINE Joined& operator op## = (T b) { return *this = *this op b; }
    GNOMON_OPERATOR(+)
    GNOMON_OPERATOR(-)
    GNOMON_OPERATOR(*)
    GNOMON_OPERATOR(/)
    GNOMON_OPERATOR(&)
    GNOMON_OPERATOR(|)
    GNOMON_OPERATOR(^)
#undef GNOMON_OPERATOR
};

template <class T, std::size_t Bytes, bool Fits = (Bytes <= GNOMON_VECTOR_BYTES)>
struct VectorOf : Register<T, Bytes> {};
template <class T, std::size_t Bytes>
struct VectorOf<T, Bytes, false> {
    using type = Joined<T, typename VectorOf<T, Bytes / 2>::type>;
};

/// Some lanes of T, a power of two, in registers of the level's width.
template <class T, std::size_t Count = kLanes>
using Lanes = typename VectorOf<T, Count * sizeof(T)>::type;

using f32 = Lanes<float>;
using i32 = Lanes<std::int32_t>;
using u32 = Lanes<std::uint32_t>;

#ifdef GNOMON_WHOLE_VECTORS
#undef GNOMON_VECTOR_BYTES
#undef GNOMON_WHOLE_VECTORS
#endif

/// Whether a vector is joined of halves.
template <class V>
inline constexpr bool kJoined = requires(V v) { v.low; };

template <class V>
using Half = decltype(V::low);

/// The bits of each lane as another type.
template <class To, class From>
GNOMON_INLINE To as(From v) {
    if constexpr (kJoined<To>)
        return {as<Half<To>>(v.low), as<Half<To>>(v.high)};
    else
        return reinterpret_cast<To>(v);
}

/// Whole numbers as floats.
template <class From>
GNOMON_INLINE auto to_float(From v) {
    if constexpr (kJoined<From>) {
        const auto low = to_float(v.low), high = to_float(v.high);
        return Joined<float, std::remove_const_t<decltype(low)>>{low, high};
    } else {
        return __builtin_convertvector(v, typename Register<float, sizeof(From)>::type);
    }
}

/// Doubles as floats.
template <class To, class From>
GNOMON_INLINE To narrowed(From v) {
    if constexpr (kJoined<To>) {
        return {narrowed<Half<To>>(v.low), narrowed<Half<To>>(v.high)};
    } else if constexpr (kJoined<From>) {
        using Part = typename Register<float, sizeof(To) / 2>::type;
        const Part low = narrowed<Part>(v.low), high = narrowed<Part>(v.high);
        return [&]<int... l>(std::integer_sequence<int, l...>) __attribute__((always_inline)) {
            return To(__builtin_shufflevector(low, high, l...));
        }(std::make_integer_sequence<int, static_cast<int>(sizeof(To) / sizeof(float))>{});
    } else {
        return __builtin_convertvector(v, To);
    }
}

/// The same number in all lanes. Through memory, which compilers see through: a vector built from a scalar is put
/// together lane by lane where GCC 12 inlines it into a clone.
template <class V, class T>
GNOMON_INLINE V splat_as(T x) {
    if constexpr (kJoined<V>) {
        const auto half = splat_as<Half<V>>(x);
        return {half, half};
    } else {
        T lanes[sizeof(V) / sizeof(T)];
        for (T& lane : lanes) lane = x;
        V v;
        std::memcpy(&v, lanes, sizeof v);
        return v;
    }
}
GNOMON_INLINE f32 splat(float x) { return splat_as<f32>(x); }
GNOMON_INLINE i32 splat(std::int32_t x) { return splat_as<i32>(x); }
GNOMON_INLINE u32 splat(std::uint32_t x) { return splat_as<u32>(x); }

template <class V, class T>
GNOMON_INLINE V load_as(const T* p) {
    if constexpr (kJoined<V>) {
        return {load_as<Half<V>>(p), load_as<Half<V>>(p + sizeof(Half<V>) / sizeof(T))};
    } else {
        V v;
        std::memcpy(&v, p, sizeof v);
        return v;
    }
}
GNOMON_INLINE f32 load(const float* p) { return load_as<f32>(p); }
GNOMON_INLINE i32 load(const std::int32_t* p) { return load_as<i32>(p); }
template <class V, class T>
GNOMON_INLINE void store(T* p, V v) {
    if constexpr (kJoined<V>) {
        store(p, v.low);
        store(p + sizeof(Half<V>) / sizeof(T), v.high);
    } else {
        std::memcpy(p, &v, sizeof v);
    }
}

/// Numbers in memory as doubles.
template <class V>
GNOMON_INLINE V load_wide(const double* p) {
    return load_as<V>(p);
}
template <class V>
GNOMON_INLINE V load_wide(const float* p) {
    if constexpr (kJoined<V>) {
        return {load_wide<Half<V>>(p), load_wide<Half<V>>(p + sizeof(Half<V>) / sizeof(double))};
    } else {
        return __builtin_convertvector(load_as<typename Register<float, sizeof(V) / 2>::type>(p), V);
    }
}

/// The numbers at(0), ..., at(15), each computed on its own.
template <class V = f32, class At>
GNOMON_INLINE V from_lanes(const At& at, int first = 0) {
    if constexpr (kJoined<V>) {
        constexpr int kHalf = static_cast<int>(sizeof(Half<V>) / sizeof(at(0)));
        return {from_lanes<Half<V>>(at, first), from_lanes<Half<V>>(at, first + kHalf)};
    } else {
        return [&]<int... l>(std::integer_sequence<int, l...>) __attribute__((always_inline)) {
            return V{at(first + l)...};
        }(std::make_integer_sequence<int, static_cast<int>(sizeof(V) / sizeof(at(0)))>{});
    }
}

/// Four quarters of the lanes as one vector.
template <class V = f32, class Quarter>
GNOMON_INLINE V from_quarters(Quarter a, Quarter b, Quarter c, Quarter d) {
    if constexpr (!kJoined<V>) {
        using Two = typename Register<float, 2 * sizeof(Quarter)>::type;
        const Two low = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
        const Two high = __builtin_shufflevector(c, d, 0, 1, 2, 3, 4, 5, 6, 7);
        return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    } else if constexpr (kJoined<Half<V>>) {
        return {{a, b}, {c, d}};
    } else {
        return {__builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7),
                __builtin_shufflevector(c, d, 0, 1, 2, 3, 4, 5, 6, 7)};
    }
}

/// 0, 1, ..., 15.
GNOMON_INLINE i32 lane_index() {
    constexpr std::int32_t numbers[kLanes] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return load(numbers);
}

/// Each lane of yes where the mask is set, of no elsewhere.
template <class Mask, class V>
GNOMON_INLINE V select(Mask mask, V yes, V no) {
    if constexpr (kJoined<V>)
        return {select(mask.low, yes.low, no.low), select(mask.high, yes.high, no.high)};
    else
        return mask ? yes : no;
}

/// The mask of the lanes, of four bytes each, where a > b. Clang's own is one of long where long has four bytes.
template <class V>
GNOMON_INLINE auto greater(V a, V b) {
    if constexpr (kJoined<V>) {
        const auto low = greater(a.low, b.low), high = greater(a.high, b.high);
        return Joined<std::int32_t, std::remove_const_t<decltype(low)>>{low, high};
    } else {
        return reinterpret_cast<typename Register<std::int32_t, sizeof(V)>::type>(a > b);
    }
}

/// Each lane of yes where a < b, of no elsewhere, by the sign of the difference: one instruction where lanes are in
/// registers of their level. Longer vectors GCC 12 would compare lane by lane, but does arithmetic on them in pieces.
GNOMON_INLINE f32 select_less(f32 a, f32 b, f32 yes, f32 no) {
    const i32 difference = as<i32>(a - b);
    if constexpr (kJoined<f32>) {
        return select(greater(i32{}, difference), yes, no);
    } else {
        const i32 less = difference >> 31;
        return as<f32>((less & as<i32>(yes)) | (~less & as<i32>(no)));
    }
}
GNOMON_INLINE f32 min(f32 a, f32 b) { return select_less(a, b, a, b); }
GNOMON_INLINE f32 max(f32 a, f32 b) { return select_less(b, a, a, b); }
GNOMON_INLINE f32 clamp(f32 x, float low, float high) { return min(max(x, splat(low)), splat(high)); }

/// Whether any lane of a mask is set.
template <class Mask>
GNOMON_INLINE bool any(Mask mask) {
    if constexpr (kJoined<Mask>) {
        return any(mask.low | mask.high);
    } else {
        const auto words = reinterpret_cast<typename Register<long long, sizeof(Mask)>::type>(mask);
        long long found = 0;
        for (std::size_t l = 0; l < sizeof(Mask) / sizeof found; ++l) found |= words[l];
        return found != 0;
    }
}

/// The lower and the upper half of the lanes.
template <class V>
GNOMON_INLINE auto halves(V v) {
    if constexpr (kJoined<V>) {
        return v;
    } else if constexpr (sizeof(V) == 64) {
        using F = typename Register<float, 32>::type;
        return Joined<float, F>{__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7),
                                __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)};
    } else {
        using F = typename Register<float, 16>::type;
        return Joined<float, F>{__builtin_shufflevector(v, v, 0, 1, 2, 3), __builtin_shufflevector(v, v, 4, 5, 6, 7)};
    }
}

/// Sum of the lanes, always by halves: lane l with l + 8, then l + 4, l + 2, l + 1.
GNOMON_INLINE float sum(f32 v) {
    const auto a = halves(v);
    const auto b = halves(a.low + a.high);
    const auto c = b.low + b.high;
    return (c[0] + c[2]) + (c[1] + c[3]);
}

/// The smallest lane of a vector without NaN.
GNOMON_INLINE float least(f32 v) {
    const auto a = halves(v);
    const auto b = halves(select(greater(a.high, a.low), a.low, a.high));
    const auto c = select(greater(b.high, b.low), b.low, b.high);
    const float d = c[0] < c[1] ? c[0] : c[1], e = c[2] < c[3] ? c[2] : c[3];
    return d < e ? d : e;
}

/// log2(x) for x > 0, relative error below 1e-6. No libm: libm picks its version by processor.
GNOMON_INLINE f32 log2(f32 x) {
    // x = m 2^exponent with m in (1/sqrt(2), sqrt(2)]; 0x3f3504f4 is the float next to 1/sqrt(2)
    const i32 bits = as<i32>(x);
    const i32 exponent = (bits - 0x3f3504f4) >> 23;
    const f32 m = as<f32>(bits - (exponent << 23));
    // log2 m = 2 / ln 2 * artanh((m - 1) / (m + 1)): an odd series in |t| < 0.1716.
    const f32 t = (m - 1.0F) / (m + 1.0F);
    const f32 t2 = t * t;
    const f32 p = 2.88539008F + t2 * (0.961796694F + t2 * (0.577078016F + t2 * (0.412198583F + t2 * 0.32059890F)));
    return to_float(exponent) + t * p;
}

/// 2^x, relative error below 3e-7, for x clamped to [-126, 126].
GNOMON_INLINE f32 exp2(f32 x) {
    x = clamp(x, -126.0F, 126.0F);
    const f32 shifted = x + 12582912.0F;  // 1.5 * 2^23: the addition rounds to the nearest integer
    const f32 f = x - (shifted - 12582912.0F);
    const f32 p =
        1.0F + f * (0.693147182F + f * (0.240226462F + f * (0.0555033210F +
                                                            f * (0.00961846F + f * (0.00133989F + f * 0.000153979F)))));
    return as<f32>(as<i32>(p) + (as<i32>(shifted) << 23));
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
    const i32 bits = as<i32>(u);
    const i32 exponent = (bits - 0x3f3504f4) >> 23;
    const f32 m = as<f32>(bits - (exponent << 23));
    const f32 scale = as<f32>((127 - exponent) << 23);
    const f32 t = (m - 1.0F + lost * scale) / (m + 1.0F);
    const f32 t2 = t * t;
    const f32 p = 2.0F + t2 * (0.666666667F + t2 * (0.4F + t2 * (0.285714286F + t2 * 0.222222222F)));
    return 0.693147181F * to_float(exponent) + t * p;
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

GNOMON_INLINE float root_of(float x) { return __builtin_sqrtf(x); }
GNOMON_INLINE double root_of(double x) { return __builtin_sqrt(x); }

/// Square roots, lane by lane (correctly rounded everywhere).
template <class V>
GNOMON_INLINE V sqrt(V x) {
    if constexpr (kJoined<V>) {
        return {sqrt(x.low), sqrt(x.high)};
    } else {
        V r;
        for (std::size_t l = 0; l < sizeof(V) / sizeof(x[0]); ++l) r[l] = root_of(x[l]);
        return r;
    }
}

}  // namespace GNOMON_SPACE::simd

#endif
