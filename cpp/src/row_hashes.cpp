#include "gnomon/row_hashes.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kPairs = 8;             // products of a group of words, of
constexpr std::size_t kWords = 2 * kPairs;    // words: the first of them meet the last
constexpr std::size_t kBlockWords = 1 << 16;  // of the rows that one thread takes at a time

/// Adds what a group of numbers gives: kWords floats, or half as many doubles.
template <class T>
GNOMON_INLINE void add_group(const T* values, const std::uint32_t* keys, std::uint64_t* sums) {
    std::uint32_t first[kPairs], last[kPairs];
    for (std::size_t l = 0; l < kPairs; ++l) {
        if constexpr (sizeof(T) == 4) {
            first[l] = std::bit_cast<std::uint32_t>(values[l] + T{0});
            last[l] = std::bit_cast<std::uint32_t>(values[l + kPairs] + T{0});
        } else {
            const auto word = std::bit_cast<std::uint64_t>(values[l] + T{0});
            first[l] = static_cast<std::uint32_t>(word);
            last[l] = static_cast<std::uint32_t>(word >> 32);
        }
    }
    for (std::size_t l = 0; l < kPairs; ++l) {
        const std::uint32_t x = first[l] + keys[l], y = last[l] + keys[l + kPairs];
        sums[l] += static_cast<std::uint64_t>(x) * y;
    }
}

template <class T>
const auto hash_row =
    each_level([](const T* row, std::size_t d, const std::uint32_t* keys) GNOMON_INLINE_LAMBDA -> std::uint64_t {
        constexpr std::size_t kNumbers = kWords * 4 / sizeof(T);
        std::uint64_t sums[kPairs] = {};
        std::size_t k = 0;
        for (; k + kNumbers <= d; k += kNumbers) add_group<T>(row + k, keys + k * sizeof(T) / 4, sums);
        if (k < d) {
            T rest[kNumbers] = {};
            std::copy(row + k, row + d, rest);
            add_group<T>(rest, keys + k * sizeof(T) / 4, sums);
        }
        std::uint64_t total = 0;
        for (const std::uint64_t sum : sums) total += sum;
        return total;
    });

/// Numbers without a pattern (Steele, Lea and Flood, SplitMix, 2014), one for each word of a row.
std::vector<std::uint32_t> keys_of(std::size_t n_words) {
    std::vector<std::uint32_t> keys((n_words + kWords - 1) / kWords * kWords);
    std::uint64_t state = 0;
    for (std::uint32_t& key : keys) {
        std::uint64_t z = state += 0x9E3779B97F4A7C15U;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
        key = static_cast<std::uint32_t>((z ^ (z >> 31)) >> 32);
    }
    return keys;
}

template <class T>
void hash_rows(Span2<const T> X, std::span<std::uint64_t> out, const Context& context) {
    const std::size_t d = X.cols(), n_words = d * sizeof(T) / 4;
    const std::vector<std::uint32_t> keys = keys_of(n_words);
    const std::size_t rows = std::max<std::size_t>(1, kBlockWords / std::max<std::size_t>(1, n_words));
    parallel_blocks(X.rows(), rows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i) out[i] = hash_row<T>(X.row(i), d, keys.data());
    });
}

}  // namespace

void row_hashes(Span2<const float> X, std::span<std::uint64_t> out, const Context& context) {
    hash_rows(X, out, context);
}

void row_hashes(Span2<const double> X, std::span<std::uint64_t> out, const Context& context) {
    hash_rows(X, out, context);
}

}  // namespace gnomon
