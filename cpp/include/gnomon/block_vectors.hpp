// A handful of long vectors side by side, (n, width) row-major: the products that block eigensolvers are made of.
#pragma once

#include <span>
#include <vector>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Widths for which the products below are compiled.
inline constexpr std::size_t kBlockWidths[] = {8, 16, 32, 64};

struct Recurrence {
    float product, same, previous;
};

/// out = product * matrix x + same * x + previous * before; `before` may be empty if its factor is 0, or be `out`.
void multiply(const CsrView<float>& matrix, Span2<const float> x, Span2<const float> before, Recurrence factors,
              Span2<float> out, const Context& context);

/// x' y (width, width) row-major, summed in double over fixed blocks of rows.
std::vector<double> inner_products(Span2<const float> x, Span2<const float> y, const Context& context);

/// x <- x rotation, with rotation (width, width) row-major.
void rotate_columns(Span2<float> x, const std::vector<double>& rotation, const Context& context);

/// x <- x - t (t' x) for a unit vector t (n).
void remove_direction(Span2<float> x, std::span<const float> t, const Context& context);

/// Norm of each column of y - x diag(values).
std::vector<double> residual_norms(Span2<const float> x, Span2<const float> y, std::span<const double> values,
                                   const Context& context);

/// Makes the columns of x orthonormal; a column that depends on the others becomes a direction of rounding noise.
void orthonormalize(Span2<float> x, const Context& context);

}  // namespace gnomon
