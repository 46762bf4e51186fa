#include "row_reader.hpp"

#include <algorithm>

namespace gnomon::detail {
namespace {

constexpr std::size_t kSums = 8;  // partial sums, added in one fixed order

GNOMON_INLINE double total(const double* sums) {
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template <class T>
const auto sum_of_squares = each_level([](const double* x, const T* r, std::size_t n) GNOMON_INLINE_LAMBDA -> double {
    double sums[kSums] = {};
    std::size_t f = 0;
    for (; f + kSums <= n; f += kSums)
        for (std::size_t u = 0; u < kSums; ++u) {
            const double e = x[f + u] - static_cast<double>(r[f + u]);
            sums[u] += e * e;
        }
    for (std::size_t u = 0; f < n; ++f, ++u) {
        const double e = x[f] - static_cast<double>(r[f]);
        sums[u] += e * e;
    }
    return total(sums);
});

template <class T>
const auto sum_of_products =
    each_level([](const T* a, const T* b, const double* z, std::size_t n) GNOMON_INLINE_LAMBDA -> double {
        double sums[kSums] = {};
        std::size_t f = 0;
        for (; f + kSums <= n; f += kSums)
            for (std::size_t u = 0; u < kSums; ++u)
                sums[u] += (static_cast<double>(a[f + u]) - static_cast<double>(b[f + u])) * z[f + u];
        for (std::size_t u = 0; f < n; ++f, ++u)
            sums[u] += (static_cast<double>(a[f]) - static_cast<double>(b[f])) * z[f];
        return total(sums);
    });

template <class T>
const auto subtract = each_level([](const double* x, const T* r, std::size_t n, double* out) GNOMON_INLINE_LAMBDA {
    for (std::size_t f = 0; f < n; ++f) out[f] = x[f] - static_cast<double>(r[f]);
});

template <class T>
const auto accumulate =
    each_level([](double a, const T* r, const double* x, std::size_t n, double* out) GNOMON_INLINE_LAMBDA {
        for (std::size_t f = 0; f < n; ++f) out[f] += a * (static_cast<double>(r[f]) - x[f]);
    });

}  // namespace

template <class T>
double squared_difference(const double* x, const T* r, std::size_t n) {
    return sum_of_squares<T>(x, r, n);
}
template <class T>
double product_of_difference(const T* a, const T* b, const double* z, std::size_t n) {
    return sum_of_products<T>(a, b, z, n);
}
template <class T>
void difference(const double* x, const T* r, std::size_t n, double* out) {
    subtract<T>(x, r, n, out);
}
template <class T>
void add_multiple(double a, const T* r, const double* x, std::size_t n, double* out) {
    accumulate<T>(a, r, x, n, out);
}

#define GNOMON_ROW_FUNCTIONS(T)                                                            \
    template double squared_difference(const double*, const T*, std::size_t);              \
    template double product_of_difference(const T*, const T*, const double*, std::size_t); \
    template void difference(const double*, const T*, std::size_t, double*);               \
    template void add_multiple(double, const T*, const double*, std::size_t, double*);
GNOMON_ROW_FUNCTIONS(float)
GNOMON_ROW_FUNCTIONS(double)
GNOMON_ROW_FUNCTIONS(std::uint8_t)
#undef GNOMON_ROW_FUNCTIONS

namespace {

template <class T>
void load_from(const Span2<const T>& rows, std::size_t i, Point& out) {
    out.values.assign(rows.row(i), rows.row(i) + rows.cols());
}
template <class T>
void load_from(const SparseRows<T>& rows, std::size_t i, Point& out) {
    if (out.values.size() != rows.n_features) out.values.assign(rows.n_features, 0.0);
    for (const std::int32_t f : out.features) out.values[static_cast<std::size_t>(f)] = 0;
    out.features.clear();
    for (auto e = static_cast<std::size_t>(rows.matrix.offsets[i]);
         e < static_cast<std::size_t>(rows.matrix.offsets[i + 1]); ++e) {
        out.features.push_back(rows.matrix.columns[e]);
        out.values[static_cast<std::size_t>(rows.matrix.columns[e])] = static_cast<double>(rows.matrix.values[e]);
    }
}

}  // namespace

void load_point(const RowSource& source, std::size_t i, Point& out) {
    std::visit([&](const auto& rows) { load_from(rows, i, out); }, source);
}

}  // namespace gnomon::detail
