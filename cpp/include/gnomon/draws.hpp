// Matrices of random numbers. Row i is a function of (seed, stream, i): more rows leave the first ones as they are.
#pragma once

#include <cstdint>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Independent numbers, uniform in [0, 1). out (n, d): written.
void fill_uniform(std::uint64_t seed, std::uint64_t stream, Span2<double> out, const Context& context);

/// Independent standard normal numbers (accurate to about 1e-6). out (n, d): written.
void fill_normal(std::uint64_t seed, std::uint64_t stream, Span2<double> out, const Context& context);

}  // namespace gnomon
