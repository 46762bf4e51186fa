// The numbers in ascending order that fit given ones best, by pooling neighbours that are out of order.
#pragma once

#include <span>

namespace gnomon {

/// Replace values by the ascending ones with the least sum of weights times squared differences. Weights are positive;
/// afterwards they mean nothing. The same bits on every processor.
void isotonic_levels(std::span<double> values, std::span<double> weights);

}  // namespace gnomon
