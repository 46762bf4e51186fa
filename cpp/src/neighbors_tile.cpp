#include "gnomon/neighbors_tile.hpp"

namespace gnomon {
namespace {

using simd::f32;

// Vectors as wide as the registers of an instruction set: wider ones would be taken apart through memory.
template <std::size_t Bytes>
struct Register {
    using Type __attribute__((vector_size(Bytes))) = float;
};

// Accumulates a part of the tile of Rows x (2 vectors) in registers. The part is chosen for each instruction set by its
// number of registers; the result is not affected, as every pair has its own accumulator.
template <std::size_t Bytes, std::size_t Rows>
GNOMON_INLINE void dot_part(const float* a, const float* b, std::size_t d, float* dots) {
    using V = typename Register<Bytes>::Type;
    constexpr std::size_t lanes = Bytes / sizeof(float);
    V left[Rows] = {}, right[Rows] = {};
    for (std::size_t k = 0; k < d; ++k, a += kTileRows, b += kTileCols) {
        V column0, column1;
        std::memcpy(&column0, b, Bytes);
        std::memcpy(&column1, b + lanes, Bytes);
#pragma GCC unroll 12
        for (std::size_t i = 0; i < Rows; ++i) {
            const V row = a[i] - V{};
            left[i] += row * column0;
            right[i] += row * column1;
        }
    }
#pragma GCC unroll 12
    for (std::size_t i = 0; i < Rows; ++i) {
        std::memcpy(dots + i * kTileCols, &left[i], Bytes);
        std::memcpy(dots + i * kTileCols + lanes, &right[i], Bytes);
    }
}

template <std::size_t Bytes, std::size_t Rows>
GNOMON_INLINE void dot_parts(const float* a, const float* b, std::size_t d, float* dots) {
    for (std::size_t j = 0; j < kTileCols; j += 2 * Bytes / sizeof(float)) {
        for (std::size_t i = 0; i < kTileRows; i += Rows) {
            dot_part<Bytes, Rows>(a + i, b + j, d, dots + i * kTileCols + j);
        }
    }
}

#if defined(GNOMON_USE_CLONES)
// Versions of one function chosen at load time. The choice is made for calls from this file only: dot_tile is the door.
__attribute__((target("arch=x86-64-v4"))) void dot_all(const float* a, const float* b, std::size_t d, float* dots) {
    dot_parts<64, 12>(a, b, d, dots);  // 24 of 32 registers hold sums
}
__attribute__((target("arch=x86-64-v3"))) void dot_all(const float* a, const float* b, std::size_t d, float* dots) {
    dot_parts<32, 6>(a, b, d, dots);  // 12 of 16
}
__attribute__((target("default"))) void dot_all(const float* a, const float* b, std::size_t d, float* dots) {
    dot_parts<16, 6>(a, b, d, dots);
}
#elif defined(__AVX512F__)
void dot_all(const float* a, const float* b, std::size_t d, float* dots) { dot_parts<64, 12>(a, b, d, dots); }
#elif defined(__AVX2__)
void dot_all(const float* a, const float* b, std::size_t d, float* dots) { dot_parts<32, 6>(a, b, d, dots); }
#else
void dot_all(const float* a, const float* b, std::size_t d, float* dots) { dot_parts<16, 6>(a, b, d, dots); }
#endif

}  // namespace

void dot_tile(const float* a, const float* b, std::size_t d, float* dots) { dot_all(a, b, d, dots); }

GNOMON_CLONES void panel_norms(const float* panel, std::size_t count, std::size_t d, float* norms) {
    f32 low = {}, high = {};
    for (std::size_t k = 0; k < d; ++k) {
        const f32 x = simd::load(panel + k * kTileCols), y = simd::load(panel + k * kTileCols + simd::kLanes);
        low += x * x;
        high += y * y;
    }
    simd::store(norms, low);
    simd::store(norms + simd::kLanes, high);
    for (std::size_t i = count; i < kTileCols; ++i) norms[i] = std::numeric_limits<float>::infinity();
}

GNOMON_CLONES void offer_tile(const float* dots, const TileQueries& queries, const float* base_norms,
                              const std::int32_t* base_ids, NearestKeys& nearest) {
    alignas(64) float distances[kTileCols];
    for (std::size_t i = 0; i < queries.count; ++i, dots += kTileCols) {
        const std::size_t slot = queries.slots[i];
        const f32 threshold = simd::splat(nearest.thresholds()[slot]);
        const f32 low = tile_distances(dots, queries.norms[i], base_norms);
        const f32 high = tile_distances(dots + simd::kLanes, queries.norms[i], base_norms + simd::kLanes);
        const LaneBytes hits = lane_bytes(low <= threshold, high <= threshold);
        if (!hits.any()) continue;
        simd::store(distances, low);
        simd::store(distances + simd::kLanes, high);
        for_each_lane(hits, [&](std::size_t lane) {
            if (base_ids[lane] != queries.self[i]) nearest.offer(slot, distances[lane], base_ids[lane]);
        });
    }
}

}  // namespace gnomon
