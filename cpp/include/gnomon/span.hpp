// Contiguous row-major views. Sizes travel with the pointer, so a kernel's signature is its shape contract.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gnomon {

/// A row-major matrix view of shape (rows, cols) that owns nothing.
template <class T>
class Span2 {
public:
    Span2() = default;
    Span2(T* data, std::size_t rows, std::size_t cols) : data_(data), rows_(rows), cols_(cols) {}

    /// A view of mutable data converts to a view of constant data.
    operator Span2<const T>() const { return {data_, rows_, cols_}; }

    T* data() const { return data_; }
    std::size_t rows() const { return rows_; }
    std::size_t cols() const { return cols_; }
    std::size_t size() const { return rows_ * cols_; }

    T* row(std::size_t i) const {
        assert(i < rows_);
        return data_ + i * cols_;
    }
    T& operator()(std::size_t i, std::size_t j) const {
        assert(i < rows_ && j < cols_);
        return data_[i * cols_ + j];
    }

private:
    T* data_ = nullptr;
    std::size_t rows_ = 0;
    std::size_t cols_ = 0;
};

/// A square sparse matrix in compressed-row form: offsets (n + 1), columns and values (nnz).
template <class T>
struct CsrView {
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> columns;
    std::span<const T> values;

    std::size_t rows() const { return offsets.size() - 1; }
};

}  // namespace gnomon
