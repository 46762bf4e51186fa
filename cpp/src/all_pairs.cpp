#include "gnomon/all_pairs.hpp"

#include <vector>

#include "gnomon/point_lanes.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kBlock = 1024;
using simd::f32;

template <class Kernel>
struct Partition {
    Kernel kernel;
    GNOMON_INLINE void operator()(f32 s, f32, float, f32& coefficient, f32& energy) const {
        kernel.value_and_slope(s, energy, coefficient);
    }
};

template <class Kernel>
struct CrossEntropyForce {
    Kernel kernel;
    GNOMON_INLINE void operator()(f32 s, f32 here, float there, f32& coefficient, f32& energy) const {
        coefficient = (here + there) * kernel.push(simd::max(s, simd::splat(kRepulsionFloor)));
        energy = f32{};
    }
};

template <class Kernel>
struct CrossEntropyEnergy {
    Kernel kernel;
    GNOMON_INLINE void operator()(f32 s, f32 here, float there, f32& coefficient, f32& energy) const {
        const f32 floor = simd::splat(kRepulsionFloor);
        const f32 below = simd::max(floor - s, f32{});
        const f32 log = 0.693147181F * simd::log2(kernel.deficit(simd::max(s, floor)));
        coefficient = f32{};
        energy = (here + there) * (below * kernel.push(floor) - log);
    }
};

template <class Body>
GNOMON_INLINE void with_law(PairLaw law, const OutputKernel& kernel, Body&& body) {
    with_kernel(kernel, [&](auto k) GNOMON_INLINE_LAMBDA {
        using Kernel = decltype(k);
        switch (law) {
            case PairLaw::partition:
                return body(Partition<Kernel>{k});
            case PairLaw::cross_entropy_force:
                return body(CrossEntropyForce<Kernel>{k});
            case PairLaw::cross_entropy_energy:
                return body(CrossEntropyEnergy<Kernel>{k});
        }
    });
}

/// Sixteen rows in the lanes against all points, one after another.
template <int D, class Law>
GNOMON_INLINE double rows_against_all(const Law& law, Span2<const float> Y, std::span<const float> weights,
                                      std::size_t first, Span2<float> out) {
    const std::size_t n = Y.rows(), width = D > 0 ? D : Y.cols();
    const std::size_t used = std::min<std::size_t>(simd::kLanes, n - first);
    f32 here[kHeld<D>], away[kHeld<D>], force[kHeld<D>], weight{};
    for (std::size_t l = 0; l < simd::kLanes; ++l) {
        const std::size_t i = first + std::min(l, used - 1);
        for (std::size_t c = 0; c < width; ++c) here[c][l] = Y.data()[i * width + c];
        if (!weights.empty()) weight[l] = weights[i];
    }
    double sum_force[kHeld<D>][simd::kLanes] = {}, sum_energy = 0;
    for (std::size_t begin = 0; begin < n; begin += kBlock) {
        f32 energy{};
        for (std::size_t c = 0; c < width; ++c) force[c] = f32{};
        for (std::size_t j = begin; j < std::min(n, begin + kBlock); ++j) {
            f32 squared{}, coefficient, term;
            for (std::size_t c = 0; c < width; ++c) {
                away[c] = here[c] - Y.data()[j * width + c];
                squared += away[c] * away[c];
            }
            law(squared, weight, weights.empty() ? 0.0F : weights[j], coefficient, term);
            if (j - first < simd::kLanes) {  // the point itself; its force is 0 through `away`
                term = simd::select(simd::lane_index() == static_cast<std::int32_t>(j - first), f32{}, term);
            }
            energy += term;
            for (std::size_t c = 0; c < width; ++c) force[c] += coefficient * away[c];
        }
        for (std::size_t l = 0; l < used; ++l) sum_energy += static_cast<double>(energy[l]);
        for (std::size_t c = 0; c < width; ++c)
            for (std::size_t l = 0; l < used; ++l) sum_force[c][l] += static_cast<double>(force[c][l]);
    }
    for (std::size_t l = 0; l < used; ++l)
        for (std::size_t c = 0; c < width; ++c) out(first + l, c) = static_cast<float>(sum_force[c][l]);
    return sum_energy;
}

GNOMON_CLONES double rows_block(PairLaw law, Span2<const float> Y, std::span<const float> weights,
                                const OutputKernel& kernel, std::size_t first, Span2<float> out) {
    double energy = 0;
    with_law(law, kernel, [&](auto pair) GNOMON_INLINE_LAMBDA {
        with_components(Y.cols(), [&](auto components) GNOMON_INLINE_LAMBDA {
            energy = rows_against_all<decltype(components)::value>(pair, Y, weights, first, out);
        });
    });
    return energy;
}

}  // namespace

double all_pairs(PairLaw law, Span2<const float> Y, std::span<const float> weights, const OutputKernel& kernel,
                 Span2<float> force, const Context& context) {
    std::vector<double> partial((Y.rows() + simd::kLanes - 1) / simd::kLanes);
    parallel_for(partial.size(), context, [&](std::size_t chunk, std::size_t) {
        partial[chunk] = rows_block(law, Y, weights, kernel, chunk * simd::kLanes, force);
    });
    double total = 0;
    for (const double part : partial) total += part;
    return total;
}

}  // namespace gnomon
