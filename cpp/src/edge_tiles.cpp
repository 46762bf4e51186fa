#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/edge_tiles.cpp"
#include "gnomon/edge_tiles.hpp"

#include "gnomon/point_lanes.hpp"

// GCC 12 does not see that the components read are those that were filled: both loops run over the same width.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(add_clipped);
GNOMON_CHOOSE(add_whole);
GNOMON_CHOOSE(fill);
GNOMON_CHOOSE(shorten);
GNOMON_CHOOSE(zoom_in);

}  // namespace

std::vector<EdgeTile> EdgeTile::of_workers(const Context& context, std::size_t n_components) {
    return std::vector<EdgeTile>(static_cast<std::size_t>(std::max(context.n_threads, 1)), EdgeTile(n_components));
}

std::size_t fill_tile(EdgeWalk& walk, std::size_t end, EdgeTile& tile) { return fill(walk, end, tile); }

void shorten_slopes(float scale, float bound, const float* squared, std::size_t count, float* slopes) {
    shorten(scale, bound, squared, count, slopes);
}

std::size_t add_up(std::size_t vectors, float scale, const ForceLimit& limit, EdgeTile& tile) {
    if (limit.of == ForceLimit::Of::components) return add_clipped(vectors, scale, limit.bound, tile);
    if (limit.of == ForceLimit::Of::length) {
        shorten(scale, limit.bound, tile.squared, vectors * simd::kLanes, tile.slopes);
        scale = 1.0F;
    }
    return add_whole(vectors, scale, tile);
}

void zoom_edges(std::span<const float> zoom, std::size_t row, std::size_t vectors, EdgeTile& tile) {
    zoom_in(zoom, row, vectors, tile);
}

}  // namespace gnomon

#else
#include "gnomon/point_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;
using simd::kLanes;

/// The weights of a vector of edges of the row: twice those of the edges whose counterparts are left out.
GNOMON_INLINE f32 weigh(const EdgeWalk& walk, const float* weights, bool is_first, bool is_last) {
    const f32 once = simd::load(weights);
    if (walk.left_out == 0 || !(walk.from_first() ? is_first : is_last)) return once;
    const simd::i32 lane = simd::lane_index();
    const simd::i32 twice = (walk.from_first() ? lane - walk.left_out : kLanes - 1 - walk.left_out - lane) >> 31;
    return once + simd::as<f32>(twice & simd::as<simd::i32>(once));
}

/// Asks memory for edges to come, and for the points at the ends of nearer ones: those of maps of many points are
/// in no cache, and the next vectors would each wait for sixteen of them.
GNOMON_INLINE void ask_ahead(const EdgeWalk& walk, int width) {
    const CsrView<float>& edges = walk.edges;
    __builtin_prefetch(edges.columns.data() + walk.edge + kEdgesAhead);
    __builtin_prefetch(edges.values.data() + walk.edge + kEdgesAhead);
    if (walk.edge + kPointsAhead + kLanes <= edges.columns.size())
        prefetch_points(walk.Y.data(), edges.columns.data() + walk.edge + kPointsAhead, width);
}

template <int D>
GNOMON_INLINE std::size_t fill_in(EdgeWalk& walk, std::size_t end, EdgeTile& tile) {
    const int d = static_cast<int>(walk.Y.cols()), width = D > 0 ? D : d;
    f32 here[kHeld<D>], there[kHeld<D>], away[kHeld<D>];
    std::int32_t last_columns[kLanes];
    float last_weights[kLanes];
    std::size_t t = 0;
    while (walk.row < end && t < EdgeTile::kVectors) {
        for (int c = 0; c < width; ++c) here[c] = simd::splat(walk.Y.row(walk.row)[c]);
        const auto begin = static_cast<std::size_t>(walk.edges.offsets[walk.row]);
        for (bool done = false; !done && t < EdgeTile::kVectors; ++t, walk.edge += kLanes) {
            const std::int32_t* columns = walk.edges.columns.data() + walk.edge;
            const float* weights = walk.edges.values.data() + walk.edge;
            ask_ahead(walk, width);
            done = walk.last - walk.edge <= kLanes;
            if (walk.last - walk.edge < kLanes) {
                for (std::size_t l = 0; l < kLanes; ++l) {
                    const bool used = walk.edge + l < walk.last;
                    last_columns[l] = used ? columns[l] : static_cast<std::int32_t>(walk.row);
                    last_weights[l] = used ? weights[l] : 0.0F;
                }
                columns = last_columns;
                weights = last_weights;
            }
            gather_points<D>(walk.Y.data(), columns, d, there);
            simd::store(tile.squared + t * kLanes, differences<D>(here, there, d, away));
            simd::store(tile.weights + t * kLanes, weigh(walk, weights, walk.edge == begin, done));
            simd::store(tile.columns + t * kLanes, simd::load(columns));
            float* to = tile.away.data() + t * kLanes * static_cast<std::size_t>(width);
            for (int c = 0; c < width; ++c) simd::store(to + c * kLanes, away[c]);
            tile.ends_row[t] = done;
        }
        if (tile.ends_row[t - 1]) {
            ++walk.row;
            walk.open_row();
        }
    }
    return t;
}

GNOMON_KERNEL std::size_t fill(EdgeWalk& walk, std::size_t end, EdgeTile& tile) {
    std::size_t vectors = 0;
    with_components(tile.d, [&](auto components) GNOMON_INLINE_LAMBDA {
        vectors = fill_in<decltype(components)::value>(walk, end, tile);
    });
    return vectors;
}

GNOMON_KERNEL void shorten(float scale, float bound, const float* squared, std::size_t count, float* slopes) {
    for (std::size_t k = 0; k < count; k += kLanes) {
        const f32 largest = bound / simd::sqrt(simd::max(simd::load(squared + k), simd::splat(1e-30F)));
        simd::store(slopes + k, simd::min(simd::max(scale * simd::load(slopes + k), -largest), largest));
    }
}

template <int D, class Limit>
GNOMON_INLINE std::size_t add_in(std::size_t vectors, float scale, const Limit& limit, EdgeTile& tile) {
    const std::size_t width = D > 0 ? D : tile.d;
    f32 total[kHeld<D>];
    for (std::size_t c = 0; c < width; ++c) total[c] = simd::load(tile.unsummed.data() + c * kLanes);
    float* sums = tile.sums.data();
    std::size_t ended = 0;
    for (std::size_t t = 0; t < vectors; ++t) {
        const f32 coefficient = scale * simd::load(tile.slopes + t * kLanes);
        const f32 weight = simd::load(tile.weights + t * kLanes);
        const float* away = tile.away.data() + t * kLanes * width;
        for (std::size_t c = 0; c < width; ++c) total[c] += weight * limit(coefficient * simd::load(away + c * kLanes));
        if (!tile.ends_row[t]) continue;
        for (std::size_t c = 0; c < width; ++c) {
            sums[ended * width + c] = simd::sum(total[c]);
            total[c] = f32{};
        }
        ++ended;
    }
    for (std::size_t c = 0; c < width; ++c) simd::store(tile.unsummed.data() + c * kLanes, total[c]);
    return ended;
}

GNOMON_KERNEL std::size_t add_whole(std::size_t vectors, float scale, EdgeTile& tile) {
    std::size_t ended = 0;
    with_components(tile.d, [&](auto components) GNOMON_INLINE_LAMBDA {
        const auto whole = [](f32 force) GNOMON_INLINE_LAMBDA { return force; };
        ended = add_in<decltype(components)::value>(vectors, scale, whole, tile);
    });
    return ended;
}

GNOMON_KERNEL std::size_t add_clipped(std::size_t vectors, float scale, float bound, EdgeTile& tile) {
    std::size_t ended = 0;
    with_components(tile.d, [&](auto components) GNOMON_INLINE_LAMBDA {
        const auto clipped = [&](f32 force) GNOMON_INLINE_LAMBDA { return simd::clamp(force, -bound, bound); };
        ended = add_in<decltype(components)::value>(vectors, scale, clipped, tile);
    });
    return ended;
}

GNOMON_KERNEL void zoom_in(std::span<const float> zoom, std::size_t row, std::size_t vectors, EdgeTile& tile) {
    for (std::size_t t = 0; t < vectors; ++t) {
        const std::size_t at = t * kLanes;
        const auto other = [&](int l)
                               GNOMON_INLINE_LAMBDA { return zoom[static_cast<std::size_t>(tile.columns[at + l])]; };
        const f32 both = simd::splat(zoom[row]) * simd::from_lanes(other);
        simd::store(tile.squared + at, simd::load(tile.squared + at) * (both * both));
        simd::store(tile.weights + at, simd::load(tile.weights + at) * both);
        float* away = tile.away.data() + at * tile.d;
        for (std::size_t c = 0; c < tile.d; ++c) simd::store(away + c * kLanes, simd::load(away + c * kLanes) * both);
        if (tile.ends_row[t]) ++row;
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
