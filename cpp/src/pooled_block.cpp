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
constexpr std::size_t kNeighborsAhead = 4;    // positions between neighbours that are asked for and those that are read
constexpr std::size_t kAhead = 12;            // positions between a row that is asked for and the one that is read
constexpr double kLeast = 1e-9, kMost = 1e9;  // ranges of features whose squares float holds

// What fit_columns reads of one point.
struct Hood {
    const std::int32_t* neighbors;
    std::size_t count;
    const float *shares, *coefficients;
    std::size_t d;
    double unit;
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(average);
GNOMON_CHOOSE_FOR(class, fit_narrow);
GNOMON_CHOOSE_FOR(class, fit);

template <class V>
const auto widen = each_level([](const V* row, std::size_t n, V* low, V* high) GNOMON_INLINE_LAMBDA {
    for (std::size_t f = 0; f < n; ++f) {
        low[f] = row[f] < low[f] ? row[f] : low[f];
        high[f] = row[f] > high[f] ? row[f] : high[f];
    }
});

template <class V>
void find_range(const Span2<const V>& rows, std::vector<double>& ranges) {
    if (rows.rows() == 0) return;
    std::vector<V> low(rows.row(0), rows.row(0) + rows.cols()), high(low);
    for (std::size_t i = 1; i < rows.rows(); ++i) widen<V>(rows.row(i), rows.cols(), low.data(), high.data());
    for (std::size_t f = 0; f < ranges.size(); ++f)
        ranges[f] = static_cast<double>(high[f]) - static_cast<double>(low[f]);
}

template <class V>
void find_range(const SparseRows<V>& rows, std::vector<double>& ranges) {
    std::vector<std::size_t> counts(ranges.size());
    std::vector<V> low(ranges.size()), high(ranges.size());
    for (std::size_t e = 0; e < rows.matrix.columns.size(); ++e) {
        const auto f = static_cast<std::size_t>(rows.matrix.columns[e]);
        const V value = rows.matrix.values[e];
        low[f] = counts[f] == 0 ? value : std::min(low[f], value);
        high[f] = counts[f] == 0 ? value : std::max(high[f], value);
        ++counts[f];
    }
    for (std::size_t f = 0; f < ranges.size(); ++f) {
        const bool zeros = counts[f] < rows.matrix.rows();
        ranges[f] = static_cast<double>(zeros ? std::max(high[f], V{}) : high[f]) -
                    static_cast<double>(zeros ? std::min(low[f], V{}) : low[f]);
    }
}

// The power of two above the largest of the numbers that are not NaN, 1 if all are 0.
double unit_of(Span2<const double> numbers) {
    double largest = 0;
    for (std::size_t e = 0; e < numbers.size(); ++e) largest = std::max(largest, std::fabs(numbers.data()[e]));
    int exponent = 0;
    if (largest > 0 && std::isfinite(largest)) std::frexp(largest, &exponent);
    return std::ldexp(1.0, exponent);
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
      unit(unit_of(fits)),
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
                shares[at] = static_cast<float>(static_cast<double>(hoods.weights(i, j)) / total);
                for (std::size_t c = 0; c < d; ++c)
                    coefficients[at * d + c] = static_cast<float>(fits(i, j * d + c) / unit);
                ++at;
            }
            (pooled ? n_pooled : n_fitted)[p] = static_cast<std::int32_t>(at - p * k);
        }
    }
}

BlockReader::BlockReader(const RowSource& X, const std::vector<std::int32_t>& rows) : X_(X), rows_(rows) {
    std::vector<double> ranges(n_features(X));
    std::visit([&](const auto& table) { find_range(table, ranges); }, X);
    for (std::size_t f = 0; f < ranges.size(); ++f)
        if (ranges[f] != 0) {
            features_.push_back(static_cast<std::int32_t>(f));
            ranges_.push_back(ranges[f]);
        }
    if (std::holds_alternative<SparseRows<float>>(X) || std::holds_alternative<SparseRows<double>>(X)) {
        slots_.assign(ranges.size(), -1);
        for (std::size_t s = 0; s < features_.size(); ++s)
            slots_[static_cast<std::size_t>(features_[s])] = static_cast<std::int32_t>(s);
        cursors_.assign(rows.size(), 0);
    }
}

bool BlockReader::narrow(std::size_t first, std::size_t size) const {
    const auto begin = ranges_.begin() + static_cast<std::ptrdiff_t>(first);
    return std::all_of(begin, begin + static_cast<std::ptrdiff_t>(size),
                       [](double range) { return range > kLeast && range < kMost; });
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
    if (static_cast<std::size_t>(features[size - 1] - features[0]) + 1 == size)
        for (std::size_t f = 0; f < size; ++f) out[f] = static_cast<T>(row[features[0] + static_cast<std::int32_t>(f)]);
    else
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

// Asks for the rows, of `length` numbers, that the neighbours of a point a little ahead have in a table.
template <class T>
void prefetch_neighbors(const T* table, std::size_t stride, std::size_t length, const OrderedHoods& hoods,
                        std::size_t p) {
    constexpr std::size_t kStep = kCacheLine / sizeof(T);
    if (p + kNeighborsAhead >= hoods.n) return;
    const std::size_t next = p + kNeighborsAhead;
    const std::int32_t* neighbors = hoods.neighbors.data() + next * hoods.k;
    for (std::int32_t j = 0; j < hoods.n_fitted[next]; ++j) {
        const T* row = table + static_cast<std::size_t>(neighbors[j]) * stride;
        for (std::size_t at = 0; at < length; at += kStep) __builtin_prefetch(row + at);
    }
}

static Hood hood_of(const OrderedHoods& hoods, std::size_t p) {
    return {hoods.neighbors.data() + p * hoods.k,
            static_cast<std::size_t>(hoods.n_fitted[p]),
            hoods.shares.data() + p * hoods.k,
            hoods.coefficients.data() + p * hoods.k * hoods.d,
            hoods.d,
            hoods.unit};
}

template <class T>
static void fit_block_of(const T* values, bool narrow, const OrderedHoods& hoods, std::size_t p, float* out) {
    prefetch_neighbors(values, kWidth, kWidth, hoods, p);
    if (narrow)
        fit_narrow<T>(values, values + p * kWidth, hood_of(hoods, p), out);
    else
        fit<T>(values, values + p * kWidth, hood_of(hoods, p), out);
}

void fit_block(const float* values, bool narrow, const OrderedHoods& hoods, std::size_t p, float* out) {
    fit_block_of(values, narrow, hoods, p, out);
}
void fit_block(const double* values, bool narrow, const OrderedHoods& hoods, std::size_t p, float* out) {
    fit_block_of(values, narrow, hoods, p, out);
}

void average_block(const float* values, std::size_t stride, std::size_t length, const OrderedHoods& hoods,
                   std::size_t p, float* out) {
    prefetch_neighbors(values, stride, length, hoods, p);
    average(values, stride, length, p, hoods.neighbors.data() + p * hoods.k,
            static_cast<std::size_t>(hoods.n_pooled[p]), out);
}

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using f32x8 = simd::Lanes<float, 8>;
using f32x16 = simd::Lanes<float, 16>;
using f64x8 = simd::Lanes<double, 8>;
using f64x16 = simd::Lanes<double, 16>;

// Sums over the displacements of eight features: kCount columns of the Jacobian, and the second moment if wanted.
template <std::size_t kCount, bool kMoment, class T>
GNOMON_INLINE void sum_displacements(const T* values, const T* own, const Hood& hood, const float* coefficients,
                                     double* moment, float* axes) {
    const f64x8 origin = simd::load_wide<f64x8>(own);
    f64x8 sums[kCount] = {}, squares{};
    for (std::size_t j = 0; j < hood.count; ++j) {
        const f64x8 x = simd::load_wide<f64x8>(values + static_cast<std::size_t>(hood.neighbors[j]) * kWidth) - origin;
        if (kMoment) squares += static_cast<double>(hood.shares[j]) * (x * x);
        for (std::size_t c = 0; c < kCount; ++c) sums[c] += static_cast<double>(coefficients[j * hood.d + c]) * x;
    }
    if (kMoment) simd::store(moment, squares);
    for (std::size_t c = 0; c < kCount; ++c) simd::store(axes + c * kWidth, simd::narrowed<f32x8>(hood.unit * sums[c]));
}

template <class T>
GNOMON_KERNEL void fit(const T* values, const T* own, const Hood& hood, float* axes) {
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
    float* deviation = axes + hood.d * kWidth;
    for (std::size_t f = 0; f < kWidth; ++f) deviation[f] = static_cast<float>(__builtin_sqrt(moment[f]));
}

GNOMON_INLINE f32x16 displacement(const float* x, const float* own) {
    return simd::load_as<f32x16>(x) - simd::load_as<f32x16>(own);
}
GNOMON_INLINE f32x16 displacement(const double* x, const double* own) {
    return simd::narrowed<f32x16>(simd::load_as<f64x16>(x) - simd::load_as<f64x16>(own));
}

// The same of sixteen features, whose displacements and squares float holds.
template <std::size_t kCount, bool kMoment, class T>
GNOMON_INLINE void sum_narrow(const T* values, const T* own, const Hood& hood, const float* coefficients, float* moment,
                              float* axes) {
    f32x16 sums[kCount] = {}, squares{};
    for (std::size_t j = 0; j < hood.count; ++j) {
        const f32x16 x = displacement(values + static_cast<std::size_t>(hood.neighbors[j]) * kWidth, own);
        if (kMoment) squares += hood.shares[j] * (x * x);
        for (std::size_t c = 0; c < kCount; ++c) sums[c] += coefficients[j * hood.d + c] * x;
    }
    if (kMoment) simd::store(moment, squares);
    const auto unit = static_cast<float>(hood.unit);
    for (std::size_t c = 0; c < kCount; ++c) simd::store(axes + c * kWidth, unit * sums[c]);
}

template <class T>
GNOMON_KERNEL void fit_narrow(const T* values, const T* own, const Hood& hood, float* axes) {
    float* deviation = axes + hood.d * kWidth;
    std::size_t c = std::min<std::size_t>(hood.d, 2);
    if (c == 1)
        sum_narrow<1, true>(values, own, hood, hood.coefficients, deviation, axes);
    else
        sum_narrow<2, true>(values, own, hood, hood.coefficients, deviation, axes);
    for (; c + 2 <= hood.d; c += 2)
        sum_narrow<2, false>(values, own, hood, hood.coefficients + c, deviation, axes + c * kWidth);
    if (c < hood.d) sum_narrow<1, false>(values, own, hood, hood.coefficients + c, deviation, axes + c * kWidth);
    for (std::size_t f = 0; f < kWidth; ++f) deviation[f] = __builtin_sqrtf(deviation[f]);
}

template <std::size_t kCount>
GNOMON_INLINE void average_lanes(const float* axes, std::size_t stride, std::size_t own, const std::int32_t* neighbors,
                                 std::size_t count, float share, float* out) {
    f32x16 sums[kCount];
    for (std::size_t v = 0; v < kCount; ++v) sums[v] = simd::load_as<f32x16>(axes + own * stride + v * kWidth);
    for (std::size_t j = 0; j < count; ++j) {
        const float* other = axes + static_cast<std::size_t>(neighbors[j]) * stride;
        for (std::size_t v = 0; v < kCount; ++v) sums[v] += simd::load_as<f32x16>(other + v * kWidth);
    }
    for (std::size_t v = 0; v < kCount; ++v) simd::store(out + v * kWidth, sums[v] * share);
}

GNOMON_KERNEL void average(const float* axes, std::size_t stride, std::size_t length, std::size_t own,
                           const std::int32_t* neighbors, std::size_t count, float* out) {
    const float share = 1.0F / static_cast<float>(count + 1);
    std::size_t at = 0;
    if (length == 3 * kWidth) return average_lanes<3>(axes, stride, own, neighbors, count, share, out);
    for (; at + 2 * kWidth <= length; at += 2 * kWidth)
        average_lanes<2>(axes + at, stride, own, neighbors, count, share, out + at);
    if (at < length) average_lanes<1>(axes + at, stride, own, neighbors, count, share, out + at);
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
