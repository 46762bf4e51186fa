// Fourier transforms of sixteen sequences at once, one in each lane. Every sequence sees the same operations in the
// same order, so the bits depend neither on the number of threads nor on the instruction set.
#include "gnomon/simd.hpp"

#ifndef GNOMON_FFT_HPP
#define GNOMON_FFT_HPP

#include <array>
#include <cstddef>
#include <vector>

namespace gnomon {

struct ComplexLanes;

/// cos and sin of 2 pi k / n to double precision, without libm (which differs between processors).
std::array<double, 2> root_of_unity(std::size_t k, std::size_t n);

/// The smallest product of twos, threes and fives that is at least n.
std::size_t fast_length(std::size_t n);

/// Stages and factors of a transform of one length, a product of twos, threes and fives.
class FftPlan {
public:
    explicit FftPlan(std::size_t n);
    FftPlan() : FftPlan(1) {}

    struct Stage {
        int radix;
        std::size_t groups;    ///< transforms of this stage with different factors
        std::size_t stride;    ///< transforms with the same factors
        std::size_t twiddles;  ///< where its factors begin
    };
    struct Factor {
        float re, im;
    };

    std::size_t size() const { return n_; }
    const std::vector<Stage>& stages() const { return stages_; }
    const std::vector<Factor>& factors() const { return factors_; }

private:
    std::size_t n_;
    std::vector<Stage> stages_;
    std::vector<Factor> factors_;
};

enum class Direction { forward, inverse };  ///< exp(-2 pi i jk / n), exp(+2 pi i jk / n); neither divides by n

/// Transforms x of plan.size() elements; work has as many. The result is in the returned one of the two.
ComplexLanes* fft(const FftPlan& plan, Direction direction, ComplexLanes* x, ComplexLanes* work);

}  // namespace gnomon

#endif

#if defined(GNOMON_FFT_TOGGLE) == defined(GNOMON_TOGGLE)
#ifdef GNOMON_FFT_TOGGLE
#undef GNOMON_FFT_TOGGLE
#else
#define GNOMON_FFT_TOGGLE
#endif

namespace GNOMON_SPACE {

/// One complex number in each of sixteen lanes. Aligned by hand: outside of levels the compiler takes the alignment of
/// the baseline's registers, inside them that of wider ones.
struct alignas(64) ComplexLanes {
    simd::f32 re, im;
};

/// Transposes a 16 x 16 tile: to[l * to_pitch + k] = from[k * from_pitch + l].
GNOMON_INLINE void transpose_tile(const float* from, std::size_t from_pitch, float* to, std::size_t to_pitch) {
    using f32x4 = float __attribute__((vector_size(16)));
    for (std::size_t r = 0; r < simd::kLanes; r += 4) {
        for (std::size_t c = 0; c < simd::kLanes; c += 4) {
            const float* source = from + r * from_pitch + c;
            const auto a = simd::load_as<f32x4>(source), b = simd::load_as<f32x4>(source + from_pitch);
            const auto e = simd::load_as<f32x4>(source + 2 * from_pitch);
            const auto f = simd::load_as<f32x4>(source + 3 * from_pitch);
            const f32x4 ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5),
                        ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
            const f32x4 ef0 = __builtin_shufflevector(e, f, 0, 4, 1, 5),
                        ef1 = __builtin_shufflevector(e, f, 2, 6, 3, 7);
            float* target = to + c * to_pitch + r;
            simd::store(target, f32x4(__builtin_shufflevector(ab0, ef0, 0, 1, 4, 5)));
            simd::store(target + to_pitch, f32x4(__builtin_shufflevector(ab0, ef0, 2, 3, 6, 7)));
            simd::store(target + 2 * to_pitch, f32x4(__builtin_shufflevector(ab1, ef1, 0, 1, 4, 5)));
            simd::store(target + 3 * to_pitch, f32x4(__builtin_shufflevector(ab1, ef1, 2, 3, 6, 7)));
        }
    }
}

}  // namespace GNOMON_SPACE

#endif
