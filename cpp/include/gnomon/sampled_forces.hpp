// The forces of a cross-entropy with sampled repulsion: all edges of a point, weighted, and a few points drawn at
// random.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "gnomon/all_pairs.hpp"
#include "gnomon/output_kernels.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/point_lanes.hpp"
#include "gnomon/random.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

struct SamplingParameters {
    std::uint64_t seed = 0;
    float edge_scale = 1.0F;   ///< 1 / largest affinity: an edge's weight is its share of the epochs
    float repulsion = 5.0F;    ///< repulsive weight of a point for each unit of its attractive weight
    int n_draws = 16;          ///< points drawn for each point in each epoch
    float force_limit = 4.0F;  ///< bound on each component of a pair's force
};

/// The forces of one epoch on all points, scaled to the affinities as given: where no limit binds, minus an unbiased
/// estimate of the gradient of the mean field. degrees: (n), sums of the rows' affinities; Y, forces: (n, d).
void sampled_forces(const CsrView<float>& edges, std::span<const float> degrees, const OutputKernel& kernel,
                    const SamplingParameters& parameters, std::int64_t epoch, Span2<const float> Y,
                    Span2<float> attraction, Span2<float> repulsion, const Context& context);

namespace detail {

inline constexpr std::size_t kSampledRows = 64;         // rows in a chunk
inline constexpr std::uint64_t kDrawStream = 0x6e6567;  // "neg"

/// The key of all draws of an epoch.
inline std::uint32_t epoch_key(std::uint64_t seed, std::int64_t epoch) {
    return static_cast<std::uint32_t>(draw(seed, kDrawStream, static_cast<std::uint64_t>(epoch)));
}

/// One epoch of sampling.
struct SampledEpoch {
    const CsrView<float>& edges;
    std::span<const float> degrees;
    const OutputKernel& kernel;
    const SamplingParameters& parameters;
    Span2<const float> Y;
    std::uint32_t key;  // of this epoch's draws
};

/// What n_draws random points, drawn for each of sixteen points, push; (d) vectors.
template <int D, class Kernel>
GNOMON_INLINE void push_lanes(const Kernel& kernel, const SampledEpoch& epoch, std::size_t first, simd::f32* total) {
    const int d = static_cast<int>(epoch.Y.cols());
    const Clipped limit{epoch.parameters.force_limit};
    const auto n = static_cast<std::uint32_t>(epoch.Y.rows());
    simd::f32 here[kHeld<D>], there[kHeld<D>], away[kHeld<D>];
    std::int32_t index[simd::kLanes];
    std::uint32_t bits[simd::kLanes];
    for (std::size_t l = 0; l < simd::kLanes; ++l)
        index[l] = static_cast<std::int32_t>(std::min<std::size_t>(first + l, n - 1));
    gather_points<D>(epoch.Y.data(), index, d, here);
    for (int c = 0; c < d; ++c) total[c] = simd::f32{};
    const simd::u32 item = reinterpret_cast<simd::u32>(simd::lane_index()) + static_cast<std::uint32_t>(first);
    const simd::u32 base = simd::mix32(item * 0x9e3779b1U + epoch.key);
    for (int draw = 0; draw < epoch.parameters.n_draws; ++draw) {
        simd::store(bits, simd::mix32(base + static_cast<std::uint32_t>(draw) * 0x2545f491U));
        for (std::size_t l = 0; l < simd::kLanes; ++l) index[l] = static_cast<std::int32_t>(scale_to(bits[l], n));
        gather_points<D>(epoch.Y.data(), index, d, there);
        const simd::f32 squared = differences<D>(here, there, d, away);  // 0 for the point itself: no force
        const simd::f32 coefficient = 2.0F * kernel.push(simd::max(squared, simd::splat(kRepulsionFloor)));
        for (int c = 0; c < d; ++c) total[c] += limit(coefficient * away[c]);
    }
}

/// Forces on the rows [first, first + 16), attraction and repulsion apart: (16, d) each, unused rows 0.
template <int D, class Kernel>
GNOMON_INLINE void forces_on_lanes(const Kernel& kernel, const SampledEpoch& epoch, std::size_t first,
                                   float* attraction, float* repulsion) {
    const std::size_t n = epoch.Y.rows(), d = epoch.Y.cols();
    const SamplingParameters& p = epoch.parameters;
    simd::f32 push[kHeld<D>];
    push_lanes<D>(kernel, epoch, first, push);
    for (std::size_t l = 0; l < simd::kLanes; ++l) {
        const std::size_t i = first + l;
        float *pull = attraction + l * d, *away = repulsion + l * d;
        if (i >= n) {
            std::fill_n(pull, d, 0.0F);
            std::fill_n(away, d, 0.0F);
            continue;
        }
        const auto begin = static_cast<std::size_t>(epoch.edges.offsets[i]);
        pull_row<D>(kernel, Clipped{p.force_limit}, 2.0F, epoch.Y.data(), static_cast<int>(d), i,
                    epoch.edges.columns.data() + begin, epoch.edges.values.data() + begin,
                    static_cast<std::size_t>(epoch.edges.offsets[i + 1]) - begin, pull);
        const float scale = p.edge_scale * epoch.degrees[i] * p.repulsion / static_cast<float>(p.n_draws);
        for (std::size_t c = 0; c < d; ++c) {
            pull[c] *= -2.0F * p.edge_scale;  // both ends of an edge move, and each edge is stored from both ends
            away[c] = scale * push[c][l];
        }
    }
}

}  // namespace detail
}  // namespace gnomon
