#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/local_gram.cpp"
#include "gnomon/local_gram.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kLanes = 4;      // in which products of doubles are summed
constexpr std::size_t kTile = 3;       // products are formed in tiles of 3 x 3 accumulators
constexpr std::size_t kDoubles = 128;  // columns of a block of doubles: 15 to 30 rows stay in the first cache
constexpr std::size_t kBytes = 512;    // columns of a block of byte differences; their products fit 32 bits
constexpr std::size_t kByteLanes = 32;
static_assert(kBytes % kByteLanes == 0 && kDoubles % kLanes == 0);
constexpr double kSameSquare = 1e-12;  // displacements closer than this share of their squared length are one
constexpr std::size_t kCacheLine = 64;

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(add_products);

template <class T, class Difference>
const auto subtract = each_level([](const T* a, const T* b, std::size_t n, Difference* out) GNOMON_INLINE_LAMBDA {
    for (std::size_t f = 0; f < n; ++f) out[f] = static_cast<Difference>(Difference{a[f]} - Difference{b[f]});
});

// The products of byte differences (see add_products), over a width that is a multiple of 32; exact, so the order of
// the sums does not matter.
const auto add_byte_products =
    each_level([](const std::int16_t* z, std::size_t n, std::size_t width, double* out) GNOMON_INLINE_LAMBDA {
        width = width / kByteLanes * kByteLanes;  // tells the compiler that no lanes are left over
        for (std::size_t p = 0; p < n; p += kTile)
            for (std::size_t q = 0; q <= p; q += kTile) {
                const std::int16_t *a = z + p * kBytes, *b = z + q * kBytes;
                std::int32_t s00 = 0, s01 = 0, s02 = 0, s10 = 0, s11 = 0, s12 = 0, s20 = 0, s21 = 0, s22 = 0;
                for (std::size_t f = 0; f < width; ++f) {
                    const std::int32_t x = a[f], y = a[kBytes + f], w = a[2 * kBytes + f];
                    const std::int32_t l = b[f], m = b[kBytes + f], r = b[2 * kBytes + f];
                    s00 += x * l, s01 += x * m, s02 += x * r;
                    s10 += y * l, s11 += y * m, s12 += y * r;
                    s20 += w * l, s21 += w * m, s22 += w * r;
                }
                double *o0 = out + p * n + q, *o1 = o0 + n, *o2 = o1 + n;
                o0[0] += s00, o0[1] += s01, o0[2] += s02;
                o1[0] += s10, o1[1] += s11, o1[2] += s12;
                o2[0] += s20, o2[1] += s21, o2[2] += s22;
            }
    });

void mirror(std::vector<double>& out, std::size_t n) {
    for (std::size_t p = 0; p < n; ++p)
        for (std::size_t q = p + 1; q < n; ++q) out[p * n + q] = out[q * n + p];
}

template <class T>
void prefetch_row(const Span2<const T>& rows, std::size_t i) {
    const char* begin = reinterpret_cast<const char*>(rows.row(i));
    for (std::size_t at = 0; at < rows.cols() * sizeof(T); at += kCacheLine) __builtin_prefetch(begin + at);
}
template <class T>
void prefetch_row(const SparseRows<T>&, std::size_t) {}

}  // namespace

bool has_two_distinct(const double* products, std::size_t n) {
    std::size_t first = 0;
    while (first < n && !(products[first * n + first] > 0)) ++first;
    for (std::size_t q = first + 1; q < n; ++q) {
        const double a = products[first * n + first], b = products[q * n + q];
        if (b > 0 && a + b - 2 * products[first * n + q] > kSameSquare * std::max(a, b)) return true;
    }
    return false;
}

template <class T>
void LocalProducts::dense(const Span2<const T>& rows, std::size_t i, std::span<const std::int32_t> neighbors,
                          std::span<const float> weights, std::vector<double>& out) {
    constexpr bool kIntegers = std::is_same_v<T, std::uint8_t>;
    using Difference = std::conditional_t<kIntegers, std::int16_t, double>;
    constexpr std::size_t kWidth = kIntegers ? kBytes : kDoubles;
    const std::size_t n = stride_, n_columns = rows.cols();
    auto& block = [&]() -> auto& {
        if constexpr (kIntegers)
            return differences_;
        else
            return blocks_;
    }();
    block.resize(n * kWidth);
    for (std::size_t j = 0; j < n; ++j)
        if (j >= neighbors.size() || !(weights[j] > 0)) std::fill_n(block.data() + j * kWidth, kWidth, 0);
    if (!kIntegers) lanes_.assign(n * n * kLanes, 0.0);
    for (std::size_t begin = 0; begin < n_columns; begin += kWidth) {
        const std::size_t size = std::min(kWidth, n_columns - begin);
        const std::size_t width = round_up(size, kIntegers ? kByteLanes : kLanes);
        for (std::size_t j = 0; size < width && j < n; ++j)
            std::fill(block.data() + j * kWidth + size, block.data() + j * kWidth + width, 0);
        for (std::size_t j = 0; j < neighbors.size(); ++j)
            if (weights[j] > 0)
                subtract<T, Difference>(rows.row(static_cast<std::size_t>(neighbors[j])) + begin, rows.row(i) + begin,
                                        size, block.data() + j * kWidth);
        if constexpr (kIntegers)
            add_byte_products(block.data(), n, width, out.data());
        else
            add_products(block.data(), n, width, lanes_.data());
    }
    if (!kIntegers)
        for (std::size_t e = 0; e < n * n; ++e)
            out[e] = (lanes_[e * kLanes] + lanes_[e * kLanes + 2]) + (lanes_[e * kLanes + 1] + lanes_[e * kLanes + 3]);
    mirror(out, n);
}

void LocalProducts::compute(const RowSource& source, std::size_t i, std::span<const std::int32_t> neighbors,
                            std::span<const float> weights, std::vector<double>& out) {
    stride_ = round_up(neighbors.size(), kTile);
    std::visit(
        [&](const auto& rows) {
            if constexpr (requires { rows.row(i); }) {
                out.assign(stride_ * stride_, 0.0);
                dense(rows, i, neighbors, weights, out);
            } else {
                sparse_.gather(source, i, neighbors, weights);
                sparse_.products(out);
            }
        },
        source);
}

void LocalProducts::prefetch(const RowSource& source, std::size_t i, std::span<const std::int32_t> neighbors) {
    std::visit(
        [&](const auto& rows) {
            prefetch_row(rows, i);
            for (const std::int32_t j : neighbors) prefetch_row(rows, static_cast<std::size_t>(j));
        },
        source);
}

LocalSpectra::LocalSpectra(std::size_t n_neighbors)
    : k_(n_neighbors),
      a_(k_ * k_ * kEigenBatch),
      v_(k_ * k_ * kEigenBatch),
      roots_(kEigenBatch * k_),
      order_(kEigenBatch * k_),
      defined_(kEigenBatch) {}

void LocalSpectra::load(const RowSource& X, const Neighborhoods& hoods, std::size_t i, std::size_t lane) {
    const std::span<const float> weights(hoods.weights.row(i), k_);
    products_.compute(X, i, {hoods.indices.row(i), k_}, weights, gram_);
    const std::size_t n = products_.stride();
    defined_[lane] = has_two_distinct(gram_.data(), n);
    double sum = 0;
    for (const float w : weights) sum += static_cast<double>(w);
    double* roots = roots_.data() + lane * k_;
    for (std::size_t j = 0; j < k_; ++j)
        roots[j] = defined_[lane] ? std::sqrt(static_cast<double>(weights[j]) / sum) : 0;
    for (std::size_t p = 0; p < k_; ++p)
        for (std::size_t q = 0; q < k_; ++q)
            a_[(p * k_ + q) * kEigenBatch + lane] = roots[p] * roots[q] * gram_[p * n + q];
}

void LocalSpectra::sort(std::size_t lane) {
    auto value = [&](std::size_t p) { return a_[(p * k_ + p) * kEigenBatch + lane]; };
    const auto order = order_.begin() + static_cast<std::ptrdiff_t>(lane * k_);
    const auto end = order + static_cast<std::ptrdiff_t>(k_);
    std::iota(order, end, std::size_t{0});
    sort_falling(order, end, value);
}

void LocalSpectra::solve(const RowSource& X, const Neighborhoods& hoods, std::span<const std::int64_t> rows) {
    std::fill(a_.begin(), a_.end(), 0.0);
    std::fill(defined_.begin(), defined_.end(), 0);
    for (std::size_t lane = 0; lane < rows.size(); ++lane) {
        if (lane + 1 < rows.size()) {
            const auto next = static_cast<std::size_t>(rows[lane + 1]);
            LocalProducts::prefetch(X, next, {hoods.indices.row(next), k_});
        }
        load(X, hoods, static_cast<std::size_t>(rows[lane]), lane);
    }
    symmetric_eigen(k_, a_.data(), v_.data());
    for (std::size_t lane = 0; lane < rows.size(); ++lane) sort(lane);
}

double LocalSpectra::square(std::size_t lane, std::size_t r) const {
    const std::size_t p = order_[lane * k_ + r];
    return std::max(a_[(p * k_ + p) * kEigenBatch + lane], 0.0);
}

double LocalSpectra::total(std::size_t lane) const {
    double sum = 0;
    for (std::size_t r = 0; r < k_; ++r) sum += square(lane, r);
    return sum;
}

std::size_t LocalSpectra::rank(std::size_t lane, double share) const {
    std::size_t m = 0;
    while (m < k_ && square(lane, m) > share * square(lane, 0)) ++m;
    return m;
}

std::size_t LocalSpectra::leading(std::size_t lane, double share) const {
    const double all = total(lane);
    const std::size_t limit = rank(lane, kSameSquare);
    double kept = 0;
    std::size_t m = 0;
    while (m < limit && (m == 0 || kept < share * all)) kept += square(lane, m++);
    return m;
}

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

// Lanes that are summed at a time: nine sums stay in registers.
using Part = simd::Lanes<double, GNOMON_VECTOR_BYTES == 16 ? 2 : kLanes>;
constexpr std::size_t kPart = sizeof(Part) / sizeof(double);

// Adds the products of `n` rows (a multiple of 3) over `width` columns (a multiple of 4) to sums, (n, n, 4): only
// the tiles on and below the diagonal, each product in four lanes.
GNOMON_KERNEL void add_products(const double* z, std::size_t n, std::size_t width, double* sums) {
    for (std::size_t p = 0; p < n; p += kTile)
        for (std::size_t q = 0; q <= p; q += kTile)
            for (std::size_t part = 0; part < kLanes; part += kPart) {
                Part tile[kTile][kTile];
                for (std::size_t u = 0; u < kTile; ++u)
                    for (std::size_t v = 0; v < kTile; ++v)
                        tile[u][v] = simd::load_as<Part>(sums + ((p + u) * n + q + v) * kLanes + part);
                const double *a = z + p * kDoubles + part, *b = z + q * kDoubles + part;
                for (std::size_t f = 0; f < width; f += kLanes)
                    for (std::size_t u = 0; u < kTile; ++u) {
                        const Part x = simd::load_as<Part>(a + u * kDoubles + f);
                        for (std::size_t v = 0; v < kTile; ++v)
                            tile[u][v] += x * simd::load_as<Part>(b + v * kDoubles + f);
                    }
                for (std::size_t u = 0; u < kTile; ++u)
                    for (std::size_t v = 0; v < kTile; ++v)
                        simd::store(sums + ((p + u) * n + q + v) * kLanes + part, tile[u][v]);
            }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
