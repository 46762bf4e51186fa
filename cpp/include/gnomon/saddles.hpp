// Densities of the rows of a small table and how they join: what single linkage needs, and what it says.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// From the scalar products (n, n) of rows and their squares (n): the distances of each row to its k nearest others,
/// ascending, in `nearest` (n, k), k < n; and in `mutual` (n (n - 1) / 2) the mutual reachability distances of all
/// pairs (0, 1), (0, 2), ..., the distance or the larger of both radii. The radius of a row is its k-th distance,
/// raised to the least positive one of all rows, 1 if there is none, and returned in `radii` (n).
void mutual_reachability(Span2<const double> products, std::span<const double> squares, Span2<double> nearest,
                         std::span<double> radii, std::span<double> mutual);

/// Merges of parts: n rows are the parts 0 ... n - 1, and each merge, in the order in which density falls, makes the
/// next one. Of each it writes the rows of the smaller part, and the fall of log density before it: `dimension` times
/// the logarithm of its radius over that of the lower peak of the two.
void density_dips(std::span<const double> radii, Span2<const double> merges, double dimension,
                  std::span<std::int64_t> smaller, std::span<double> falls);

}  // namespace gnomon
