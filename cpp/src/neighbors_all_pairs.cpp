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
GNOMON_CHOOSE(offer_both_whole);

std::size_t choose_block_size(std::size_t n) {
    return kUnit * std::clamp<std::size_t>(n / (kUnit * kBlocks), 1, kMaxUnits);
}

/// offer(i, j) compares the rows from i of one block with those from j of the other, a tile of them.
template <class Offer>
void join_blocks(std::size_t size, bool same, Offer&& offer) {
    // A strip of rows stays in the second-level cache while the columns pass by.
    for (std::size_t strip = 0; strip < size; strip += kUnit) {
        for (std::size_t j = 0; j < size; j += kTileCols) {
            for (std::size_t i = strip; i < strip + kUnit; i += kTileRows) {
                if (!same || j + kTileCols > i + 1) offer(i, j);
            }
        }
    }
}

}  // namespace

AllPairs::AllPairs(std::size_t n, std::size_t k, std::size_t split)
    : n_(n),
      k_(k),
      split_(split),
      block_size_(choose_block_size(n)),
      n_blocks_((n + block_size_ - 1) / block_size_),
      nearest_(k) {
    assert(k >= 1 && k < n && split < n);
    if (n_blocks_ > 1) n_blocks_ = round_up(n_blocks_, 2);
    norms_.resize(n_blocks_ * block_size_);
    nearest_.reset(norms_.size());
}

AllPairs::AllPairs(Span2<const float> points, std::size_t k, std::size_t split, const Context& context)
    : AllPairs(points.rows(), k, split) {
    points_ = points;
    const std::size_t d = points.cols();
    parallel_blocks(norms_.size(), kUnit, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        PackedRows panel;
        panel.resize(kTileCols * d);
        for (std::size_t i = begin; i < end; i += kTileCols) {
            const std::size_t count = n_ > i ? std::min(kTileCols, n_ - i) : 0;
            pack_panels<kTileCols>(count, d, [&](std::size_t r) { return points.row(i + r); }, panel.data());
            panel_norms(panel.data(), count, d, norms_.data() + i);
        }
    });
}

AllPairs::AllPairs(Span2<const std::uint8_t> points, std::size_t k, std::size_t split, const Context&)
    : AllPairs(points.rows(), k, split) {
    assert(points.cols() <= kMostByteColumns);
    bytes_ = points;
    std::fill(norms_.begin() + static_cast<std::ptrdiff_t>(n_), norms_.end(), std::numeric_limits<float>::infinity());
    row_squares_.resize(norms_.size());
    column_squares_.resize(norms_.size());
}

void AllPairs::join(std::size_t first, std::size_t second) {
    const auto all_below = [&](std::size_t block) { return (block + 1) * block_size_ <= split_; };
    const auto all_above = [&](std::size_t block) { return block * block_size_ >= split_; };
    if (split_ > 0 && ((all_below(first) && all_below(second)) || (all_above(first) && all_above(second)))) return;
    bytes_.data() != nullptr ? join_bytes(first, second) : join_points(first, second);
}

void AllPairs::join_points(std::size_t first, std::size_t second) {
    const std::size_t d = points_.cols(), row0 = first * block_size_, column0 = second * block_size_;
    PackedRows rows, columns;
    const auto pack = [&]<std::size_t Width>(std::size_t begin, PackedRows& panels) {
        const std::size_t end = std::min(n_, begin + block_size_);
        panels.resize(block_size_ * d);
        std::fill_n(panels.data(), block_size_ * d, 0.0F);
        pack_panels<Width>(end - begin, d, [&](std::size_t r) { return points_.row(begin + r); }, panels.data());
    };
    pack.operator()<kTileRows>(row0, rows);
    pack.operator()<kTileCols>(column0, columns);
    alignas(64) float dots[kTileRows * kTileCols];
    join_blocks(block_size_, first == second, [&](std::size_t i, std::size_t j) {
        dot_tile(rows.data() + i * d, columns.data() + j * d, d, dots);
        offer_both(dots, row0 + i, column0 + j, norms_.data(), split_, nearest_);
    });
}

void AllPairs::join_bytes(std::size_t first, std::size_t second) {
    const std::size_t d = bytes_.cols(), length = rounded_length(d);
    const std::size_t row0 = first * block_size_, column0 = second * block_size_;
    std::vector<std::int8_t> columns(block_size_ * length);
    RoundedRows rows;
    rows.resize(block_size_, d);
    for (std::size_t r = row0; r < std::min(row0 + block_size_, n_); ++r)
        row_squares_[r] = rows.set_bytes(r - row0, bytes_.row(r));
    for (std::size_t c = column0; c < std::min(column0 + block_size_, n_); ++c)
        column_squares_[c] = pack_byte_column(bytes_.row(c), d, c - column0, columns.data());
    alignas(64) std::int32_t dots[kTileRows * kTileCols];
    join_blocks(block_size_, first == second, [&](std::size_t i, std::size_t j) {
        rows.products(i, columns.data() + j * length, dots);
        offer_both_whole(dots, row0 + i, column0 + j, row_squares_.data(), column_squares_.data(), norms_.data(),
                         split_, nearest_);
    });
}

void AllPairs::run_round(std::size_t round, const Context& context) {
    if (round == 0) {
        const std::size_t filled = (n_ + block_size_ - 1) / block_size_;
        parallel_for(filled, context, [&](std::size_t block, std::size_t) { join(block, block); });
        return;
    }
    // The circle method: the last block stays, the others turn by one place each round.
    const std::size_t turning = n_blocks_ - 1, turn = round - 1;
    parallel_for(n_blocks_ / 2, context, [&](std::size_t t, std::size_t) {
        const std::size_t a = t == 0 ? turning : (turn + t) % turning;
        const std::size_t b = (turn + turning - t) % turning;
        const std::size_t first = std::min(a, b), second = std::max(a, b);
        if (second * block_size_ < n_) join(first, second);  // the block added to make their number even may be empty
    });
}

void AllPairs::finish(Span2<std::int32_t> indices, std::span<float> cutoffs, const Context& context) {
    parallel_blocks(n_, 256, context, [&](std::size_t begin, std::size_t end, std::size_t) {
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

// Offers one tile's pairs to both sides; `distances(i, half)` are those of row i to sixteen columns. Pairs on or below
// the diagonal are left out: they come in the other order; and with a split those of rows on the same side of it.
template <class Distances>
GNOMON_INLINE void offer_pairs(std::size_t row0, std::size_t col0, std::size_t split, NearestKeys& nearest,
                               Distances&& distances) {
    alignas(64) float stored[kTileCols];
    const float* thresholds = nearest.thresholds();
    for (std::size_t i = 0; i < kTileRows; ++i) {
        const std::size_t row = row0 + i;
        const f32 threshold = simd::splat(thresholds[row]);
        const f32 low = distances(i, 0), high = distances(i, 1);
        const auto near_low = at_most(low, threshold) | at_most(low, simd::load(thresholds + col0));
        const auto near_high = at_most(high, threshold) | at_most(high, simd::load(thresholds + col0 + simd::kLanes));
        const std::uint32_t hits = lane_bits(near_low, near_high);
        if (hits == 0) continue;
        simd::store(stored, low);
        simd::store(stored + simd::kLanes, high);
        for_each_lane(hits, [&](std::size_t lane) {
            const std::size_t column = col0 + lane;
            if (column <= row && col0 < row0 + kTileRows) return;
            if (split > 0 && (row < split) == (column < split)) return;
            nearest.offer(row, stored[lane], static_cast<std::int32_t>(column));
            nearest.offer(column, stored[lane], static_cast<std::int32_t>(row));
        });
    }
}

GNOMON_KERNEL void offer_both(const float* dots, std::size_t row0, std::size_t col0, const float* norms,
                              std::size_t split, NearestKeys& nearest) {
    offer_pairs(row0, col0, split, nearest, [&](std::size_t i, std::size_t half) GNOMON_INLINE_LAMBDA {
        const std::size_t column = half * simd::kLanes;
        return tile_distances(dots + i * kTileCols + column, norms[row0 + i], norms + col0 + column);
    });
}

GNOMON_KERNEL void offer_both_whole(const std::int32_t* dots, std::size_t row0, std::size_t col0,
                                    const std::int32_t* row_squares, const std::int32_t* column_squares,
                                    const float* norms, std::size_t split, NearestKeys& nearest) {
    offer_pairs(row0, col0, split, nearest, [&](std::size_t i, std::size_t half) GNOMON_INLINE_LAMBDA {
        const std::size_t column = col0 + half * simd::kLanes;
        const simd::i32 dot = simd::load(dots + i * kTileCols + half * simd::kLanes);
        const simd::i32 squares = simd::splat(row_squares[row0 + i]) + simd::load(column_squares + column);
        return simd::to_float(squares - (dot + dot)) + (simd::splat(norms[row0 + i]) + simd::load(norms + column));
    });
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
