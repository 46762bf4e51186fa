// Euclidean distances between all rows of two tables from the differences of their columns, added one by one.
#pragma once

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// out (n, m) = |a_i - b_j|, or its square, for A (n, d) and B (m, d). The same bits on every processor.
void row_distances(Span2<const double> A, Span2<const double> B, bool squared, Span2<double> out,
                   const Context& context);

}  // namespace gnomon
