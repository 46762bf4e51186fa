// Eigenvectors of a small symmetric matrix, without LAPACK.
#pragma once

#include <cstddef>
#include <vector>

namespace gnomon {

struct SmallEigen {
    std::vector<double> values;   ///< (m), falling
    std::vector<double> vectors;  ///< (m, m) row-major, one eigenvector a column, orthonormal
};

/// Jacobi's method with cyclic sweeps. matrix (m, m) row-major, of which the upper triangle counts.
SmallEigen small_eigen(const std::vector<double>& matrix, std::size_t m);

}  // namespace gnomon
