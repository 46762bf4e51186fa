// Nearest neighbours by inner products of packed rows: all pairs, rows against rows, and cell by cell. These searches
// find candidates in float32; neighbors_distances.hpp ranks candidates by accurate distances.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gnomon/neighbors_tile.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/rounded_tile.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// The k nearest of all other rows for every row. Each pair is computed once: super-blocks meet as in a round-robin
/// tournament, so the pairs of blocks of one round share no rows and need no locks.
class AllPairs {
public:
    /// points (n, d), centred by the caller so that norms are small; k < n. The points must outlive this object. With a
    /// split s > 0 only rows below s and rows from s on meet.
    AllPairs(Span2<const float> points, std::size_t k, std::size_t split, const Context& context);

    /// The same of rows of bytes, at most kMostByteColumns of them in a row: their distances are exact.
    AllPairs(Span2<const std::uint8_t> points, std::size_t k, std::size_t split, const Context&);

    std::size_t n_rounds() const { return n_blocks_ <= 1 ? 1 : n_blocks_; }

    /// Round 0 pairs each block with itself; in each further round every block meets one other.
    void run_round(std::size_t round, const Context& context);

    /// indices (n, k) ascending by (distance, index); cutoffs (n,): the largest squared distance kept in each row. A
    /// row that met fewer than k others ends in -1 and has no cutoff: infinity.
    void finish(Span2<std::int32_t> indices, std::span<float> cutoffs, const Context& context);

private:
    AllPairs(std::size_t n, std::size_t k, std::size_t split);
    void join(std::size_t first, std::size_t second);
    void join_points(std::size_t first, std::size_t second);
    void join_bytes(std::size_t first, std::size_t second);

    std::size_t n_;
    Span2<const float> points_;                               // or
    Span2<const std::uint8_t> bytes_;                         // with
    std::vector<std::int32_t> row_squares_, column_squares_;  // of blocks that have met others
    std::size_t k_;
    std::size_t split_;
    std::size_t block_size_;
    std::size_t n_blocks_;
    std::vector<float> norms_;  // of bytes 0, but infinity beyond the last row
    NearestKeys nearest_;
};

/// The k nearest rows of `base` (m, d) for every row of `queries` (n, d), and the largest squared distance of each.
/// Where fewer than k rows exist, indices hold -1 and the cutoff is infinite. A row's result does not depend on the
/// other rows.
void nearest_rows(Span2<const float> base, Span2<const float> queries, Span2<std::int32_t> indices,
                  std::span<float> cutoffs, const Context& context);

/// The same among rows of a table that are centred and scaled, as `center_rows` does, when they are looked at: a copy
/// of all of them would take as much memory as the table, and longer than a few queries. T: float, double or uint8.
template <class T>
void nearest_centered_rows(Span2<const T> base, std::span<const double> mean, double scale, Span2<const float> queries,
                           Span2<std::int32_t> indices, std::span<float> cutoffs, const Context& context);

/// The same among rows of bytes, by exact distances.
void nearest_byte_rows(Span2<const std::uint8_t> base, Span2<const std::uint8_t> queries, Span2<std::int32_t> indices,
                       std::span<float> cutoffs, const Context& context);

/// Rows grouped by cell: the members of cell c are order[offsets[c]] to order[offsets[c + 1] - 1].
struct Cells {
    std::span<const std::int32_t> order;
    std::span<const std::int64_t> offsets;

    std::size_t count() const { return offsets.size() - 1; }
    std::span<const std::int32_t> members(std::size_t cell) const {
        return order.subspan(static_cast<std::size_t>(offsets[cell]),
                             static_cast<std::size_t>(offsets[cell + 1] - offsets[cell]));
    }
};

/// Rows that search, with the cells each looks into, nearest first, and grouped by the first of these.
struct CellQueries {
    Span2<const float> rows;           // (m, d)
    Span2<const std::int32_t> probes;  // (m, p)
    Cells cells;
    std::size_t n_probes = 0;  ///< of these the first so many are searched
    bool are_points = false;   ///< the rows searched themselves: none finds itself
};

/// How rows lie in cells. As they are, distances are those of float32. Rounded to whole numbers of one byte around the
/// mean of a cell's members, the order is that of distances up to about a hundredth of the cell's spread: candidates,
/// found in a fraction of the time.
enum class CellRows { whole, rounded };

/// The nearest neighbours of rows among the members of the cells that they probe. Rows of the same cells search at
/// once, so dense tiles are used, and no two owners write to the same row. A row's result does not depend on the other
/// rows that search.
class CellJoin {
public:
    /// points (n, d), d up to 2^16 if rounded; probes (n, p): the cells each row looks into, none if only other rows
    /// search. All must outlive this object.
    CellJoin(Span2<const float> points, Span2<const std::int32_t> probes, Cells cells, CellRows rows,
             const Context& context);

    /// Fills the rows of indices (n, k) owned by cells [first, last), ascending by distance; -1 where there are fewer.
    /// Each row looks into the first n_probes of its cells.
    void run(std::size_t first, std::size_t last, std::size_t n_probes, Span2<std::int32_t> indices,
             const Context& context) const;

    /// Fills indices (m, k) for rows that are not among the points.
    void find(const CellQueries& queries, Span2<std::int32_t> indices, const Context& context) const;

private:
    struct Scratch;
    struct Rounded {  // members rounded
        std::vector<float> centres, units;
        Packed<std::int8_t> panels;
        std::vector<std::int32_t> squares;
    };
    void pack_members(std::size_t cell);
    void round_members(std::size_t cell);
    void search_owners(const CellQueries& queries, std::size_t first, std::size_t last, Span2<std::int32_t> indices,
                       const Context& context) const;
    void join(const CellQueries& queries, std::span<const std::int32_t> owned, Span2<std::int32_t> indices,
              Scratch& scratch) const;
    void search(const CellQueries& queries, std::span<const std::int32_t> owned, std::size_t cell,
                Scratch& scratch) const;
    void search_rounded(const CellQueries& queries, std::span<const std::int32_t> owned, std::size_t cell,
                        Scratch& scratch) const;
    Rounding rounding(std::size_t cell) const {
        return {rounded_.centres.data() + cell * points_.cols(), rounded_.units[cell]};
    }

    Span2<const float> points_;
    CellQueries own_;
    Cells cells_;
    CellRows rows_;
    std::vector<std::size_t> panels_;  // where each cell's panels begin, in rows
    std::vector<std::int32_t> ids_;    // -1: none
    PackedRows packed_;
    std::vector<float> norms_;
    Rounded rounded_;
};

}  // namespace gnomon
