#include "gnomon/sampled_forces.hpp"

#include <vector>

namespace gnomon {
namespace {

using namespace detail;
using simd::kLanes;

/// Writes the forces on the rows [begin, end).
GNOMON_CLONES void store_rows(const SampledEpoch& epoch, Span2<float> attraction, Span2<float> repulsion,
                              std::size_t begin, std::size_t end, float* scratch) {
    const std::size_t d = epoch.Y.cols();
    const float scale = 1.0F / epoch.parameters.edge_scale;
    with_kernel(epoch.kernel, [&](auto kernel) GNOMON_INLINE_LAMBDA {
        with_components(d, [&](auto components) GNOMON_INLINE_LAMBDA {
            for (std::size_t first = begin; first < end; first += kLanes) {
                forces_on_lanes<decltype(components)::value>(kernel, epoch, first, scratch, scratch + kLanes * d);
                for (std::size_t k = 0; k < std::min(kLanes * d, (end - first) * d); ++k) {
                    attraction.row(first)[k] = scale * scratch[k];
                    repulsion.row(first)[k] = scale * scratch[kLanes * d + k];
                }
            }
        });
    });
}

}  // namespace

void sampled_forces(const CsrView<float>& edges, std::span<const float> degrees, const OutputKernel& kernel,
                    const SamplingParameters& parameters, std::int64_t t, Span2<const float> Y, Span2<float> attraction,
                    Span2<float> repulsion, const Context& context) {
    const std::size_t d = Y.cols();
    std::vector<float> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)) * 2 * kLanes * d);
    const SampledEpoch epoch{edges, degrees, kernel, parameters, Y, epoch_key(parameters.seed, t)};
    parallel_blocks(Y.rows(), kSampledRows, context, [&](std::size_t first, std::size_t last, std::size_t worker) {
        store_rows(epoch, attraction, repulsion, first, last, scratch.data() + worker * 2 * kLanes * d);
    });
}

}  // namespace gnomon
