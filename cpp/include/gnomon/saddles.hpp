// Densities of the rows of a small table and how they join: what single linkage needs, and what it says.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// From the scalar products (n, n) of rows and their squares (n): the distances of each row to its k nearest others,
/// ascending, in `nearest` (n, k), k < n; the radius of each row in `radii` (n), its k-th distance, raised to the least
/// positive one of all rows, 1 if there is none; and in `merges` (n - 1, 4) single linkage of mutual reachability,
/// which is the distance of two rows or the larger of both radii. A merge is two parts, the lower number first, how far
/// apart they are, and the rows of both; rows are the parts 0 ... n - 1, and each merge makes the next one.
void reachability_tree(Span2<const float> products, std::span<const float> squares, Span2<double> nearest,
                       std::span<double> radii, Span2<double> merges);
void reachability_tree(Span2<const double> products, std::span<const double> squares, Span2<double> nearest,
                       std::span<double> radii, Span2<double> merges);

/// Merges of parts: n rows are the parts 0 ... n - 1, and each merge, in the order in which density falls, makes the
/// next one. Of each it writes the rows of the smaller part, and the fall of log density before it: `dimension` times
/// the logarithm of its radius over that of the lower peak of the two.
void density_dips(std::span<const double> radii, Span2<const double> merges, double dimension,
                  std::span<std::int64_t> smaller, std::span<double> falls);

}  // namespace gnomon
