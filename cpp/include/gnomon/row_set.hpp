// Sets of rows of a large table, a bit for each row: what one owner of rows asks of another.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gnomon/span.hpp"

namespace gnomon {

/// A set of the rows [0, n): bit i % 64 of word i / 64. Bits beyond the last row are not set.
template <class Word>
class RowBits {
public:
    static constexpr std::size_t words_of(std::size_t n) { return (n + 63) / 64; }

    RowBits(std::span<Word> words, std::size_t n) : words_(words), n_(n) { assert(words.size() == words_of(n)); }

    std::size_t size() const { return n_; }
    std::span<Word> words() const { return words_; }
    bool holds(std::size_t i) const { return (words_[i / 64] >> (i % 64)) & 1U; }
    void add(std::size_t i) const { words_[i / 64] |= std::uint64_t{1} << (i % 64); }

    std::size_t count() const {
        std::size_t total = 0;
        for (const std::uint64_t word : words_) total += static_cast<std::size_t>(std::popcount(word));
        return total;
    }

    /// Calls body(row) for each row of the set, in ascending order.
    template <class Body>
    void for_each(Body&& body) const {
        for (std::size_t w = 0; w < words_.size(); ++w)
            for (std::uint64_t word = words_[w]; word != 0; word &= word - 1)
                body(64 * w + static_cast<std::size_t>(std::countr_zero(word)));
    }

private:
    std::span<Word> words_;
    std::size_t n_;
};

using RowSet = RowBits<std::uint64_t>;
using ConstRowSet = RowBits<const std::uint64_t>;

/// A set of rows that knows how many of its rows come before each of them.
class RankedRows {
public:
    explicit RankedRows(const ConstRowSet& rows) : rows_(rows), before_(rows.words().size()) {
        std::size_t total = 0;
        for (std::size_t w = 0; w < before_.size(); ++w) {
            before_[w] = static_cast<std::uint32_t>(total);
            total += static_cast<std::size_t>(std::popcount(rows.words()[w]));
        }
        whole_ = total == rows.size();
    }

    const ConstRowSet& rows() const { return rows_; }
    /// Whether the set holds all rows, so that their places are their numbers.
    bool whole() const { return whole_; }

    /// The place of row i, which is in the set, among its rows.
    std::size_t place(std::size_t i) const {
        if (whole_) return i;
        const std::uint64_t below = rows_.words()[i / 64] & ((std::uint64_t{1} << (i % 64)) - 1);
        return before_[i / 64] + static_cast<std::size_t>(std::popcount(below));
    }

private:
    ConstRowSet rows_;
    std::vector<std::uint32_t> before_;
    bool whole_ = false;
};

}  // namespace gnomon
