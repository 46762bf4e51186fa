// A map as a smooth blend of the linear maps around its points, with its derivative, and the blend back to the data.
#pragma once

#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/row_sketch.hpp"
#include "gnomon/rows.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// How charts are weighted by the squared distance s of their points: S(log(rho / s) / softness) * s^-power, where the
/// smooth step S is 0 below 0 and 1 above 1, and rho such that the values of S add up to `count`.
struct BlendParams {
    double count = 7.5;      ///< > 0, not whole, less than the number of candidates that exist
    double softness = 1.4;   ///< > 0
    double power = 1.0;      ///< >= 0; at least 1 for a blend that passes through the points
    double consensus = 2.0;  ///< >= 0; power of the agreement with other charts, 0 for none
};

/// Charts of n points: y_i + B (x - x_i) with B' = sum_l (x_l - x_c) outer coefficients_cl, c = chart[i].
struct Charts {
    Span2<const double> Y;                ///< (n, d)
    Span2<const std::int32_t> indices;    ///< (n, k): the neighbours l
    Span2<const double> coefficients;     ///< (n, k * d)
    std::span<const std::int32_t> chart;  ///< (n): whose linear part each point takes
    std::span<const double> reach;        ///< (n): > 0, the scale of the map around each point
};

struct AtlasOutputs {
    Span2<double> positions;            ///< (m, d)
    std::span<double> spread;           ///< (m): root mean square disagreement of the charts, in units of the map
    std::span<std::uint8_t> truncated;  ///< (m): 1 where charts beyond the candidates would have had weight
    Span2<double> jacobians;            ///< (m, d * D), or of size zero if not wanted
};

/// Blends the charts of the candidates of each new row. candidates (m, K): the K nearest points, or all n, in any
/// order; if there are others, none of them is nearer than the farthest candidate.
void atlas_predict(const RowSource& X, const RowSource& X_new, Span2<const std::int32_t> candidates,
                   const Charts& charts, const BlendParams& params, const AtlasOutputs& out, const Context& context);

/// Blends the charts of the n_first points nearest to one new row of a dense table, found among all n, or of the n_most
/// nearest where these are too few. `sketch` is of X. Threads have nothing to share in it.
void atlas_linearize(const RowSource& X, const RowSketch& sketch, const RowSource& x, const Charts& charts,
                     const BlendParams& params, std::size_t n_first, std::size_t n_most, const AtlasOutputs& out);

/// From positions back to rows: blends x_i + C_i (y - y_i), C_i the linear regression of the displacements of the
/// neighbours of i in the data on those in the map, with y - y_i cut off at three times the distance of the farthest
/// neighbour in the metric of their spread. candidates (m, K): nearest points in the map. Writes rows (m, D).
void atlas_invert(const RowSource& X, Span2<const double> Y_new, Span2<const std::int32_t> candidates,
                  const Charts& charts, const BlendParams& params, Span2<double> rows,
                  std::span<std::uint8_t> truncated, const Context& context);

}  // namespace gnomon
