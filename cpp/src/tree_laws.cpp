#include "tree_laws.hpp"

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

using simd::f32;

constexpr float kStraightBelow = 1e-3F;

GNOMON_CLONES void fill_values(const OutputKernel& output, const float* squared, std::size_t count, float* slopes,
                               float* energies) {
    with_kernel(output, [&](auto kernel) GNOMON_INLINE_LAMBDA {
        for (std::size_t i = 0; i < count; i += simd::kLanes) {
            f32 value, slope;
            kernel.value_and_slope(simd::load(squared + i), value, slope);
            simd::store(slopes + i, -slope);
            if (energies != nullptr) simd::store(energies + i, value);
        }
    });
}

GNOMON_CLONES void fill_log_deficits(const OutputKernel& output, const float* squared, std::size_t count, float* slopes,
                                     float* energies) {
    with_kernel(output, [&](auto kernel) GNOMON_INLINE_LAMBDA {
        for (std::size_t i = 0; i < count; i += simd::kLanes) {
            const f32 s = simd::load(squared + i), held = simd::max(s, simd::splat(kStraightBelow));
            const f32 push = kernel.push(held);
            simd::store(slopes + i, -push);
            if (energies == nullptr) continue;
            f32 k, slope;
            kernel.value_and_slope(held, k, slope);
            // 1 - k without cancellation: push = slope / (1 - k). Where k is small, a series keeps its digits.
            const f32 deficit = simd::select(k > 0.5F, slope / push, 1.0F - k);
            const f32 series = k * (1.0F + k * (0.5F + k * (0.333333333F + k * 0.25F)));
            const f32 log = simd::select(k < 0.03125F, series, -0.693147181F * simd::log2(deficit));
            simd::store(energies + i, log + push * (held - s));
        }
    });
}

}  // namespace

void evaluate_law(TreeLaw law, const OutputKernel& kernel, const float* squared, std::size_t count, float* slopes,
                  float* energies) {
    if (law == TreeLaw::value)
        fill_values(kernel, squared, count, slopes, energies);
    else
        fill_log_deficits(kernel, squared, count, slopes, energies);
}

}  // namespace gnomon
