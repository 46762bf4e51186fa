#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/pooled_block.cpp"
#include "gnomon/pooled_block.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kWidth = kBlockWidth;
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kNeighborsAhead = 4;  // positions between neighbours that are asked for and those that are read
constexpr std::size_t kAhead = 12;          // positions between a row that is asked for and the one that is read

// What fit_columns reads of one point.
struct Hood {
    const std::int32_t* neighbors;
    std::size_t count;
    const double *shares, *coefficients;
    std::size_t d;
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(average);
GNOMON_CHOOSE_FOR(class, fit);

template <class V>
const auto mark =
    each_level([](const V* first, const V* row, std::size_t n, std::uint8_t* differs) GNOMON_INLINE_LAMBDA {
        for (std::size_t f = 0; f < n; ++f) differs[f] |= static_cast<std::uint8_t>(row[f] != first[f]);
    });

template <class V>
void mark_varying(const Span2<const V>& rows, std::vector<std::uint8_t>& differs) {
    for (std::size_t i = 1; i < rows.rows(); ++i) mark<V>(rows.row(0), rows.row(i), rows.cols(), differs.data());
}

template <class V>
void mark_varying(const SparseRows<V>& rows, std::vector<std::uint8_t>& differs) {
    std::vector<std::size_t> counts(differs.size());
    std::vector<V> first(differs.size());
    for (std::size_t e = 0; e < rows.matrix.columns.size(); ++e) {
        const auto f = static_cast<std::size_t>(rows.matrix.columns[e]);
        if (counts[f]++ == 0) first[f] = rows.matrix.values[e];
        if (rows.matrix.values[e] != first[f]) differs[f] = 1;
    }
    for (std::size_t f = 0; f < differs.size(); ++f)
        if (counts[f] > 0 && counts[f] < rows.matrix.rows() && first[f] != V{}) differs[f] = 1;
}

}  // namespace

OrderedHoods::OrderedHoods(const Neighborhoods& hoods, Span2<const double> fits, const std::vector<std::int32_t>& rows)
    : n(rows.size()),
      k(hoods.indices.cols()),
      d(fits.cols() / k),
      row(rows),
      position(n),
      neighbors(n * k),
      n_fitted(n),
      n_pooled(n),
      shares(n * k),
      coefficients(n * k * d),
      defined(n) {
    for (std::size_t p = 0; p < n; ++p) {
        position[static_cast<std::size_t>(row[p])] = static_cast<std::int32_t>(p);
        defined[p] = !std::isnan(fits(static_cast<std::size_t>(row[p]), 0));
    }
    for (std::size_t p = 0; p < n; ++p) {
        if (!defined[p]) continue;
        const auto i = static_cast<std::size_t>(row[p]);
        double total = 0;
        for (std::size_t j = 0; j < k; ++j) total += static_cast<double>(hoods.weights(i, j));
        std::size_t at = p * k;
        for (const bool pooled : {true, false}) {
            for (std::size_t j = 0; j < k; ++j) {
                if (!(hoods.weights(i, j) > 0)) continue;
                const std::int32_t q = position[static_cast<std::size_t>(hoods.indices(i, j))];
                if ((defined[static_cast<std::size_t>(q)] != 0) != pooled) continue;
                neighbors[at] = q;
                shares[at] = static_cast<double>(hoods.weights(i, j)) / total;
                std::copy_n(fits.row(i) + j * d, d, coefficients.begin() + static_cast<std::ptrdiff_t>(at * d));
                ++at;
            }
            (pooled ? n_pooled : n_fitted)[p] = static_cast<std::int32_t>(at - p * k);
        }
    }
}

BlockReader::BlockReader(const RowSource& X, const std::vector<std::int32_t>& rows) : X_(X), rows_(rows) {
    std::vector<std::uint8_t> differs(n_features(X));
    std::visit([&](const auto& table) { mark_varying(table, differs); }, X);
    for (std::size_t f = 0; f < differs.size(); ++f)
        if (differs[f]) features_.push_back(static_cast<std::int32_t>(f));
    if (std::holds_alternative<SparseRows<float>>(X) || std::holds_alternative<SparseRows<double>>(X)) {
        slots_.assign(differs.size(), -1);
        for (std::size_t s = 0; s < features_.size(); ++s)
            slots_[static_cast<std::size_t>(features_[s])] = static_cast<std::int32_t>(s);
        cursors_.assign(rows.size(), 0);
    }
}

template <class V, class T>
void BlockReader::read_from(const Span2<const V>& rows, std::size_t p, std::size_t first, std::size_t size, T* out) {
    const std::int32_t* features = features_.data() + first;
    if (p + kAhead < rows_.size()) {
        const V* ahead = rows.row(static_cast<std::size_t>(rows_[p + kAhead]));
        __builtin_prefetch(ahead + features[0]);
        __builtin_prefetch(ahead + features[size - 1]);
    }
    const V* row = rows.row(static_cast<std::size_t>(rows_[p]));
    for (std::size_t f = 0; f < size; ++f) out[f] = static_cast<T>(row[features[f]]);
}

template <class V, class T>
void BlockReader::read_from(const SparseRows<V>& rows, std::size_t p, std::size_t first, std::size_t size, T* out) {
    const auto& matrix = rows.matrix;
    const auto i = static_cast<std::size_t>(rows_[p]);
    const auto begin = static_cast<std::size_t>(matrix.offsets[i]),
               end = static_cast<std::size_t>(matrix.offsets[i + 1]);
    const std::int32_t last = features_[first + size - 1];
    std::size_t e = begin + cursors_[p];
    for (; e < end && matrix.columns[e] <= last; ++e) {
        const std::int32_t slot = slots_[static_cast<std::size_t>(matrix.columns[e])];
        if (slot >= 0) out[static_cast<std::size_t>(slot) - first] = static_cast<T>(matrix.values[e]);
    }
    cursors_[p] = e - begin;
}

template <class T>
void BlockReader::read(std::size_t p, std::size_t first, std::size_t size, T* out) {
    std::fill_n(out, kWidth, T{});
    std::visit([&](const auto& rows) { read_from(rows, p, first, size, out); }, X_);
}
template void BlockReader::read(std::size_t, std::size_t, std::size_t, float*);
template void BlockReader::read(std::size_t, std::size_t, std::size_t, double*);

// Asks for the rows of `length` that the neighbours of a point a little ahead have in a table.
template <class T>
void prefetch_neighbors(const T* table, std::size_t length, const OrderedHoods& hoods, std::size_t p) {
    constexpr std::size_t kStep = kCacheLine / sizeof(T);
    if (p + kNeighborsAhead >= hoods.n) return;
    const std::size_t next = p + kNeighborsAhead;
    const std::int32_t* neighbors = hoods.neighbors.data() + next * hoods.k;
    for (std::int32_t j = 0; j < hoods.n_fitted[next]; ++j) {
        const T* row = table + static_cast<std::size_t>(neighbors[j]) * length;
        for (std::size_t at = 0; at < length; at += kStep) __builtin_prefetch(row + at);
    }
}

void fit_block(const float* values, const OrderedHoods& hoods, std::size_t p, float* deviation, float* axes) {
    prefetch_neighbors(values, kWidth, hoods, p);
    fit<float>(values, values + p * kWidth,
               {hoods.neighbors.data() + p * hoods.k, static_cast<std::size_t>(hoods.n_fitted[p]),
                hoods.shares.data() + p * hoods.k, hoods.coefficients.data() + p * hoods.k * hoods.d, hoods.d},
               deviation, axes);
}
void fit_block(const double* values, const OrderedHoods& hoods, std::size_t p, float* deviation, float* axes) {
    prefetch_neighbors(values, kWidth, hoods, p);
    fit<double>(values, values + p * kWidth,
                {hoods.neighbors.data() + p * hoods.k, static_cast<std::size_t>(hoods.n_fitted[p]),
                 hoods.shares.data() + p * hoods.k, hoods.coefficients.data() + p * hoods.k * hoods.d, hoods.d},
                deviation, axes);
}

void average_block(const float* values, std::size_t length, const OrderedHoods& hoods, std::size_t p, float* out) {
    prefetch_neighbors(values, length, hoods, p);
    average(values, length, p, hoods.neighbors.data() + p * hoods.k, static_cast<std::size_t>(hoods.n_pooled[p]), out);
}

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using f32x8 = simd::Lanes<float, 8>;
using f32x16 = simd::Lanes<float, 16>;
using f64x8 = simd::Lanes<double, 8>;

// Sums over the displacements of eight features: kCount columns of the Jacobian, and the second moment if wanted.
template <std::size_t kCount, bool kMoment, class T>
GNOMON_INLINE void sum_displacements(const T* values, const T* own, const Hood& hood, const double* coefficients,
                                     double* moment, float* axes) {
    const f64x8 origin = simd::load_wide<f64x8>(own);
    f64x8 sums[kCount] = {}, squares{};
    for (std::size_t j = 0; j < hood.count; ++j) {
        const f64x8 x = simd::load_wide<f64x8>(values + static_cast<std::size_t>(hood.neighbors[j]) * kWidth) - origin;
        if (kMoment) squares += hood.shares[j] * (x * x);
        for (std::size_t c = 0; c < kCount; ++c) sums[c] += coefficients[j * hood.d + c] * x;
    }
    if (kMoment) simd::store(moment, squares);
    for (std::size_t c = 0; c < kCount; ++c) simd::store(axes + c * kWidth, simd::narrowed<f32x8>(sums[c]));
}

template <class T>
GNOMON_KERNEL void fit(const T* values, const T* own, const Hood& hood, float* deviation, float* axes) {
    double moment[kWidth];
    for (std::size_t half = 0; half < kWidth; half += 8) {
        const T *all = values + half, *point = own + half;
        float* out = axes + half;
        std::size_t c = std::min<std::size_t>(hood.d, 2);
        if (c == 1)
            sum_displacements<1, true>(all, point, hood, hood.coefficients, moment + half, out);
        else
            sum_displacements<2, true>(all, point, hood, hood.coefficients, moment + half, out);
        for (; c + 2 <= hood.d; c += 2)
            sum_displacements<2, false>(all, point, hood, hood.coefficients + c, moment, out + c * kWidth);
        if (c < hood.d) sum_displacements<1, false>(all, point, hood, hood.coefficients + c, moment, out + c * kWidth);
    }
    for (std::size_t f = 0; f < kWidth; ++f) deviation[f] = static_cast<float>(__builtin_sqrt(moment[f]));
}

template <std::size_t kCount>
GNOMON_INLINE void average_lanes(const float* axes, std::size_t length, std::size_t own, const std::int32_t* neighbors,
                                 std::size_t count, float share, float* out) {
    f32x16 sums[kCount];
    for (std::size_t v = 0; v < kCount; ++v) sums[v] = simd::load_as<f32x16>(axes + own * length + v * kWidth);
    for (std::size_t j = 0; j < count; ++j) {
        const float* other = axes + static_cast<std::size_t>(neighbors[j]) * length;
        for (std::size_t v = 0; v < kCount; ++v) sums[v] += simd::load_as<f32x16>(other + v * kWidth);
    }
    for (std::size_t v = 0; v < kCount; ++v) simd::store(out + v * kWidth, sums[v] * share);
}

GNOMON_KERNEL void average(const float* axes, std::size_t length, std::size_t own, const std::int32_t* neighbors,
                           std::size_t count, float* out) {
    const float share = 1.0F / static_cast<float>(count + 1);
    std::size_t at = 0;
    for (; at + 2 * kWidth <= length; at += 2 * kWidth)
        average_lanes<2>(axes + at, length, own, neighbors, count, share, out + at);
    if (at < length) average_lanes<1>(axes + at, length, own, neighbors, count, share, out + at);
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
