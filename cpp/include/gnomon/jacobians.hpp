// The local linear map that best carries the neighbours' displacements in the data to those in the embedding, point by
// point, and what it says about every feature.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/local_gram.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/rows.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

struct JacobianParams {
    double ridge = 1e-3;          ///< in units of the mean kept eigenvalue of the local second moment
    double variance_share = 0.9;  ///< the tangent space holds at least this share of the local second moment
    bool centered = true;         ///< about the mean of the neighbours; otherwise through the point, without a constant
};

/// What local_jacobians writes for each listed point; NaN where the Jacobian is undefined.
struct JacobianOutputs {
    Span2<double> coefficients;         ///< (n, k * d): B_i' = sum_j (x_j - x_i) coefficients_ij
    Span2<double> ellipses;             ///< (n, d * d): B_i B_i', the image of the unit ball of the tangent space
    std::span<float> r2;                ///< (n): share of the displacements that the fit accounts for
    std::span<float> predicted_r2;      ///< (n): the same with each neighbour predicted by the fit to the others
    std::span<float> r2_error;          ///< (n): standard error of predicted_r2, jackknife over the neighbours
    std::span<float> predicted_square;  ///< (n): squared predictions as a share of the squares they predict
    std::span<std::int32_t> dimension;  ///< (n): of the tangent space; 0 where undefined
};

/// For each listed point i: weighted ridge regression, with a constant, of y_j on the coordinates of x_j in the leading
/// local tangent space about the mean of the neighbours, through the k x k Gram matrix. `rows` (n_listed) lists the
/// points; outputs have one row for each.
void local_jacobians(const RowSource& X, Span2<const double> Y, const Neighborhoods& neighborhoods,
                     std::span<const std::int64_t> rows, const JacobianParams& params, const JacobianOutputs& out,
                     const Context& context);

/// What feature_effects writes. Spans of size zero are not wanted.
struct EffectOutputs {
    Span2<std::int32_t> top_features;  ///< (n, n_top): the features of largest importance, ties by number
    Span2<float> top_arrows;           ///< (n, n_top * d): displacement for one local standard deviation of the feature
    Span2<float> top_importance;       ///< (n, n_top): length of the arrow
    Span2<float> importance;           ///< (n, D)
    std::span<double> mean_importance;  ///< (D): over the listed points whose Jacobian is defined
};

/// For each listed point the effect B_i e_f * localstd_if of every feature f on its place; localstd is the weighted
/// root mean square of x_jf - x_if over the neighbours. Coefficients (n_listed, k * d) come from local_jacobians.
void feature_effects(const RowSource& X, const Neighborhoods& neighborhoods, std::span<const std::int64_t> rows,
                     Span2<const double> coefficients, const EffectOutputs& out, const Context& context);

/// What pooled_effects writes beside the effects.
struct PooledOutputs {
    Span2<double> ellipses;               ///< (n, d * d): B_i B_i' of the averages; NaN where undefined
    std::span<const std::int64_t> tried;  ///< (m): defined rows whose neighbours' displacements are predicted
    Span2<double> predicted;              ///< (m, k * d): B_i (x_j - x_i); zero for neighbours of weight zero
};

/// feature_effects of all n rows at once, with the Jacobian of each point replaced by the mean over itself and its
/// neighbours, `rounds` times, and localstd by such a mean once (0 where its own is 0). Features are taken a few at a
/// time, so that Jacobians never exist as a whole, and points in the order of their places (n, d) in the map, in which
/// neighbours are near: that order is only for speed.
void pooled_effects(const RowSource& X, const Neighborhoods& neighborhoods, Span2<const double> coefficients,
                    Span2<const double> places, std::size_t rounds, const EffectOutputs& out,
                    const PooledOutputs& pooled, const Context& context);

}  // namespace gnomon
