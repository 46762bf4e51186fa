// The edges of consecutive rows of a graph, gathered into tiles of whole vectors so that a law is evaluated for several
// rows at once. A row's last vector is filled up with edges of no weight from the point to itself, and an empty row is
// one such vector, so every row is finished in its turn. What depends on the number of components of the map is
// compiled in edge_tiles.cpp alone: all sums over edges fill tiles and add them up by these functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gnomon/pair_laws.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/simd.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Scratch space of one worker: what is known of up to 512 edges.
struct EdgeTile {
    static constexpr std::size_t kVectors = 32;
    static constexpr std::size_t kEdges = kVectors * simd::kLanes;

    alignas(64) float squared[kEdges], weights[kEdges], slopes[kEdges], energies[kEdges];
    bool ends_row[kVectors];
    std::int32_t columns[kEdges];
    std::size_t d;                // components
    std::vector<float> away;      // (vectors, d, 16)
    std::vector<float> unsummed;  // (d, 16): of a row that goes on in the next tile
    std::vector<float> sums;      // (vectors, d): of the rows that end in the tile

    explicit EdgeTile(std::size_t n_components)
        : d(n_components), away(d * kEdges), unsummed(d * simd::kLanes), sums(d * kVectors) {}
    static std::vector<EdgeTile> of_workers(const Context& context, std::size_t n_components);
};

/// All edges in every turn.
inline constexpr int kEveryEdge = -1;

/// How many edges ahead of their use edges and the points at their ends are asked for.
inline constexpr std::size_t kEdgesAhead = 384, kPointsAhead = 96;

/// A walk over the edges of the rows from `row` on, one vector at a time; turn 0 or 1, or kEveryEdge.
struct EdgeWalk {
    const CsrView<float>& edges;
    Span2<const float> Y;
    std::size_t row, edge = 0, last = 0;
    int turn, left_out = 0;  // edges of the row that this turn leaves out

    EdgeWalk(const CsrView<float>& graph, Span2<const float> points, std::size_t first, int which = kEveryEdge)
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
};

/// Fills a tile with edges of the rows before `end`: all but slopes and energies. Returns how many vectors it took.
std::size_t fill_tile(EdgeWalk& walk, std::size_t end, EdgeTile& tile);

/// A bound on the force of a pair, which is a coefficient times the pair's displacement.
struct ForceLimit {
    enum class Of {
        nothing,
        components,  ///< each is cut to [-bound, bound]
        length       ///< cut to the bound, whatever the direction
    };
    Of of = Of::nothing;
    float bound = 0.0F;
};

/// slopes = scale * slopes, cut where displacements of these squared lengths would make forces longer than `bound`.
void shorten_slopes(float scale, float bound, const float* squared, std::size_t count, float* slopes);

/// Adds up weight * limit(scale * slope * away) by rows: writes the sums of those that end in a tile to its `sums` and
/// returns how many these are. `unsummed` is what came before, of the row that the tile starts with.
std::size_t add_up(std::size_t vectors, float scale, const ForceLimit& limit, EdgeTile& tile);

/// Zooms the edges of a tile whose first row is `row`, by z of each point.
void zoom_edges(std::span<const float> zoom, std::size_t row, std::size_t vectors, EdgeTile& tile);

/// What the edges of a graph pull, as in edge_sums.
struct EdgeForces {
    const CsrView<float>& edges;
    Span2<const float> Y;
    PairLaw law;
    const OutputKernel& kernel;
    float scale;
    ForceLimit limit = {};
    int turn = kEveryEdge;
    std::span<const float> zoom = {};  ///< z of each point if any: the law sees z_i z_j (y_i - y_j)
};

/// write(i, count, sums) for the rows in [begin, end), some at a time from row i on, with their sums by add_up, (count,
/// d); set_slopes(i, vectors) sets the slopes of a tile whose first row is i.
template <class SetSlopes, class Write>
void sum_edges(EdgeWalk walk, std::size_t end, float scale, const ForceLimit& limit, EdgeTile& tile,
               SetSlopes&& set_slopes, Write&& write) {
    std::fill(tile.unsummed.begin(), tile.unsummed.end(), 0.0F);
    for (std::size_t i = walk.row; i < end;) {
        const std::size_t vectors = fill_tile(walk, end, tile);
        set_slopes(i, vectors);
        const std::size_t ended = add_up(vectors, scale, limit, tile);
        write(i, ended, tile.sums.data());
        i += ended;
    }
}

/// The same for sums force_c = sum_j A_ij limit(scale dF/ds (y_i - y_j)_c), with a zoom
/// z_i z_j limit(scale dF/ds z_i z_j (y_i - y_j)_c) in place of the limit.
template <class Write>
void edge_forces(const EdgeForces& job, std::size_t begin, std::size_t end, EdgeTile& tile, Write&& write) {
    const auto set_slopes = [&](std::size_t i, std::size_t vectors) {
        if (!job.zoom.empty()) zoom_edges(job.zoom, i, vectors, tile);
        evaluate_law(job.law, job.kernel, tile.squared, vectors * simd::kLanes, tile.slopes, nullptr);
    };
    sum_edges(EdgeWalk(job.edges, job.Y, begin, job.turn), end, job.scale, job.limit, tile, set_slopes, write);
}

}  // namespace gnomon
