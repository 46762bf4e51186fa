#include "gnomon/distance_placement.hpp"

#include <cmath>
#include <vector>

namespace gnomon {
namespace {

/// The weighted mean that one step goes to; false where all weights are zero.
bool next_place(const double* y, Span2<const double> anchors, const double* delta, const double* weights,
                std::vector<double>& mean) {
    const std::size_t n = anchors.rows(), d = anchors.cols();
    double total = 0;
    for (double& entry : mean) entry = 0;
    for (std::size_t j = 0; j < n; ++j) {
        const double* z = anchors.row(j);
        double squared = 0;
        for (std::size_t c = 0; c < d; ++c) squared += (y[c] - z[c]) * (y[c] - z[c]);
        const double weight = weights == nullptr ? 1.0 : weights[j];
        const double ratio = squared > 0 ? delta[j] / std::sqrt(squared) : 0.0;
        for (std::size_t c = 0; c < d; ++c) mean[c] += weight * (z[c] + ratio * (y[c] - z[c]));
        total += weight;
    }
    if (!(total > 0)) return false;
    for (double& entry : mean) entry /= total;
    return true;
}

}  // namespace

void place_by_distances(Span2<double> Y, Span2<const double> anchors, Span2<const double> delta,
                        Span2<const double> weights, int max_iter, double tol, const Context& context) {
    const std::size_t d = Y.cols();
    parallel_blocks(Y.rows(), 1, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<double> mean(d);
        for (std::size_t i = begin; i < end; ++i) {
            double* y = Y.row(i);
            const double* own = weights.rows() > 0 ? weights.row(i) : nullptr;
            for (int iteration = 0; iteration < max_iter; ++iteration) {
                if (!next_place(y, anchors, delta.row(i), own, mean)) break;
                double moved = 0;
                for (std::size_t c = 0; c < d; ++c) {
                    moved += (mean[c] - y[c]) * (mean[c] - y[c]);
                    y[c] = mean[c];
                }
                if (moved <= tol * tol) break;
            }
        }
    });
}

}  // namespace gnomon
