// Features of neighbouring rows of a map, summed against their steps in it: what regressions on the place are made of.
#pragma once

#include <cstdint>

#include "gnomon/parallel.hpp"
#include "gnomon/rows.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// What hood_moments writes for each of m neighbourhoods of k rows with D features. Displacements of rows are from the
/// first one, so that features that are the same in all rows give exact zeros.
struct HoodMoments {
    Span2<double> mean;     ///< (m, D): of the displacements
    Span2<double> moments;  ///< (m, d * D): sums of steps times displacements from the mean
    Span2<double> squares;  ///< (m, D): sums of squares of displacements from the mean
};

/// The rows near (m, k) and their steps (m, k * d); sums are over the rows in order.
void hood_moments(const RowSource& X, Span2<const std::int32_t> near, Span2<const double> steps, const HoodMoments& out,
                  const Context& context);

/// Displacements from the mean (m, D), as above, times d rows of weights (m, d * D): `along` (m, k * d); and their
/// squares times the scales (m, D): `squares` (m, k).
void hood_projections(const RowSource& X, Span2<const std::int32_t> near, Span2<const double> mean,
                      Span2<const double> weights, Span2<const double> scales, Span2<double> along,
                      Span2<double> squares, const Context& context);

}  // namespace gnomon
