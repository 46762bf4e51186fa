// Accurate distances from differences of coordinates, and the float32 copies of the data that the searches run on.
// Everything takes float or double data, some of it bytes; scale is a power of two that keeps squares inside the range
// of float32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// out = (x - mean) * scale, in double before the cast.
template <class T>
void center_rows(Span2<const T> x, std::span<const double> mean, double scale, Span2<float> out,
                 const Context& context);

/// out (n, d) = ((x - mean) * scale) basis', basis (d, D).
template <class T>
void project_rows(Span2<const T> x, std::span<const double> mean, double scale, Span2<const float> basis,
                  Span2<float> out, const Context& context);

/// The k nearest of the candidates (n, c) of every query, c >= k, by accurate distances, ascending by
/// (distance, index). A candidate of -1 is none; rows with fewer than k candidates end in index -1 and distance inf.
/// Rows are visited in `order`, a permutation that keeps near rows together for the caches' sake. With `squared` come
/// scaled squares instead of distances, which lists of parts of the data are joined by: different squares may have one
/// root. The first `lead` are what so many alone would be: equal roots across that place are not put in order. Bytes,
/// at a scale of 1 and up to 4096 columns, give the bits that the same numbers give as floats.
template <class T>
void rank_candidates(Span2<const T> x, Span2<const T> queries, Span2<const std::int32_t> candidates,
                     std::span<const std::int32_t> order, double scale, bool squared, std::size_t lead,
                     Span2<std::int32_t> indices, Span2<float> distances, const Context& context);

/// The distances from each row of x (n, d) to a few others (n, c), in the order given: those that rank_candidates
/// finds.
template <class T>
void pair_distances(Span2<const T> x, Span2<const std::int32_t> others, double scale, Span2<float> distances,
                    const Context& context);

/// The k nearest of all rows of x, except row self[i], for every query by accurate distances or their squares. Three
/// times the work of nearest_rows, for a few queries or where float32 products are too coarse.
template <class T>
void scan_rows(Span2<const T> x, Span2<const T> queries, std::span<const std::int32_t> self, double scale, bool squared,
               Span2<std::int32_t> indices, Span2<float> distances, const Context& context);

}  // namespace gnomon
