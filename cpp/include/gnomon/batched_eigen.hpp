// Eigenvalues of many small symmetric matrices at once: eight matrices in eight lanes.
#pragma once

#include <cstddef>

namespace gnomon {

/// Matrices solved together.
inline constexpr std::size_t kEigenBatch = 8;

/// Diagonalises kEigenBatch symmetric matrices of order `order` by cyclic Jacobi rotations.
///
/// Entry (p, q) of matrix l lies at [(p * order + q) * kEigenBatch + l]. On return `a` holds the eigenvalues on its
/// diagonals, in no order, and row p of `v` the unit eigenvector of eigenvalue p. A lane stops being rotated when it
/// has converged, so its bits do not depend on the matrices beside it.
void jacobi_eigen(std::size_t order, double* a, double* v);

}  // namespace gnomon
