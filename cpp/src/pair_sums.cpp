#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/pair_sums.cpp"
#include "gnomon/pair_sums.hpp"

#include <algorithm>
#include <vector>

#include "gnomon/point_planes.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 16;

struct PairJob {
    PairLaw law;
    const OutputKernel& kernel;
    PointPlanes points;
    std::vector<float> u, v;  // both empty: every weight is 1; u empty: w_ij = v_j
    bool with_energy;
    Span2<float> force;          // no rows: not wanted
    std::span<double> energies;  // of each row; empty: not wanted
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(sum_rows);

void run(const PairJob& job, const Context& context) {
    check_law(job.law, job.kernel);
    parallel_blocks(job.points.size(), kRowsPerChunk, context,
                    [&](std::size_t begin, std::size_t end, std::size_t) { sum_rows(job, begin, end); });
}

}  // namespace

double pair_sums(PairLaw law, const OutputKernel& kernel, Span2<const float> Y, std::span<const float> u,
                 std::span<const float> v, bool with_energy, Span2<float> force, const Context& context) {
    std::vector<double> energies(with_energy ? Y.rows() : 0);
    run({law, kernel, PointPlanes(Y), padded(u), padded(v), with_energy, force, energies}, context);
    double total = 0;
    for (const double energy : energies) total += energy;
    return total;
}

void row_sums(const OutputKernel& kernel, Span2<const float> Y, std::span<const float> v, std::span<double> sums,
              const Context& context) {
    run({PairLaw::value, kernel, PointPlanes(Y), {}, padded(v), true, {}, sums}, context);
}

}  // namespace gnomon

#else
#include "gnomon/point_planes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;

/// Multiplies what a tile holds by the weights of its pairs.
GNOMON_INLINE void weigh(const PairJob& job, std::size_t i, std::size_t begin, std::size_t count, float* slopes,
                         float* energies) {
    const f32 u = simd::splat(job.u[i]), v = simd::splat(job.v[i]);
    for (std::size_t k = 0; k < count; k += simd::kLanes) {
        const f32 weight = u * simd::load(job.v.data() + begin + k) + v * simd::load(job.u.data() + begin + k);
        simd::store(slopes + k, weight * simd::load(slopes + k));
        if (energies != nullptr) simd::store(energies + k, weight * simd::load(energies + k));
    }
}

/// The same with weights of the other point alone.
GNOMON_INLINE void weigh_by_others(const PairJob& job, std::size_t begin, std::size_t count, float* slopes,
                                   float* energies) {
    for (std::size_t k = 0; k < count; k += simd::kLanes) {
        const f32 weight = simd::load(job.v.data() + begin + k);
        simd::store(slopes + k, weight * simd::load(slopes + k));
        if (energies != nullptr) simd::store(energies + k, weight * simd::load(energies + k));
    }
}

/// The row i against all points.
template <int D>
GNOMON_INLINE void sum_row(const PairJob& job, std::size_t i) {
    alignas(64) float squared[kTilePoints], slopes[kTilePoints], energy_tile[kTilePoints];
    float* energies = job.with_energy ? energy_tile : nullptr;
    double force[kMaxComponents] = {}, energy = 0;
    const std::size_t n = job.points.size(), width = D > 0 ? D : job.points.width();
    for (std::size_t begin = 0; begin < n; begin += kTilePoints) {
        const std::size_t used = std::min(kTilePoints, n - begin), count = whole_vectors(used);
        squared_distances<D>(job.points, i, begin, count, squared);
        evaluate_law(job.law, job.kernel, squared, count, slopes, energies);
        const auto clear = [&](std::size_t k) GNOMON_INLINE_LAMBDA {
            slopes[k] = 0.0F;
            if (energies != nullptr) energies[k] = 0.0F;
        };
        for (std::size_t k = used; k < count; ++k) clear(k);
        if (i - begin < used) clear(i - begin);  // the point itself
        if (!job.u.empty())
            weigh(job, i, begin, count, slopes, energies);
        else if (!job.v.empty())
            weigh_by_others(job, begin, count, slopes, energies);
        if (job.force.rows() != 0) add_forces<D>(job.points, i, begin, count, slopes, force);
        if (energies != nullptr) energy += sum_of(energies, count);
    }
    if (job.force.rows() != 0)
        for (std::size_t c = 0; c < width; ++c) job.force(i, c) = static_cast<float>(force[c]);
    if (job.with_energy) job.energies[i] = energy;
}

GNOMON_KERNEL void sum_rows(const PairJob& job, std::size_t begin, std::size_t end) {
    with_components(job.points.width(), [&](auto components) GNOMON_INLINE_LAMBDA {
        for (std::size_t i = begin; i < end; ++i) sum_row<decltype(components)::value>(job, i);
    });
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
