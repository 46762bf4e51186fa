#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/moments.cpp"
#include "gnomon/moments.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRows = 1024;  // rows of a block of the reductions below

template <class T>
const auto add_block =
    each_level([](Span2<const T> X, std::size_t begin, std::size_t end, double* sums) GNOMON_INLINE_LAMBDA {
        const std::size_t width = X.cols();
        for (std::size_t i = begin; i < end; ++i) {
            const T* row = X.row(i);
            for (std::size_t j = 0; j < width; ++j) sums[j] += row[j];
        }
    });

template <class T>
const auto furthest_block = each_level(
    [](Span2<const T> X, const double* means, std::size_t begin, std::size_t end) GNOMON_INLINE_LAMBDA -> double {
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
            for (; j < X.cols(); ++j)
                largest[0] = std::max(largest[0], std::fabs(static_cast<double>(row[j]) - means[j]));
        }
        return *std::max_element(largest, largest + 8);
    });

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
            add_block<T>(X, begin, std::min(begin + kRows, X.rows()), sums.data() + b * width);
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
        largest[begin / kRows] = furthest_block<T>(X, means.data(), begin, end);
    });
    return largest.empty() ? 0.0 : *std::max_element(largest.begin(), largest.end());
}

template <class T>
const auto mark_block =
    each_level([](Span2<const T> X, std::size_t begin, std::size_t end, std::uint8_t* varies) GNOMON_INLINE_LAMBDA {
        const T* first = X.row(0);
        for (std::size_t i = begin; i < end; ++i) {
            const T* row = X.row(i);
            for (std::size_t j = 0; j < X.cols(); ++j) varies[j] |= static_cast<std::uint8_t>(row[j] != first[j]);
        }
    });

template <class T>
void mark_varying_of(Span2<const T> X, std::span<std::uint8_t> varies, const Context& context) {
    std::fill(varies.begin(), varies.end(), std::uint8_t{0});
    if (X.rows() == 0) return;
    constexpr std::size_t kParts = 16;  // of the rows: few, for each has marks of its own
    const std::size_t width = X.cols();
    std::vector<std::uint8_t> marks(kParts * width);
    parallel_for(kParts, context, [&](std::size_t p, std::size_t) {
        mark_block<T>(X, p * X.rows() / kParts, (p + 1) * X.rows() / kParts, marks.data() + p * width);
    });
    for (std::size_t p = 0; p < kParts; ++p) {
        for (std::size_t j = 0; j < width; ++j) varies[j] |= marks[p * width + j];
    }
}

template <class T>
GNOMON_INLINE void centre_row(const T* row, const double* means, double scale, std::size_t width, T* out) {
    for (std::size_t j = 0; j < width; ++j) out[j] = static_cast<T>((row[j] - means[j]) * scale);
}
/// Columns in runs that lie side by side: columns[begins[r]] and those that follow.
template <class T>
const auto centre_block =
    each_level([](Span2<const T> X, const double* means, double scale, const std::int64_t* columns,
                  std::span<const std::size_t> begins, Span2<T> out) GNOMON_INLINE_LAMBDA {
        for (std::size_t i = 0; i < X.rows(); ++i) {
            for (std::size_t r = 0; r + 1 < begins.size(); ++r) {
                const std::size_t begin = begins[r], column = static_cast<std::size_t>(columns[begin]);
                centre_row(X.row(i) + column, means + column, scale, begins[r + 1] - begin, out.row(i) + begin);
            }
        }
    });
template <class T>
void centre_of(Span2<const T> X, std::span<const double> means, double scale, std::span<const std::int64_t> columns,
               Span2<T> out) {
    std::vector<std::size_t> begins{0};
    for (std::size_t c = 1; c < columns.size(); ++c) {
        if (columns[c] != columns[c - 1] + 1) begins.push_back(c);
    }
    if (!columns.empty()) begins.push_back(columns.size());
    centre_block<T>(X, means.data(), scale, columns.data(), begins, out);
}

// --- Projection: some rows at a time, two vectors of directions per pass, some columns at a time so that what is read
// stays in the first cache. Sums over these columns are of the type of X, sums of them are double.

constexpr std::size_t kTile = 32;  // rows that are centred at a time

/// Lanes of a vector of directions, and columns that are summed by themselves.
template <class T>
struct Strip;
template <>
struct Strip<float> {
    static constexpr std::size_t kCount = 8, kColumns = 128;
};
template <>
struct Strip<double> {
    static constexpr std::size_t kCount = 4, kColumns = 256;
};

/// Directions (D, d) as panels: all rows of the first two vectors of columns, then of the next two, and so on; one
/// vector where no more is needed.
template <class T>
struct Panels {
    std::vector<T> values;
    std::size_t stride, width;

    explicit Panels(Span2<const double> directions)
        : stride((directions.cols() + Strip<T>::kCount - 1) / Strip<T>::kCount * Strip<T>::kCount),
          width(directions.rows()) {
        values.resize(width * stride);
        constexpr std::size_t kBoth = 2 * Strip<T>::kCount;
        for (std::size_t j = 0; j < width; ++j) {
            for (std::size_t c = 0; c < directions.cols(); ++c) {
                const std::size_t begin = c / kBoth * kBoth, size = std::min(kBoth, stride - begin);
                values[begin * width + j * size + (c - begin)] = static_cast<T>(directions(j, c));
            }
        }
    }
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE_FOR(class, project_rows);

template <class T>
void project_of(Span2<const T> X, std::span<const double> means, Span2<const double> directions, Span2<T> out,
                const Context& context) {
    const Panels<T> panels(directions);
    parallel_blocks(X.rows(), 256, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        project_rows<T>(X, means.data(), panels.values.data(), panels.stride, out, begin, end);
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
void mark_varying(Span2<const float> X, std::span<std::uint8_t> varies, const Context& context) {
    mark_varying_of(X, varies, context);
}
void mark_varying(Span2<const double> X, std::span<std::uint8_t> varies, const Context& context) {
    mark_varying_of(X, varies, context);
}
void centre(Span2<const float> X, std::span<const double> means, double scale, std::span<const std::int64_t> columns,
            Span2<float> out) {
    centre_of(X, means, scale, columns, out);
}
void centre(Span2<const double> X, std::span<const double> means, double scale, std::span<const std::int64_t> columns,
            Span2<double> out) {
    centre_of(X, means, scale, columns, out);
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

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

// Rows at a time: their sums of two vectors stay in registers.
#if GNOMON_VECTOR_BYTES == 16 && !defined(__aarch64__)
constexpr std::size_t kProjectedRows = 2;
#else
constexpr std::size_t kProjectedRows = 4;
#endif

template <class T>
GNOMON_INLINE void add_lanes(simd::Lanes<T, Strip<T>::kCount> lanes, double* sums) {
    using Wide = simd::Lanes<double, Strip<T>::kCount>;
    T numbers[Strip<T>::kCount];
    simd::store(numbers, lanes);
    simd::store(sums, simd::load_as<Wide>(sums) + simd::load_wide<Wide>(numbers));
}

/// sums[r] += centred[r] . directions, in ascending order of the columns, for kVectors vectors of directions.
template <class T, std::size_t kVectors>
GNOMON_INLINE void add_products(const T* centred, std::size_t width, const T* panel, std::size_t n_columns,
                                double* sums, std::size_t stride) {
    using V = simd::Lanes<T, Strip<T>::kCount>;
    V low[kProjectedRows] = {}, high[kProjectedRows] = {};
    for (std::size_t j = 0; j < n_columns; ++j) {
        const T* at = panel + j * kVectors * Strip<T>::kCount;
        const V first = simd::load_as<V>(at);
        const V second = kVectors > 1 ? simd::load_as<V>(at + (kVectors - 1) * Strip<T>::kCount) : V{};
        for (std::size_t r = 0; r < kProjectedRows; ++r) {
            low[r] += first * centred[r * width + j];
            if (kVectors > 1) high[r] += second * centred[r * width + j];
        }
    }
    for (std::size_t r = 0; r < kProjectedRows; ++r) {
        add_lanes<T>(low[r], sums + r * stride);
        if (kVectors > 1) add_lanes<T>(high[r], sums + r * stride + Strip<T>::kCount);
    }
}

template <class T>
GNOMON_INLINE void project_tile(const T* centred, std::size_t n_rows, const T* panels, std::size_t stride,
                                std::size_t width, double* sums) {
    for (std::size_t c = 0; c < stride; c += 2 * Strip<T>::kCount) {
        const bool both = c + Strip<T>::kCount < stride;
        for (std::size_t j = 0; j < width; j += Strip<T>::kColumns) {
            const std::size_t n_columns = std::min(Strip<T>::kColumns, width - j);
            for (std::size_t r = 0; r < n_rows; r += kProjectedRows) {
                const T* rows = centred + r * width + j;
                double* out = sums + r * stride + c;
                if (both) {
                    add_products<T, 2>(rows, width, panels + c * width + j * 2 * Strip<T>::kCount, n_columns, out,
                                       stride);
                } else {
                    add_products<T, 1>(rows, width, panels + c * width + j * Strip<T>::kCount, n_columns, out, stride);
                }
            }
        }
    }
}

template <class T>
GNOMON_KERNEL void project_rows(Span2<const T> X, const double* means, const T* panels, std::size_t stride,
                                Span2<T> out, std::size_t begin, std::size_t end) {
    const std::size_t width = X.cols();
    std::vector<T> centred(kTile * width);
    std::vector<double> sums(kTile * stride);
    for (std::size_t i = begin; i < end; i += kTile) {
        const std::size_t n = std::min(kTile, end - i);
        for (std::size_t r = 0; r < n; ++r) {
            const T* row = X.row(i + r);
            for (std::size_t j = 0; j < width; ++j) centred[r * width + j] = static_cast<T>(row[j] - means[j]);
        }
        std::fill(sums.begin(), sums.end(), 0.0);
        project_tile(centred.data(), n, panels, stride, width, sums.data());
        for (std::size_t r = 0; r < n; ++r) {
            for (std::size_t c = 0; c < out.cols(); ++c) out(i + r, c) = static_cast<T>(sums[r * stride + c]);
        }
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
