// Eigenvalues and eigenvectors of a symmetric matrix, the same bits on every processor.
#pragma once

#include <cstddef>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Solves a symmetric matrix by Householder's tridiagonal form and implicit QL steps, whose rotations are kept and then
/// applied to the vectors wanted alone.
///
/// matrix (n, n): of which the part below the diagonal and the diagonal count. values (n): written, all eigenvalues,
/// falling. vectors (n, k): column j is the unit eigenvector of value j; written for the values above `least`, the
/// first k at most. Returns how many these are. Vectors are orthonormal and eigenvalues right up to a few roundings of
/// the largest magnitude, eigenvalues that are equal included. Of a matrix that is not finite all values are NaN.
std::size_t dense_eigen(Span2<const double> matrix, double least, std::span<double> values, Span2<double> vectors,
                        const Context& context);

}  // namespace gnomon
