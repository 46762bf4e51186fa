// Local radii of a map along the edges of a graph, and how well they correlate with given ones: the term of densMAP
// (Narayan, Berger & Cho, Nature Biotechnology 39, 2021). Points without edges have no radius and are left out.
#pragma once

#include <span>

#include "gnomon/output_kernels.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// What the radii of the map are compared with.
struct RadiiTarget {
    std::span<const double> standard;  ///< (n) log radii of the data with mean 0 and variance 1
    double shift;                      ///< added to the variance of the map's log radii
};

/// radii_i = log(1e-8 + sum_j k_ij s_ij / sum_j k_ij) over the edges of i, whose values are 1; NaN without edges.
void map_radii(const CsrView<float>& edges, const OutputKernel& kernel, Span2<const float> Y, std::span<double> radii,
               const Context& context);

/// cov(standard, radii) / sqrt(var(radii) + shift), and its gradient (n, d) unless that has no rows. Every edge must be
/// stored from both of its ends.
double density_correlation(const CsrView<float>& edges, const OutputKernel& kernel, Span2<const float> Y,
                           const RadiiTarget& target, Span2<float> gradient, const Context& context);

/// out_e = distance of the edge e = (i, j) in a table of neighbours, (n, k) indices and distances, of i or else of j;
/// NaN where neither has the other.
void edge_distances(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
                    Span2<const std::int32_t> indices, Span2<const float> distances, std::span<float> out,
                    const Context& context);

}  // namespace gnomon
