#include <cassert>

#include "block_search.hpp"
#include "gnomon/neighbors.hpp"
#include "gnomon/neighbors_distances.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kMaxChunk = 480;          // queries of one task
constexpr std::size_t kChunkFloats = 1U << 17;  // packed queries of one task, to fit the second-level cache

std::size_t choose_chunk(std::size_t d) {
    return std::clamp<std::size_t>(kChunkFloats / d / kTileRows, 1, kMaxChunk / kTileRows) * kTileRows;
}

void fill_queries(Span2<const float> queries, const Task& task, PackedRows& packed, std::vector<TileQueries>& tiles) {
    const std::size_t count = task.query1 - task.query0, d = queries.cols();
    packed.resize(round_up(count, kTileRows) * d);
    pack_panels<kTileRows>(count, d, [&](std::size_t i) { return queries.row(task.query0 + i); }, packed.data());
    tiles.assign((count + kTileRows - 1) / kTileRows, TileQueries{});
    for (std::size_t i = 0; i < count; ++i) {
        TileQueries& tile = tiles[i / kTileRows];
        const float* row = queries.row(task.query0 + i);
        float norm = 0.0F;
        for (std::size_t k = 0; k < d; ++k) norm += row[k] * row[k];
        tile.slots[tile.count] = i;
        tile.self[tile.count] = -1;
        tile.norms[tile.count++] = norm;
    }
}

/// row(j) is a row of the base, until the next one is asked for.
template <class Row>
void search(Row&& row, Span2<const float> queries, const Task& task, NearestKeys& nearest) {
    const std::size_t d = queries.cols();
    PackedRows packed, panel;
    panel.resize(kTileCols * d);
    std::vector<TileQueries> tiles;
    fill_queries(queries, task, packed, tiles);
    nearest.reset(task.query1 - task.query0);
    alignas(64) float dots[kTileRows * kTileCols], norms[kTileCols];
    std::int32_t ids[kTileCols];
    for (std::size_t j = task.base0; j < task.base1; j += kTileCols) {
        const std::size_t count = std::min(kTileCols, task.base1 - j);
        pack_panels<kTileCols>(count, d, [&](std::size_t r) { return row(j + r); }, panel.data());
        panel_norms(panel.data(), count, d, norms);
        for (std::size_t r = 0; r < kTileCols; ++r) ids[r] = static_cast<std::int32_t>(j + r);
        for (std::size_t t = 0; t < tiles.size(); ++t) {
            dot_tile(packed.data() + t * kTileRows * d, panel.data(), d, dots);
            offer_tile(dots, tiles[t], norms, ids, nearest);
        }
    }
}

/// The same of rows of bytes.
void search_bytes(Span2<const std::uint8_t> base, Span2<const std::uint8_t> queries, const Task& task,
                  NearestKeys& nearest) {
    const std::size_t d = queries.cols(), length = rounded_length(d), count = task.query1 - task.query0;
    std::vector<std::int8_t> panel(kTileCols * length);
    std::vector<std::int32_t> squares(round_up(count, kTileRows));
    std::vector<TileQueries> tiles(squares.size() / kTileRows, TileQueries{});
    RoundedRows rows;
    rows.resize(count, d);
    nearest.reset(count);
    for (std::size_t i = 0; i < count; ++i) {
        squares[i] = rows.set_bytes(i, queries.row(task.query0 + i));
        TileQueries& tile = tiles[i / kTileRows];
        tile.slots[tile.count] = i;
        tile.self[tile.count++] = -1;
    }
    alignas(64) std::int32_t dots[kTileRows * kTileCols], base_squares[kTileCols] = {}, ids[kTileCols];
    for (std::size_t j = task.base0; j < task.base1; j += kTileCols) {
        for (std::size_t r = 0; r < kTileCols; ++r) {
            ids[r] = j + r < task.base1 ? static_cast<std::int32_t>(j + r) : -1;
            if (ids[r] >= 0) base_squares[r] = pack_byte_column(base.row(j + r), d, r, panel.data());
        }
        for (std::size_t t = 0; t < tiles.size(); ++t) {
            rows.products(t * kTileRows, panel.data(), dots);
            offer_rounded(dots, tiles[t], squares.data() + t * kTileRows, base_squares, ids, 1.0F, nearest);
        }
    }
}

void write_row(std::span<std::uint64_t> keys, std::span<std::int32_t> indices, float& cutoff) {
    const std::size_t k = indices.size(), kept = std::min(k, keys.size());
    std::partial_sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(kept), keys.end());
    for (std::size_t j = 0; j < k; ++j) indices[j] = j < kept ? key_index(keys[j]) : -1;
    cutoff = kept < k ? std::numeric_limits<float>::infinity() : key_distance(keys[k - 1]);
}

/// search_task(task, nearest) searches the rows of a task.
template <class T, class Search>
void search_all(std::size_t n_base, Span2<const T> queries, Span2<std::int32_t> indices, std::span<float> cutoffs,
                const Context& context, Search&& search_task) {
    assert(indices.rows() == queries.rows() && cutoffs.size() == queries.rows());
    const std::size_t k = indices.cols();
    search_in_blocks(
        queries.rows(), n_base, k, choose_chunk(queries.cols()), context, search_task,
        [&](std::size_t i, std::vector<std::uint64_t>& keys) { write_row(keys, {indices.row(i), k}, cutoffs[i]); });
}

}  // namespace

void nearest_rows(Span2<const float> base, Span2<const float> queries, Span2<std::int32_t> indices,
                  std::span<float> cutoffs, const Context& context) {
    assert(base.cols() == queries.cols());
    search_all(base.rows(), queries, indices, cutoffs, context, [&](const Task& task, NearestKeys& nearest) {
        search([&](std::size_t j) { return base.row(j); }, queries, task, nearest);
    });
}

template <class T>
void nearest_centered_rows(Span2<const T> base, std::span<const double> mean, double scale, Span2<const float> queries,
                           Span2<std::int32_t> indices, std::span<float> cutoffs, const Context& context) {
    const std::size_t d = base.cols();
    assert(d == queries.cols() && d == mean.size());
    search_all(base.rows(), queries, indices, cutoffs, context, [&](const Task& task, NearestKeys& nearest) {
        std::vector<float> centered(d);
        const auto row = [&](std::size_t j) -> const float* {
            center_rows<T>({base.row(j), 1, d}, mean, scale, {centered.data(), 1, d}, {1});
            return centered.data();
        };
        search(row, queries, task, nearest);
    });
}

void nearest_byte_rows(Span2<const std::uint8_t> base, Span2<const std::uint8_t> queries, Span2<std::int32_t> indices,
                       std::span<float> cutoffs, const Context& context) {
    assert(base.cols() == queries.cols() && base.cols() <= kMostByteColumns);
    search_all(base.rows(), queries, indices, cutoffs, context,
               [&](const Task& task, NearestKeys& nearest) { search_bytes(base, queries, task, nearest); });
}

#define GNOMON_INSTANTIATE(T)                                                                                \
    template void nearest_centered_rows(Span2<const T>, std::span<const double>, double, Span2<const float>, \
                                        Span2<std::int32_t>, std::span<float>, const Context&);
GNOMON_INSTANTIATE(float)
GNOMON_INSTANTIATE(double)
GNOMON_INSTANTIATE(std::uint8_t)
#undef GNOMON_INSTANTIATE

}  // namespace gnomon
