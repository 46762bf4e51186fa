// Inner products of a tile in registers; its distances, sixteen lanes at a time, and which of them are near enough to
// be offered.
#include "gnomon/simd.hpp"

#ifndef GNOMON_TILE_LANES_HPP
#define GNOMON_TILE_LANES_HPP

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#endif

#if defined(GNOMON_TILE_LANES_TOGGLE) == defined(GNOMON_TOGGLE)
#ifdef GNOMON_TILE_LANES_TOGGLE
#undef GNOMON_TILE_LANES_TOGGLE
#else
#define GNOMON_TILE_LANES_TOGGLE
#endif

#ifdef GNOMON_LEVEL  // in files that are compiled for each level only

namespace GNOMON_SPACE {

/// Inner products of Rows columns of one panel with two vectors of columns of another, over d rows that lie StepA and
/// StepB numbers apart, written StepB apart. Every pair has its own accumulator, in a register: 24 of the 32 of v4 and
/// of ARM may be taken, 12 of 16 elsewhere.
template <std::size_t Rows, std::size_t StepA, std::size_t StepB, class T>
GNOMON_INLINE void tile_products(const T* a, const T* b, std::size_t d, T* products) {
    using V = simd::Lanes<T, GNOMON_VECTOR_BYTES / sizeof(T)>;
    constexpr std::size_t lanes = GNOMON_VECTOR_BYTES / sizeof(T);
    V left[Rows] = {}, right[Rows] = {};
    for (std::size_t k = 0; k < d; ++k, a += StepA, b += StepB) {
        const V column0 = simd::load_as<V>(b), column1 = simd::load_as<V>(b + lanes);
#pragma GCC unroll 12
        for (std::size_t i = 0; i < Rows; ++i) {
            const V row = a[i] - V{};
            left[i] += row * column0;
            right[i] += row * column1;
        }
    }
#pragma GCC unroll 12
    for (std::size_t i = 0; i < Rows; ++i) {
        simd::store(products + i * StepB, left[i]);
        simd::store(products + i * StepB + lanes, right[i]);
    }
}

/// The mask of the lanes where a <= b.
template <class V>
GNOMON_INLINE auto at_most(V a, V b) {
    if constexpr (simd::kJoined<V>) {
        const auto low = at_most(a.low, b.low), high = at_most(a.high, b.high);
        return simd::Joined<std::int32_t, std::remove_const_t<decltype(low)>>{low, high};
    } else {
        return a <= b;
    }
}

/// One bit for each lane of a mask, that of the first lane the lowest.
template <class Mask>
GNOMON_INLINE std::uint32_t lane_bits(Mask mask) {
    if constexpr (simd::kJoined<Mask>) {
        constexpr int kLow = sizeof(mask.low) / sizeof(std::int32_t);
        return lane_bits(mask.low) | lane_bits(mask.high) << kLow;
    } else {
#if GNOMON_VECTOR_BYTES == 64
        return _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask));
#elif GNOMON_VECTOR_BYTES == 32
        return static_cast<std::uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
#elif defined(__SSE2__)
        return static_cast<std::uint32_t>(_mm_movemask_ps(reinterpret_cast<__m128>(mask)));
#else
        const Mask bits = mask & Mask{1, 2, 4, 8};
        return static_cast<std::uint32_t>((bits[0] | bits[1]) | (bits[2] | bits[3]));
#endif
    }
}

/// One bit for each lane of two masks; those of most tiles are empty.
template <class Mask>
GNOMON_INLINE std::uint32_t lane_bits(Mask low, Mask high) {
    return simd::any(low | high) ? lane_bits(low) | lane_bits(high) << simd::kLanes : 0;
}

/// Calls visit(lane) for each set bit in ascending order.
template <class Visit>
GNOMON_INLINE void for_each_lane(std::uint32_t bits, Visit&& visit) {
    for (; bits != 0; bits &= bits - 1) visit(static_cast<std::size_t>(__builtin_ctz(bits)));
}

/// Squared distances of one row of a tile to 16 of its columns; rounding below zero is cut off.
GNOMON_INLINE simd::f32 tile_distances(const float* dots, float row_norm, const float* col_norms) {
    const simd::f32 dot = simd::load(dots);
    return simd::max((simd::splat(row_norm) + simd::load(col_norms)) - (dot + dot), simd::f32{});
}

}  // namespace GNOMON_SPACE

#endif
#endif
