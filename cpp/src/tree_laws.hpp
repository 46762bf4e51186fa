// The laws of a tree for many squared distances at once.
#pragma once

#include <cstddef>

#include "gnomon/tree.hpp"

namespace gnomon {

/// slopes[i] = F'(k) k'(s) and, unless null, energies[i] = F(k) at squared[i] for i in [0, count), where count is a
/// multiple of 16. Finite at s = 0.
void evaluate_law(TreeLaw law, const OutputKernel& kernel, const float* squared, std::size_t count, float* slopes,
                  float* energies);

}  // namespace gnomon
