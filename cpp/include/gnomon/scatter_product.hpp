// Products of the scatter matrix of a table with a few vectors, and its trace, without the matrix: what subspace
// iteration on wide tables is made of.
#pragma once

#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// out = (X - means)' (X - means) vectors. X (n, D), vectors and out (D, d). All in double; rows are centred when they
/// are looked at, and summed over fixed blocks of them.
void scatter_product(Span2<const float> X, std::span<const double> means, Span2<const double> vectors,
                     Span2<double> out, const Context& context);
void scatter_product(Span2<const double> X, std::span<const double> means, Span2<const double> vectors,
                     Span2<double> out, const Context& context);

/// The sum of all (x_ij - mean_j)^2.
double scatter_trace(Span2<const float> X, std::span<const double> means, const Context& context);
double scatter_trace(Span2<const double> X, std::span<const double> means, const Context& context);

}  // namespace gnomon
