// From directed neighbour weights to a symmetric sparse matrix, in time and memory proportional to its entries.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// How the weights a = w_ij and b = w_ji of the two directions become one.
struct SymmetricRule {
    enum class Kind { sum, fuzzy } kind;
    float parameter;  ///< sum: scale * (a + b); fuzzy: mix * (a + b - ab) + (1 - mix) * ab
};

/// A two-step merge: the caller allocates the result between `count` and `fill`.
class Symmetrizer {
public:
    /// indices, weights (n, k): neighbours of each row, in [0, n) and unique where the weight is positive.
    Symmetrizer(Span2<const std::int32_t> indices, Span2<const float> weights, const Context& context);

    /// Writes offsets (n + 1) of the rows of the result, which holds the entries that are positive under the rule.
    void count(SymmetricRule rule, std::span<std::int64_t> offsets, const Context& context) const;

    /// Writes columns (ascending in each row) and values (offsets[n] each).
    void fill(SymmetricRule rule, std::span<const std::int64_t> offsets, std::span<std::int32_t> columns,
              std::span<float> values, const Context& context) const;

private:
    using Entry = std::uint64_t;  // column in the high half, bits of the weight in the low half: sorts by column

    void sort_rows(Span2<const std::int32_t> indices, Span2<const float> weights, const Context& context);
    void transpose(const Context& context);
    std::span<const Entry> outgoing(std::size_t row) const;
    std::span<const Entry> incoming(std::size_t row) const;

    std::size_t n_rows_;
    std::size_t width_;
    std::vector<Entry> rows_;                  // (n, width), of which the first row_sizes_[i] hold something
    std::vector<std::int32_t> row_sizes_;      // (n)
    std::vector<Entry> transposed_;            // incoming entries of all rows
    std::vector<std::int64_t> transposed_at_;  // (n + 1)
};

}  // namespace gnomon
