// What stands in for the points of a box: d + 1 points on the corners of a simplex that have the count, the mean and
// the covariance of the points. So the error of a far box is of third order in its width over its distance, whatever
// the kernel: nothing but k and k' at points is ever asked for (pseudo-particles in the sense of Makino, J. Comput.
// Phys. 151, 1999). Weights u and v are spread over the corners so that their sums and means are right, too.
#include <algorithm>
#include <cmath>

#include "gnomon/point_tree.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kNodesPerBlock = 256;
constexpr std::size_t kPointsPerBlock = 4096;
constexpr double kFlat = 1e-9;  // a variance below this share of the largest is rounding: the points lie in a plane

/// Corners of simplices around 0 whose covariance is the identity.
constexpr double kRoot2 = 1.4142135623730951, kRoot3Halves = 1.2247448713915890;
constexpr double kCorners[3][4][3] = {
    {{1, 0, 0}, {-1, 0, 0}},
    {{kRoot2, 0, 0}, {-kRoot2 / 2, kRoot3Halves, 0}, {-kRoot2 / 2, -kRoot3Halves, 0}},
    {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}},
};

/// Sums over points y with weights u, v.
struct Moments {
    double count = 0, mean[3] = {};
    double scatter[3][3] = {};               // about the mean; lower triangle
    double weight[2] = {}, tilt[2][3] = {};  // sums of u, v and of u (y - mean), v (y - mean)
};

Moments moments_of(const float* entry, std::size_t d) {
    Moments one;
    one.count = 1;
    for (std::size_t c = 0; c < d; ++c) one.mean[c] = entry[c];
    one.weight[0] = entry[d];
    one.weight[1] = entry[d + 1];
    return one;
}

void add(const Moments& other, std::size_t d, Moments& to) {
    const double count = to.count + other.count, share = other.count / count;
    double away[3];
    for (std::size_t c = 0; c < d; ++c) away[c] = other.mean[c] - to.mean[c];
    for (std::size_t c = 0; c < d; ++c) {
        for (std::size_t e = 0; e <= c; ++e)
            to.scatter[c][e] += other.scatter[c][e] + to.count * share * away[c] * away[e];
        for (int w = 0; w < 2; ++w) {
            to.tilt[w][c] += other.tilt[w][c] + (other.weight[w] * (1 - share) - to.weight[w] * share) * away[c];
        }
        to.mean[c] += share * away[c];
    }
    for (int w = 0; w < 2; ++w) to.weight[w] += other.weight[w];
    to.count = count;
}

/// Lower triangular L with L L' = covariance; columns of directions without extent are 0.
void factor(const Moments& moments, std::size_t d, double (&L)[3][3]) {
    double largest = 0;
    for (std::size_t c = 0; c < d; ++c) largest = std::max(largest, moments.scatter[c][c] / moments.count);
    for (std::size_t e = 0; e < d; ++e) {
        for (std::size_t c = e; c < d; ++c) {
            double rest = moments.scatter[c][e] / moments.count;
            for (std::size_t k = 0; k < e; ++k) rest -= L[c][k] * L[e][k];
            if (c == e) {
                L[e][e] = rest > kFlat * largest ? std::sqrt(rest) : 0;
            } else {
                L[c][e] = L[e][e] > 0 ? rest / L[e][e] : 0;
            }
        }
    }
}

/// Writes d + 1 entries.
void write_stand_ins(const Moments& moments, std::size_t d, float* out) {
    double L[3][3] = {}, slope[2][3] = {};
    factor(moments, d, L);
    for (int w = 0; w < 2; ++w) {  // weights that rise by `slope` along the simplex have the tilt L slope
        for (std::size_t c = 0; c < d; ++c) {
            double rest = moments.tilt[w][c];
            for (std::size_t e = 0; e < c; ++e) rest -= L[c][e] * slope[w][e];
            slope[w][c] = L[c][c] > 0 ? rest / L[c][c] : 0;
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
        for (int w = 0; w < 2; ++w) {
            double weight = moments.weight[w];
            for (std::size_t e = 0; e < d; ++e) weight += slope[w][e] * t[e];
            *out++ = static_cast<float>(weight * share);
        }
    }
}

}  // namespace

void PointTree::summarize(std::span<const float> u, std::span<const float> v, const Context& context) {
    const std::size_t d = components_, step = stride();
    entries_.resize(points_.size() * step);
    parallel_blocks(points_.size(), kPointsPerBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i) {
            float* entry = entries_.data() + i * step;
            std::copy_n(points_[i].at, d, entry);
            entry[d] = u.empty() ? 1.0F : u[points_[i].index];
            entry[d + 1] = v.empty() ? 0.5F : v[points_[i].index];
        }
    });
    std::vector<Moments> moments(nodes_.size());
    stand_ins_.resize(nodes_.size() * (d + 1) * step);
    for (std::size_t level = levels_.size() - 1; level-- > 0;) {  // children before their parents
        const std::size_t first = levels_[level];
        parallel_blocks(levels_[level + 1] - first, kNodesPerBlock, context,
                        [&](std::size_t begin, std::size_t end, std::size_t) {
                            for (std::size_t i = first + begin; i < first + end; ++i) {
                                const Node& node = nodes_[i];
                                if (node.child != 0) {
                                    moments[i] = moments[node.child];
                                    add(moments[node.child + 1], d, moments[i]);
                                } else {
                                    for (std::uint32_t j = node.begin; j < node.end; ++j) {
                                        add(moments_of(entries_.data() + j * step, d), d, moments[i]);
                                    }
                                }
                                write_stand_ins(moments[i], d, stand_ins_.data() + i * (d + 1) * step);
                            }
                        });
    }
}

}  // namespace gnomon
