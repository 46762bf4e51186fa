#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/neighbors_all_pairs.cpp"
#include <cassert>

#include "gnomon/neighbors.hpp"
#include "gnomon/tile_lanes.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kUnit = 96;  // least common multiple of the sides of a tile
constexpr std::size_t kMaxUnits = 12;
constexpr std::size_t kBlocks = 24;  // wanted at least: enough pairs in a round for many cores

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(offer_both);

std::size_t choose_block_size(std::size_t n) {
    return kUnit * std::clamp<std::size_t>(n / (kUnit * kBlocks), 1, kMaxUnits);
}

struct Block {
    std::size_t first;  // number of the first row
    std::size_t size;
    const float* panels;
};

void join_blocks(const Block& rows, const Block& columns, std::size_t d, const float* norms, std::size_t split,
                 NearestKeys& nearest) {
    alignas(64) float dots[kTileRows * kTileCols];
    // A strip of rows stays in the second-level cache while the columns pass by.
    for (std::size_t strip = 0; strip < rows.size; strip += kUnit) {
        for (std::size_t j = 0; j < columns.size; j += kTileCols) {
            for (std::size_t i = strip; i < strip + kUnit; i += kTileRows) {
                if (rows.first == columns.first && j + kTileCols <= i + 1) continue;
                dot_tile(rows.panels + i * d, columns.panels + j * d, d, dots);
                offer_both(dots, rows.first + i, columns.first + j, norms, split, nearest);
            }
        }
    }
}

}  // namespace

AllPairs::AllPairs(Span2<const float> points, std::size_t k, std::size_t split, const Context& context)
    : points_(points),
      k_(k),
      split_(split),
      block_size_(choose_block_size(points.rows())),
      n_blocks_((points.rows() + block_size_ - 1) / block_size_),
      nearest_(k) {
    assert(k >= 1 && k < points.rows() && split < points.rows());
    if (n_blocks_ > 1) n_blocks_ = round_up(n_blocks_, 2);
    const std::size_t padded = n_blocks_ * block_size_, d = points.cols();
    norms_.resize(padded);
    nearest_.reset(padded);
    parallel_blocks(padded, kUnit, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        PackedRows panel;
        panel.resize(kTileCols * d);
        for (std::size_t i = begin; i < end; i += kTileCols) {
            const std::size_t count = points.rows() > i ? std::min(kTileCols, points.rows() - i) : 0;
            pack_panels<kTileCols>(count, d, [&](std::size_t r) { return points.row(i + r); }, panel.data());
            panel_norms(panel.data(), count, d, norms_.data() + i);
        }
    });
}

void AllPairs::join(std::size_t first, std::size_t second) {
    const std::size_t n = points_.rows(), d = points_.cols();
    const auto all_below = [&](std::size_t block) { return (block + 1) * block_size_ <= split_; };
    const auto all_above = [&](std::size_t block) { return block * block_size_ >= split_; };
    if (split_ > 0 && ((all_below(first) && all_below(second)) || (all_above(first) && all_above(second)))) return;
    PackedRows rows, columns;
    const auto pack = [&]<std::size_t Width>(std::size_t block, PackedRows& panels) {
        const std::size_t begin = block * block_size_, end = std::min(n, begin + block_size_);
        panels.resize(block_size_ * d);
        std::fill_n(panels.data(), block_size_ * d, 0.0F);
        pack_panels<Width>(end - begin, d, [&](std::size_t r) { return points_.row(begin + r); }, panels.data());
    };
    pack.operator()<kTileRows>(first, rows);
    pack.operator()<kTileCols>(second, columns);
    join_blocks({first * block_size_, block_size_, rows.data()}, {second * block_size_, block_size_, columns.data()}, d,
                norms_.data(), split_, nearest_);
}

void AllPairs::run_round(std::size_t round, const Context& context) {
    const std::size_t n = points_.rows();
    if (round == 0) {
        const std::size_t filled = (n + block_size_ - 1) / block_size_;
        parallel_for(filled, context, [&](std::size_t block, std::size_t) { join(block, block); });
        return;
    }
    // The circle method: the last block stays, the others turn by one place each round.
    const std::size_t turning = n_blocks_ - 1, turn = round - 1;
    parallel_for(n_blocks_ / 2, context, [&](std::size_t t, std::size_t) {
        const std::size_t a = t == 0 ? turning : (turn + t) % turning;
        const std::size_t b = (turn + turning - t) % turning;
        const std::size_t first = std::min(a, b), second = std::max(a, b);
        if (second * block_size_ < n) join(first, second);  // the block added to make their number even may be empty
    });
}

void AllPairs::finish(Span2<std::int32_t> indices, std::span<float> cutoffs, const Context& context) {
    parallel_blocks(points_.rows(), 256, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<std::uint64_t> keys(k_);
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t kept = nearest_.finish(i, keys.data());
            for (std::size_t j = 0; j < k_; ++j) indices(i, j) = j < kept ? key_index(keys[j]) : -1;
            cutoffs[i] = kept < k_ ? std::numeric_limits<float>::infinity() : key_distance(keys[k_ - 1]);
        }
    });
}

}  // namespace gnomon

#else
#include "gnomon/tile_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;

// Offers one tile's pairs to both sides. Pairs on or below the diagonal are left out: they come in the other order; and
// with a split those of rows on the same side of it.
GNOMON_KERNEL void offer_both(const float* dots, std::size_t row0, std::size_t col0, const float* norms,
                              std::size_t split, NearestKeys& nearest) {
    alignas(64) float distances[kTileCols];
    const float* thresholds = nearest.thresholds();
    for (std::size_t i = 0; i < kTileRows; ++i, dots += kTileCols) {
        const std::size_t row = row0 + i;
        const f32 threshold = simd::splat(thresholds[row]);
        const f32 low = tile_distances(dots, norms[row], norms + col0);
        const f32 high = tile_distances(dots + simd::kLanes, norms[row], norms + col0 + simd::kLanes);
        const auto near_low = at_most(low, threshold) | at_most(low, simd::load(thresholds + col0));
        const auto near_high = at_most(high, threshold) | at_most(high, simd::load(thresholds + col0 + simd::kLanes));
        const std::uint32_t hits = lane_bits(near_low, near_high);
        if (hits == 0) continue;
        simd::store(distances, low);
        simd::store(distances + simd::kLanes, high);
        for_each_lane(hits, [&](std::size_t lane) {
            const std::size_t column = col0 + lane;
            if (column <= row && col0 < row0 + kTileRows) return;
            if (split > 0 && (row < split) == (column < split)) return;
            nearest.offer(row, distances[lane], static_cast<std::int32_t>(column));
            nearest.offer(column, distances[lane], static_cast<std::int32_t>(row));
        });
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
