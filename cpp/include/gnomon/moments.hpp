// First and second moments of the columns of a table, and its projection on a few directions.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Mean of each column, summed in double over fixed blocks of rows. X (n, D), means (D): written.
void column_means(Span2<const float> X, std::span<double> means, const Context& context);
void column_means(Span2<const double> X, std::span<double> means, const Context& context);

/// The largest |x_ij - mean_j|.
double largest_deviation(Span2<const float> X, std::span<const double> means, const Context& context);
double largest_deviation(Span2<const double> X, std::span<const double> means, const Context& context);

/// Write 1 for each column that holds different numbers, 0 for a constant one. X (n, D), varies (D): written.
void mark_varying(Span2<const float> X, std::span<std::uint8_t> varies, const Context& context);
void mark_varying(Span2<const double> X, std::span<std::uint8_t> varies, const Context& context);

/// out = (X - means) scale for some columns, ascending, computed in double. X (n, D), out (n, columns): written.
void centre(Span2<const float> X, std::span<const double> means, double scale, std::span<const std::int64_t> columns,
            Span2<float> out);
void centre(Span2<const double> X, std::span<const double> means, double scale, std::span<const std::int64_t> columns,
            Span2<double> out);

/// out = (X - means) directions. X (n, D), directions (D, d), out (n, d): written. Differences are in double; products
/// are of the type of X and summed in it over 128 columns of float at most, in double over these.
/// A row of the result is a function of that row of X alone, bit for bit.
void project(Span2<const float> X, std::span<const double> means, Span2<const double> directions, Span2<float> out,
             const Context& context);
void project(Span2<const double> X, std::span<const double> means, Span2<const double> directions, Span2<double> out,
             const Context& context);

}  // namespace gnomon
