// Principal axes of the neighbours of each row, among the neighbours: eigenvectors of small Gram matrices.
#pragma once

#include <cstdint>

#include "gnomon/parallel.hpp"
#include "gnomon/rows.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Eigenvalues and eigenvectors of the Gram matrices of the neighbours of the rows first, first + 1, ...
///
/// indices, present (m, k): neighbours of each row; those with present == 0 are not read.
/// centred: displacements are taken from the mean of the neighbours, else from the row itself.
/// values (m, k): falling, not negative, 0 for neighbours that are missing.
/// vectors (m, k * k): vectors(i, j * k + l) is entry j of vector l; where neighbours are missing the last vectors are
/// the unit vectors of these.
void local_spectra(const RowSource& X, std::size_t first, Span2<const std::int32_t> indices, Span2<const float> present,
                   bool centred, Span2<double> values, Span2<double> vectors, const Context& context);

}  // namespace gnomon
