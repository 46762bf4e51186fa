#include "gnomon/tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace gnomon {
namespace {

using simd::f32;

constexpr std::size_t kBlock = 1024;  // entries summed in float before they are added in double
constexpr float kStraightBelow = 1e-3F;

template <class Kernel>
struct Value {
    Kernel kernel;
    /// push = -F'(k) k'(s).
    GNOMON_INLINE void operator()(f32 s, f32& push, f32& energy) const { kernel.value_and_slope(s, energy, push); }
};

template <class Kernel>
struct LogDeficit {
    Kernel kernel;
    GNOMON_INLINE void operator()(f32 s, f32& push, f32& energy) const {
        const f32 held = simd::max(s, simd::splat(kStraightBelow));
        f32 k, slope;
        kernel.value_and_slope(held, k, slope);
        push = kernel.push(held);
        // 1 - k without cancellation: push = slope / (1 - k). Where k is small, a series keeps its digits.
        const f32 deficit = simd::select(k > 0.5F, slope / push, 1.0F - k);
        const f32 series = k * (1.0F + k * (0.5F + k * (0.333333333F + k * 0.25F)));
        const f32 log = simd::select(k < 0.03125F, series, -0.693147181F * simd::log2(deficit));
        energy = log + push * (held - s);
    }
};

template <class Body>
GNOMON_INLINE void with_law(TreeLaw law, const OutputKernel& kernel, Body&& body) {
    if (law == TreeLaw::value)
        with_kernel(kernel, [&](auto k) GNOMON_INLINE_LAMBDA { body(Value<decltype(k)>{k}); });
    else
        with_similarity(kernel, [&](auto k) GNOMON_INLINE_LAMBDA { body(LogDeficit<decltype(k)>{k}); });
}

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

/// Sixteen points of a group.
template <int D>
struct Lanes {
    f32 at[D], u, v;
    double force[D][simd::kLanes] = {}, energy[simd::kLanes] = {};
};

/// Adds all that a group sees; entry own + l is lane l itself.
template <int D, class Law>
GNOMON_INLINE void add_entries(const Law& law, const float* entry, std::size_t n, std::size_t own, Lanes<D>& lanes) {
    for (std::size_t begin = 0; begin < n; begin += kBlock) {
        f32 force[D] = {}, energy{};
        for (std::size_t j = begin; j < std::min(n, begin + kBlock); ++j, entry += D + 2) {
            f32 away[D], squared{}, push, term;
            for (int c = 0; c < D; ++c) {
                away[c] = lanes.at[c] - entry[c];
                squared += away[c] * away[c];
            }
            law(squared, push, term);
            const f32 weight = lanes.u * entry[D + 1] + lanes.v * entry[D];
            push *= weight;
            term *= weight;
            if (j - own < simd::kLanes) {  // the force on itself is 0 through `away`
                term = simd::select(simd::lane_index() == static_cast<std::int32_t>(j - own), f32{}, term);
            }
            energy += term;
            for (int c = 0; c < D; ++c) force[c] += push * away[c];
        }
        for (int c = 0; c < D; ++c)
            for (int l = 0; l < simd::kLanes; ++l) lanes.force[c][l] += static_cast<double>(force[c][l]);
        for (int l = 0; l < simd::kLanes; ++l) lanes.energy[l] += static_cast<double>(energy[l]);
    }
}

/// The sums of one group, whose points are the first entries of the view; returns its energy.
template <int D, class Law>
GNOMON_INLINE double sum_group(const Law& law, const View& view, std::span<const PointTree::Point> group,
                               Span2<float> out) {
    constexpr std::size_t stride = D + 2;
    double total = 0;
    for (std::size_t first = 0; first < group.size(); first += simd::kLanes) {
        const std::size_t used = std::min<std::size_t>(simd::kLanes, group.size() - first);
        Lanes<D> lanes;
        for (std::size_t l = 0; l < simd::kLanes; ++l) {
            const float* point = view.entries.data() + (first + std::min(l, used - 1)) * stride;
            for (int c = 0; c < D; ++c) lanes.at[c][l] = point[c];
            lanes.u[l] = point[D];
            lanes.v[l] = point[D + 1];
        }
        add_entries(law, view.entries.data(), view.size / stride, first, lanes);
        for (std::size_t l = 0; l < used; ++l) {
            for (int c = 0; c < D; ++c) out(group[first + l].index, c) = static_cast<float>(-lanes.force[c][l]);
            total += lanes.energy[l];
        }
    }
    return total;
}

GNOMON_CLONES double group_sums(TreeLaw law, const OutputKernel& kernel, const View& view,
                                std::span<const PointTree::Point> group, Span2<float> out) {
    double energy = 0;
    with_law(law, kernel, [&](auto pair) GNOMON_INLINE_LAMBDA {
        if (out.cols() == 1)
            energy = sum_group<1>(pair, view, group, out);
        else if (out.cols() == 2)
            energy = sum_group<2>(pair, view, group, out);
        else
            energy = sum_group<3>(pair, view, group, out);
    });
    return energy;
}

}  // namespace

Tree::Tree(float theta) : theta_(theta) {
    if (!(theta >= 0 && theta <= 2)) throw std::invalid_argument("theta must be in [0, 2]");
}

double Tree::evaluate(TreeLaw law, Span2<const float> Y, std::span<const float> u, std::span<const float> v,
                      const OutputKernel& kernel, Span2<float> force, const Context& context) {
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
    std::vector<double> partial(groups.size());
    std::vector<View> views(static_cast<std::size_t>(context.n_threads));
    parallel_for(groups.size(), context, [&](std::size_t g, std::size_t worker) {
        const PointTree::Node& group = tree_.nodes()[groups[g]];
        look_around(tree_, group, theta_, views[worker]);
        partial[g] = group_sums(law, kernel, views[worker],
                                {tree_.points().data() + group.begin, group.end - group.begin}, force);
    });
    double total = 0;
    for (const double part : partial) total += part;
    return total;
}

}  // namespace gnomon
