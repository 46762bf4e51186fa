// Inner products of all pairs of columns of a table and products of matrices, the same bits on every processor.
#pragma once

#include <cstddef>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// out = B' B, symmetric. B (n, c), out (c, c): written. Products are of the type of B and summed in it over 256 rows
/// at most, in ascending order, in double over 1024, and in the type of `out` over these.
void inner_products(Span2<const float> B, Span2<double> out, const Context& context);
void inner_products(Span2<const float> B, Span2<float> out, const Context& context);
void inner_products(Span2<const double> B, Span2<double> out, const Context& context);

/// out = A B, or with the transpose of one of them or both; out is written and overlaps neither. Sums go over blocks of
/// terms that depend on the shapes alone.
void product(Span2<const double> A, bool transposed_a, Span2<const double> B, bool transposed_b, Span2<double> out,
             const Context& context);

/// The products of `count` pairs of small matrices that lie one below the other: out_i = A_i B_i, or with transposes.
void products(std::size_t count, Span2<const double> A, bool transposed_a, Span2<const double> B, bool transposed_b,
              Span2<double> out, const Context& context);

}  // namespace gnomon
