#include "gnomon/sparse_product.hpp"

#include <algorithm>
#include <cstddef>

#include "gnomon/allocation.hpp"
#include "gnomon/levels.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRows = 512;        // of a chunk
constexpr std::size_t kDenseRows = 16;    // of a chunk of a product that is written out
constexpr std::size_t kTogether = 8;      // columns of X whose sums stay in registers
constexpr double kOften = 32.0;           // entries for each row of X, above which these columns are laid out apart
constexpr double kThreadsFrom = 1 << 18;  // products of numbers that are worth waking threads for

/// `columns` sums of one row, over its entries.
template <std::size_t columns, class T>
GNOMON_INLINE void add_row(const T* values, const std::int32_t* at, std::int64_t n, const double* x, std::size_t width,
                           double* out) {
    double sums[columns] = {};
    for (std::int64_t e = 0; e < n; ++e) {
        const double value = static_cast<double>(values[e]);
        const double* row = x + static_cast<std::size_t>(at[e]) * width;
        for (std::size_t c = 0; c < columns; ++c) sums[c] += value * row[c];
    }
    for (std::size_t c = 0; c < columns; ++c) out[c] = sums[c];
}

/// Columns of a matrix that lies row by row, `width` numbers of which make a row.
template <class Number>
struct Columns {
    Number* first;
    std::size_t width;
};

/// Writes `count` columns of A x to out, in the rows from begin to end.
template <class T>
const auto multiply_rows = each_level([](const CsrView<T>& A, Columns<const double> x, std::size_t count,
                                         Columns<double> out, std::size_t begin, std::size_t end) GNOMON_INLINE_LAMBDA {
    for (std::size_t i = begin; i < end; ++i) {
        const std::int64_t first = A.offsets[i], n = A.offsets[i + 1] - first;
        const T* values = A.values.data() + first;
        const std::int32_t* at = A.columns.data() + first;
        double* to = out.first + i * out.width;
        std::size_t c = 0;
        for (; c + kTogether <= count; c += kTogether) add_row<kTogether>(values, at, n, x.first + c, x.width, to + c);
        if (c + 4 <= count) {
            add_row<4>(values, at, n, x.first + c, x.width, to + c);
            c += 4;
        }
        if (c + 2 <= count) {
            add_row<2>(values, at, n, x.first + c, x.width, to + c);
            c += 2;
        }
        if (c < count) add_row<1>(values, at, n, x.first + c, x.width, to + c);
    }
});

/// Calls add(column, term) for each pair of stored entries that meet in row i of A B, in the order of A's columns.
template <class Add>
GNOMON_INLINE void each_term(const CsrView<double>& A, const CsrView<double>& B, std::size_t i, Add&& add) {
    for (std::int64_t a = A.offsets[i]; a < A.offsets[i + 1]; ++a) {
        const double factor = A.values[a];
        const std::int64_t* of_row = B.offsets.data() + A.columns[a];
        for (std::int64_t b = of_row[0]; b < of_row[1]; ++b) add(B.columns[b], factor * B.values[b]);
    }
}

/// The sums of one row of a product; scratch space of one worker.
class RowSums {
public:
    /// Sums row i of A B; returns its columns in their order.
    std::span<const std::int32_t> add(const CsrView<double>& A, const SparseRows<double>& B, std::size_t i) {
        sums_.resize(B.n_features);
        met_.resize(B.n_features);
        columns_.resize(B.n_features + 1);  // one more is written and not kept
        double* sums = sums_.data();
        std::uint8_t* met = met_.data();
        std::int32_t* columns = columns_.data();
        std::size_t count = 0;
        each_term(A, B.matrix, i, [&](std::int32_t k, double term) {
            sums[k] = met[k] ? sums[k] + term : 0.0 + term;
            columns[count] = k;
            count += met[k] == 0;
            met[k] = 1;
        });
        std::sort(columns, columns + count);
        for (std::size_t c = 0; c < count; ++c) met[columns[c]] = 0;
        return {columns, count};
    }

    double operator[](std::int32_t column) const { return sums_[static_cast<std::size_t>(column)]; }

private:
    std::vector<double> sums_;
    std::vector<std::uint8_t> met_;
    std::vector<std::int32_t> columns_;
};

}  // namespace

template <class T>
void sparse_product(const SparseRows<T>& A, Span2<const double> X, Span2<double> out, const Context& given) {
    const std::size_t width = X.cols();
    const double n_entries = static_cast<double>(A.matrix.values.size());
    const Context context = given.for_work(n_entries * static_cast<double>(width), kThreadsFrom);
    const auto multiply = [&](Columns<const double> x, std::size_t first, std::size_t count) {
        parallel_blocks(out.rows(), kRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            multiply_rows<T>(A.matrix, x, count, Columns<double>{out.data() + first, width}, begin, end);
        });
    };
    if (width <= kTogether || n_entries <= kOften * static_cast<double>(X.rows()))
        return multiply({X.data(), width}, 0, width);
    LineVector<double> some(X.rows() * kTogether);
    for (std::size_t first = 0; first < width; first += kTogether) {
        const std::size_t count = std::min(kTogether, width - first);
        for (std::size_t j = 0; j < X.rows(); ++j) std::copy_n(X.row(j) + first, count, some.data() + j * count);
        multiply({some.data(), count}, first, count);
    }
}

template void sparse_product(const SparseRows<float>&, Span2<const double>, Span2<double>, const Context&);
template void sparse_product(const SparseRows<double>&, Span2<const double>, Span2<double>, const Context&);

SparseResult sparse_product(const SparseRows<double>& A, const SparseRows<double>& B, const Context& context) {
    const std::size_t n = A.matrix.rows();
    SparseResult result;
    result.offsets.assign(n + 1, 0);
    std::vector<RowSums> workers(static_cast<std::size_t>(context.n_threads));
    struct Chunk {
        std::vector<std::int32_t> columns;
        std::vector<double> values;
    };
    std::vector<Chunk> chunks((n + kRows - 1) / kRows);
    parallel_blocks(n, kRows, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        RowSums& row = workers[worker];
        Chunk& chunk = chunks[begin / kRows];
        for (std::size_t i = begin; i < end; ++i) {
            const std::span<const std::int32_t> columns = row.add(A.matrix, B, i);
            chunk.columns.insert(chunk.columns.end(), columns.begin(), columns.end());
            for (const std::int32_t column : columns) chunk.values.push_back(row[column]);
            result.offsets[i + 1] = static_cast<std::int64_t>(columns.size());
        }
    });
    for (std::size_t i = 0; i < n; ++i) result.offsets[i + 1] += result.offsets[i];
    result.columns.reserve(static_cast<std::size_t>(result.offsets[n]));
    result.values.reserve(static_cast<std::size_t>(result.offsets[n]));
    for (Chunk& chunk : chunks) {
        result.columns.insert(result.columns.end(), chunk.columns.begin(), chunk.columns.end());
        result.values.insert(result.values.end(), chunk.values.begin(), chunk.values.end());
        chunk = {};
    }
    return result;
}

void dense_product(const SparseRows<double>& A, const SparseRows<double>& B, Span2<double> out,
                   const Context& context) {
    parallel_blocks(out.rows(), kDenseRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i) {
            double* row = out.row(i);
            std::fill_n(row, out.cols(), 0.0);
            each_term(A.matrix, B.matrix, i, [&](std::int32_t k, double term) { row[k] += term; });
        }
    });
}

}  // namespace gnomon
