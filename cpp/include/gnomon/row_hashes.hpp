// Hashes of the rows of a table, by which equal rows are found.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// One number for each row of finite values: the same for equal rows, of which -0 and 0 are equal, and hardly ever the
/// same for others: sums of products of 32-bit words, each raised by a number of its place (Black et al., UMAC, 1999).
void row_hashes(Span2<const float> X, std::span<std::uint64_t> out, const Context& context);
void row_hashes(Span2<const double> X, std::span<std::uint64_t> out, const Context& context);

}  // namespace gnomon
