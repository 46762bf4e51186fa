#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/edge_sums.cpp"
#include "gnomon/edge_sums.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "gnomon/edge_tiles.hpp"
#include "gnomon/point_lanes.hpp"

// GCC 12 does not see that the components read are those that were filled: both loops run over the same width.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 256;
constexpr std::size_t kRowsAddedUp = 4096;
constexpr std::size_t kPacked = 512;  // edges of several rows at a time, side by side

void force_rows(const EdgeForces& job, const AddedSums& added, std::size_t begin, std::size_t end, EdgeTile& tile) {
    edge_forces(job, begin, end, tile,
                [&](std::size_t i, std::size_t count, const float* forces) { added.write(i, count, tile.d, forces); });
}

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(cauchy_rows);
GNOMON_CHOOSE(energy_of_rows);
GNOMON_CHOOSE(power_rows);

}  // namespace

void edge_sums(PairLaw law, const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y, float scale,
               Span2<const float> base, float base_scale, Span2<float> out, const Context& context) {
    check_law(law, kernel);
    const EdgeForces job{edges, Y, law, kernel, scale};
    const AddedSums added{base, base_scale, out};
    if (law == PairLaw::log && kernel.kind == OutputKernel::Kind::cauchy && Y.cols() == 2) {
        parallel_blocks(out.rows(), kRowsPerChunk, context,
                        [&](std::size_t begin, std::size_t end, std::size_t) { cauchy_rows(job, added, begin, end); });
        return;
    }
    const bool packs = law == PairLaw::log && kernel.kind == OutputKernel::Kind::rational_power && Y.cols() == 2;
    std::vector<EdgeTile> tiles = EdgeTile::of_workers(context, Y.cols());
    parallel_blocks(out.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        (packs ? power_rows : force_rows)(job, added, begin, end, tiles[worker]);
    });
}

void edge_degrees(std::span<const std::int64_t> offsets, std::span<const float> values, std::span<float> degrees,
                  const Context& context) {
    parallel_blocks(degrees.size(), kRowsAddedUp, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        double total = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const double before = total;
            for (std::int64_t e = offsets[i]; e < offsets[i + 1]; ++e)
                total += static_cast<double>(values[static_cast<std::size_t>(e)]);
            degrees[i] = static_cast<float>(total - before);
        }
    });
}

double edge_energy(PairLaw law, const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y,
                   const Context& context) {
    check_law(law, kernel);
    const EdgeForces job{edges, Y, law, kernel, 1.0F};
    std::vector<EdgeTile> tiles = EdgeTile::of_workers(context, Y.cols());
    const auto energy = [&](std::size_t begin, std::size_t end, std::size_t worker) {
        return energy_of_rows(job, begin, end, tiles[worker]);
    };
    return parallel_block_sum(Y.rows(), kRowsPerChunk, context, energy);
}

}  // namespace gnomon

#else
#include "gnomon/point_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

/// The attraction of t-SNE in the plane, edge by edge: its one division hides behind the gathers, where a tile would
/// wait for it.
GNOMON_KERNEL void cauchy_rows(const EdgeForces& job, const AddedSums& added, std::size_t begin, std::size_t end) {
    float force[2];
    for (std::size_t i = begin; i < end; ++i) {
        const auto first = static_cast<std::size_t>(job.edges.offsets[i]);
        const auto degree = static_cast<std::size_t>(job.edges.offsets[i + 1]) - first;
        pull_row<2>(Cauchy{}, job.scale, job.Y.data(), 2, i, job.edges.columns.data() + first,
                    job.edges.values.data() + first, degree, force);
        added.write(i, 1, 2, force);
    }
}

/// Edges of several rows side by side, and room for what a row's last vector writes beyond it.
struct PackedEdges {
    static constexpr std::size_t kRoom = kPacked + simd::kLanes;
    alignas(64) float squared[kRoom], slopes[kRoom], away[2][kRoom];
};

/// The sixteen numbers from `at` on of those before `end`; others where there are fewer.
template <class T>
GNOMON_INLINE const T* sixteen(std::span<const T> numbers, std::size_t at, T* room) {
    if (at + simd::kLanes <= numbers.size()) return numbers.data() + at;
    for (std::size_t l = 0; l < simd::kLanes; ++l) room[l] = at + l < numbers.size() ? numbers[at + l] : T{};
    return room;
}

/// The attraction of UMAP in the plane. Its power is dear, so that it is taken of the edges side by side, not of whole
/// vectors of each row: a row's last vector reads edges of the next ones, which then write over what it wrote. Bits are
/// those of force_rows, which adds edges of no weight in their place.
GNOMON_KERNEL void power_rows(const EdgeForces& job, const AddedSums& added, std::size_t begin, std::size_t end,
                              EdgeTile& long_rows) {
    const RationalPower kernel{job.kernel.a, job.kernel.b};
    const std::span<const std::int32_t> columns{job.edges.columns.data(), job.edges.columns.size()};
    const std::span<const float> values{job.edges.values.data(), job.edges.values.size()};
    const auto edge = [&](std::size_t i)
                          GNOMON_INLINE_LAMBDA { return static_cast<std::size_t>(job.edges.offsets[i]); };
    std::int32_t last_columns[simd::kLanes];
    float last_values[simd::kLanes], force[2];
    PackedEdges tile;
    const simd::i32 lane = simd::lane_index();
    for (std::size_t i = begin; i < end;) {
        const std::size_t first = edge(i);
        if (edge(i + 1) - first > kPacked) {
            force_rows(job, added, i, i + 1, long_rows);
            ++i;
            continue;
        }
        std::size_t stop = i;
        for (; stop < end && edge(stop + 1) - first <= kPacked; ++stop) {
            const simd::f32 here[2] = {simd::splat(job.Y.row(stop)[0]), simd::splat(job.Y.row(stop)[1])};
            for (std::size_t e = edge(stop), last = edge(stop + 1); e < last; e += simd::kLanes) {
                __builtin_prefetch(columns.data() + e + kEdgesAhead);
                __builtin_prefetch(values.data() + e + kEdgesAhead);
                if (e + kPointsAhead + simd::kLanes <= columns.size())
                    prefetch_points(job.Y.data(), columns.data() + e + kPointsAhead, 2);
                simd::f32 there[2], away[2];
                gather_points<2>(job.Y.data(), sixteen(columns, e, last_columns), 2, there);
                simd::store(tile.squared + (e - first), differences<2>(here, there, 2, away));
                simd::store(tile.away[0] + (e - first), away[0]);
                simd::store(tile.away[1] + (e - first), away[1]);
            }
        }
        const std::size_t count = edge(stop) - first;
        simd::store(tile.squared + count, simd::f32{});
        for (std::size_t t = 0; t < count; t += simd::kLanes)
            simd::store(tile.slopes + t, job.scale * kernel.pull(simd::load(tile.squared + t)));
        for (; i < stop; ++i) {
            simd::f32 total[2] = {};
            for (std::size_t e = edge(i), last = edge(i + 1); e < last; e += simd::kLanes) {
                const simd::f32 coefficient = simd::load(tile.slopes + (e - first));
                const simd::f32 weight = simd::load(sixteen(values, e, last_values));
                const simd::i32 own = (lane - static_cast<int>(std::min(last - e, std::size_t{simd::kLanes}))) >> 31;
                for (std::size_t c = 0; c < 2; ++c) {
                    const simd::f32 pull = weight * (coefficient * simd::load(tile.away[c] + (e - first)));
                    total[c] += simd::as<simd::f32>(own & simd::as<simd::i32>(pull));
                }
            }
            force[0] = simd::sum(total[0]);
            force[1] = simd::sum(total[1]);
            added.write(i, 1, 2, force);
        }
    }
}

GNOMON_KERNEL double energy_of_rows(const EdgeForces& job, std::size_t begin, std::size_t end, EdgeTile& tile) {
    double total = 0;
    EdgeWalk walk(job.edges, job.Y, begin);
    simd::f32 row{};
    for (std::size_t i = begin; i < end;) {
        const std::size_t vectors = fill_tile(walk, end, tile);
        evaluate_law(job.law, job.kernel, tile.squared, vectors * simd::kLanes, tile.slopes, tile.energies);
        for (std::size_t t = 0; t < vectors; ++t) {
            row += simd::load(tile.weights + t * simd::kLanes) * simd::load(tile.energies + t * simd::kLanes);
            if (!tile.ends_row[t]) continue;
            total += static_cast<double>(simd::sum(row));
            row = simd::f32{};
            ++i;
        }
    }
    return total;
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
