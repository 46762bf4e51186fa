// Products of sparse matrices, the same bits on every processor: terms in the order of the columns, none of them fused.
#pragma once

#include <cstdint>
#include <vector>

#include "gnomon/parallel.hpp"
#include "gnomon/rows.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// out = A X in double, for A (n, n_features) and X (n_features, width); out (n, width) is written.
template <class T>
void sparse_product(const SparseRows<T>& A, Span2<const double> X, Span2<double> out, const Context& context);

/// A matrix in compressed rows.
struct SparseResult {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> columns;
    std::vector<double> values;
};

/// A B, with an entry for every pair of stored entries that meet, in the order of the columns.
SparseResult sparse_product(const SparseRows<double>& A, const SparseRows<double>& B, const Context& context);

/// out = A B, written out: the same numbers, and 0 where no entries meet; out (n, B.n_features) is written.
void dense_product(const SparseRows<double>& A, const SparseRows<double>& B, Span2<double> out, const Context& context);

}  // namespace gnomon
