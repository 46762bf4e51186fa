#include "gnomon/rows.hpp"

#include <algorithm>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

template <class T>
const auto subtract = each_level([](const T* a, const T* b, std::size_t n, double* out) GNOMON_INLINE_LAMBDA {
    for (std::size_t f = 0; f < n; ++f) out[f] = static_cast<double>(a[f]) - static_cast<double>(b[f]);
});

template <class T>
std::size_t rows_of(const Span2<const T>& rows) {
    return rows.rows();
}
template <class T>
std::size_t rows_of(const SparseRows<T>& rows) {
    return rows.matrix.rows();
}
template <class T>
std::size_t features_of(const Span2<const T>& rows) {
    return rows.cols();
}
template <class T>
std::size_t features_of(const SparseRows<T>& rows) {
    return rows.n_features;
}

using f64x4 = double __attribute__((vector_size(32)));

GNOMON_INLINE double total(f64x4 v) { return (v[0] + v[2]) + (v[1] + v[3]); }

// All products of `n` rows (a multiple of 3) of `stride` doubles (a multiple of 4), in tiles of 3 x 3 accumulators.
const auto all_products =
    each_level([](const double* z, std::size_t n, std::size_t stride, double* out) GNOMON_INLINE_LAMBDA {
        for (std::size_t p = 0; p < n; p += 3)
            for (std::size_t q = 0; q <= p; q += 3) {
                f64x4 sums[3][3] = {};
                const double *a = z + p * stride, *b = z + q * stride;
                for (std::size_t f = 0; f < stride; f += 4)
                    for (int u = 0; u < 3; ++u) {
                        const f64x4 x = simd::load_as<f64x4>(a + u * stride + f);
                        for (int v = 0; v < 3; ++v) sums[u][v] += x * simd::load_as<f64x4>(b + v * stride + f);
                    }
                for (std::size_t u = 0; u < 3; ++u)
                    for (std::size_t v = 0; v < 3; ++v)
                        out[(p + u) * n + q + v] = out[(q + v) * n + p + u] = total(sums[u][v]);
            }
    });

}  // namespace

std::size_t n_rows(const RowSource& source) {
    return std::visit([](const auto& rows) { return rows_of(rows); }, source);
}

std::size_t n_features(const RowSource& source) {
    return std::visit([](const auto& rows) { return features_of(rows); }, source);
}

void Displacements::gather(const RowSource& source, std::size_t i, std::span<const std::int32_t> neighbors,
                           std::span<const float> weights) {
    std::visit([&](const auto& rows) { gather_from(rows, i, neighbors, weights); }, source);
}

void Displacements::products(std::vector<double>& out) const {
    out.resize(padded_rows_ * padded_rows_);
    all_products(values_.data(), padded_rows_, stride_, out.data());
}

void Displacements::reshape(std::size_t n_neighbors, std::size_t n_columns) {
    const std::size_t stride = round_up(n_columns, kColumnPad), padded = round_up(n_neighbors, kRowPad);
    n_columns_ = n_columns;
    // Padding stays zero from one call to the next only while the shape does.
    if (stride == stride_ && padded == padded_rows_ && !sparse_) return;
    stride_ = stride;
    padded_rows_ = padded;
    values_.assign(stride * padded, 0.0);
}

template <class T>
void Displacements::gather_from(const Span2<const T>& rows, std::size_t i, std::span<const std::int32_t> neighbors,
                                std::span<const float> weights) {
    reshape(neighbors.size(), rows.cols());
    for (std::size_t j = 0; j < neighbors.size(); ++j) {
        double* out = values_.data() + j * stride_;
        if (weights[j] > 0)
            subtract<T>(rows.row(static_cast<std::size_t>(neighbors[j])), rows.row(i), rows.cols(), out);
        else
            std::fill_n(out, rows.cols(), 0.0);
    }
}

template <class T>
void Displacements::gather_from(const SparseRows<T>& rows, std::size_t i, std::span<const std::int32_t> neighbors,
                                std::span<const float> weights) {
    const auto& matrix = rows.matrix;
    auto for_each = [&](std::size_t row, auto&& body) {
        for (auto e = static_cast<std::size_t>(matrix.offsets[row]);
             e < static_cast<std::size_t>(matrix.offsets[row + 1]); ++e)
            body(matrix.columns[e], static_cast<double>(matrix.values[e]));
    };
    sparse_ = true;
    column_of_.resize(rows.n_features, -1);
    features_.clear();
    auto note = [&](std::int32_t f, double) {
        if (column_of_[static_cast<std::size_t>(f)] < 0) {
            column_of_[static_cast<std::size_t>(f)] = 0;
            features_.push_back(f);
        }
    };
    for_each(i, note);
    for (std::size_t j = 0; j < neighbors.size(); ++j)
        if (weights[j] > 0) for_each(static_cast<std::size_t>(neighbors[j]), note);
    std::sort(features_.begin(), features_.end());
    for (std::size_t c = 0; c < features_.size(); ++c)
        column_of_[static_cast<std::size_t>(features_[c])] = static_cast<std::int32_t>(c);
    reshape(neighbors.size(), features_.size());
    for (std::size_t j = 0; j < neighbors.size(); ++j) {
        if (!(weights[j] > 0)) continue;
        double* out = values_.data() + j * stride_;
        auto column = [&](std::int32_t f) { return static_cast<std::size_t>(column_of_[static_cast<std::size_t>(f)]); };
        for_each(static_cast<std::size_t>(neighbors[j]), [&](std::int32_t f, double x) { out[column(f)] = x; });
        for_each(i, [&](std::int32_t f, double x) { out[column(f)] -= x; });
    }
    for (const std::int32_t f : features_) column_of_[static_cast<std::size_t>(f)] = -1;
}

}  // namespace gnomon
