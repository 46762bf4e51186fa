#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/target_sums.cpp"
#include <algorithm>
#include <cstring>
#include <vector>

#include "gnomon/pair_sums.hpp"
#include "gnomon/point_planes.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 16;

struct TargetJob {
    const OutputKernel& kernel;
    PointPlanes points;
    Span2<const float> target;
    PairWeights weights;
    std::vector<float> factors;  // of the weights, padded; empty: none
    std::vector<float> means;    // of the rows of K, less half the mean of all: K_ij - means_i - means_j; empty: plain
    Span2<float> force;
    std::span<double> energies;  // of each row
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(compare_rows);

/// Means of the rows of K, less half the mean of all, padded.
std::vector<float> kernel_means(const OutputKernel& kernel, Span2<const float> Y, const Context& context) {
    const std::size_t n = Y.rows();
    std::vector<double> sums(n);
    row_sums(kernel, Y, {}, sums, context);
    const auto count = static_cast<double>(n), own = static_cast<double>(kernel_at_zero(kernel));
    double total = 0;
    for (double& sum : sums) total += (sum += own);
    std::vector<float> means(whole_vectors(n));
    for (std::size_t i = 0; i < n; ++i) means[i] = static_cast<float>(sums[i] / count - 0.5 * total / (count * count));
    return means;
}

}  // namespace

double target_sums(const OutputKernel& kernel, Span2<const float> Y, Span2<const float> target, PairWeights weights,
                   bool centred, Span2<float> force, const Context& context) {
    std::vector<double> energies(Y.rows());
    std::vector<float> means;
    if (centred) means = kernel_means(kernel, Y, context);
    const TargetJob job{kernel,           PointPlanes(Y), target,  weights, padded(weights.factors),
                        std::move(means), force,          energies};
    parallel_blocks(Y.rows(), kRowsPerChunk, context,
                    [&](std::size_t begin, std::size_t end, std::size_t) { compare_rows(job, begin, end); });
    double total = 0;
    for (const double energy : energies) total += energy;
    return total;
}

}  // namespace gnomon

#else
#include "gnomon/point_planes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;

/// slopes = 2 r k' and values = r^2, from k' and k, for the columns [begin, begin + used) of row i.
GNOMON_INLINE void compare(const TargetJob& job, std::size_t i, std::size_t begin, std::size_t used, float* slopes,
                           float* values) {
    const float* target = job.target.row(i) + begin;
    const bool centred = !job.means.empty();
    const f32 mean = simd::splat(centred ? job.means[i] : 0.0F);
    float last[simd::kLanes] = {};
    for (std::size_t k = 0; k < used; k += simd::kLanes) {
        const float* t = target + k;
        if (used - k < simd::kLanes) {  // nothing may be read beyond the matrix
            std::memcpy(last, t, (used - k) * sizeof(float));
            t = last;
        }
        f32 r = simd::load(values + k) - simd::load(t);
        if (centred) r = r - mean - simd::load(job.means.data() + begin + k);
        simd::store(slopes + k, 2.0F * r * simd::load(slopes + k));
        simd::store(values + k, r * r);
    }
}

/// Multiply slopes and values by w_ij for the columns [begin, begin + used) of row i.
GNOMON_INLINE void weigh(const TargetJob& job, std::size_t i, std::size_t begin, std::size_t used, float* slopes,
                         float* values) {
    const bool factored = !job.factors.empty();
    const simd::f32 own = simd::splat(factored ? job.factors[i] : 1.0F);
    const float* weights = factored ? job.factors.data() + begin : job.weights.matrix.row(i) + begin;
    float last[simd::kLanes] = {};
    for (std::size_t k = 0; k < used; k += simd::kLanes) {
        const float* w = weights + k;
        if (used - k < simd::kLanes) {  // nothing may be read beyond the matrix
            std::memcpy(last, w, (used - k) * sizeof(float));
            w = last;
        }
        const f32 weight = own * simd::load(w);
        simd::store(slopes + k, weight * simd::load(slopes + k));
        simd::store(values + k, weight * simd::load(values + k));
    }
}

template <int D>
GNOMON_INLINE void compare_row(const TargetJob& job, std::size_t i) {
    alignas(64) float squared[kTilePoints], slopes[kTilePoints], values[kTilePoints];
    double force[kMaxComponents] = {}, energy = 0;
    const std::size_t n = job.points.size(), width = D > 0 ? D : job.points.width();
    const bool weighted = !job.factors.empty() || job.weights.matrix.rows() > 0;
    for (std::size_t begin = 0; begin < n; begin += kTilePoints) {
        const std::size_t used = std::min(kTilePoints, n - begin), count = whole_vectors(used);
        squared_distances<D>(job.points, i, begin, count, squared);
        evaluate_law(PairLaw::value, job.kernel, squared, count, slopes, values);
        compare(job, i, begin, used, slopes, values);
        if (weighted) weigh(job, i, begin, used, slopes, values);
        for (std::size_t k = used; k < count; ++k) slopes[k] = values[k] = 0.0F;
        if (i - begin < used) {  // the point itself
            slopes[i - begin] = 0.0F;
            if (job.means.empty()) values[i - begin] = 0.0F;
        }
        add_forces<D>(job.points, i, begin, count, slopes, force);
        energy += sum_of(values, count);
    }
    for (std::size_t c = 0; c < width; ++c) job.force(i, c) = static_cast<float>(force[c]);
    job.energies[i] = energy;
}

GNOMON_KERNEL void compare_rows(const TargetJob& job, std::size_t begin, std::size_t end) {
    with_components(job.points.width(), [&](auto components) GNOMON_INLINE_LAMBDA {
        for (std::size_t i = begin; i < end; ++i) compare_row<decltype(components)::value>(job, i);
    });
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
