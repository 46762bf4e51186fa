#include <cassert>

#include "gnomon/neighbors.hpp"

namespace gnomon {

// What one worker needs to search for the members of one cell.
struct CellJoin::Scratch {
    Scratch(std::size_t k, std::size_t n_cells) : nearest(k), probing(n_cells), keys(k) {}

    NearestKeys nearest;
    std::vector<std::vector<std::int32_t>> probing;  // for each cell the members of the owner that probe it
    std::vector<std::int32_t> probed;                // cells in the order in which they are searched
    PackedRows packed;
    std::vector<std::uint64_t> keys;
    std::vector<float> norms;  // of the owner's queries
};

CellJoin::CellJoin(Span2<const float> points, Span2<const std::int32_t> probes, Cells cells, const Context& context)
    : points_(points), own_{points, probes, cells, probes.cols(), true}, cells_(cells), panels_(cells.count() + 1, 0) {
    assert(cells.order.size() == points.rows());
    const std::size_t d = points.cols();
    for (std::size_t c = 0; c < cells.count(); ++c) {
        panels_[c + 1] = panels_[c] + round_up(cells.members(c).size(), kTileCols);
    }
    packed_.resize(panels_.back() * d);
    norms_.resize(panels_.back());
    ids_.resize(panels_.back(), -1);
    parallel_for(cells.count(), context, [&](std::size_t c, std::size_t) {
        const std::span<const std::int32_t> members = cells.members(c);
        float* panels = packed_.data() + panels_[c] * d;
        pack_panels<kTileCols>(members.size(), d, [&](std::size_t i) { return points.row(members[i]); }, panels);
        for (std::size_t i = 0; i < members.size(); i += kTileCols) {
            panel_norms(panels + i * d, std::min(kTileCols, members.size() - i), d, norms_.data() + panels_[c] + i);
        }
        std::copy(members.begin(), members.end(), ids_.begin() + static_cast<std::ptrdiff_t>(panels_[c]));
    });
}

// Searches one cell for those queries of the owner that probe it.
void CellJoin::search(const CellQueries& queries, std::size_t owner, std::size_t cell, Scratch& scratch) const {
    const std::span<const std::int32_t> owned = queries.cells.members(owner);
    const std::vector<std::int32_t>& probing = scratch.probing[cell];
    const std::size_t d = points_.cols(), count = probing.size();
    scratch.packed.resize(round_up(count, kTileRows) * d);
    pack_panels<kTileRows>(
        count, d, [&](std::size_t i) { return queries.rows.row(owned[probing[i]]); }, scratch.packed.data());
    alignas(64) float dots[kTileRows * kTileCols];
    for (std::size_t i = 0; i < count; i += kTileRows) {
        TileQueries tile{std::min(kTileRows, count - i), {}, {}, {}};
        for (std::size_t q = 0; q < tile.count; ++q) {
            const auto member = static_cast<std::size_t>(probing[i + q]);
            tile.slots[q] = member;
            tile.self[q] = queries.are_points ? owned[member] : -1;
            tile.norms[q] = scratch.norms[member];
        }
        for (std::size_t j = panels_[cell]; j < panels_[cell + 1]; j += kTileCols) {
            dot_tile(scratch.packed.data() + i * d, packed_.data() + j * d, d, dots);
            offer_tile(dots, tile, norms_.data() + j, ids_.data() + j, scratch.nearest);
        }
    }
}

void CellJoin::join(const CellQueries& queries, std::size_t owner, Span2<std::int32_t> indices,
                    Scratch& scratch) const {
    const std::span<const std::int32_t> owned = queries.cells.members(owner);
    scratch.nearest.reset(owned.size());
    scratch.probed.clear();
    scratch.norms.resize(owned.size());
    for (std::size_t i = 0; i < owned.size(); ++i) {
        const float* row = queries.rows.row(owned[i]);
        float norm = 0.0F;  // in the order of panel_norms
        for (std::size_t k = 0; k < queries.rows.cols(); ++k) norm += row[k] * row[k];
        scratch.norms[i] = norm;
    }
    // Cells that are an early choice of some member come first: thresholds become small early.
    for (std::size_t rank = 0; rank < queries.n_probes; ++rank) {
        for (std::size_t i = 0; i < owned.size(); ++i) {
            const std::int32_t cell = queries.probes(owned[i], rank);
            if (scratch.probing[cell].empty()) scratch.probed.push_back(cell);
            scratch.probing[cell].push_back(static_cast<std::int32_t>(i));
        }
    }
    for (const std::int32_t cell : scratch.probed) {
        search(queries, owner, static_cast<std::size_t>(cell), scratch);
        scratch.probing[cell].clear();
    }
    for (std::size_t i = 0; i < owned.size(); ++i) {
        const std::size_t kept = scratch.nearest.finish(i, scratch.keys.data());
        std::int32_t* row = indices.row(owned[i]);
        for (std::size_t j = 0; j < indices.cols(); ++j) row[j] = j < kept ? key_index(scratch.keys[j]) : -1;
    }
}

void CellJoin::search_owners(const CellQueries& queries, std::size_t first, std::size_t last,
                             Span2<std::int32_t> indices, const Context& context) const {
    std::vector<Scratch> scratch;
    for (int worker = 0; worker < context.n_threads; ++worker) scratch.emplace_back(indices.cols(), cells_.count());
    parallel_for(last - first, context, [&](std::size_t c, std::size_t worker) {
        if (!queries.cells.members(first + c).empty()) join(queries, first + c, indices, scratch[worker]);
    });
}

void CellJoin::run(std::size_t first, std::size_t last, std::size_t n_probes, Span2<std::int32_t> indices,
                   const Context& context) const {
    assert(own_.probes.rows() == own_.rows.rows() && n_probes <= own_.probes.cols());
    CellQueries queries = own_;
    queries.n_probes = n_probes;
    search_owners(queries, first, last, indices, context);
}

void CellJoin::find(const CellQueries& queries, Span2<std::int32_t> indices, const Context& context) const {
    assert(!queries.are_points && queries.rows.cols() == points_.cols());
    search_owners(queries, 0, queries.cells.count(), indices, context);
}

}  // namespace gnomon
