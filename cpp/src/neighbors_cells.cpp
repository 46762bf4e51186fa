#include <cassert>
#include <cmath>

#include "gnomon/neighbors.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kOwned = 192;        // rows that search at once, at least: as many fill the tiles of most cells
constexpr float kSpreads = 5.0F / 127.0F;  // unit of a cell, in mean deviations of its widest coordinate

}  // namespace

// What one worker needs to search for the rows of one owner.
struct CellJoin::Scratch {
    Scratch(std::size_t k, std::size_t n_cells) : nearest(k), probing(n_cells), keys(k) {}

    NearestKeys nearest;
    std::vector<std::vector<std::int32_t>> probing;  // for each cell the rows of the owner that probe it
    std::vector<std::int32_t> probed;                // cells in the order in which they are searched
    std::vector<std::uint64_t> keys;
    PackedRows packed;
    std::vector<float> norms;  // of the owner's queries
    RoundedRows rows;
    std::vector<std::int8_t> row;
    std::vector<std::int32_t> squares;
    std::vector<float> rests;
};

CellJoin::CellJoin(Span2<const float> points, Span2<const std::int32_t> probes, Cells cells, CellRows rows,
                   const Context& context)
    : points_(points),
      own_{points, probes, cells, probes.cols(), true},
      cells_(cells),
      rows_(rows),
      panels_(cells.count() + 1, 0) {
    assert(cells.order.size() == points.rows());
    for (std::size_t c = 0; c < cells.count(); ++c) {
        panels_[c + 1] = panels_[c] + round_up(cells.members(c).size(), kTileCols);
    }
    ids_.resize(panels_.back(), -1);
    if (rows == CellRows::rounded) {
        rounded_.centres.resize(cells.count() * points.cols());
        rounded_.units.resize(cells.count());
        rounded_.panels.resize(panels_.back() * rounded_length(points.cols()));
        rounded_.squares.resize(panels_.back());
    } else {
        packed_.resize(panels_.back() * points.cols());
        norms_.resize(panels_.back());
    }
    parallel_for(cells.count(), context, [&](std::size_t c, std::size_t) {
        const std::span<const std::int32_t> members = cells.members(c);
        if (members.empty()) return;
        rows == CellRows::rounded ? round_members(c) : pack_members(c);
        std::copy(members.begin(), members.end(), ids_.begin() + static_cast<std::ptrdiff_t>(panels_[c]));
    });
}

void CellJoin::pack_members(std::size_t cell) {
    const std::span<const std::int32_t> members = cells_.members(cell);
    const std::size_t d = points_.cols();
    float* panels = packed_.data() + panels_[cell] * d;
    pack_panels<kTileCols>(members.size(), d, [&](std::size_t i) { return points_.row(members[i]); }, panels);
    for (std::size_t i = 0; i < members.size(); i += kTileCols) {
        panel_norms(panels + i * d, std::min(kTileCols, members.size() - i), d, norms_.data() + panels_[cell] + i);
    }
}

// Finds the centre and the unit of a cell and packs its members.
void CellJoin::round_members(std::size_t cell) {
    const std::span<const std::int32_t> members = cells_.members(cell);
    const std::size_t d = points_.cols();
    const float share = 1.0F / static_cast<float>(members.size());
    float* centre = rounded_.centres.data() + cell * d;
    std::vector<float> spread(d);
    for (const std::int32_t i : members) {
        const float* x = points_.row(i);
        for (std::size_t k = 0; k < d; ++k) centre[k] += x[k] * share;
    }
    for (const std::int32_t i : members) {
        const float* x = points_.row(i);
        for (std::size_t k = 0; k < d; ++k) spread[k] += std::abs(x[k] - centre[k]) * share;
    }
    rounded_.units[cell] = kSpreads * *std::max_element(spread.begin(), spread.end());
    std::vector<std::int8_t> row(rounded_length(d));
    std::int8_t* panels = rounded_.panels.data() + panels_[cell] * rounded_length(d);
    for (std::size_t i = 0; i < members.size(); ++i) {
        const RoundedRow found = round_row(points_.row(members[i]), d, rounding(cell), row.data());
        pack_rounded_column(row.data(), d, i, panels);
        rounded_.squares[panels_[cell] + i] = column_square(found);
    }
}

// Searches one cell for those rows of the owner that probe it.
void CellJoin::search(const CellQueries& queries, std::span<const std::int32_t> owned, std::size_t cell,
                      Scratch& scratch) const {
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

// The same by rounded rows.
void CellJoin::search_rounded(const CellQueries& queries, std::span<const std::int32_t> owned, std::size_t cell,
                              Scratch& scratch) const {
    const std::vector<std::int32_t>& probing = scratch.probing[cell];
    const std::size_t d = points_.cols(), length = rounded_length(d), count = probing.size();
    const float square_unit = rounded_.units[cell] * rounded_.units[cell];
    scratch.row.resize(length);
    scratch.rows.resize(count, d);
    scratch.squares.resize(round_up(count, kTileRows));
    scratch.rests.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const float* row = queries.rows.row(owned[probing[i]]);
        const RoundedRow found = round_row(row, d, rounding(cell), scratch.row.data());
        scratch.rows.set(i, scratch.row.data());
        scratch.squares[i] = found.square;
        scratch.rests[i] = found.rest;
    }
    alignas(64) std::int32_t dots[kTileRows * kTileCols];
    for (std::size_t i = 0; i < count; i += kTileRows) {
        TileQueries tile{std::min(kTileRows, count - i), {}, {}, {}};
        for (std::size_t q = 0; q < tile.count; ++q) {
            const auto member = static_cast<std::size_t>(probing[i + q]);
            tile.slots[q] = member;
            tile.self[q] = queries.are_points ? owned[member] : -1;
            tile.norms[q] = scratch.rests[i + q];
        }
        for (std::size_t j = panels_[cell]; j < panels_[cell + 1]; j += kTileCols) {
            scratch.rows.products(i, rounded_.panels.data() + j * length, dots);
            offer_rounded(dots, tile, scratch.squares.data() + i, rounded_.squares.data() + j, ids_.data() + j,
                          square_unit, scratch.nearest);
        }
    }
}

void CellJoin::join(const CellQueries& queries, std::span<const std::int32_t> owned, Span2<std::int32_t> indices,
                    Scratch& scratch) const {
    scratch.nearest.reset(owned.size());
    scratch.probed.clear();
    scratch.norms.resize(rows_ == CellRows::whole ? owned.size() : 0);
    for (std::size_t i = 0; i < scratch.norms.size(); ++i) {
        const float* row = queries.rows.row(owned[i]);
        float norm = 0.0F;  // in the order of panel_norms
        for (std::size_t k = 0; k < queries.rows.cols(); ++k) norm += row[k] * row[k];
        scratch.norms[i] = norm;
    }
    // Cells that are an early choice of some row come first: thresholds become small early.
    for (std::size_t rank = 0; rank < queries.n_probes; ++rank) {
        for (std::size_t i = 0; i < owned.size(); ++i) {
            const std::int32_t cell = queries.probes(owned[i], rank);
            if (scratch.probing[cell].empty()) scratch.probed.push_back(cell);
            scratch.probing[cell].push_back(static_cast<std::int32_t>(i));
        }
    }
    for (const std::int32_t probed : scratch.probed) {
        const auto cell = static_cast<std::size_t>(probed);
        rows_ == CellRows::rounded ? search_rounded(queries, owned, cell, scratch)
                                   : search(queries, owned, cell, scratch);
        scratch.probing[cell].clear();
    }
    for (std::size_t i = 0; i < owned.size(); ++i) {
        const std::size_t kept = scratch.nearest.finish(i, scratch.keys.data());
        std::int32_t* row = indices.row(owned[i]);
        for (std::size_t j = 0; j < indices.cols(); ++j) row[j] = j < kept ? key_index(scratch.keys[j]) : -1;
    }
}

// Rows of a cell are searched for together; those of small cells with those of the next.
void CellJoin::search_owners(const CellQueries& queries, std::size_t first, std::size_t last,
                             Span2<std::int32_t> indices, const Context& context) const {
    const std::span<const std::int64_t> offsets = queries.cells.offsets;
    std::vector<std::size_t> bounds{static_cast<std::size_t>(offsets[first])};
    for (std::size_t c = first; c < last; ++c) {
        const auto end = static_cast<std::size_t>(offsets[c + 1]);
        if (end - bounds.back() >= kOwned || (c + 1 == last && end > bounds.back())) bounds.push_back(end);
    }
    std::vector<Scratch> scratch;
    for (int worker = 0; worker < context.n_threads; ++worker) scratch.emplace_back(indices.cols(), cells_.count());
    parallel_for(bounds.size() - 1, context, [&](std::size_t owner, std::size_t worker) {
        join(queries, queries.cells.order.subspan(bounds[owner], bounds[owner + 1] - bounds[owner]), indices,
             scratch[worker]);
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
