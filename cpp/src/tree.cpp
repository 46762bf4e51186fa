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
    /// push: -F'(k) k'(s).
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
        // 1 - k without cancellation: push = slope / (1 - k). Where k is small, a series keeps all its digits.
        const f32 deficit = simd::select(k > 0.5F, slope / push, 1.0F - k);
        const f32 series = k * (1.0F + k * (0.5F + k * (0.333333333F + k * 0.25F)));
        const f32 log = simd::select(k < 0.03125F, series, -0.693147181F * simd::log2(deficit));
        energy = log + push * (held - s);
    }
};

template <class Body>
GNOMON_INLINE void with_law(TreeLaw law, const OutputKernel& kernel, Body&& body) {
    with_kernel(kernel, [&](auto k) GNOMON_INLINE_LAMBDA {
        using Kernel = decltype(k);
        if (law == TreeLaw::value)
            body(Value<Kernel>{k});
        else
            body(LogDeficit<Kernel>{k});
    });
}

/// What a group of points sees: entries of d coordinates and one weight, or two weights (u, v).
struct Visible {
    std::vector<float> entries;
    std::vector<std::uint32_t> waiting;
};

struct Sources {
    const PointTree& tree;
    const float* stand_ins;
    const float *u, *v;  // in the order of the tree, or null
    float theta;
};

template <int D, bool kWeighted>
inline constexpr std::size_t kEntry = D + (kWeighted ? 2 : 1);

template <int D, bool kWeighted>
GNOMON_INLINE float* write_point(const Sources& from, std::uint32_t i, float* out) {
    const PointTree::Point& point = from.tree.points()[i];
    for (int c = 0; c < D; ++c) out[c] = point.at[c];
    if constexpr (kWeighted) {
        out[D] = from.u[i];
        out[D + 1] = from.v[i];
    } else {
        out[D] = 1.0F;
    }
    return out + kEntry<D, kWeighted>;
}

/// Lists what a group sees of all points but its own.
template <int D, bool kWeighted>
void look_around(const Sources& from, const PointTree::Node& group, Visible& seen) {
    constexpr std::size_t stride = kEntry<D, kWeighted>, n_stand_ins = D + 1;
    const std::vector<PointTree::Node>& nodes = from.tree.nodes();
    const float squared_theta = from.theta * from.theta;
    std::size_t size = 0;
    seen.waiting.assign(1, 0);
    while (!seen.waiting.empty()) {
        const std::uint32_t number = seen.waiting.back();
        seen.waiting.pop_back();
        const PointTree::Node& node = nodes[number];
        const bool apart = node.end <= group.begin || node.begin >= group.end;
        if (!apart && node.begin >= group.begin && node.end <= group.end) continue;
        if (seen.entries.size() < size + PointTree::kLeaf * stride) seen.entries.resize(2 * size + 64 * stride);
        float squared = 0;
        for (int c = 0; c < D; ++c) {
            const float gap = std::max(std::max(node.low[c] - group.high[c], group.low[c] - node.high[c]), 0.0F);
            squared += gap * gap;
        }
        const std::uint32_t n = node.end - node.begin;
        if (n > n_stand_ins && apart && (node.width * node.width < squared_theta * squared || node.width == 0)) {
            std::copy_n(from.stand_ins + number * n_stand_ins * stride, n_stand_ins * stride,
                        seen.entries.data() + size);
            size += n_stand_ins * stride;
        } else if (node.child != 0) {
            seen.waiting.push_back(node.child + 1);
            seen.waiting.push_back(node.child);
        } else {
            float* out = seen.entries.data() + size;
            for (std::uint32_t i = node.begin; i < node.end; ++i) out = write_point<D, kWeighted>(from, i, out);
            size += n * stride;
        }
    }
    seen.entries.resize(size);
}

/// Sixteen points of a group.
template <int D>
struct Lanes {
    f32 at[D], u, v;
    double force[D][simd::kLanes] = {}, energy[simd::kLanes] = {};
};

/// Adds `n` entries; entry own + l is not counted for lane l.
template <int D, bool kWeighted, bool kOwn, class Law>
GNOMON_INLINE void add_entries(const Law& law, const float* entry, std::size_t n, Lanes<D>& lanes, std::size_t own) {
    constexpr std::size_t stride = kEntry<D, kWeighted>;
    for (std::size_t begin = 0; begin < n; begin += kBlock) {
        const std::size_t end = std::min(n, begin + kBlock);
        f32 force[D] = {}, energy{};
        for (std::size_t j = begin; j < end; ++j, entry += stride) {
            f32 away[D], squared{}, push, term;
            for (int c = 0; c < D; ++c) {
                away[c] = lanes.at[c] - entry[c];
                squared += away[c] * away[c];
            }
            law(squared, push, term);
            if constexpr (kWeighted) {
                const f32 weight = lanes.u * entry[D + 1] + lanes.v * entry[D];
                push *= weight;
                term *= weight;
            } else {
                push *= entry[D];
                term *= entry[D];
            }
            if constexpr (kOwn) {  // the force on itself is 0 through `away`
                if (j - own < simd::kLanes) {
                    term = simd::select(simd::lane_index() == static_cast<std::int32_t>(j - own), f32{}, term);
                }
            }
            energy += term;
            for (int c = 0; c < D; ++c) force[c] += push * away[c];
        }
        for (int c = 0; c < D; ++c)
            for (int l = 0; l < simd::kLanes; ++l) lanes.force[c][l] += static_cast<double>(force[c][l]);
        for (int l = 0; l < simd::kLanes; ++l) lanes.energy[l] += static_cast<double>(energy[l]);
    }
}

/// The sums of one group; returns its energy.
template <int D, bool kWeighted, class Law>
GNOMON_INLINE double sum_group(const Law& law, const Sources& from, const PointTree::Node& group,
                               const std::vector<float>& seen, Span2<float> out) {
    constexpr std::size_t stride = kEntry<D, kWeighted>;
    const std::size_t n = group.end - group.begin;
    float own[PointTree::kGroup * stride];
    float* next = own;
    for (std::uint32_t i = group.begin; i < group.end; ++i) next = write_point<D, kWeighted>(from, i, next);
    double total = 0;
    for (std::size_t first = 0; first < n; first += simd::kLanes) {
        const std::size_t used = std::min<std::size_t>(simd::kLanes, n - first);
        Lanes<D> lanes;
        for (std::size_t l = 0; l < simd::kLanes; ++l) {
            const float* point = own + (first + std::min(l, used - 1)) * stride;
            for (int c = 0; c < D; ++c) lanes.at[c][l] = point[c];
            lanes.u[l] = kWeighted ? point[D] : 0.0F;
            lanes.v[l] = kWeighted ? point[D + 1] : 0.0F;
        }
        add_entries<D, kWeighted, true>(law, own, n, lanes, first);
        add_entries<D, kWeighted, false>(law, seen.data(), seen.size() / stride, lanes, 0);
        for (std::size_t l = 0; l < used; ++l) {
            const std::size_t i = from.tree.points()[group.begin + first + l].index;
            for (int c = 0; c < D; ++c) out(i, c) = static_cast<float>(-lanes.force[c][l]);
            total += lanes.energy[l];
        }
    }
    return total;
}

template <int D, bool kWeighted>
GNOMON_CLONES double group_sums(TreeLaw law, const OutputKernel& kernel, const Sources& from, std::size_t group,
                                Visible& seen, Span2<float> out) {
    const PointTree::Node& node = from.tree.nodes()[from.tree.groups()[group]];
    look_around<D, kWeighted>(from, node, seen);
    double energy = 0;
    with_law(law, kernel, [&](auto pair) GNOMON_INLINE_LAMBDA {
        energy = sum_group<D, kWeighted>(pair, from, node, seen.entries, out);
    });
    return energy;
}

template <int D, bool kWeighted>
double all_groups(TreeLaw law, const OutputKernel& kernel, const Sources& from, Span2<float> out,
                  const Context& context) {
    std::vector<double> partial(from.tree.groups().size());
    std::vector<Visible> seen(static_cast<std::size_t>(context.n_threads));
    parallel_for(partial.size(), context, [&](std::size_t group, std::size_t worker) {
        partial[group] = group_sums<D, kWeighted>(law, kernel, from, group, seen[worker], out);
    });
    double total = 0;
    for (const double part : partial) total += part;
    return total;
}

}  // namespace

Tree::Tree(float theta) : theta_(theta) {
    if (!(theta >= 0 && theta <= 2)) throw std::invalid_argument("theta must be in [0, 2]");
}

double Tree::evaluate(TreeLaw law, Span2<const float> Y, std::span<const float> u, std::span<const float> v,
                      const OutputKernel& kernel, Span2<float> force, const Context& context) {
    const std::size_t n = Y.rows(), d = Y.cols();
    if (d < 1 || d > 3) throw std::invalid_argument("a tree has one, two or three dimensions");
    if (u.size() != v.size() || (!u.empty() && u.size() != n))
        throw std::invalid_argument("u and v must have n values");
    if (n == 0) return 0;
    if (!tree_.build(Y, context)) {
        std::fill_n(force.data(), force.size(), std::numeric_limits<float>::quiet_NaN());
        return std::numeric_limits<double>::quiet_NaN();
    }
    summarize(d, u, v, context);
    const bool weighted = !u.empty();
    const Sources from{tree_, entries_.data(), weighted ? u_.data() : nullptr, weighted ? v_.data() : nullptr, theta_};
    double energy = 0;
    const auto run = [&](auto components, auto with_weights) {
        energy =
            all_groups<decltype(components)::value, decltype(with_weights)::value>(law, kernel, from, force, context);
    };
    const auto run_for = [&](auto components) {
        if (weighted)
            run(components, std::true_type{});
        else
            run(components, std::false_type{});
    };
    if (d == 1) run_for(std::integral_constant<int, 1>{});
    if (d == 2) run_for(std::integral_constant<int, 2>{});
    if (d == 3) run_for(std::integral_constant<int, 3>{});
    return energy;
}

}  // namespace gnomon
