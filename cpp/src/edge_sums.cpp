#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/edge_sums.cpp"
#include "gnomon/edge_sums.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "gnomon/edge_tiles.hpp"

// GCC 12 does not see that the components read are those that were filled: both loops run over the same width.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 256;
constexpr std::size_t kRowsAddedUp = 4096;

struct Added {
    Span2<const float> base;
    float base_scale;
    Span2<float> out;
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(cauchy_rows);
GNOMON_CHOOSE(energy_of_rows);
GNOMON_CHOOSE(force_rows);

std::vector<EdgeTile> scratch(const Context& context, std::size_t n_components) {
    return std::vector<EdgeTile>(static_cast<std::size_t>(std::max(context.n_threads, 1)), EdgeTile(n_components));
}

}  // namespace

void edge_sums(PairLaw law, const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y, float scale,
               Span2<const float> base, float base_scale, Span2<float> out, const Context& context) {
    check_law(law, kernel);
    const EdgeForces job{edges, Y, law, kernel, scale};
    const Added added{base, base_scale, out};
    if (law == PairLaw::log && kernel.kind == OutputKernel::Kind::cauchy && Y.cols() == 2) {
        parallel_blocks(out.rows(), kRowsPerChunk, context,
                        [&](std::size_t begin, std::size_t end, std::size_t) { cauchy_rows(job, added, begin, end); });
        return;
    }
    std::vector<EdgeTile> tiles = scratch(context, Y.cols());
    parallel_blocks(out.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        force_rows(job, added, begin, end, tiles[worker]);
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
    std::vector<EdgeTile> tiles = scratch(context, Y.cols());
    std::vector<double> partial((Y.rows() + kRowsPerChunk - 1) / kRowsPerChunk);
    parallel_blocks(Y.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        partial[begin / kRowsPerChunk] = energy_of_rows(job, begin, end, tiles[worker]);
    });
    double total = 0;
    for (const double part : partial) total += part;
    return total;
}

}  // namespace gnomon

#else
#include "gnomon/edge_tiles.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

GNOMON_INLINE void write(const Added& added, std::size_t i, std::size_t d, const float* force) {
    float* out = added.out.row(i);
    if (added.base.rows() == 0) {
        for (std::size_t c = 0; c < d; ++c) out[c] = force[c];
    } else {
        const float* base = added.base.row(i);
        for (std::size_t c = 0; c < d; ++c) out[c] = force[c] + added.base_scale * base[c];
    }
}

GNOMON_KERNEL void force_rows(const EdgeForces& job, const Added& added, std::size_t begin, std::size_t end,
                              EdgeTile& tile) {
    const std::size_t d = job.Y.cols();
    with_components(d, [&](auto components) GNOMON_INLINE_LAMBDA {
        constexpr int D = decltype(components)::value;
        edge_forces<D>(job, Unlimited{}, begin, end, tile,
                       [&](std::size_t i, const float* force) GNOMON_INLINE_LAMBDA { write(added, i, d, force); });
    });
}

/// The attraction of t-SNE in the plane, edge by edge: its one division hides behind the gathers, where a tile would
/// wait for it.
GNOMON_KERNEL void cauchy_rows(const EdgeForces& job, const Added& added, std::size_t begin, std::size_t end) {
    float force[2];
    for (std::size_t i = begin; i < end; ++i) {
        const auto first = static_cast<std::size_t>(job.edges.offsets[i]);
        const auto degree = static_cast<std::size_t>(job.edges.offsets[i + 1]) - first;
        pull_row<2>(Cauchy{}, job.scale, job.Y.data(), 2, i, job.edges.columns.data() + first,
                    job.edges.values.data() + first, degree, force);
        write(added, i, 2, force);
    }
}

GNOMON_KERNEL double energy_of_rows(const EdgeForces& job, std::size_t begin, std::size_t end, EdgeTile& tile) {
    double total = 0;
    with_components(job.Y.cols(), [&](auto components) GNOMON_INLINE_LAMBDA {
        EdgeWalk walk(job.edges, job.Y, begin);
        simd::f32 row{};
        for (std::size_t i = begin; i < end;) {
            const std::size_t vectors = walk.fill<decltype(components)::value>(end, tile);
            evaluate_law(job.law, job.kernel, tile.squared, vectors * simd::kLanes, tile.slopes, tile.energies);
            for (std::size_t t = 0; t < vectors; ++t) {
                row += simd::load(tile.weights + t * simd::kLanes) * simd::load(tile.energies + t * simd::kLanes);
                if (!tile.ends_row[t]) continue;
                total += static_cast<double>(simd::sum(row));
                row = simd::f32{};
                ++i;
            }
        }
    });
    return total;
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
