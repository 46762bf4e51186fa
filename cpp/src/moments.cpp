#include "gnomon/moments.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRows = 1024;  // rows of a block of the reductions below

template <class T>
GNOMON_INLINE void add_rows(Span2<const T> X, std::size_t begin, std::size_t end, double* sums) {
    const std::size_t width = X.cols();
    for (std::size_t i = begin; i < end; ++i) {
        const T* row = X.row(i);
        for (std::size_t j = 0; j < width; ++j) sums[j] += row[j];
    }
}
GNOMON_CLONES void add_block(Span2<const float> X, std::size_t begin, std::size_t end, double* sums) {
    add_rows(X, begin, end, sums);
}
GNOMON_CLONES void add_block(Span2<const double> X, std::size_t begin, std::size_t end, double* sums) {
    add_rows(X, begin, end, sums);
}

template <class T>
GNOMON_INLINE double furthest(Span2<const T> X, const double* means, std::size_t begin, std::size_t end) {
    double largest[8] = {};
    for (std::size_t i = begin; i < end; ++i) {
        const T* row = X.row(i);
        std::size_t j = 0;
        for (; j + 8 <= X.cols(); j += 8) {
            for (std::size_t l = 0; l < 8; ++l) {
                const double deviation = std::fabs(static_cast<double>(row[j + l]) - means[j + l]);
                largest[l] = deviation > largest[l] ? deviation : largest[l];
            }
        }
        for (; j < X.cols(); ++j) largest[0] = std::max(largest[0], std::fabs(static_cast<double>(row[j]) - means[j]));
    }
    return *std::max_element(largest, largest + 8);
}
GNOMON_CLONES double furthest_block(Span2<const float> X, const double* means, std::size_t begin, std::size_t end) {
    return furthest(X, means, begin, end);
}
GNOMON_CLONES double furthest_block(Span2<const double> X, const double* means, std::size_t begin, std::size_t end) {
    return furthest(X, means, begin, end);
}

template <class T>
void column_means_of(Span2<const T> X, std::span<double> means, const Context& context) {
    const std::size_t width = X.cols(), n_blocks = (X.rows() + kRows - 1) / kRows;
    constexpr std::size_t kWave = 64;  // blocks whose sums are held at a time
    std::vector<double> sums(std::min(n_blocks, kWave) * width);
    std::fill(means.begin(), means.end(), 0.0);
    for (std::size_t first = 0; first < n_blocks; first += kWave) {
        const std::size_t n = std::min(kWave, n_blocks - first);
        std::fill(sums.begin(), sums.end(), 0.0);
        parallel_for(n, context, [&](std::size_t b, std::size_t) {
            const std::size_t begin = (first + b) * kRows;
            add_block(X, begin, std::min(begin + kRows, X.rows()), sums.data() + b * width);
        });
        for (std::size_t b = 0; b < n; ++b) {
            for (std::size_t j = 0; j < width; ++j) means[j] += sums[b * width + j];
        }
    }
    for (double& mean : means) mean /= static_cast<double>(std::max<std::size_t>(X.rows(), 1));
}

template <class T>
double largest_deviation_of(Span2<const T> X, std::span<const double> means, const Context& context) {
    std::vector<double> largest((X.rows() + kRows - 1) / kRows);
    parallel_blocks(X.rows(), kRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        largest[begin / kRows] = furthest_block(X, means.data(), begin, end);
    });
    return largest.empty() ? 0.0 : *std::max_element(largest.begin(), largest.end());
}

// --- Projection: four rows at a time, eight directions per pass. Vectors are of 32 bytes because GCC 12 keeps arrays
// of longer ones in memory where the machine has no registers of their size.

using f64 = double __attribute__((vector_size(32)));
constexpr std::size_t kHalf = 4;
constexpr std::size_t kLanes64 = 2 * kHalf;
constexpr std::size_t kProjectedRows = 4;

/// sums[r] = centred[r] . eight directions, in ascending order of the columns.
GNOMON_INLINE void dot_rows(const double* centred, const double* directions, std::size_t width, std::size_t stride,
                            double (&sums)[kProjectedRows][kLanes64]) {
    f64 low[kProjectedRows] = {}, high[kProjectedRows] = {};
    for (std::size_t j = 0; j < width; ++j) {
        const f64 first = simd::load_as<f64>(directions + j * stride);
        const f64 second = simd::load_as<f64>(directions + j * stride + kHalf);
        for (std::size_t r = 0; r < kProjectedRows; ++r) {
            low[r] += first * centred[r * width + j];
            high[r] += second * centred[r * width + j];
        }
    }
    for (std::size_t r = 0; r < kProjectedRows; ++r) {
        simd::store(sums[r], low[r]);
        simd::store(sums[r] + kHalf, high[r]);
    }
}

template <class T>
GNOMON_INLINE void project_block(Span2<const T> X, const double* means, const double* directions, std::size_t stride,
                                 Span2<T> out, std::size_t begin, std::size_t end) {
    const std::size_t width = X.cols();
    std::vector<double> centred(kProjectedRows * width);
    for (std::size_t i = begin; i < end; i += kProjectedRows) {
        const std::size_t n = std::min(kProjectedRows, end - i);
        for (std::size_t r = 0; r < n; ++r) {
            for (std::size_t j = 0; j < width; ++j) centred[r * width + j] = X.row(i + r)[j] - means[j];
        }
        for (std::size_t c = 0; c < out.cols(); c += kLanes64) {
            double sums[kProjectedRows][kLanes64];
            dot_rows(centred.data(), directions + c, width, stride, sums);
            for (std::size_t r = 0; r < n; ++r) {
                for (std::size_t l = 0; l < kLanes64 && c + l < out.cols(); ++l) {
                    out(i + r, c + l) = static_cast<T>(sums[r][l]);
                }
            }
        }
    }
}
GNOMON_CLONES void project_rows(Span2<const float> X, const double* means, const double* directions, std::size_t stride,
                                Span2<float> out, std::size_t begin, std::size_t end) {
    project_block(X, means, directions, stride, out, begin, end);
}
GNOMON_CLONES void project_rows(Span2<const double> X, const double* means, const double* directions,
                                std::size_t stride, Span2<double> out, std::size_t begin, std::size_t end) {
    project_block(X, means, directions, stride, out, begin, end);
}

template <class T>
void project_of(Span2<const T> X, std::span<const double> means, Span2<const double> directions, Span2<T> out,
                const Context& context) {
    const std::size_t stride = (directions.cols() + kLanes64 - 1) / kLanes64 * kLanes64;
    std::vector<double> padded(directions.rows() * stride);
    for (std::size_t j = 0; j < directions.rows(); ++j) {
        std::copy(directions.row(j), directions.row(j) + directions.cols(), padded.data() + j * stride);
    }
    parallel_blocks(X.rows(), 256, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        project_rows(X, means.data(), padded.data(), stride, out, begin, end);
    });
}

}  // namespace

void column_means(Span2<const float> X, std::span<double> means, const Context& context) {
    column_means_of(X, means, context);
}
void column_means(Span2<const double> X, std::span<double> means, const Context& context) {
    column_means_of(X, means, context);
}
double largest_deviation(Span2<const float> X, std::span<const double> means, const Context& context) {
    return largest_deviation_of(X, means, context);
}
double largest_deviation(Span2<const double> X, std::span<const double> means, const Context& context) {
    return largest_deviation_of(X, means, context);
}
void project(Span2<const float> X, std::span<const double> means, Span2<const double> directions, Span2<float> out,
             const Context& context) {
    project_of(X, means, directions, out, context);
}
void project(Span2<const double> X, std::span<const double> means, Span2<const double> directions, Span2<double> out,
             const Context& context) {
    project_of(X, means, directions, out, context);
}

}  // namespace gnomon
