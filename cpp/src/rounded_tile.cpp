#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/rounded_tile.cpp"
#include "gnomon/rounded_tile.hpp"

#include <algorithm>
#include <cassert>

#include "gnomon/simd.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace gnomon {
namespace {

constexpr float kLargest = 127.0F;

const auto lower_bytes = each_level([](const std::uint8_t* row, std::size_t d, std::int8_t* out, std::int32_t& square,
                                       std::int32_t& sum) GNOMON_INLINE_LAMBDA {
    std::int32_t squares = 0, total = 0;
    for (std::size_t k = 0; k < d; ++k) {
        const std::int32_t x = row[k];
        total += x;
        squares += x * x;
        out[k] = static_cast<std::int8_t>(x - 128);
    }
    square = squares;
    sum = total;
});

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(round_lanes);
GNOMON_CHOOSE(word_products);

#ifdef GNOMON_USE_LEVELS

__attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vnni"))) void byte_products(
    const std::uint8_t* a, const std::int8_t* b, std::size_t n_groups, std::int32_t* dots) {
    __m512i left[kTileRows], right[kTileRows];
#pragma GCC unroll 12
    for (std::size_t i = 0; i < kTileRows; ++i) left[i] = right[i] = _mm512_setzero_si512();
    for (std::size_t g = 0; g < n_groups; ++g, a += kTileRows * kRoundedGroup, b += kTileCols * kRoundedGroup) {
        const __m512i column0 = _mm512_loadu_si512(b), column1 = _mm512_loadu_si512(b + 64);
#pragma GCC unroll 12
        for (std::size_t i = 0; i < kTileRows; ++i) {
            std::int32_t group;
            std::memcpy(&group, a + i * kRoundedGroup, sizeof group);
            const __m512i row = _mm512_set1_epi32(group);
            left[i] = _mm512_dpbusd_epi32(left[i], row, column0);
            right[i] = _mm512_dpbusd_epi32(right[i], row, column1);
        }
    }
#pragma GCC unroll 12
    for (std::size_t i = 0; i < kTileRows; ++i) {
        _mm512_storeu_si512(dots + i * kTileCols, left[i]);
        _mm512_storeu_si512(dots + i * kTileCols + 16, right[i]);
    }
}

const bool by_bytes = has_byte_products();

#else

constexpr bool by_bytes = false;

void byte_products(const std::uint8_t*, const std::int8_t*, std::size_t, std::int32_t*) {}

#endif

/// A row of bytes, each 128 less than it is, and zeros up to a whole group; square and sum of the bytes themselves.
struct LoweredBytes {
    LoweredBytes(const std::uint8_t* row, std::size_t d) {
        assert(d <= kMostByteColumns);
        lower_bytes(row, d, numbers, square, sum);
        std::fill(numbers + d, numbers + rounded_length(d), std::int8_t{0});
    }

    std::int8_t numbers[rounded_length(kMostByteColumns)];
    std::int32_t square, sum;
};

}  // namespace

bool multiplies_bytes() { return by_bytes; }

RoundedRow round_row(const float* row, std::size_t d, const Rounding& rounding, std::int8_t* out) {
    return round_lanes(row, d, rounding, out);
}

void pack_rounded_column(const std::int8_t* row, std::size_t d, std::size_t place, std::int8_t* panels) {
    const std::size_t length = rounded_length(d);
    std::int8_t* out = panels + place / kTileCols * kTileCols * length + place % kTileCols * kRoundedGroup;
    for (std::size_t k = 0; k < length; k += kRoundedGroup) std::memcpy(out + k * kTileCols, row + k, kRoundedGroup);
}

std::int32_t pack_byte_column(const std::uint8_t* row, std::size_t d, std::size_t place, std::int8_t* panels) {
    const LoweredBytes lowered(row, d);
    pack_rounded_column(lowered.numbers, d, place, panels);
    return lowered.square;
}

void RoundedRows::resize(std::size_t count, std::size_t d) {
    d_ = d;
    length_ = rounded_length(d);
    const std::size_t size = round_up(count, kTileRows) * length_;
    by_bytes ? bytes_.resize(size) : words_.resize(size);
}

void RoundedRows::set(std::size_t place, const std::int8_t* row) {
    const std::size_t begin = place / kTileRows * kTileRows * length_ + place % kTileRows * kRoundedGroup;
    for (std::size_t k = 0; k < length_; k += kRoundedGroup) {
        std::uint8_t group[kRoundedGroup];
        for (std::size_t l = 0; l < kRoundedGroup; ++l) group[l] = static_cast<std::uint8_t>(row[k + l] + 128);
        if (by_bytes) {
            std::memcpy(bytes_.data() + begin + k * kTileRows, group, sizeof group);
        } else {
            std::copy_n(group, kRoundedGroup, words_.data() + begin + k * kTileRows);
        }
    }
}

std::int32_t RoundedRows::set_bytes(std::size_t place, const std::uint8_t* row) {
    const LoweredBytes lowered(row, d_);
    set(place, lowered.numbers);
    return lowered.square - 256 * lowered.sum;  // what columns being 128 less take away
}

void RoundedRows::products(std::size_t first, const std::int8_t* panel, std::int32_t* dots) const {
    assert(first % kTileRows == 0);
    if (by_bytes) {
        byte_products(bytes_.data() + first * length_, panel, length_ / kRoundedGroup, dots);
    } else {
        word_products(words_.data() + first * length_, panel, length_ / kRoundedGroup, dots);
    }
}

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;

// Sums of squares of whole numbers are exact in float32 below 2^24, and lanes are added up as everywhere.
GNOMON_KERNEL RoundedRow round_lanes(const float* row, std::size_t d, const Rounding& rounding, std::int8_t* out) {
    constexpr float to_nearest = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
    const float per_unit = rounding.unit > 0.0F ? 1.0F / rounding.unit : 0.0F;
    f32 square = {}, sum = {}, rest = {};
    const std::size_t length = rounded_length(d);
    for (std::size_t k = 0; k < d; k += simd::kLanes) {
        float x[simd::kLanes] = {}, c[simd::kLanes] = {};
        const std::size_t count = d - k < simd::kLanes ? d - k : simd::kLanes;
        f32 from_centre;
        if (count == simd::kLanes) {
            from_centre = simd::load(row + k) - simd::load(rounding.centre + k);
        } else {
            std::memcpy(x, row + k, count * sizeof(float));
            std::memcpy(c, rounding.centre + k, count * sizeof(float));
            from_centre = simd::load(x) - simd::load(c);
        }
        const f32 shifted = simd::clamp(from_centre * per_unit, -kLargest, kLargest) + to_nearest;
        const f32 whole = shifted - to_nearest, lost = from_centre - whole * rounding.unit;
        square += whole * whole;
        sum += whole;
        rest += lost * lost;
        std::int32_t numbers[simd::kLanes];
        std::int8_t bytes[simd::kLanes];
        simd::store(numbers, simd::as<simd::i32>(shifted) - 0x4b400000);
        for (int l = 0; l < simd::kLanes; ++l) bytes[l] = static_cast<std::int8_t>(numbers[l]);
        std::memcpy(out + k, bytes, length - k < simd::kLanes ? length - k : simd::kLanes);
    }
    return {static_cast<std::int32_t>(simd::sum(square)), static_cast<std::int32_t>(simd::sum(sum)), simd::sum(rest)};
}

#if defined(__SSE2__)

#if GNOMON_VECTOR_BYTES == 64
using Words = __m512i;
constexpr std::size_t kPartRows = 6, kPartVectors = 4;
GNOMON_INLINE Words widened(const std::int8_t* b) {
    return _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b)));
}
GNOMON_INLINE Words repeated(long long group) { return _mm512_set1_epi64(group); }
GNOMON_INLINE Words plus_products(Words sum, Words a, Words b) {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}
#elif GNOMON_VECTOR_BYTES == 32
using Words = __m256i;
constexpr std::size_t kPartRows = 6, kPartVectors = 2;
GNOMON_INLINE Words widened(const std::int8_t* b) {
    return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b)));
}
GNOMON_INLINE Words repeated(long long group) { return _mm256_set1_epi64x(group); }
GNOMON_INLINE Words plus_products(Words sum, Words a, Words b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
#else
using Words = __m128i;
constexpr std::size_t kPartRows = 6, kPartVectors = 2;
GNOMON_INLINE Words widened(const std::int8_t* b) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(b));
    return _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
}
GNOMON_INLINE Words repeated(long long group) { return _mm_set1_epi64x(group); }
GNOMON_INLINE Words plus_products(Words sum, Words a, Words b) { return _mm_add_epi32(sum, _mm_madd_epi16(a, b)); }
#endif

/// The sums of the lanes 2 l and 2 l + 1 of two vectors.
GNOMON_INLINE Words pair_sums(Words first, Words second) {
    using Numbers = typename simd::Register<std::int32_t, GNOMON_VECTOR_BYTES>::type;
    const auto a = reinterpret_cast<Numbers>(first), b = reinterpret_cast<Numbers>(second);
    return [&]<int... l>(std::integer_sequence<int, l...>) __attribute__((always_inline)) {
        return reinterpret_cast<Words>(__builtin_shufflevector(a, b, (2 * l)...) +
                                       __builtin_shufflevector(a, b, (2 * l + 1)...));
    }(std::make_integer_sequence<int, GNOMON_VECTOR_BYTES / sizeof(std::int32_t)>{});
}

// Two 16-bit products are added by one instruction: each column has two sums, which are joined at the end.
GNOMON_KERNEL void word_products(const std::int16_t* a, const std::int8_t* b, std::size_t n_groups,
                                 std::int32_t* dots) {
    constexpr std::size_t columns = GNOMON_VECTOR_BYTES / (2 * kRoundedGroup);  // of a vector
    for (std::size_t j = 0; j < kTileCols; j += kPartVectors * columns) {
        for (std::size_t i = 0; i < kTileRows; i += kPartRows) {
            Words sums[kPartRows][kPartVectors] = {};
            const std::int16_t* rows = a + i * kRoundedGroup;
            const std::int8_t* panel = b + j * kRoundedGroup;
            for (std::size_t g = 0; g < n_groups; ++g) {
                Words column[kPartVectors];
#pragma GCC unroll 4
                for (std::size_t v = 0; v < kPartVectors; ++v) column[v] = widened(panel + v * columns * kRoundedGroup);
#pragma GCC unroll 6
                for (std::size_t r = 0; r < kPartRows; ++r) {
                    long long group;
                    std::memcpy(&group, rows + r * kRoundedGroup, sizeof group);
                    const Words row = repeated(group);
#pragma GCC unroll 4
                    for (std::size_t v = 0; v < kPartVectors; ++v)
                        sums[r][v] = plus_products(sums[r][v], row, column[v]);
                }
                rows += kTileRows * kRoundedGroup;
                panel += kTileCols * kRoundedGroup;
            }
#pragma GCC unroll 6
            for (std::size_t r = 0; r < kPartRows; ++r) {
#pragma GCC unroll 2
                for (std::size_t v = 0; v < kPartVectors; v += 2) {
                    const Words whole = pair_sums(sums[r][v], sums[r][v + 1]);
                    std::memcpy(dots + (i + r) * kTileCols + j + v * columns, &whole, sizeof whole);
                }
            }
        }
    }
}

#else

GNOMON_KERNEL void word_products(const std::int16_t* a, const std::int8_t* b, std::size_t n_groups,
                                 std::int32_t* dots) {
    for (std::size_t i = 0; i < kTileRows; ++i) {
        std::int32_t sums[kTileCols] = {};
        for (std::size_t g = 0; g < n_groups; ++g) {
            const std::int16_t* row = a + (g * kTileRows + i) * kRoundedGroup;
            const std::int8_t* panel = b + g * kTileCols * kRoundedGroup;
            for (std::size_t j = 0; j < kTileCols; ++j) {
                for (std::size_t k = 0; k < kRoundedGroup; ++k) sums[j] += row[k] * panel[j * kRoundedGroup + k];
            }
        }
        std::memcpy(dots + i * kTileCols, sums, sizeof sums);
    }
}

#endif

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
