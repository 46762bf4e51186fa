#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/scatter_product.cpp"
#include "gnomon/scatter_product.hpp"

#include <algorithm>
#include <vector>

#include "gnomon/wide_lanes.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kBlock = 512;    // rows whose sums are made by one thread
constexpr std::size_t kGroup = 16;     // vectors at a time: two vectors of lanes
constexpr std::size_t kTile = 16;      // rows that are centred at a time,
constexpr std::size_t kColumns = 256;  // and so many of their columns, which the first cache holds

/// Vectors (D, d) in groups of kGroup, all D rows of one after those of the other; zeros beyond the last.
struct Groups {
    std::size_t length, count;
    std::vector<double> values;

    Groups(std::size_t rows, std::size_t columns)
        : length(rows), count((columns + kGroup - 1) / kGroup), values(count * rows * kGroup) {}

    double* at(std::size_t group, std::size_t row) { return values.data() + (group * length + row) * kGroup; }
    const double* at(std::size_t group, std::size_t row) const {
        return values.data() + (group * length + row) * kGroup;
    }
};

template <class T>
const auto squares_of_block = each_level(
    [](Span2<const T> X, const double* means, std::size_t begin, std::size_t end) GNOMON_INLINE_LAMBDA -> double {
        constexpr std::size_t kSums = 16;
        double sums[kSums] = {}, total = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const T* row = X.row(i);
            std::size_t k = 0;
            for (; k + kSums <= X.cols(); k += kSums) {
                for (std::size_t l = 0; l < kSums; ++l) {
                    const double deviation = static_cast<double>(row[k + l]) - means[k + l];
                    sums[l] += deviation * deviation;
                }
            }
            for (; k < X.cols(); ++k) {
                const double deviation = static_cast<double>(row[k]) - means[k];
                sums[0] += deviation * deviation;
            }
        }
        for (const double sum : sums) total += sum;
        return total;
    });

template <class T>
double scatter_trace_of(Span2<const T> X, std::span<const double> means, const Context& context) {
    std::vector<double> sums((X.rows() + kBlock - 1) / kBlock);
    parallel_blocks(X.rows(), kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        sums[begin / kBlock] = squares_of_block<T>(X, means.data(), begin, end);
    });
    double total = 0;
    for (const double sum : sums) total += sum;
    return total;
}

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE_FOR(class, add_block);

template <class T>
void scatter_product_of(Span2<const T> X, std::span<const double> means, Span2<const double> vectors, Span2<double> out,
                        const Context& context) {
    const std::size_t width = X.cols(), d = vectors.cols(), n_blocks = (X.rows() + kBlock - 1) / kBlock;
    Groups factors(width, d);
    for (std::size_t k = 0; k < width; ++k)
        for (std::size_t c = 0; c < d; ++c) factors.at(c / kGroup, k)[c % kGroup] = vectors(k, c);
    const std::size_t wave = std::min(n_blocks, static_cast<std::size_t>(std::max(2 * context.n_threads, 1)));
    std::vector<Groups> sums(wave, Groups(width, d));  // of the blocks at work: they are added up in their order
    std::fill_n(out.data(), out.size(), 0.0);
    for (std::size_t first = 0; first < n_blocks; first += wave) {
        const std::size_t count = std::min(wave, n_blocks - first);
        parallel_for(count, context, [&](std::size_t b, std::size_t) {
            const std::size_t begin = (first + b) * kBlock;
            std::fill(sums[b].values.begin(), sums[b].values.end(), 0.0);
            add_block<T>(X, means.data(), factors, begin, std::min(begin + kBlock, X.rows()), sums[b]);
        });
        parallel_blocks(width, kColumns, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            for (std::size_t b = 0; b < count; ++b)
                for (std::size_t k = begin; k < end; ++k)
                    for (std::size_t c = 0; c < d; ++c) out(k, c) += sums[b].at(c / kGroup, k)[c % kGroup];
        });
    }
}

}  // namespace

void scatter_product(Span2<const float> X, std::span<const double> means, Span2<const double> vectors,
                     Span2<double> out, const Context& context) {
    scatter_product_of(X, means, vectors, out, context);
}

void scatter_product(Span2<const double> X, std::span<const double> means, Span2<const double> vectors,
                     Span2<double> out, const Context& context) {
    scatter_product_of(X, means, vectors, out, context);
}

double scatter_trace(Span2<const float> X, std::span<const double> means, const Context& context) {
    return scatter_trace_of(X, means, context);
}

double scatter_trace(Span2<const double> X, std::span<const double> means, const Context& context) {
    return scatter_trace_of(X, means, context);
}

}  // namespace gnomon

#else
#include "gnomon/wide_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

// Rows at a time: their scores on a group of vectors stay in registers.
#if GNOMON_VECTOR_BYTES == 64
constexpr std::size_t kTogether = 8;
#elif GNOMON_VECTOR_BYTES == 32 || defined(__aarch64__)
constexpr std::size_t kTogether = 2;
#else
constexpr std::size_t kTogether = 1;
#endif

/// Columns [from, from + count) of rows [first, first + n) less their means, as (kTile, kColumns); other rows are zero.
template <class T>
GNOMON_INLINE void centre_tile(Span2<const T> X, const double* means, std::size_t first, std::size_t n,
                               std::size_t from, std::size_t count, double* tile) {
    for (std::size_t r = 0; r < kTile; ++r) {
        double* to = tile + r * kColumns;
        if (r >= n) {
            std::fill(to, to + count, 0.0);
            continue;
        }
        const T* row = X.row(first + r) + from;
        for (std::size_t k = 0; k < count; ++k) to[k] = static_cast<double>(row[k]) - means[from + k];
    }
}

/// The numbers of a group of vectors in one row.
struct OfGroup {
    f64 low, high;

    GNOMON_INLINE static OfGroup load(const double* from) {
        return {simd::load_as<f64>(from), simd::load_as<f64>(from + kGroup / 2)};
    }
    GNOMON_INLINE void store(double* to) const {
        simd::store(to, low);
        simd::store(to + kGroup / 2, high);
    }
    GNOMON_INLINE void add(const OfGroup& other, double factor) {
        low += other.low * factor;
        high += other.high * factor;
    }
};

/// scores (kTogether, kGroup) += rows times the vectors of a group, over some columns in ascending order.
GNOMON_INLINE void add_scores(const double* rows, const double* vectors, std::size_t count, double* scores) {
    OfGroup sums[kTogether];
    for (std::size_t r = 0; r < kTogether; ++r) sums[r] = OfGroup::load(scores + r * kGroup);
    for (std::size_t k = 0; k < count; ++k) {
        const OfGroup x = OfGroup::load(vectors + k * kGroup);
        for (std::size_t r = 0; r < kTogether; ++r) sums[r].add(x, rows[r * kColumns + k]);
    }
    for (std::size_t r = 0; r < kTogether; ++r) sums[r].store(scores + r * kGroup);
}

/// sums (count, kGroup) += the rows transposed times their scores, in ascending order of the rows.
GNOMON_INLINE void add_rows(const double* rows, const double* scores, std::size_t count, double* sums) {
    OfGroup of_row[kTogether];
    for (std::size_t r = 0; r < kTogether; ++r) of_row[r] = OfGroup::load(scores + r * kGroup);
    for (std::size_t k = 0; k < count; ++k) {
        OfGroup total = OfGroup::load(sums + k * kGroup);
        for (std::size_t r = 0; r < kTogether; ++r) total.add(of_row[r], rows[r * kColumns + k]);
        total.store(sums + k * kGroup);
    }
}

/// Adds what rows [begin, end) give.
template <class T>
GNOMON_KERNEL void add_block(Span2<const T> X, const double* means, const Groups& vectors, std::size_t begin,
                             std::size_t end, Groups& sums) {
    const std::size_t width = X.cols();
    double tile[kTile * kColumns];
    std::vector<double> scores(vectors.count * kTile * kGroup);
    for (std::size_t first = begin; first < end; first += kTile) {
        const std::size_t n = std::min(kTile, end - first);
        std::fill(scores.begin(), scores.end(), 0.0);
        for (std::size_t from = 0; from < width; from += kColumns) {
            const std::size_t count = std::min(kColumns, width - from);
            centre_tile(X, means, first, n, from, count, tile);
            for (std::size_t g = 0; g < vectors.count; ++g) {
                for (std::size_t r = 0; r < kTile; r += kTogether)
                    add_scores(tile + r * kColumns, vectors.at(g, from), count,
                               scores.data() + (g * kTile + r) * kGroup);
            }
        }
        for (std::size_t from = 0; from < width; from += kColumns) {
            const std::size_t count = std::min(kColumns, width - from);
            centre_tile(X, means, first, n, from, count, tile);
            for (std::size_t g = 0; g < vectors.count; ++g) {
                for (std::size_t r = 0; r < kTile; r += kTogether)
                    add_rows(tile + r * kColumns, scores.data() + (g * kTile + r) * kGroup, count, sums.at(g, from));
            }
        }
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
