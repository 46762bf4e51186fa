#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/tree.cpp"
#include "gnomon/tree.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "gnomon/pair_laws.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kTile = 64;  // entries whose squared distances to sixteen points are held at once

/// What is summed over pairs, and where to.
struct Pairs {
    PairLaw law;
    const OutputKernel& kernel;
    bool with_energy;
    Span2<float> force;
};

/// The entries that a group of points sees, d coordinates and the weights u, v each: first its own points.
struct View {
    std::vector<float> entries;
    std::size_t size = 0;  // floats of `entries` in use; the rest is kept for the next group
    std::vector<std::uint32_t> waiting;

    float* extend(std::size_t by) {
        if (entries.size() < size + by) entries.resize(2 * size + by);
        float* end = entries.data() + size;
        size += by;
        return end;
    }
};

/// Lists what a group of points sees. A tree is walked from left to right with a stack of its depth.
void look_around(const PointTree& tree, const PointTree::Node& group, float theta, View& view) {
    const std::vector<PointTree::Node>& nodes = tree.nodes();
    const std::size_t stride = tree.stride(), stand_ins = tree.components() + 1;
    const auto copy_points = [&](const PointTree::Node& node) {
        std::copy_n(tree.entries() + node.begin * stride, (node.end - node.begin) * stride,
                    view.extend((node.end - node.begin) * stride));
    };
    view.size = 0;
    copy_points(group);
    view.waiting.assign(1, 0);
    while (!view.waiting.empty()) {
        const std::uint32_t number = view.waiting.back();
        view.waiting.pop_back();
        const PointTree::Node& node = nodes[number];
        if (node.begin == group.begin && node.end == group.end) continue;
        const bool apart = node.end <= group.begin || node.begin >= group.end;
        float distance = 0;  // squared, between the boxes
        for (int c = 0; c < 3; ++c) {
            const float gap = std::max(std::max(node.low[c] - group.high[c], group.low[c] - node.high[c]), 0.0F);
            distance += gap * gap;
        }
        // A cell without extent is exact at any distance.
        const bool far = apart && (node.width == 0 || node.width * node.width < theta * theta * distance);
        if (far && node.end - node.begin > stand_ins) {
            std::copy_n(tree.stand_ins() + number * stand_ins * stride, stand_ins * stride,
                        view.extend(stand_ins * stride));
        } else if (node.child != 0) {
            view.waiting.push_back(node.child + 1);
            view.waiting.push_back(node.child);
        } else {
            copy_points(node);
        }
    }
}

/// Distances, slopes and energies of sixteen points and the entries of a tile.
struct Tile {
    alignas(64) float squared[kTile * simd::kLanes], slopes[kTile * simd::kLanes], energies[kTile * simd::kLanes];
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(group_sums);

}  // namespace

Tree::Tree(float theta) : theta_(theta) {
    if (!(theta >= 0 && theta <= 2)) throw std::invalid_argument("theta must be in [0, 2]");
}

double Tree::evaluate(PairLaw law, Span2<const float> Y, std::span<const float> u, std::span<const float> v,
                      const OutputKernel& kernel, bool with_energy, Span2<float> force, const Context& context) {
    const std::size_t n = Y.rows();
    if (Y.cols() < 1 || Y.cols() > 3) throw std::invalid_argument("a tree has one, two or three dimensions");
    if (u.size() != v.size() || (!u.empty() && u.size() != n)) {
        throw std::invalid_argument("u and v must have n values, or none");
    }
    if (n == 0) return 0;
    if (!tree_.build(Y, context)) {
        std::fill_n(force.data(), force.size(), std::numeric_limits<float>::quiet_NaN());
        return std::numeric_limits<double>::quiet_NaN();
    }
    tree_.summarize(u, v, context);
    const std::vector<std::uint32_t>& groups = tree_.groups();
    const Pairs pairs{law, kernel, with_energy, force};
    std::vector<View> views(static_cast<std::size_t>(context.n_threads));
    return parallel_sum(groups.size(), context, [&](std::size_t g, std::size_t worker) {
        const PointTree::Node& group = tree_.nodes()[groups[g]];
        look_around(tree_, group, theta_, views[worker]);
        return group_sums(pairs, views[worker], {tree_.points().data() + group.begin, group.end - group.begin});
    });
}

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;

/// Sixteen points of a group.
template <int D>
struct Lanes {
    f32 at[D], u, v;
    double force[D][simd::kLanes] = {}, energy[simd::kLanes] = {};
};

template <int D>
GNOMON_INLINE void measure(const Lanes<D>& lanes, const float* entry, std::size_t count, Tile& tile) {
    for (std::size_t j = 0; j < count; ++j, entry += D + 2) {
        f32 squared{};
        for (int c = 0; c < D; ++c) {
            const f32 away = lanes.at[c] - entry[c];
            squared += away * away;
        }
        simd::store(tile.squared + j * simd::kLanes, squared);
    }
}

/// Adds a tile: lanes in float32, the tile's sum in double.
template <int D>
GNOMON_INLINE void add_tile(const Tile& tile, bool with_energy, const float* entry, std::size_t count,
                            Lanes<D>& lanes) {
    f32 force[D] = {}, energy{};
    for (std::size_t j = 0; j < count; ++j, entry += D + 2) {
        const f32 weight = lanes.u * entry[D + 1] + lanes.v * entry[D];
        const f32 slope = weight * simd::load(tile.slopes + j * simd::kLanes);
        for (int c = 0; c < D; ++c) force[c] += slope * (lanes.at[c] - entry[c]);
        if (with_energy) energy += weight * simd::load(tile.energies + j * simd::kLanes);
    }
    float part[simd::kLanes];
    const auto add = [&](f32 sum, double* total) GNOMON_INLINE_LAMBDA {
        simd::store(part, sum);
        for (int l = 0; l < simd::kLanes; ++l) total[l] += static_cast<double>(part[l]);
    };
    for (int c = 0; c < D; ++c) add(force[c], lanes.force[c]);
    add(energy, lanes.energy);
}

/// The sums of one group, whose points are the first entries of the view; returns its energy.
template <int D>
GNOMON_INLINE double sum_group(const Pairs& pairs, const View& view, std::span<const PointTree::Point> group) {
    constexpr std::size_t stride = D + 2;
    const std::size_t n = view.size / stride;
    Tile tile;
    double total = 0;
    for (std::size_t first = 0; first < group.size(); first += simd::kLanes) {
        const std::size_t used = std::min<std::size_t>(simd::kLanes, group.size() - first);
        Lanes<D> lanes;
        const auto number = [&](std::size_t c) GNOMON_INLINE_LAMBDA {
            return simd::from_lanes([&](int l) GNOMON_INLINE_LAMBDA {
                const std::size_t at = first + std::min(static_cast<std::size_t>(l), used - 1);
                return view.entries[at * stride + c];
            });
        };
        for (int c = 0; c < D; ++c) lanes.at[c] = number(static_cast<std::size_t>(c));
        lanes.u = number(D);
        lanes.v = number(D + 1);
        for (std::size_t begin = 0; begin < n; begin += kTile) {
            const std::size_t count = std::min(kTile, n - begin);
            const float* entries = view.entries.data() + begin * stride;
            measure(lanes, entries, count, tile);
            evaluate_law(pairs.law, pairs.kernel, tile.squared, count * simd::kLanes, tile.slopes,
                         pairs.with_energy ? tile.energies : nullptr);
            if (first - begin < kTile) {  // entry first + l is lane l itself
                for (std::size_t l = 0; l < used; ++l) {
                    const std::size_t itself = (first - begin + l) * simd::kLanes + l;
                    tile.slopes[itself] = tile.energies[itself] = 0.0F;
                }
            }
            add_tile(tile, pairs.with_energy, entries, count, lanes);
        }
        for (std::size_t l = 0; l < used; ++l) {
            for (int c = 0; c < D; ++c) pairs.force(group[first + l].index, c) = static_cast<float>(lanes.force[c][l]);
            total += lanes.energy[l];
        }
    }
    return total;
}

GNOMON_KERNEL double group_sums(const Pairs& pairs, const View& view, std::span<const PointTree::Point> group) {
    if (pairs.force.cols() == 1) return sum_group<1>(pairs, view, group);
    if (pairs.force.cols() == 2) return sum_group<2>(pairs, view, group);
    return sum_group<3>(pairs, view, group);
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
