#include <cassert>

#include "block_search.hpp"
#include "gnomon/neighbors.hpp"

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

void search(Span2<const float> base, Span2<const float> queries, const Task& task, NearestKeys& nearest) {
    const std::size_t d = base.cols();
    PackedRows packed, panel;
    panel.resize(kTileCols * d);
    std::vector<TileQueries> tiles;
    fill_queries(queries, task, packed, tiles);
    nearest.reset(task.query1 - task.query0);
    alignas(64) float dots[kTileRows * kTileCols], norms[kTileCols];
    std::int32_t ids[kTileCols];
    for (std::size_t j = task.base0; j < task.base1; j += kTileCols) {
        const std::size_t count = std::min(kTileCols, task.base1 - j);
        pack_panels<kTileCols>(count, d, [&](std::size_t r) { return base.row(j + r); }, panel.data());
        panel_norms(panel.data(), count, d, norms);
        for (std::size_t r = 0; r < kTileCols; ++r) ids[r] = static_cast<std::int32_t>(j + r);
        for (std::size_t t = 0; t < tiles.size(); ++t) {
            dot_tile(packed.data() + t * kTileRows * d, panel.data(), d, dots);
            offer_tile(dots, tiles[t], norms, ids, nearest);
        }
    }
}

void write_row(std::span<std::uint64_t> keys, std::span<std::int32_t> indices, float& cutoff) {
    const std::size_t k = indices.size(), kept = std::min(k, keys.size());
    std::partial_sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(kept), keys.end());
    for (std::size_t j = 0; j < k; ++j) indices[j] = j < kept ? key_index(keys[j]) : -1;
    cutoff = kept < k ? std::numeric_limits<float>::infinity() : key_distance(keys[k - 1]);
}

}  // namespace

void nearest_rows(Span2<const float> base, Span2<const float> queries, Span2<std::int32_t> indices,
                  std::span<float> cutoffs, const Context& context) {
    assert(base.cols() == queries.cols() && indices.rows() == queries.rows() && cutoffs.size() == queries.rows());
    const std::size_t n = queries.rows(), k = indices.cols(), chunk = choose_chunk(base.cols());
    search_in_blocks(
        n, base.rows(), k, chunk, context,
        [&](const Task& task, NearestKeys& nearest) { search(base, queries, task, nearest); },
        [&](std::size_t i, std::vector<std::uint64_t>& keys) { write_row(keys, {indices.row(i), k}, cutoffs[i]); });
}

}  // namespace gnomon
