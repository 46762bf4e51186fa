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

/// A two-step merge: the caller allocates the result between `count` and `fill`. Beside the neighbours it holds the
/// incoming entries of some rows at a time, and of few neighbours the sorted ones of all.
class Symmetrizer {
public:
    /// indices, weights (n, k): neighbours of each row, in [0, n) and unique where the weight is positive; they are
    /// read until the last `fill`. `part_entries`: how many incoming entries are held at a time, about.
    Symmetrizer(Span2<const std::int32_t> indices, Span2<const float> weights, const Context& context,
                std::size_t part_entries = kPartEntries);

    /// Writes offsets (n + 1) of the rows of the result, which holds the entries that are positive under the rule.
    void count(SymmetricRule rule, std::span<std::int64_t> offsets, const Context& context);

    /// Writes columns (ascending in each row) and values (offsets[n] each).
    void fill(SymmetricRule rule, std::span<const std::int64_t> offsets, std::span<std::int32_t> columns,
              std::span<float> values, const Context& context);

private:
    using Entry = std::uint64_t;  // column in the high half, bits of the weight in the low half: sorts by column

    static constexpr std::size_t kPartEntries = std::size_t{1} << 24;

    std::size_t sort_row(std::size_t row, Entry* sorted) const;
    std::span<const Entry> outgoing(std::size_t row, std::vector<Entry>& sorted) const;
    std::span<const Entry> incoming(std::size_t row) const;
    void transpose(std::size_t first, const Context& context);
    template <class Visit>
    void visit_rows(const Context& context, const Visit& visit);

    Span2<const std::int32_t> indices_;
    Span2<const float> weights_;
    std::size_t part_rows_;                    // rows whose incoming entries are held at a time
    std::vector<Entry> rows_;                  // (n, k) in order where there is one part, the first row_sizes_[i] used
    std::vector<std::int32_t> row_sizes_;      // (n), likewise
    std::size_t first_;                        // of the rows whose incoming entries are held; n: none are
    std::vector<Entry> transposed_;            // these entries
    std::vector<std::int64_t> transposed_at_;  // (part_rows_ + 1)
};

}  // namespace gnomon
