// All points of an embedding, one component after another, and what one point sees of a tile of them.
#include "gnomon/output_kernels.hpp"
#include "gnomon/simd.hpp"

#ifndef GNOMON_POINT_PLANES_HPP
#define GNOMON_POINT_PLANES_HPP

#include <cstddef>
#include <vector>

#include "gnomon/span.hpp"

namespace gnomon {

/// Points whose squared distances to one point are held at once.
inline constexpr std::size_t kTilePoints = 1024;

/// A count rounded up to whole vectors.
constexpr std::size_t whole_vectors(std::size_t count) {
    return (count + simd::kLanes - 1) / simd::kLanes * simd::kLanes;
}

/// Numbers padded with zeros to whole vectors.
inline std::vector<float> padded(std::span<const float> values) {
    std::vector<float> result(values.begin(), values.end());
    result.resize(whole_vectors(values.size()));
    return result;
}

class PointPlanes {
public:
    explicit PointPlanes(Span2<const float> Y)
        : size_(Y.rows()), width_(Y.cols()), pitch_(whole_vectors(Y.rows())), lines_(Y.cols() * pitch_ / simd::kLanes) {
        for (std::size_t i = 0; i < size_; ++i)
            for (std::size_t c = 0; c < width_; ++c)
                lines_[(c * pitch_ + i) / simd::kLanes].values[i % simd::kLanes] = Y(i, c);
    }

    std::size_t size() const { return size_; }
    std::size_t width() const { return width_; }
    const float* plane(std::size_t c) const { return reinterpret_cast<const float*>(lines_.data()) + c * pitch_; }

private:
    struct alignas(64) Line {  // of the cache: an unaligned load of sixteen lanes touches two
        float values[simd::kLanes] = {};
    };

    std::size_t size_, width_, pitch_;
    std::vector<Line> lines_;
};

}  // namespace gnomon

#endif

#if defined(GNOMON_POINT_PLANES_TOGGLE) == defined(GNOMON_TOGGLE)
#ifdef GNOMON_POINT_PLANES_TOGGLE
#undef GNOMON_POINT_PLANES_TOGGLE
#else
#define GNOMON_POINT_PLANES_TOGGLE
#endif

namespace GNOMON_SPACE {

/// squared[k] = |y_i - y_(begin + k)|^2 for k in [0, count), count in whole vectors. D: components, 0 if not constant.
template <int D>
GNOMON_INLINE void squared_distances(const PointPlanes& points, std::size_t i, std::size_t begin, std::size_t count,
                                     float* squared) {
    if constexpr (D > 0) {
        simd::f32 here[D];
        for (std::size_t c = 0; c < D; ++c) here[c] = simd::splat(points.plane(c)[i]);
        for (std::size_t k = 0; k < count; k += simd::kLanes) {
            simd::f32 total{};
            for (std::size_t c = 0; c < D; ++c) {
                const simd::f32 away = here[c] - simd::load(points.plane(c) + begin + k);
                total += away * away;
            }
            simd::store(squared + k, total);
        }
    } else {
        for (std::size_t c = 0; c < points.width(); ++c) {
            const simd::f32 here = simd::splat(points.plane(c)[i]);
            for (std::size_t k = 0; k < count; k += simd::kLanes) {
                const simd::f32 away = here - simd::load(points.plane(c) + begin + k);
                const simd::f32 before = c == 0 ? simd::f32{} : simd::load(squared + k);
                simd::store(squared + k, before + away * away);
            }
        }
    }
}

/// total[c] += sum_k slopes[k] (y_i - y_(begin + k)): lanes in float32, the tile's sum in double.
template <int D>
GNOMON_INLINE void add_forces(const PointPlanes& points, std::size_t i, std::size_t begin, std::size_t count,
                              const float* slopes, double* total) {
    constexpr std::size_t kTogether = D > 0 ? D : 1;
    const std::size_t width = D > 0 ? D : points.width();
    for (std::size_t first = 0; first < width; first += kTogether) {
        simd::f32 here[kTogether], sums[kTogether] = {};
        for (std::size_t c = 0; c < kTogether; ++c) here[c] = simd::splat(points.plane(first + c)[i]);
        for (std::size_t k = 0; k < count; k += simd::kLanes) {
            const simd::f32 slope = simd::load(slopes + k);
            for (std::size_t c = 0; c < kTogether; ++c)
                sums[c] += slope * (here[c] - simd::load(points.plane(first + c) + begin + k));
        }
        for (std::size_t c = 0; c < kTogether; ++c) total[first + c] += static_cast<double>(simd::sum(sums[c]));
    }
}

/// Sum of a tile, lanes in float32.
GNOMON_INLINE double sum_of(const float* values, std::size_t count) {
    simd::f32 total{};
    for (std::size_t k = 0; k < count; k += simd::kLanes) total += simd::load(values + k);
    return static_cast<double>(simd::sum(total));
}

}  // namespace GNOMON_SPACE

#endif
