// What one pair of points adds to a loss: a law F of its output kernel k(s), for many squared distances s at once.
// Every sum over pairs or edges works through tiles of squared distances, so kernels and laws are compiled here alone
// and not once for each sum and number of components.
#pragma once

#include <cstddef>
#include <string_view>

#include "gnomon/output_kernels.hpp"

namespace gnomon {

enum class PairLaw {
    value,        ///< F = k
    log,          ///< F = -log k; similarities only
    log_deficit,  ///< F = -log(1 - k), below s = kRepulsionFloor a straight line where k(0) = 1; similarities only
    square        ///< F = k^2
};

PairLaw pair_law(std::string_view name);

/// Whether a law is defined for a kernel: the logarithmic ones need a similarity.
inline bool is_defined(PairLaw law, const OutputKernel& kernel) {
    return law == PairLaw::value || law == PairLaw::square || kernel.is_similarity();
}

/// Throws std::invalid_argument where a law is not defined for a kernel.
void check_law(PairLaw law, const OutputKernel& kernel);

/// slopes[i] = dF/ds = F'(k) k'(s) and, unless null, energies[i] = F(k) at squared[i] for i in [0, count), where count
/// is a multiple of 16. Finite at s = 0.
void evaluate_law(PairLaw law, const OutputKernel& kernel, const float* squared, std::size_t count, float* slopes,
                  float* energies);

/// k(0).
float kernel_at_zero(const OutputKernel& kernel);

}  // namespace gnomon
