// Contrastive estimation with sampled noise (InfoNCE). The noise of an epoch is drawn as cyclic shifts r: point i is
// compared with the points i + r modulo n. So the point p is noise of the points p - r alone, every point can add up
// all that moves it, and the gradient is exact: the reaction on the noise is part of it.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/output_kernels.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Returns loss = sum_ij a_ij [ -log k_ij + log(k_ij + S_i) ] with S_i = sum_r v_(i + r) k(y_i, y_(i + r) mod n) and a
/// symmetric, and sets the forces: attraction along edges, repulsion along shifts, together minus the gradient. The
/// kernel must be a similarity. charges: v, (n), empty for 1. Y, forces: (n, d).
double info_nce(const CsrView<float>& edges, const OutputKernel& kernel, std::span<const std::int64_t> shifts,
                std::span<const float> charges, Span2<const float> Y, Span2<float> attraction, Span2<float> repulsion,
                const Context& context);

}  // namespace gnomon
