// The forces of a loss with sampled repulsion: all edges of a point, weighted, and a few points drawn at random. Edges
// follow the law log, drawn points the law log_deficit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gnomon/edge_tiles.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/row_set.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

struct SamplingParameters {
    std::uint64_t seed = 0;
    float edge_scale = 1.0F;   ///< 1 / largest affinity: an edge's weight is its share of the epochs
    float repulsion = 5.0F;    ///< factor on the repulsion
    int n_draws = 16;          ///< points drawn for each point in each epoch, the same for sixteen rows
    float force_limit = 4.0F;  ///< bound on each component of a pair's force
};

/// Weights of the repulsion, (n) each: the points drawn for i push it by u_i, and a drawn point l counts v_l times. An
/// empty v counts as 1. UMAP: u the degrees of the graph, no v. With a zoom z, not empty, the law sees the difference
/// of two points as z_i z_j (y_i - y_j): 1 / z^2 is the unit of length of a point, in which it moves.
struct SamplingWeights {
    std::span<const float> u, v, zoom = {};
};

/// The forces of one epoch on all points, scaled to the affinities as given: where no limit binds, attraction is
/// -4 sum_j A_ij (-k' / k) (y_i - y_j), and repulsion an unbiased estimate of
/// 2 repulsion u_i / n sum_l v_l (-k' / (1 - k)) (y_i - y_l). Y, forces: (n, d). With a zoom the limit is on the force
/// by the zoomed difference, and the force on y_i is z_i z_j times that.
void sampled_forces(const CsrView<float>& edges, const SamplingWeights& weights, const OutputKernel& kernel,
                    const SamplingParameters& parameters, std::int64_t epoch, Span2<const float> Y,
                    Span2<float> attraction, Span2<float> repulsion, const Context& context);

/// Adds to `marked`, a set of rows of the whole map, those that are drawn for the rows [begin, end) in an epoch;
/// begin is a multiple of 16.
void mark_draws(const SamplingParameters& parameters, std::int64_t epoch, std::size_t begin, std::size_t end,
                const RowSet& marked);

namespace detail {

inline constexpr std::size_t kSampledRows = 64;  // rows in a chunk

/// Where the rows of a part, consecutive ones of a whole map, and those drawn for them stand.
struct SampledPart {
    std::size_t first;                // of its rows
    std::size_t count;                // of its rows
    const RankedRows& drawn;          // rows of the whole map: its own, and those that are drawn among others
    Span2<const float> drawn_points;  // their places: from those of its first row on, and then those before it
    std::size_t before;               // how many of them are before its first row

    /// Where row i of the whole map, which is in `drawn`, stands in drawn_points.
    std::size_t place(std::size_t i) const {
        const std::size_t rank = drawn.place(i);
        return rank >= before ? rank - before : rank + drawn_points.rows() - before;
    }
};

/// One epoch of sampling.
struct SampledEpoch {
    const CsrView<float>& edges;
    const SamplingWeights& weights;
    const OutputKernel& kernel;
    const SamplingParameters& parameters;
    Span2<const float> Y;
    std::uint32_t key;      // of this epoch's draws
    bool isotropic;         // whether force_limit bounds the length of a pair's force, not each of its components
    int turn = kEveryEdge;  // which edges of a row act, see edge_tiles.hpp
    const SampledPart* part = nullptr;  // where Y and the edges are those of a part, its own rows first

    SampledEpoch(const CsrView<float>& graph, const SamplingWeights& pair_weights, const OutputKernel& output,
                 const SamplingParameters& sampling, Span2<const float> points, std::int64_t epoch,
                 bool is_isotropic = false);
};

/// The forces on sixteen rows, attraction and repulsion apart, and what it takes to find them: owned by one worker.
struct SampledRows {
    EdgeTile tile;
    std::vector<float> drawn;                  // (32, d)
    std::vector<float> zoom;                   // (32), of the drawn
    std::vector<float> attraction, repulsion;  // (16, d)

    explicit SampledRows(std::size_t d)
        : tile(d),
          drawn(EdgeTile::kVectors * d),
          zoom(EdgeTile::kVectors),
          attraction(simd::kLanes * d),
          repulsion(simd::kLanes * d) {}
    static std::vector<SampledRows> of_workers(const Context& context, std::size_t d);
};

/// Finds the forces on the rows [first, first + 16) in units of the edges' scale; rows beyond the last are left alone.
void find_forces(const SampledEpoch& epoch, std::size_t first, SampledRows& rows);

}  // namespace detail
}  // namespace gnomon
