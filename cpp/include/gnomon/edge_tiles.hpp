// The edges of consecutive rows of a graph, gathered into tiles of whole vectors so that a law is evaluated for several
// rows at once. A row's last vector is filled up with edges of no weight from the point to itself, and an empty row is
// one such vector, so every row is finished in its turn.
#include "gnomon/point_lanes.hpp"

#ifndef GNOMON_EDGE_TILES_HPP
#define GNOMON_EDGE_TILES_HPP

#include <algorithm>
#include <span>
#include <vector>

#include "gnomon/pair_laws.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Scratch space of one worker: what is known of up to 512 edges.
struct EdgeTile {
    static constexpr std::size_t kVectors = 32;
    static constexpr std::size_t kEdges = kVectors * simd::kLanes;

    alignas(64) float squared[kEdges], weights[kEdges], slopes[kEdges], energies[kEdges];
    bool ends_row[kVectors];
    std::int32_t columns[kEdges];  // filled where asked for
    std::vector<float> away;       // (vectors, components, 16)

    explicit EdgeTile(std::size_t n_components) : away(n_components * kEdges) {}
};

/// All edges in every turn.
inline constexpr int kEveryEdge = -1;

/// How many edges ahead of their use edges and the points at their ends are asked for.
inline constexpr std::size_t kEdgesAhead = 384, kPointsAhead = 96;

/// What the edges of a graph pull, as in edge_sums.
struct EdgeForces {
    const CsrView<float>& edges;
    Span2<const float> Y;
    PairLaw law;
    const OutputKernel& kernel;
    float scale;
    int turn = kEveryEdge;
    std::span<const float> zoom = {};  ///< z of each point if any: the law sees z_i z_j (y_i - y_j)
};

}  // namespace gnomon

#endif

#if defined(GNOMON_EDGE_TILES_TOGGLE) == defined(GNOMON_TOGGLE)
#ifdef GNOMON_EDGE_TILES_TOGGLE
#undef GNOMON_EDGE_TILES_TOGGLE
#else
#define GNOMON_EDGE_TILES_TOGGLE
#endif

namespace GNOMON_SPACE {

/// A walk over the edges of the rows from `row` on, one vector at a time; turn 0 or 1, or kEveryEdge.
struct EdgeWalk {
    const CsrView<float>& edges;
    Span2<const float> Y;
    std::size_t row, edge = 0, last = 0;
    int turn, left_out = 0;  // edges of the row that this turn leaves out

    GNOMON_INLINE EdgeWalk(const CsrView<float>& graph, Span2<const float> points, std::size_t first,
                           int which = kEveryEdge)
        : edges(graph), Y(points), row(first), turn(which) {
        open_row();
    }

    /// Whether the turn takes this row from its first edge on; else up to its last one.
    GNOMON_INLINE bool from_first() const { return (row + static_cast<std::size_t>(turn)) % 2 == 0; }

    GNOMON_INLINE void open_row() {
        if (row == edges.rows()) return;
        edge = static_cast<std::size_t>(edges.offsets[row]);
        last = static_cast<std::size_t>(edges.offsets[row + 1]);
        left_out = 0;
        if (turn == kEveryEdge || last - edge <= simd::kLanes) return;
        left_out = static_cast<int>((last - edge) % simd::kLanes);
        if (from_first())
            last -= static_cast<std::size_t>(left_out);
        else
            edge += static_cast<std::size_t>(left_out);
    }

    /// The weights of a vector of edges of the row: twice those of the edges whose counterparts are left out.
    GNOMON_INLINE simd::f32 weigh(const float* weights, bool is_first, bool is_last) const {
        const simd::f32 once = simd::load(weights);
        if (left_out == 0 || !(from_first() ? is_first : is_last)) return once;
        const simd::i32 lane = simd::lane_index();
        const simd::i32 twice = (from_first() ? lane - left_out : simd::kLanes - 1 - left_out - lane) >> 31;
        return once + simd::as<simd::f32>(twice & simd::as<simd::i32>(once));
    }

    /// Asks memory for edges to come, and for the points at the ends of nearer ones: those of maps of many points are
    /// in no cache, and the next vectors would each wait for sixteen of them.
    GNOMON_INLINE void ask_ahead(int width) const {
        __builtin_prefetch(edges.columns.data() + edge + kEdgesAhead);
        __builtin_prefetch(edges.values.data() + edge + kEdgesAhead);
        if (edge + kPointsAhead + simd::kLanes <= edges.columns.size())
            prefetch_points(Y.data(), edges.columns.data() + edge + kPointsAhead, width);
    }

    /// Fills a tile with edges of the rows before `end`; returns how many vectors it took.
    template <int D, bool kColumns = false>
    GNOMON_INLINE std::size_t fill(std::size_t end, EdgeTile& tile) {
        const int d = static_cast<int>(Y.cols()), width = D > 0 ? D : d;
        simd::f32 here[kHeld<D>], there[kHeld<D>], away[kHeld<D>];
        std::int32_t last_columns[simd::kLanes];
        float last_weights[simd::kLanes];
        std::size_t t = 0;
        while (row < end && t < EdgeTile::kVectors) {
            for (int c = 0; c < width; ++c) here[c] = simd::splat(Y.row(row)[c]);
            const auto begin = static_cast<std::size_t>(edges.offsets[row]);
            for (bool done = false; !done && t < EdgeTile::kVectors; ++t, edge += simd::kLanes) {
                const std::int32_t* columns = edges.columns.data() + edge;
                const float* weights = edges.values.data() + edge;
                ask_ahead(width);
                done = last - edge <= simd::kLanes;
                if (last - edge < simd::kLanes) {
                    for (std::size_t l = 0; l < simd::kLanes; ++l) {
                        const bool used = edge + l < last;
                        last_columns[l] = used ? columns[l] : static_cast<std::int32_t>(row);
                        last_weights[l] = used ? weights[l] : 0.0F;
                    }
                    columns = last_columns;
                    weights = last_weights;
                }
                gather_points<D>(Y.data(), columns, d, there);
                simd::store(tile.squared + t * simd::kLanes, differences<D>(here, there, d, away));
                simd::store(tile.weights + t * simd::kLanes, weigh(weights, edge == begin, done));
                if constexpr (kColumns) simd::store(tile.columns + t * simd::kLanes, simd::load(columns));
                float* to = tile.away.data() + t * simd::kLanes * static_cast<std::size_t>(width);
                for (int c = 0; c < width; ++c) simd::store(to + c * simd::kLanes, away[c]);
                tile.ends_row[t] = done;
            }
            if (tile.ends_row[t - 1]) {
                ++row;
                open_row();
            }
        }
        return t;
    }
};

/// EdgeWalk::fill compiled by itself, for kernels that it makes no faster to have it inlined: it is long.
template <int D, bool kColumns = false>
GNOMON_KERNEL std::size_t fill_tile(EdgeWalk& walk, std::size_t end, EdgeTile& tile) {
    return walk.fill<D, kColumns>(end, tile);
}

/// The same for kernels to which the number of components is nothing else.
GNOMON_INLINE std::size_t fill_tile(EdgeWalk& walk, std::size_t end, EdgeTile& tile) {
    std::size_t vectors = 0;
    with_components(walk.Y.cols(), [&](auto components) GNOMON_INLINE_LAMBDA {
        vectors = fill_tile<decltype(components)::value>(walk, end, tile);
    });
    return vectors;
}

/// Zooms the edges of a tile whose first row is `row` and whose columns are known.
template <int D>
GNOMON_KERNEL void zoom_edges(std::span<const float> zoom, std::size_t row, std::size_t vectors, std::size_t width,
                              EdgeTile& tile) {
    for (std::size_t t = 0; t < vectors; ++t) {
        const std::size_t at = t * simd::kLanes;
        const auto other = [&](int l)
                               GNOMON_INLINE_LAMBDA { return zoom[static_cast<std::size_t>(tile.columns[at + l])]; };
        const simd::f32 both = simd::splat(zoom[row]) * simd::from_lanes(other);
        simd::store(tile.squared + at, simd::load(tile.squared + at) * (both * both));
        simd::store(tile.weights + at, simd::load(tile.weights + at) * both);
        float* away = tile.away.data() + at * width;
        for (std::size_t c = 0; c < width; ++c)
            simd::store(away + c * simd::kLanes, simd::load(away + c * simd::kLanes) * both);
        if (tile.ends_row[t]) ++row;
    }
}

/// write(i, force) for the rows i in [begin, end) in turn, force_c = sum_j A_ij limit(scale dF/ds (y_i - y_j)_c), with
/// a zoom, for which kMayZoom asks, z_i z_j limit(scale dF/ds z_i z_j (y_i - y_j)_c) in place of the limit.
template <int D, bool kMayZoom = false, class Limit, class Write>
GNOMON_INLINE void edge_forces(const EdgeForces& job, const Limit& limit, std::size_t begin, std::size_t end,
                               EdgeTile& tile, Write&& write) {
    const std::size_t width = D > 0 ? D : job.Y.cols();
    simd::f32 total[kHeld<D>];
    float force[kHeld<D>];
    for (std::size_t c = 0; c < width; ++c) total[c] = simd::f32{};
    EdgeWalk walk(job.edges, job.Y, begin, job.turn);
    std::size_t i = begin;
    while (i < end) {
        std::size_t vectors;
        if (kMayZoom && !job.zoom.empty()) {
            vectors = fill_tile<D, kMayZoom>(walk, end, tile);
            zoom_edges<D>(job.zoom, i, vectors, width, tile);
        } else {
            vectors = fill_tile<D>(walk, end, tile);
        }
        evaluate_law(job.law, job.kernel, tile.squared, vectors * simd::kLanes, tile.slopes, nullptr);
        for (std::size_t t = 0; t < vectors; ++t) {
            const simd::f32 coefficient = limit.coefficient(job.scale * simd::load(tile.slopes + t * simd::kLanes),
                                                            simd::load(tile.squared + t * simd::kLanes));
            const simd::f32 weight = simd::load(tile.weights + t * simd::kLanes);
            const float* away = tile.away.data() + t * simd::kLanes * width;
            for (std::size_t c = 0; c < width; ++c)
                total[c] += weight * limit(coefficient * simd::load(away + c * simd::kLanes));
            if (!tile.ends_row[t]) continue;
            for (std::size_t c = 0; c < width; ++c) {
                force[c] = simd::sum(total[c]);
                total[c] = simd::f32{};
            }
            write(i++, force);
        }
    }
}

}  // namespace GNOMON_SPACE

#endif
