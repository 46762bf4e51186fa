// Eigenvalues of many small symmetric matrices at once: four matrices in four lanes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace gnomon {

/// Matrices solved together.
inline constexpr std::size_t kEigenBatch = 4;

/// Diagonalises kEigenBatch symmetric matrices of order `order`: Householder tridiagonal form, then implicit QL.
///
/// Entry (p, q) of matrix l lies at [(p * order + q) * kEigenBatch + l]; the part below the diagonal is read. On return
/// `a` holds the eigenvalues on its diagonals, in no order, and row p of `v` the unit eigenvector of eigenvalue p; the
/// rest of `a` is used as scratch. Errors are a few roundings of the largest eigenvalue. A lane that has converged
/// is left alone, so its bits do not depend on the matrices beside it.
void symmetric_eigen(std::size_t order, double* a, double* v);

/// Sorts numbers by falling value(number), equal ones by number. NaN, of matrices that overflowed, comes last: a sort
/// needs an order of all values.
template <class Iterator, class Value>
void sort_falling(Iterator begin, Iterator end, const Value& value) {
    const auto known = [&](std::size_t p) {
        const double v = value(p);
        return std::isnan(v) ? -std::numeric_limits<double>::infinity() : v;
    };
    std::sort(begin, end,
              [&](std::size_t p, std::size_t q) { return known(p) != known(q) ? known(p) > known(q) : p < q; });
}

}  // namespace gnomon
