// Inner products of all pairs of columns of a table, the same bits on every processor.
#pragma once

#include <cstddef>

#include "gnomon/span.hpp"

namespace gnomon {

/// out = B' B, symmetric. B (n, c), out (c, c): written. Products are of the type of B and summed in it over 256 rows
/// at most, in ascending order, in double over these.
void inner_products(Span2<const float> B, Span2<double> out);
void inner_products(Span2<const double> B, Span2<double> out);

}  // namespace gnomon
