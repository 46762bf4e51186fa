// Singular values and vectors of a matrix of few columns, and eigenvectors of many small symmetric matrices.
#pragma once

#include <cstddef>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Jacobi's one-sided method: pairs of columns are turned until all are at right angles.
///
/// columns (d, n), d <= n: the columns of the matrix, one after the other; written, in the order of falling singular
/// values, the left singular vectors, orthonormal also where values are zero. values (d): written. right (d, d):
/// written, row j the right singular vector of value j. Values are right up to a few roundings of their own columns.
/// All is NaN for a matrix that is not finite.
void small_svd(Span2<double> columns, std::span<double> values, Span2<double> right);

/// matrices (m d, d): m symmetric matrices, one below the other, of which the part below the diagonal counts. values
/// (m, d): written, falling. vectors (m d, d): written, column j of each the unit eigenvector of value j. A matrix that
/// is not finite has values and vectors of NaN.
void eigen_each(Span2<const double> matrices, Span2<double> values, Span2<double> vectors, const Context& context);

}  // namespace gnomon
