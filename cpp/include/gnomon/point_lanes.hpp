// Sixteen points of a row-major embedding, one vector for each component. D is the number of components known at
// compile time, or 0 for d known at run time.
#include "gnomon/output_kernels.hpp"
#include "gnomon/simd.hpp"

#ifndef GNOMON_POINT_LANES_HPP
#define GNOMON_POINT_LANES_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#endif

#if defined(GNOMON_POINT_LANES_TOGGLE) == defined(GNOMON_TOGGLE)
#ifdef GNOMON_POINT_LANES_TOGGLE
#undef GNOMON_POINT_LANES_TOGGLE
#else
#define GNOMON_POINT_LANES_TOGGLE
#endif

namespace GNOMON_SPACE {

/// Vectors to hold for D components.
template <int D>
inline constexpr int kHeld = D > 0 ? D : kMaxComponents;

namespace detail {

using f32x4 = float __attribute__((vector_size(16)));
using f64x2 = double __attribute__((vector_size(16)));

/// Two points of two components: x0 y0 x1 y1. Scalar 8-byte loads are as fast as a hardware gather.
template <class Index>
GNOMON_INLINE f32x4 two_points(const float* p, Index i, Index j) {
    double a, b;
    std::memcpy(&a, p + 2 * static_cast<std::size_t>(i), sizeof a);
    std::memcpy(&b, p + 2 * static_cast<std::size_t>(j), sizeof b);
    return reinterpret_cast<f32x4>(f64x2{a, b});
}

template <class Index>
GNOMON_INLINE void gather_planar(const float* p, const Index* i, simd::f32* out) {
    f32x4 x[4], y[4];
    for (int q = 0; q < 4; ++q) {
        const f32x4 a = two_points(p, i[4 * q], i[4 * q + 1]), b = two_points(p, i[4 * q + 2], i[4 * q + 3]);
        x[q] = __builtin_shufflevector(a, b, 0, 2, 4, 6);
        y[q] = __builtin_shufflevector(a, b, 1, 3, 5, 7);
    }
    out[0] = simd::from_quarters(x[0], x[1], x[2], x[3]);
    out[1] = simd::from_quarters(y[0], y[1], y[2], y[3]);
}

}  // namespace detail

/// Reads the points index[0..15].
template <int D, class Index>
GNOMON_INLINE void gather_points(const float* points, const Index* index, int d, simd::f32* out) {
    if constexpr (D == 2) {
        detail::gather_planar(points, index, out);
    } else {
        const int width = D > 0 ? D : d;
        for (int c = 0; c < width; ++c) {
            const auto at = [&](int l) GNOMON_INLINE_LAMBDA {
                return points[static_cast<std::size_t>(index[l]) * static_cast<std::size_t>(width) +
                              static_cast<std::size_t>(c)];
            };
            out[c] = simd::from_lanes(at);
        }
    }
}

/// Asks memory for the points index[0..15] of d components.
GNOMON_INLINE void prefetch_points(const float* points, const std::int32_t* index, int d) {
    for (int l = 0; l < simd::kLanes; ++l)
        __builtin_prefetch(points + static_cast<std::size_t>(index[l]) * static_cast<std::size_t>(d));
}

/// out[c] = from[c] - to[c]; returns the sum of squares.
template <int D>
GNOMON_INLINE simd::f32 differences(const simd::f32* from, const simd::f32* to, int d, simd::f32* out) {
    const int width = D > 0 ? D : d;
    simd::f32 squared{};
    for (int c = 0; c < width; ++c) {
        out[c] = from[c] - to[c];
        squared += out[c] * out[c];
    }
    return squared;
}

/// force[c] = sum over a row's edges of value * scale * pull(s) * (y_i - y_j)_c, sixteen edges at once.
template <int D, class Kernel, class Index>
GNOMON_INLINE void pull_row(const Kernel& kernel, float scale, const float* points, int d, std::size_t row,
                            const Index* columns, const float* values, std::size_t degree, float* force) {
    const int width = D > 0 ? D : d;
    simd::f32 here[kHeld<D>], there[kHeld<D>], away[kHeld<D>], total[kHeld<D>];
    for (int c = 0; c < width; ++c) {
        here[c] = simd::splat(points[row * static_cast<std::size_t>(width) + static_cast<std::size_t>(c)]);
        total[c] = simd::f32{};
    }
    Index last_columns[simd::kLanes];
    float last_values[simd::kLanes];
    for (std::size_t e = 0; e < degree; e += simd::kLanes) {
        const Index* index = columns + e;
        const float* value = values + e;
        if (degree - e < simd::kLanes) {  // the rest of a row: its free lanes pull the point to itself with no weight
            for (std::size_t l = 0; l < simd::kLanes; ++l) {
                const bool used = e + l < degree;
                last_columns[l] = used ? columns[e + l] : static_cast<Index>(row);
                last_values[l] = used ? values[e + l] : 0.0F;
            }
            index = last_columns;
            value = last_values;
        }
        gather_points<D>(points, index, d, there);
        const simd::f32 coefficient = scale * kernel.pull(differences<D>(here, there, d, away));
        const simd::f32 weight = simd::load(value);
        for (int c = 0; c < width; ++c) total[c] += weight * (coefficient * away[c]);
    }
    for (int c = 0; c < width; ++c) force[c] = simd::sum(total[c]);
}

}  // namespace GNOMON_SPACE

#endif
