#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/neighbors_tile.cpp"
#include "gnomon/neighbors_tile.hpp"

#include "gnomon/tile_lanes.hpp"

namespace gnomon {

namespace {

const auto keep = each_level([](std::uint64_t* keys, std::size_t count, std::size_t k,
                                std::uint64_t& limit) GNOMON_INLINE_LAMBDA -> std::size_t {
    constexpr std::size_t more = 4;  // kept beyond k: an exact cut would take longer
    const auto* signed_keys = reinterpret_cast<const std::int64_t*>(keys);  // bits of distances have no sign
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = -1;
    for (std::size_t i = 0; i < count; ++i) {
        low = std::min(low, signed_keys[i]);
        high = std::max(high, signed_keys[i]);
    }
    low -= 1;
    std::size_t kept = count;
    while (kept > k + more && high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        std::int64_t below = 0;
        for (std::size_t i = 0; i < count; ++i) below += signed_keys[i] <= middle ? 1 : 0;
        if (static_cast<std::size_t>(below) < k) {
            low = middle;
        } else {
            high = middle;
            kept = static_cast<std::size_t>(below);
        }
    }
    limit = static_cast<std::uint64_t>(high);
    const bool copies = kept > k + more;  // of one key, offered by a row that probes a cell again and again
    const std::int64_t last = copies ? high - 1 : high;
    kept = 0;
    for (std::size_t i = 0; i < count; ++i) {  // no branch: nobody could foretell it
        const std::uint64_t key = keys[i];
        keys[kept] = key;
        kept += static_cast<std::size_t>(static_cast<std::int64_t>(key) <= last);
    }
    if (copies) keys[kept++] = limit;
    return kept;
});

}  // namespace

std::size_t keep_smallest(std::uint64_t* keys, std::size_t count, std::size_t k, std::uint64_t& limit) {
    return keep(keys, count, k, limit);
}

}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(dot_parts);
GNOMON_CHOOSE(sum_squares);
GNOMON_CHOOSE(offer_near);
GNOMON_CHOOSE(offer_near_rounded);

}  // namespace

void dot_tile(const float* a, const float* b, std::size_t d, float* dots) { dot_parts(a, b, d, dots); }

void panel_norms(const float* panel, std::size_t count, std::size_t d, float* norms) {
    sum_squares(panel, d, norms);
    for (std::size_t i = count; i < kTileCols; ++i) norms[i] = std::numeric_limits<float>::infinity();
}

void offer_tile(const float* dots, const TileQueries& queries, const float* base_norms, const std::int32_t* base_ids,
                NearestKeys& nearest) {
    offer_near(dots, queries, base_norms, base_ids, nearest);
}

void offer_rounded(const std::int32_t* dots, const TileQueries& queries, const std::int32_t* query_squares,
                   const std::int32_t* base_squares, const std::int32_t* base_ids, float square_unit,
                   NearestKeys& nearest) {
    offer_near_rounded(dots, queries, query_squares, base_squares, base_ids, square_unit, nearest);
}

}  // namespace gnomon

#else
#include "gnomon/tile_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;

// Rows of a part of the tile, whose sums of Rows x (2 vectors) stay in registers.
#if GNOMON_VECTOR_BYTES == 64 || defined(__aarch64__)
constexpr std::size_t kPartRows = 12;
#else
constexpr std::size_t kPartRows = 6;
#endif

GNOMON_KERNEL void dot_parts(const float* a, const float* b, std::size_t d, float* dots) {
    for (std::size_t j = 0; j < kTileCols; j += 2 * GNOMON_VECTOR_BYTES / sizeof(float)) {
        for (std::size_t i = 0; i < kTileRows; i += kPartRows)
            tile_products<kPartRows, kTileRows, kTileCols>(a + i, b + j, d, dots + i * kTileCols + j);
    }
}

GNOMON_KERNEL void sum_squares(const float* panel, std::size_t d, float* norms) {
    f32 low = {}, high = {};
    for (std::size_t k = 0; k < d; ++k) {
        const f32 x = simd::load(panel + k * kTileCols), y = simd::load(panel + k * kTileCols + simd::kLanes);
        low += x * x;
        high += y * y;
    }
    simd::store(norms, low);
    simd::store(norms + simd::kLanes, high);
}

#if GNOMON_VECTOR_BYTES == 64
GNOMON_KERNEL void append(NearestKeys& nearest, std::size_t slot, f32 distances, __m512i ids, __mmask16 hits) {
    const __m512i bits = _mm512_castps_si512(reinterpret_cast<__m512>(distances));
    for (int half = 0; half < 2; ++half) {
        const auto lanes = static_cast<__mmask8>(hits >> (8 * half));
        if (lanes == 0) continue;
        const __m256i some = half == 0 ? _mm512_castsi512_si256(bits) : _mm512_extracti64x4_epi64(bits, 1);
        const __m256i rows = half == 0 ? _mm512_castsi512_si256(ids) : _mm512_extracti64x4_epi64(ids, 1);
        const __m512i keys =
            _mm512_or_si512(_mm512_slli_epi64(_mm512_cvtepu32_epi64(some), 32), _mm512_cvtepu32_epi64(rows));
        _mm512_storeu_si512(nearest.end(slot), _mm512_maskz_compress_epi64(lanes, keys));
        nearest.grow(slot, static_cast<std::size_t>(__builtin_popcount(lanes)));
    }
}

// Keys of lanes that are near are pressed together in registers, instead of walked through. `distances(i, half)` are
// those of row i to sixteen columns.
template <class Distances>
GNOMON_INLINE void offer_lanes(const TileQueries& queries, const std::int32_t* base_ids, NearestKeys& nearest,
                               Distances&& distances) {
    const __m512i low_ids = _mm512_loadu_si512(base_ids), high_ids = _mm512_loadu_si512(base_ids + simd::kLanes);
    const auto low_rows = static_cast<__mmask16>(~_mm512_movepi32_mask(low_ids));
    const auto high_rows = static_cast<__mmask16>(~_mm512_movepi32_mask(high_ids));
    for (std::size_t i = 0; i < queries.count; ++i) {
        const std::size_t slot = queries.slots[i];
        const __m512 threshold = _mm512_set1_ps(nearest.thresholds()[slot]);
        const __m512i self = _mm512_set1_epi32(queries.self[i]);
        const f32 low = distances(i, 0), high = distances(i, 1);
        const __mmask16 low_hits = _mm512_mask_cmpneq_epi32_mask(
            _mm512_mask_cmp_ps_mask(low_rows, reinterpret_cast<__m512>(low), threshold, _CMP_LE_OQ), low_ids, self);
        const __mmask16 high_hits = _mm512_mask_cmpneq_epi32_mask(
            _mm512_mask_cmp_ps_mask(high_rows, reinterpret_cast<__m512>(high), threshold, _CMP_LE_OQ), high_ids, self);
        if (low_hits != 0) append(nearest, slot, low, low_ids, low_hits);
        if (high_hits != 0) append(nearest, slot, high, high_ids, high_hits);
    }
}

#else

template <class Distances>
GNOMON_INLINE void offer_lanes(const TileQueries& queries, const std::int32_t* base_ids, NearestKeys& nearest,
                               Distances&& distances) {
    alignas(64) float stored[kTileCols];
    for (std::size_t i = 0; i < queries.count; ++i) {
        const std::size_t slot = queries.slots[i];
        const f32 threshold = simd::splat(nearest.thresholds()[slot]);
        const f32 low = distances(i, 0), high = distances(i, 1);
        const std::uint32_t hits = lane_bits(at_most(low, threshold), at_most(high, threshold));
        if (hits == 0) continue;
        simd::store(stored, low);
        simd::store(stored + simd::kLanes, high);
        for_each_lane(hits, [&](std::size_t lane) {
            const std::int32_t id = base_ids[lane];
            if (id >= 0 && id != queries.self[i]) nearest.offer(slot, stored[lane], id);
        });
    }
}
#endif

GNOMON_KERNEL void offer_near(const float* dots, const TileQueries& queries, const float* base_norms,
                              const std::int32_t* base_ids, NearestKeys& nearest) {
    offer_lanes(queries, base_ids, nearest, [&](std::size_t i, std::size_t half) GNOMON_INLINE_LAMBDA {
        const std::size_t column = half * simd::kLanes;
        return tile_distances(dots + i * kTileCols + column, queries.norms[i], base_norms + column);
    });
}

GNOMON_KERNEL void offer_near_rounded(const std::int32_t* dots, const TileQueries& queries,
                                      const std::int32_t* query_squares, const std::int32_t* base_squares,
                                      const std::int32_t* base_ids, float square_unit, NearestKeys& nearest) {
    const f32 unit = simd::splat(square_unit);
    offer_lanes(queries, base_ids, nearest, [&](std::size_t i, std::size_t half) GNOMON_INLINE_LAMBDA {
        const std::size_t column = half * simd::kLanes;
        const simd::i32 dot = simd::load(dots + i * kTileCols + column);
        const simd::i32 squares = simd::splat(query_squares[i]) + simd::load(base_squares + column);
        return simd::to_float(squares - (dot + dot)) * unit + simd::splat(queries.norms[i]);
    });
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
