// How far each feature sets each group of rows apart from the other groups.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/rows.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// All of shape (n_groups, n_features).
struct ContrastOutputs {
    Span2<double> auc;            ///< P(inside > rest) + P(inside = rest) / 2, exact up to one rounding
    Span2<double> mean;           ///< inside the group
    Span2<double> rest_mean;      ///< over all other groups
    Span2<double> effect;         ///< difference of the means in pooled standard deviations (Cohen's d)
    Span2<double> variance;       ///< of the feature inside the group, NaN of a single row
    Span2<double> rest_variance;  ///< over all other groups, NaN of a single row
    Span2<double> spread;       ///< variance over the group of the share of the rest that a row lies above; NaN of one
    Span2<double> rest_spread;  ///< variance over the rest of the share of the group that lies above; NaN of one
};

/// Contrasts every group with all others. `groups` (n) holds group numbers in [0, n_groups), or -1 for rows left out;
/// every group and every rest has at least one row. A sparse table is given by its columns: (n_features, n).
void group_contrasts(const RowSource& X, std::span<const std::int32_t> groups, std::size_t n_groups,
                     const ContrastOutputs& out, const Context& context);

}  // namespace gnomon
