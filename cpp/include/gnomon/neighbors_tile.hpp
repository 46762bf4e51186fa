// The register tile under every neighbour search: 12 x 32 inner products of packed rows, and what is kept of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "gnomon/simd.hpp"

namespace gnomon {

inline constexpr std::size_t kTileRows = 12;
inline constexpr std::size_t kTileCols = 32;

/// Memory for packed rows, aligned to cache lines: an unaligned load of a lane vector touches two.
template <class T>
class Packed {
public:
    /// Makes room for `size` numbers; the contents are lost.
    void resize(std::size_t size) {
        if (size <= capacity_) return;
        memory_.reset(static_cast<T*>(::operator new(size * sizeof(T), std::align_val_t{64})));
        capacity_ = size;
    }
    T* data() { return memory_.get(); }
    const T* data() const { return memory_.get(); }

private:
    struct Release {
        void operator()(T* p) const { ::operator delete(p, std::align_val_t{64}); }
    };
    std::unique_ptr<T, Release> memory_;
    std::size_t capacity_ = 0;
};
using PackedRows = Packed<float>;

/// dots[i * 32 + j] = sum over k of a[k * 12 + i] * b[k * 32 + j]. Each pair is summed in ascending k in one
/// accumulator, so the bits depend neither on the instruction set nor on where in a tile a pair falls.
void dot_tile(const float* a, const float* b, std::size_t d, float* dots);

/// Transposes rows into panels of `Width` rows: out[panel][k][row in panel]; rows past `count` are zero.
template <std::size_t Width, class RowOf>
void pack_panels(std::size_t count, std::size_t d, RowOf&& row_of, float* out) {
    for (std::size_t first = 0; first < count; first += Width, out += Width * d) {
        for (std::size_t i = 0; i < Width; ++i) {
            if (first + i < count) {
                const float* row = row_of(first + i);
                for (std::size_t k = 0; k < d; ++k) out[k * Width + i] = row[k];
            } else {
                for (std::size_t k = 0; k < d; ++k) out[k * Width + i] = 0.0F;
            }
        }
    }
}

/// Squared norms of the 32 rows of one packed panel, summed in the order of dot_tile: a row's distance to its copy is
/// then exactly zero. Rows past `count` get infinity, which keeps them out of every selection.
void panel_norms(const float* panel, std::size_t count, std::size_t d, float* norms);

/// A distance and a row number in one key: keys order by distance, then by number. The distance must be >= 0.
inline std::uint64_t make_key(float distance, std::int32_t index) {
    std::uint32_t bits;
    std::memcpy(&bits, &distance, sizeof bits);
    return (static_cast<std::uint64_t>(bits) << 32) | static_cast<std::uint32_t>(index);
}
inline std::int32_t key_index(std::uint64_t key) { return static_cast<std::int32_t>(key & 0xffffffffU); }
inline float key_distance(std::uint64_t key) {
    const auto bits = static_cast<std::uint32_t>(key >> 32);
    float distance;
    std::memcpy(&distance, &bits, sizeof distance);
    return distance;
}

/// Moves keys to the front that are not larger than some limit, at least the k smallest and few more; returns how many
/// they are, and the limit.
std::size_t keep_smallest(std::uint64_t* keys, std::size_t count, std::size_t k, std::uint64_t& limit);

/// The k smallest keys offered to each of several queries. Keys are collected until a buffer is full, then cut to
/// little more than the k smallest; what remains at the end does not depend on the order of the offers.
class NearestKeys {
public:
    explicit NearestKeys(std::size_t k) : k_(k), capacity_(k + std::max<std::size_t>(40, k / 2)), stride_(2 * k + 64) {}

    void reset(std::size_t n_queries) {
        const std::size_t padded = round_up(n_queries, kTileCols);
        if (keys_.size() < n_queries * stride_) keys_.resize(n_queries * stride_);
        counts_.assign(padded, 0);
        limits_.assign(padded, std::numeric_limits<std::uint64_t>::max());
        thresholds_.assign(padded, std::numeric_limits<float>::max());
    }

    /// Distances above these cannot be among the k smallest.
    const float* thresholds() const { return thresholds_.data(); }

    void offer(std::size_t query, float distance, std::int32_t index) {
        const std::uint64_t key = make_key(distance, index);
        if (key > limits_[query]) return;
        *end(query) = key;
        grow(query, 1);
    }

    /// Where up to 8 keys may be written that `grow` then takes.
    std::uint64_t* end(std::size_t query) { return keys_.data() + query * stride_ + counts_[query]; }
    void grow(std::size_t query, std::size_t count) {
        counts_[query] += static_cast<std::uint32_t>(count);
        if (counts_[query] >= capacity_) cut(query);
    }

    /// Writes the smallest keys in ascending order and returns how many there are.
    std::size_t finish(std::size_t query, std::uint64_t* out) {
        std::uint64_t* begin = keys_.data() + query * stride_;
        const std::size_t kept = std::min<std::size_t>(k_, counts_[query]);
        std::partial_sort(begin, begin + kept, begin + counts_[query]);
        std::copy(begin, begin + kept, out);
        return kept;
    }

private:
    void cut(std::size_t query) {
        counts_[query] = static_cast<std::uint32_t>(
            keep_smallest(keys_.data() + query * stride_, counts_[query], k_, limits_[query]));
        thresholds_[query] = key_distance(limits_[query]);
    }

    std::size_t k_;
    std::size_t capacity_;  // keys from which on they are cut
    std::size_t stride_;
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint64_t> limits_;
    std::vector<float> thresholds_;
};

/// Up to 12 queries of a tile: where their neighbours are kept, what not to pair them with (-1: nothing), their norms.
struct TileQueries {
    std::size_t count;
    std::size_t slots[kTileRows];
    std::int32_t self[kTileRows];
    float norms[kTileRows];
};

/// Offers all pairs of (12 queries) x (32 rows of the base) to the queries; a base row of number -1 is none.
void offer_tile(const float* dots, const TileQueries& queries, const float* base_norms, const std::int32_t* base_ids,
                NearestKeys& nearest);

/// The same of rows rounded to whole numbers (rounded_tile.hpp): query i and column j are at the squared distance
/// (query_squares[i] + base_squares[j] - 2 dots[i * 32 + j]) * unit^2 + queries.norms[i].
void offer_rounded(const std::int32_t* dots, const TileQueries& queries, const std::int32_t* query_squares,
                   const std::int32_t* base_squares, const std::int32_t* base_ids, float square_unit,
                   NearestKeys& nearest);

}  // namespace gnomon
