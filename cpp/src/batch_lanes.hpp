// Entries of kEigenBatch matrices side by side, one of each matrix in a vector: what batched kernels read and write.
#pragma once

#include <cstddef>

#include "gnomon/batched_eigen.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {

using f64 = double __attribute__((vector_size(32)));
static_assert(sizeof(f64) == kEigenBatch * sizeof(double));

GNOMON_INLINE f64 at(const double* m, std::size_t index) { return simd::load_as<f64>(m + index * kEigenBatch); }
GNOMON_INLINE void put(double* m, std::size_t index, f64 x) { simd::store(m + index * kEigenBatch, x); }
GNOMON_INLINE f64 root(f64 x) {
    return f64{__builtin_sqrt(x[0]), __builtin_sqrt(x[1]), __builtin_sqrt(x[2]), __builtin_sqrt(x[3])};
}

}  // namespace gnomon
