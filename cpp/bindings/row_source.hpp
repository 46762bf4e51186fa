// Tables of several types as a RowSource, for the kernels that read them where they lie.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "arrays.hpp"
#include "gnomon/rows.hpp"

namespace gnomon::bindings {

using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A row-major table of float32, float64 or uint8.
inline RowSource dense_rows(const AnyMatrix& a) {
    if (a.dtype() == nb::dtype<float>()) return Span2(static_cast<const float*>(a.data()), a.shape(0), a.shape(1));
    if (a.dtype() == nb::dtype<double>()) return Span2(static_cast<const double*>(a.data()), a.shape(0), a.shape(1));
    if (a.dtype() == nb::dtype<std::uint8_t>())
        return Span2(static_cast<const std::uint8_t*>(a.data()), a.shape(0), a.shape(1));
    throw std::invalid_argument("the table must be float32, float64 or uint8");
}

/// A sparse table of float32 or float64.
inline RowSource sparse_rows(const Offsets& offsets, const Columns& columns, const AnyVector& values,
                             std::size_t n_features) {
    if (values.dtype() == nb::dtype<float>()) {
        const std::span data(static_cast<const float*>(values.data()), values.shape(0));
        return SparseRows<float>{{view(offsets), view(columns), data}, n_features};
    }
    if (values.dtype() == nb::dtype<double>()) {
        const std::span data(static_cast<const double*>(values.data()), values.shape(0));
        return SparseRows<double>{{view(offsets), view(columns), data}, n_features};
    }
    throw std::invalid_argument("the values must be float32 or float64");
}

}  // namespace gnomon::bindings
