// Inverses of the Cholesky factors of many small matrices at once: as many in as many lanes as batched_eigen.hpp has.
#pragma once

#include <cstddef>

#include "gnomon/batched_eigen.hpp"

namespace gnomon {

/// Writes the lower triangular W with W' W = (A + shift I)^-1 for kEigenBatch symmetric matrices A of order `order`.
///
/// Entry (p, q) of matrix l lies at [(p * order + q) * kEigenBatch + l], of `a` and of `inverse`: the parts on and
/// below the diagonal are read and written. `shift` holds one number for each lane. A lane whose matrix is not positive
/// definite gets a NaN on its diagonal; its bits, and those of the others, do not depend on the matrices beside it.
void inverse_factors(std::size_t order, const double* a, const double* shift, double* inverse);

/// Solves (A + shift I) X = B for the same matrices by their W: B (order, d) becomes X, both in lanes. `scratch` takes
/// (order, d) lanes.
void solve_by_factors(std::size_t order, std::size_t d, const double* inverse, double* b, double* scratch);

/// Writes the diagonals (order) of the inverses W' W, in lanes.
void inverse_diagonals(std::size_t order, const double* inverse, double* out);

}  // namespace gnomon
