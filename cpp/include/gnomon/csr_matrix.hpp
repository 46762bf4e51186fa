// A sparse matrix that owns its memory, where kernels make one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gnomon/allocation.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// A square sparse matrix that owns its memory.
struct CsrMatrix {
    std::vector<std::int64_t> offsets;
    LineVector<std::int32_t> columns;
    LineVector<float> values;

    std::size_t rows() const { return offsets.size() - 1; }
    CsrView<float> view() const { return {offsets, columns, values}; }
};

/// The matrix with rows and columns in the order given; entries of a row keep theirs.
CsrMatrix reordered(const CsrView<float>& matrix, std::span<const std::int32_t> order, const Context& context);

}  // namespace gnomon
