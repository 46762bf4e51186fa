// Eight lanes of double, and their sum in one order at every level.
#include "gnomon/simd.hpp"

#ifndef GNOMON_WIDE_LANES_HPP
#define GNOMON_WIDE_LANES_HPP

#include <cstddef>

#endif

#if defined(GNOMON_WIDE_LANES_TOGGLE) == defined(GNOMON_TOGGLE)
#ifdef GNOMON_WIDE_LANES_TOGGLE
#undef GNOMON_WIDE_LANES_TOGGLE
#else
#define GNOMON_WIDE_LANES_TOGGLE
#endif

#ifdef GNOMON_LEVEL  // in files that are compiled for each level only

namespace GNOMON_SPACE {

using f64 = simd::Lanes<double, 8>;

/// Sum of the lanes, by halves.
GNOMON_INLINE double sum_of(f64 v) {
    double x[8];
    simd::store(x, v);
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

}  // namespace GNOMON_SPACE

#endif
#endif
