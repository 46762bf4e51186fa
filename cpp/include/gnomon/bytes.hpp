// Tables of whole numbers from 0 to 255, such as pixels, as bytes.
#pragma once

#include <cstdint>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Writes the numbers of X to out, of the same shape, and returns true; false, with some of out written, if X holds
/// another number than 0, 1, ..., 255.
bool to_bytes(Span2<const float> X, Span2<std::uint8_t> out, const Context& context);
bool to_bytes(Span2<const double> X, Span2<std::uint8_t> out, const Context& context);

}  // namespace gnomon
