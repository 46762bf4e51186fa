// Rows of a table in whatever form they are held, and the displacements between a row and its neighbours.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "gnomon/span.hpp"

namespace gnomon {

/// The rows of a sparse table of shape (n, n_features) whose column numbers ascend in each row.
template <class T>
struct SparseRows {
    CsrView<T> matrix;
    std::size_t n_features = 0;
};

/// A table of shape (n, n_features) that is read where it lies, without a copy in another type.
using RowSource = std::variant<Span2<const float>, Span2<const double>, Span2<const std::uint8_t>, SparseRows<float>,
                               SparseRows<double>>;

std::size_t n_rows(const RowSource& source);
std::size_t n_features(const RowSource& source);

/// x_j - x_i for the neighbours j of one row i at a time, in double: a constant offset of the data cancels before
/// anything is rounded. Only features that differ from zero somewhere get a column. Scratch space of one worker.
class Displacements {
public:
    /// Columns are padded with zeros to a multiple of this, rows to a multiple of kRowPad.
    static constexpr std::size_t kColumnPad = 8;
    static constexpr std::size_t kRowPad = 3;

    /// Gathers the displacements of row i; neighbours of weight zero are not read and give zeros.
    void gather(const RowSource& source, std::size_t i, std::span<const std::int32_t> neighbors,
                std::span<const float> weights);

    /// Writes the inner products of all padded rows, (padded_rows, padded_rows).
    void products(std::vector<double>& out) const;

    std::size_t padded_rows() const { return padded_rows_; }
    std::size_t stride() const { return stride_; }
    std::size_t n_columns() const { return n_columns_; }
    const double* row(std::size_t j) const { return values_.data() + j * stride_; }

    /// The feature a column stands for; columns are in ascending order of their features.
    std::int32_t feature(std::size_t column) const {
        return features_.empty() ? static_cast<std::int32_t>(column) : features_[column];
    }
    /// Whether the columns are a subset of the features.
    bool sparse() const { return sparse_; }

private:
    void reshape(std::size_t n_neighbors, std::size_t n_columns);
    template <class T>
    void gather_from(const Span2<const T>& rows, std::size_t i, std::span<const std::int32_t> neighbors,
                     std::span<const float> weights);
    template <class T>
    void gather_from(const SparseRows<T>& rows, std::size_t i, std::span<const std::int32_t> neighbors,
                     std::span<const float> weights);

    std::size_t padded_rows_ = 0, stride_ = 0, n_columns_ = 0;
    bool sparse_ = false;
    std::vector<double> values_;
    std::vector<std::int32_t> features_;   // of the columns; empty: all features in order
    std::vector<std::int32_t> column_of_;  // of a feature, -1 if it has none; for sparse rows only
};

}  // namespace gnomon
