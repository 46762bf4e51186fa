// What stands in for the points of a cell: d + 1 points on the corners of a simplex that have the count, the mean and
// the covariance of the points. So a cell's error is of third order in its width over its distance, whatever the
// kernel: nothing but k and k' at points is ever asked for (Makino, J. Comput. Phys. 151, 1999, does the same for
// gravity with points on a sphere). Weights u, v are spread over the corners so that their sums and means are right.
#include <algorithm>
#include <cmath>

#include "gnomon/tree.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kNodesPerTask = 256;
constexpr std::size_t kPointsPerBlock = 8192;
constexpr double kRankTolerance = 1e-9;  // of a variance, relative to the largest: below, the points lie in a plane

/// Corners of a simplex around 0 whose covariance is the identity.
constexpr double kRoot2 = 1.4142135623730951, kRoot3Halves = 1.2247448713915890;
constexpr double kCorners[3][4][3] = {
    {{1, 0, 0}, {-1, 0, 0}},
    {{kRoot2, 0, 0}, {-kRoot2 / 2, kRoot3Halves, 0}, {-kRoot2 / 2, -kRoot3Halves, 0}},
    {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}},
};

/// Sums over the points of a node; those of weights only where there are any.
struct Moments {
    double count = 0, mean[3] = {}, scatter[3][3] = {};  // scatter: lower triangle, about the mean
    double sum[2] = {}, first[2][3] = {};                // of u and v: sum, sum of weight * (y - mean)
};

void add(const Moments& other, Moments& to) {
    const double count = to.count + other.count;
    double away[3];  // from the mean of `to`
    for (int c = 0; c < 3; ++c) away[c] = other.mean[c] - to.mean[c];
    const double share = other.count / count;
    for (int c = 0; c < 3; ++c) {
        for (int e = 0; e <= c; ++e) to.scatter[c][e] += other.scatter[c][e] + to.count * share * away[c] * away[e];
        for (int w = 0; w < 2; ++w) {
            to.first[w][c] += other.first[w][c] + other.sum[w] * (1 - share) * away[c] - to.sum[w] * share * away[c];
        }
        to.mean[c] += share * away[c];
    }
    for (int w = 0; w < 2; ++w) to.sum[w] += other.sum[w];
    to.count = count;
}

/// Lower triangular L with L L' = scatter / count; columns of directions without extent are 0.
void factor(const Moments& moments, std::size_t d, double (&L)[3][3]) {
    double largest = 0;
    for (std::size_t c = 0; c < d; ++c) largest = std::max(largest, moments.scatter[c][c] / moments.count);
    for (std::size_t e = 0; e < d; ++e) {
        for (std::size_t c = e; c < d; ++c) {
            double rest = moments.scatter[c][e] / moments.count;
            for (std::size_t k = 0; k < e; ++k) rest -= L[c][k] * L[e][k];
            if (c == e) {
                L[e][e] = rest > kRankTolerance * largest ? std::sqrt(rest) : 0;
            } else {
                L[c][e] = L[e][e] > 0 ? rest / L[e][e] : 0;
            }
        }
    }
}

/// Writes d + 1 entries: coordinates, then count / (d + 1), or the corner's share of u and of v.
void write_stand_ins(const Moments& moments, std::size_t d, bool weighted, float* out) {
    double L[3][3] = {}, tilt[2][3] = {};
    factor(moments, d, L);
    for (int w = 0; w < 2 && weighted; ++w) {  // L tilt = first moment
        for (std::size_t c = 0; c < d; ++c) {
            double rest = moments.first[w][c];
            for (std::size_t e = 0; e < c; ++e) rest -= L[c][e] * tilt[w][e];
            tilt[w][c] = L[c][c] > 0 ? rest / L[c][c] : 0;
        }
    }
    const double share = 1.0 / static_cast<double>(d + 1);
    for (std::size_t corner = 0; corner <= d; ++corner) {
        const double* t = kCorners[d - 1][corner];
        for (std::size_t c = 0; c < d; ++c) {
            double at = moments.mean[c];
            for (std::size_t e = 0; e <= c; ++e) at += L[c][e] * t[e];
            *out++ = static_cast<float>(at);
        }
        if (!weighted) *out++ = static_cast<float>(moments.count * share);
        for (int w = 0; w < 2 && weighted; ++w) {
            double weight = moments.sum[w];
            for (std::size_t e = 0; e < d; ++e) weight += tilt[w][e] * t[e];
            *out++ = static_cast<float>(weight * share);
        }
    }
}

}  // namespace

void Tree::summarize(std::size_t d, std::span<const float> u, std::span<const float> v, const Context& context) {
    const bool weighted = !u.empty();
    const std::vector<PointTree::Point>& points = tree_.points();
    if (weighted) {
        u_.resize(points.size());
        v_.resize(points.size());
        parallel_blocks(points.size(), kPointsPerBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            for (std::size_t i = begin; i < end; ++i) {
                u_[i] = u[points[i].index];
                v_[i] = v[points[i].index];
            }
        });
    }
    const std::vector<PointTree::Node>& nodes = tree_.nodes();
    std::vector<Moments> moments(nodes.size());
    const std::size_t size = (d + 1) * (d + (weighted ? 2 : 1));
    entries_.resize(nodes.size() * size);
    const auto& levels = tree_.levels();
    for (std::size_t level = levels.size() - 1; level-- > 0;) {
        const std::size_t first = levels[level];
        parallel_blocks(levels[level + 1] - first, kNodesPerTask, context,
                        [&](std::size_t begin, std::size_t end, std::size_t) {
                            for (std::size_t i = first + begin; i < first + end; ++i) {
                                if (nodes[i].child != 0) {
                                    moments[i] = moments[nodes[i].child];
                                    add(moments[nodes[i].child + 1], moments[i]);
                                } else {
                                    for (std::uint32_t j = nodes[i].begin; j < nodes[i].end; ++j) {
                                        Moments one;
                                        one.count = 1;
                                        for (int c = 0; c < 3; ++c) one.mean[c] = points[j].at[c];
                                        if (weighted) {
                                            one.sum[0] = u_[j];
                                            one.sum[1] = v_[j];
                                        }
                                        add(one, moments[i]);
                                    }
                                }
                                write_stand_ins(moments[i], d, weighted, entries_.data() + i * size);
                            }
                        });
    }
}

}  // namespace gnomon
