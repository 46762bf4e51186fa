#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/inner_products.cpp"
#include "gnomon/inner_products.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gnomon/tile_lanes.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kPanel = 32;   // columns that lie side by side, row by row
constexpr std::size_t kDepth = 256;  // rows whose products are summed in the type of the table
constexpr std::size_t kRows = 1024;  // that are packed at a time: two panels of them stay in the second cache

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE_FOR(class, add_panels);

/// Rows [begin, begin + count) of B as panels of columns, one after the other; columns beyond the last are zero.
template <class T>
void pack(Span2<const T> B, std::size_t begin, std::size_t count, T* packed) {
    for (std::size_t first = 0; first < B.cols(); first += kPanel, packed += count * kPanel) {
        const std::size_t width = std::min(kPanel, B.cols() - first);
        for (std::size_t r = 0; r < count; ++r) {
            const T* row = B.row(begin + r) + first;
            T* to = packed + r * kPanel;
            std::copy(row, row + width, to);
            std::fill(to + width, to + kPanel, T{0});
        }
    }
}

template <class T>
void inner_products_of(Span2<const T> B, Span2<double> out) {
    const std::size_t n = B.rows(), width = B.cols(), n_panels = (width + kPanel - 1) / kPanel;
    const std::size_t stride = n_panels * kPanel;
    std::vector<T> packed(std::min(n, kRows) * stride);
    std::vector<double> sums(kPanel * kPanel);
    for (std::size_t j = 0; j < width; ++j) std::fill(out.row(j), out.row(j) + width, 0.0);
    for (std::size_t begin = 0; begin < n; begin += kRows) {
        const std::size_t count = std::min(kRows, n - begin);
        pack(B, begin, count, packed.data());
        for (std::size_t p = 0; p < n_panels; ++p) {
            for (std::size_t q = p; q < n_panels; ++q) {
                std::fill(sums.begin(), sums.end(), 0.0);
                add_panels<T>(packed.data() + p * count * kPanel, packed.data() + q * count * kPanel, count,
                              sums.data());
                const std::size_t rows = std::min(kPanel, width - p * kPanel);
                const std::size_t columns = std::min(kPanel, width - q * kPanel);
                for (std::size_t i = 0; i < rows; ++i) {
                    double* to = out.row(p * kPanel + i) + q * kPanel;
                    for (std::size_t j = 0; j < columns; ++j) to[j] += sums[i * kPanel + j];
                }
            }
        }
    }
    for (std::size_t i = 0; i < width; ++i) {
        for (std::size_t j = 0; j < i; ++j) out(i, j) = out(j, i);
    }
}

}  // namespace

void inner_products(Span2<const float> B, Span2<double> out) { inner_products_of(B, out); }
void inner_products(Span2<const double> B, Span2<double> out) { inner_products_of(B, out); }

}  // namespace gnomon

#else
#include "gnomon/tile_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

// Columns of the first panel at a time: their sums with two vectors of the other stay in registers.
#if GNOMON_VECTOR_BYTES == 64 || defined(__aarch64__)
constexpr std::size_t kTileRows = 8;
#else
constexpr std::size_t kTileRows = 4;
#endif

/// Adds the products of kTileRows columns of one panel with two vectors of columns of another, over some rows.
template <class T>
GNOMON_INLINE void add_tile(const T* a, const T* b, std::size_t count, double* sums) {
    constexpr std::size_t width = 2 * GNOMON_VECTOR_BYTES / sizeof(T);
    T products[kTileRows * kPanel];
    tile_products<kTileRows, kPanel, kPanel>(a, b, count, products);
    for (std::size_t i = 0; i < kTileRows; ++i) {
        for (std::size_t j = 0; j < width; ++j) sums[i * kPanel + j] += products[i * kPanel + j];
    }
}

/// sums (kPanel, kPanel) += a' b, for panels of `count` rows.
template <class T>
GNOMON_KERNEL void add_panels(const T* a, const T* b, std::size_t count, double* sums) {
    constexpr std::size_t step = 2 * GNOMON_VECTOR_BYTES / sizeof(T);
    for (std::size_t k = 0; k < count; k += kDepth) {
        const std::size_t depth = std::min(kDepth, count - k);
        for (std::size_t i = 0; i < kPanel; i += kTileRows) {
            for (std::size_t j = 0; j < kPanel; j += step) {
                add_tile(a + k * kPanel + i, b + k * kPanel + j, depth, sums + i * kPanel + j);
            }
        }
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
