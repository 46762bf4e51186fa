#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/density.cpp"
#include "gnomon/density.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "gnomon/edge_tiles.hpp"
#include "gnomon/elementary.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 256;
constexpr double kSmallest = 1e-8;  // added to a mean squared distance before its logarithm

struct Graph {
    const CsrView<float>& edges;
    const OutputKernel& kernel;
    Span2<const float> Y;
};

/// sum_j k_ij and sum_j k_ij s_ij over the edges of i.
struct Moments {
    double similarity, squared;
};

/// What a point's radius asks of its edges: dcorr/ds_ij = slope (k + s k') - pull k'.
struct Asked {
    float slope, pull;
};

bool has_edges(const CsrView<float>& edges, std::size_t i) { return edges.offsets[i] < edges.offsets[i + 1]; }

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(moments_of_rows);
GNOMON_CHOOSE(slopes_of_tile);

void find_radii(const Graph& graph, std::span<Moments> moments, std::span<double> radii, const Context& context) {
    std::vector<EdgeTile> tiles = EdgeTile::of_workers(context, graph.Y.cols());
    parallel_blocks(radii.size(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        moments_of_rows(graph, begin, end, tiles[worker], moments.data() + begin);
        for (std::size_t i = begin; i < end; ++i) {
            const Moments& m = moments[i];
            radii[i] = has_edges(graph.edges, i)
                           ? exact_log(kSmallest + (m.similarity > 0 ? m.squared / m.similarity : 0.0))
                           : std::numeric_limits<double>::quiet_NaN();
        }
    });
}

/// The correlation, and where asked for its derivatives by the radii in place of the radii; fixed order.
double correlate(const CsrView<float>& edges, const RadiiTarget& target, std::span<double> radii, bool derivatives) {
    double mean = 0, variance = 0, covariance = 0, count = 0;
    for (std::size_t i = 0; i < radii.size(); ++i)
        if (has_edges(edges, i)) mean += radii[i], count += 1;
    mean /= std::max(count, 1.0);
    for (std::size_t i = 0; i < radii.size(); ++i) {
        if (!has_edges(edges, i)) continue;
        const double away = radii[i] - mean;
        variance += away * away;
        covariance += target.standard[i] * away;
    }
    variance /= std::max(count, 1.0);
    covariance /= std::max(count, 1.0);
    const double deviation = std::sqrt(variance + target.shift);
    if (!(deviation > 0)) {
        if (derivatives) std::fill(radii.begin(), radii.end(), 0.0);
        return 0.0;
    }
    if (derivatives)
        for (std::size_t i = 0; i < radii.size(); ++i)
            radii[i] =
                (target.standard[i] - covariance * (radii[i] - mean) / (deviation * deviation)) / (deviation * count);
    return covariance / deviation;
}

}  // namespace

void map_radii(const CsrView<float>& edges, const OutputKernel& kernel, Span2<const float> Y, std::span<double> radii,
               const Context& context) {
    std::vector<Moments> moments(Y.rows());
    find_radii({edges, kernel, Y}, moments, radii, context);
}

double density_correlation(const CsrView<float>& edges, const OutputKernel& kernel, Span2<const float> Y,
                           const RadiiTarget& target, Span2<float> gradient, const Context& context) {
    const std::size_t n = Y.rows();
    const bool wanted = gradient.rows() != 0;
    const Graph graph{edges, kernel, Y};
    std::vector<Moments> moments(n);
    std::vector<double> radii(n);
    find_radii(graph, moments, radii, context);
    const double correlation = correlate(edges, target, radii, wanted);
    if (!wanted) return correlation;
    std::vector<Asked> asked(n, Asked{0.0F, 0.0F});
    for (std::size_t i = 0; i < n; ++i) {
        const Moments& m = moments[i];
        if (!has_edges(edges, i) || !(m.similarity > 0)) continue;
        const double mean = m.squared / m.similarity;
        const double slope = radii[i] / (m.similarity * (kSmallest + mean));
        asked[i] = {static_cast<float>(slope), static_cast<float>(slope * mean)};
    }
    std::vector<EdgeTile> tiles = EdgeTile::of_workers(context, Y.cols());
    parallel_blocks(n, kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        EdgeTile& tile = tiles[worker];
        sum_edges(
            EdgeWalk(edges, Y, begin), end, 1.0F, {}, tile,
            [&](std::size_t i, std::size_t vectors) { slopes_of_tile(graph, asked.data(), i, vectors, tile); },
            [&](std::size_t i, std::size_t count, const float* sums) {
                for (std::size_t c = 0; c < count * Y.cols(); ++c) gradient.row(i)[c] = 2.0F * sums[c];
            });
    });
    return correlation;
}

void edge_distances(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
                    Span2<const std::int32_t> indices, Span2<const float> distances, std::span<float> out,
                    const Context& context) {
    const auto find = [&](std::size_t i, std::size_t j) {
        const std::int32_t* row = indices.row(i);
        const std::int32_t* found = std::find(row, row + indices.cols(), static_cast<std::int32_t>(j));
        return found == row + indices.cols() ? std::numeric_limits<float>::quiet_NaN()
                                             : distances(i, static_cast<std::size_t>(found - row));
    };
    parallel_blocks(indices.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i)
            for (auto e = static_cast<std::size_t>(offsets[i]); e < static_cast<std::size_t>(offsets[i + 1]); ++e) {
                const auto j = static_cast<std::size_t>(columns[e]);
                out[e] = find(i, j);
                if (std::isnan(out[e])) out[e] = find(j, i);
            }
    });
}

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;
using simd::kLanes;

/// moments[0] is that of row `begin`.
GNOMON_KERNEL void moments_of_rows(const Graph& graph, std::size_t begin, std::size_t end, EdgeTile& tile,
                                   Moments* moments) {
    EdgeWalk walk(graph.edges, graph.Y, begin);
    f32 similarity{}, squared{};
    for (std::size_t i = begin; i < end;) {
        const std::size_t vectors = fill_tile(walk, end, tile);
        evaluate_law(PairLaw::value, graph.kernel, tile.squared, vectors * kLanes, tile.slopes, tile.energies);
        for (std::size_t t = 0; t < vectors; ++t) {
            const f32 k = simd::load(tile.weights + t * kLanes) * simd::load(tile.energies + t * kLanes);
            similarity += k;
            squared += k * simd::load(tile.squared + t * kLanes);
            if (!tile.ends_row[t]) continue;
            moments[i - begin] = {static_cast<double>(simd::sum(similarity)), static_cast<double>(simd::sum(squared))};
            similarity = squared = f32{};
            ++i;
        }
    }
}

/// Sets what the edges of a tile whose first row is i ask of their squared distances; all weigh the same.
GNOMON_KERNEL void slopes_of_tile(const Graph& graph, const Asked* asked, std::size_t i, std::size_t vectors,
                                  EdgeTile& tile) {
    evaluate_law(PairLaw::value, graph.kernel, tile.squared, vectors * kLanes, tile.slopes, tile.energies);
    float slope[kLanes], pull[kLanes];
    for (std::size_t t = 0; t < vectors; ++t) {
        const std::size_t at = t * kLanes;
        for (std::size_t l = 0; l < kLanes; ++l) {
            const Asked other = asked[tile.columns[at + l]];
            slope[l] = asked[i].slope + other.slope;
            pull[l] = asked[i].pull + other.pull;
        }
        const f32 k = simd::load(tile.energies + at), dk = simd::load(tile.slopes + at);
        const f32 s = simd::load(tile.squared + at);
        simd::store(tile.slopes + at, simd::load(slope) * (k + s * dk) - simd::load(pull) * dk);
        simd::store(tile.weights + at, simd::splat(1.0F));
        if (tile.ends_row[t]) ++i;
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
