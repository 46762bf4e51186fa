// The neighbours of the rows of a table, checked for the rows that a kernel is asked about.
#pragma once

#include <utility>

#include "gnomon/local_gram.hpp"
#include "tables.hpp"

namespace gnomon::bindings {

using Weights = Matrix<const float>;
using Rows = Vector<const std::int64_t>;

/// Neighbours (n, k) of all rows of a table and the rows that are listed: those alone are read, and so checked.
class Hoods {
public:
    Hoods(const Arguments& check, const Table& X, const IndexRows& indices, const Weights& weights, const Rows& rows)
        : hoods_{view(indices), view(weights)}, rows_(view(rows)) {
        check_shapes(check, X);
        check.indices("rows", rows_, X.n_rows());
        if (rows_.size() >= X.n_rows()) {
            check.indices("indices", indices, X.n_rows());
            return;
        }
        for (const std::int64_t i : rows_) {
            const std::span neighbors(hoods_.indices.row(static_cast<std::size_t>(i)), n_neighbors());
            check.indices("the indices of a row", neighbors, X.n_rows());
        }
    }
    /// All rows are listed.
    Hoods(const Arguments& check, const Table& X, const IndexRows& indices, const Weights& weights)
        : hoods_{view(indices), view(weights)} {
        check_shapes(check, X);
        check.indices("indices", indices, X.n_rows());
    }

    const Neighborhoods& neighborhoods() const { return hoods_; }
    std::span<const std::int64_t> rows() const { return rows_; }
    std::size_t n_listed() const { return rows_.size(); }
    std::size_t n_neighbors() const { return hoods_.indices.cols(); }

private:
    void check_shapes(const Arguments& check, const Table& X) const {
        const auto shape = [](const auto& a) { return std::pair(a.rows(), a.cols()); };
        check.equal("the number of rows of indices", hoods_.indices.rows(), X.n_rows());
        check.require(shape(hoods_.weights) == shape(hoods_.indices), "weights", "of the shape of indices");
    }

    Neighborhoods hoods_;
    std::span<const std::int64_t> rows_;
};

}  // namespace gnomon::bindings
