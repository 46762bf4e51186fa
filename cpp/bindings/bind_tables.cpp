#include <stdexcept>
#include <utility>

#include "gnomon/bytes.hpp"
#include "gnomon/row_hashes.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

template <class T>
Span2<const T> matrix_of(const AnyMatrix& a) {
    return {static_cast<const T*>(a.data()), a.shape(0), a.shape(1)};
}

RowSource dense_rows(const AnyMatrix& a) {
    if (a.dtype() == nb::dtype<float>()) return matrix_of<float>(a);
    if (a.dtype() == nb::dtype<double>()) return matrix_of<double>(a);
    if (a.dtype() == nb::dtype<std::uint8_t>()) return matrix_of<std::uint8_t>(a);
    throw nb::type_error("Table: rows must be float32, float64 or uint8.");
}

template <class T>
RowSource sparse_rows(const Offsets& offsets, const Columns& columns, const AnyVector& values, std::size_t n_features) {
    const std::span data(static_cast<const T*>(values.data()), values.shape(0));
    return SparseRows<T>{{view(offsets), view(columns), data}, n_features};
}

template <class T>
bool bytes_of(const Matrix<const T>& X, const Matrix<std::uint8_t>& out, int n_threads) {
    Arguments("to_bytes").shape("out", out, X.shape(0), X.shape(1));
    bool whole = false;
    run_released(n_threads, [&](const Context& context) { whole = to_bytes(view(X), view(out), context); });
    return whole;
}

template <class T>
Output<std::uint64_t> hashes_of(const Matrix<const T>& X, int n_threads) {
    auto out = make_output<std::uint64_t>({X.shape(0)});
    run_released(n_threads, [&](const Context& context) { row_hashes(view(X), {out.data(), X.shape(0)}, context); });
    return out;
}

template <class T>
void bind_numbers(nb::module_& m) {
    m.def("to_bytes", &bytes_of<T>, nb::arg("X").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"),
          "Write a table as bytes and return True; False if it holds another number than 0, 1, ..., 255.");
    m.def("row_hashes", &hashes_of<T>, nb::arg("X").noconvert(), nb::arg("n_threads"),
          "A number for each row of finite values, the same for equal rows.");
}

}  // namespace

Table::Table(AnyMatrix rows) : dense_(std::move(rows)), rows_(dense_rows(dense_)) {
    const Arguments check("Table");
    check.at_most("the number of rows", dense_.shape(0), INT32_MAX);
    check.at_most("the number of features", dense_.shape(1), INT32_MAX);
}

Table::Table(Offsets offsets, Columns columns, AnyVector values, std::size_t n_features)
    : offsets_(std::move(offsets)), columns_(std::move(columns)), values_(std::move(values)) {
    const Arguments check("Table");
    check.at_most("n_features", n_features, INT32_MAX);
    check.compressed_rows(bindings::view(offsets_), bindings::view(columns_), values_.shape(0), n_features);
    check.at_most("the number of rows", offsets_.shape(0) - 1, INT32_MAX);
    for (std::size_t i = 0; i + 1 < offsets_.shape(0); ++i) {
        const auto begin = static_cast<std::size_t>(offsets_.data()[i]),
                   end = static_cast<std::size_t>(offsets_.data()[i + 1]);
        check.ascending("the columns of a row", bindings::view(columns_).subspan(begin, end - begin), true);
    }
    if (values_.dtype() == nb::dtype<float>())
        rows_ = sparse_rows<float>(offsets_, columns_, values_, n_features);
    else if (values_.dtype() == nb::dtype<double>())
        rows_ = sparse_rows<double>(offsets_, columns_, values_, n_features);
    else
        throw nb::type_error("Table: values must be float32 or float64.");
}

Graph::Graph(Offsets offsets, Columns columns, Values values)
    : offsets_(std::move(offsets)),
      columns_(std::move(columns)),
      values_(std::move(values)),
      view_{bindings::view(offsets_), bindings::view(columns_), bindings::view(values_)} {
    const Arguments check("Graph");
    check.at_least("the length of offsets", static_cast<std::int64_t>(offsets_.shape(0)), 1);
    check.compressed_rows(view_.offsets, view_.columns, view_.values.size(), n());
    check.at_most("the number of rows", n(), INT32_MAX);
}

void register_tables(nb::module_& m) {
    bind_numbers<float>(m);
    bind_numbers<double>(m);
    nb::class_<Table>(m, "Table", "A dense or CSR table that kernels read where it lies, checked once.")
        .def(nb::init<AnyMatrix>(), nb::arg("rows").noconvert())
        .def(nb::init<Offsets, Columns, AnyVector, std::size_t>(), nb::arg("offsets").noconvert(),
             nb::arg("columns").noconvert(), nb::arg("values").noconvert(), nb::arg("n_features"));
    nb::class_<Graph>(m, "Graph", "A square CSR matrix of float32 that kernels read where it lies, checked once.")
        .def(nb::init<Offsets, Columns, Values>(), nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(),
             nb::arg("values").noconvert());
}

}  // namespace gnomon::bindings
