// From directed neighbour weights to a symmetric sparse matrix, in time and memory proportional to its entries.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "gnomon/allocation.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// How the weights a = w_ij and b = w_ji of the two directions become one.
struct SymmetricRule {
    enum class Kind { sum, fuzzy } kind;
    float parameter;  ///< sum: scale * (a + b); fuzzy: mix * (a + b - ab) + (1 - mix) * ab
};

/// A square sparse matrix in compressed rows: offsets (n + 1), columns (ascending in each row) and values.
struct SymmetricMatrix {
    Allocation<std::int64_t> offsets;
    Allocation<std::int32_t> columns;
    Allocation<float> values;
};

/// The weights of the k neighbours of a row, written to `scratch` (k, rounded up to the lanes) or found elsewhere.
/// Called by several threads, and several times for a row.
using WeightsOf = std::function<const float*(std::size_t row, float* scratch)>;

inline constexpr std::size_t kPartEntries = std::size_t{1} << 23;

/// The entries that are positive under the rule. indices (n, k): neighbours of each row, in [0, n) and unique where the
/// weight is positive. Beside neighbours and result it holds the incoming entries of a part of the rows at a time, half
/// of those left or about `part_entries`. Throws std::invalid_argument where a row names a neighbour twice.
SymmetricMatrix symmetrize(Span2<const std::int32_t> indices, const WeightsOf& weights, SymmetricRule rule,
                           const Context& context, std::size_t part_entries = kPartEntries);

}  // namespace gnomon
