// Columns side by side in panels, row by row, and the sums of products of two panels: what dense products and factors
// of doubles and floats are made of.
#include "gnomon/tile_lanes.hpp"

#ifndef GNOMON_PANEL_LANES_HPP
#define GNOMON_PANEL_LANES_HPP

#include <algorithm>
#include <cstddef>

namespace gnomon {

inline constexpr std::size_t kPanel = 32;   ///< columns that lie side by side, row by row
inline constexpr std::size_t kDepth = 256;  ///< rows whose products are summed in the type of the panels

constexpr std::size_t panels_of(std::size_t width) { return (width + kPanel - 1) / kPanel; }

}  // namespace gnomon

#endif

#if defined(GNOMON_PANEL_LANES_TOGGLE) == defined(GNOMON_TOGGLE)
#ifdef GNOMON_PANEL_LANES_TOGGLE
#undef GNOMON_PANEL_LANES_TOGGLE
#else
#define GNOMON_PANEL_LANES_TOGGLE
#endif

#ifdef GNOMON_LEVEL  // in files that are compiled for each level only

namespace GNOMON_SPACE {

// Columns of the first panel at a time: their sums with two vectors of the other stay in registers.
#if GNOMON_VECTOR_BYTES == 64 || defined(__aarch64__)
inline constexpr std::size_t kTileRows = 8;
#else
inline constexpr std::size_t kTileRows = 4;
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

}  // namespace GNOMON_SPACE

#endif
#endif
