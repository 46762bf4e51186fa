// Sums over all pairs of points, with weights of two factors or with a dense target: the reference that every faster
// evaluation is measured against, and the fastest one for a few thousand points. Nothing of size n x n is written.
#pragma once

#include <span>

#include "gnomon/pair_laws.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// force_i = sum_j w_ij dF/ds(s_ij) (y_i - y_j) over j != i; returns sum_ij w_ij F(s_ij), or 0 unless with_energy.
/// w_ij = u_i v_j + v_i u_j, or 1 where u and v, of shape (n), are empty. Y, force: (n, d). Lanes in float32, tiles of
/// 1024 terms in double.
double pair_sums(PairLaw law, const OutputKernel& kernel, Span2<const float> Y, std::span<const float> u,
                 std::span<const float> v, bool with_energy, Span2<float> force, const Context& context);

/// sums_i = sum over j != i of v_j k(s_ij); (n). An empty v counts as 1.
void row_sums(const OutputKernel& kernel, Span2<const float> Y, std::span<const float> v, std::span<double> sums,
              const Context& context);

/// Weights of pairs: w_ij, (n, n) and symmetric, or u_i u_j with u of shape (n); both empty: 1.
struct PairWeights {
    Span2<const float> matrix;
    std::span<const float> factors;
};

/// force_i = sum_j 2 w_ij r_ij k'(s_ij) (y_i - y_j); returns the sum of w_ij r_ij^2. target: (n, n), symmetric.
/// Plain: r_ij = k_ij - t_ij over j != i. Centred: r = H (K - T) H with H = I - 11'/n, diagonal included, for a target
/// whose rows sum to zero (T = HTH). Target and weights are read once.
double target_sums(const OutputKernel& kernel, Span2<const float> Y, Span2<const float> target, PairWeights weights,
                   bool centred, Span2<float> force, const Context& context);

}  // namespace gnomon
