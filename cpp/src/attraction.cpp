#include "gnomon/attraction.hpp"

#include <vector>

#include "gnomon/point_lanes.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 256;

struct Pull {
    const CsrView<float>& edges;
    Span2<const float> Y;
    const OutputKernel& kernel;
    float scale;
    Span2<const float> base;
    float base_scale;
    Span2<float> out;
};

GNOMON_CLONES void pull_rows(const Pull& job, std::size_t begin, std::size_t end) {
    const int d = static_cast<int>(job.Y.cols());
    with_kernel(job.kernel, [&](auto kernel) GNOMON_INLINE_LAMBDA {
        with_components(job.Y.cols(), [&](auto components) GNOMON_INLINE_LAMBDA {
            constexpr int D = decltype(components)::value;
            float force[kHeld<D>];
            for (std::size_t i = begin; i < end; ++i) {
                const auto first = static_cast<std::size_t>(job.edges.offsets[i]);
                const auto degree = static_cast<std::size_t>(job.edges.offsets[i + 1]) - first;
                pull_row<D>(kernel, Unlimited{}, job.scale, job.Y.data(), d, i, job.edges.columns.data() + first,
                            job.edges.values.data() + first, degree, force);
                float* out = job.out.row(i);
                if (job.base.rows() == 0) {
                    for (int c = 0; c < d; ++c) out[c] = force[c];
                } else {
                    const float* base = job.base.row(i);
                    for (int c = 0; c < d; ++c) out[c] = force[c] + job.base_scale * base[c];
                }
            }
        });
    });
}

GNOMON_CLONES double energy_of_rows(const CsrView<float>& edges, Span2<const float> Y, const OutputKernel& output,
                                    std::size_t begin, std::size_t end) {
    const int d = static_cast<int>(Y.cols());
    double total = 0;
    with_kernel(output, [&](auto kernel) GNOMON_INLINE_LAMBDA {
        with_components(Y.cols(), [&](auto components) GNOMON_INLINE_LAMBDA {
            constexpr int D = decltype(components)::value;
            simd::f32 here[kHeld<D>], there[kHeld<D>], away[kHeld<D>];
            std::int32_t index[simd::kLanes];
            float weight[simd::kLanes];
            for (std::size_t i = begin; i < end; ++i) {
                for (int c = 0; c < d; ++c) here[c] = simd::splat(Y.row(i)[c]);
                simd::f32 row{};
                const auto last = static_cast<std::size_t>(edges.offsets[i + 1]);
                for (auto e = static_cast<std::size_t>(edges.offsets[i]); e < last; e += simd::kLanes) {
                    for (std::size_t l = 0; l < simd::kLanes; ++l) {
                        index[l] = e + l < last ? edges.columns[e + l] : static_cast<std::int32_t>(i);
                        weight[l] = e + l < last ? edges.values[e + l] : 0.0F;
                    }
                    gather_points<D>(Y.data(), index, d, there);
                    row -= simd::load(weight) * simd::log2(kernel.value(differences<D>(here, there, d, away)));
                }
                total += static_cast<double>(simd::sum(row));
            }
        });
    });
    return total * 0.6931471805599453;
}

}  // namespace

void attraction(const CsrView<float>& edges, Span2<const float> Y, const OutputKernel& kernel, float scale,
                Span2<const float> base, float base_scale, Span2<float> out, const Context& context) {
    const Pull job{edges, Y, kernel, scale, base, base_scale, out};
    parallel_blocks(Y.rows(), kRowsPerChunk, context,
                    [&](std::size_t begin, std::size_t end, std::size_t) { pull_rows(job, begin, end); });
}

double attraction_energy(const CsrView<float>& edges, Span2<const float> Y, const OutputKernel& kernel,
                         const Context& context) {
    std::vector<double> partial((Y.rows() + kRowsPerChunk - 1) / kRowsPerChunk);
    parallel_blocks(Y.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        partial[begin / kRowsPerChunk] = energy_of_rows(edges, Y, kernel, begin, end);
    });
    double total = 0;
    for (const double part : partial) total += part;
    return total;
}

}  // namespace gnomon
