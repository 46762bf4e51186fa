// Tables and graphs that cross to the kernels as objects: checked once, when they are made, and not at every call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arrays.hpp"
#include "checks.hpp"
#include "gnomon/rows.hpp"

namespace gnomon::bindings {

using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyVector = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// A dense or sparse table of several types, read where it lies. Keeps its arrays alive; they must not change.
class Table {
public:
    /// A row-major table of float32, float64 or uint8.
    explicit Table(AnyMatrix rows);
    /// A table in CSR form, float32 or float64, with columns that ascend strictly in each row.
    Table(Offsets offsets, Columns columns, AnyVector values, std::size_t n_features);

    const RowSource& rows() const { return rows_; }
    std::size_t n_rows() const { return gnomon::n_rows(rows_); }
    std::size_t n_features() const { return gnomon::n_features(rows_); }
    bool is_sparse() const { return columns_.is_valid(); }

private:
    AnyMatrix dense_;
    Offsets offsets_;
    Columns columns_;
    AnyVector values_;
    RowSource rows_;
};

/// A square matrix in compressed rows: the edges of a graph and their weights. Keeps its arrays alive; they must not
/// change.
class Graph {
public:
    Graph(Offsets offsets, Columns columns, Values values);

    const CsrView<float>& view() const { return view_; }
    std::size_t n() const { return view_.rows(); }

private:
    Offsets offsets_;
    Columns columns_;
    Values values_;
    CsrView<float> view_;
};

/// A map Y with a place for each point of a graph.
template <class T>
void check_points(const Arguments& check, const Graph& edges, const Matrix<T>& Y) {
    check.equal("the number of rows of Y", Y.shape(0), edges.n());
    check.components(Y.shape(1));
}

}  // namespace gnomon::bindings
