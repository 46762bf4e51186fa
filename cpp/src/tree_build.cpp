// The tree of boxes: a tight box is halved across its longest side until few points are left. Boxes shrink to their
// points before they are halved, so outliers and points that lie close together make the tree deeper by little, and
// its depth is bounded by the number of floats. Each level is divided by all threads, each node by one.
#include <algorithm>
#include <cmath>

#include "gnomon/point_tree.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kPointsPerBlock = 4096;
constexpr std::size_t kTasksPerLevel = 64;
constexpr float kFarthest = 1e18F;  // squares of sums of a few of these are finite

using f32x4 = float __attribute__((vector_size(16)));

void set_box(const PointTree::Point* points, PointTree::Node& node) {
    static_assert(sizeof(PointTree::Point) == sizeof(f32x4));
    f32x4 low = simd::load_as<f32x4>(points + node.begin), high = low;
    for (std::uint32_t i = node.begin + 1; i < node.end; ++i) {
        const f32x4 point = simd::load_as<f32x4>(points + i);  // the index, in the last lane, is not used
        low = point < low ? point : low;
        high = point > high ? point : high;
    }
    node.width = 0;
    for (int c = 0; c < 3; ++c) {
        node.low[c] = low[c];
        node.high[c] = high[c];
        node.width = std::max(node.width, high[c] - low[c]);
    }
}

/// Moves the points at or below `middle` to the front, both parts in their order; returns how many they are.
std::uint32_t partition(PointTree::Point* points, PointTree::Point* scratch, std::uint32_t n, int axis, float middle) {
    std::uint32_t n_left = 0, n_right = 0;
    for (std::uint32_t i = 0; i < n; ++i) {  // no branches: each point is written to both sides, one of which advances
        const PointTree::Point point = points[i];
        const bool left = point.at[axis] <= middle;
        points[n_left] = point;
        scratch[n_right] = point;
        n_left += left;
        n_right += !left;
    }
    std::copy_n(scratch, n_right, points + n_left);
    return n_left;
}

bool is_divided(const PointTree::Node& node) { return node.end - node.begin > PointTree::kLeaf; }

}  // namespace

void PointTree::split(std::uint32_t number) {
    const Node node = nodes_[number];
    std::uint32_t middle = node.begin + (node.end - node.begin) / 2;  // for points that coincide
    if (node.width > 0) {
        int axis = 0;
        while (node.high[axis] - node.low[axis] < node.width) ++axis;
        float cut = 0.5F * node.low[axis] + 0.5F * node.high[axis];
        if (!(cut < node.high[axis])) cut = node.low[axis];  // neighbouring floats: the middle was rounded up
        middle = node.begin +
                 partition(points_.data() + node.begin, right_.data() + node.begin, node.end - node.begin, axis, cut);
    }
    Node& left = nodes_[node.child];
    Node& right = nodes_[node.child + 1];
    left.begin = node.begin;
    left.end = right.begin = middle;
    right.end = node.end;
    set_box(points_.data(), left);
    set_box(points_.data(), right);
    left.child = right.child = 0;
}

bool PointTree::build(Span2<const float> Y, const Context& context) {
    const std::size_t n = Y.rows();
    components_ = Y.cols();
    points_.resize(n);
    right_.resize(n);
    std::vector<char> finite((n + kPointsPerBlock - 1) / kPointsPerBlock, true);
    parallel_blocks(n, kPointsPerBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i) {
            Point point{{0, 0, 0}, static_cast<std::uint32_t>(i)};
            for (std::size_t c = 0; c < Y.cols(); ++c) {
                point.at[c] = Y(i, c);
                if (!(std::fabs(point.at[c]) < kFarthest)) finite[begin / kPointsPerBlock] = false;
            }
            points_[i] = point;
        }
    });
    if (std::find(finite.begin(), finite.end(), false) != finite.end()) return false;

    nodes_.assign(1, Node{});
    nodes_[0].end = static_cast<std::uint32_t>(n);
    set_box(points_.data(), nodes_[0]);
    levels_.assign(1, 0);
    for (std::size_t first = 0; first < nodes_.size();) {
        const std::size_t last = nodes_.size();
        levels_.push_back(static_cast<std::uint32_t>(last));
        std::size_t next = last;
        for (std::size_t i = first; i < last; ++i) {
            if (!is_divided(nodes_[i])) continue;
            nodes_[i].child = static_cast<std::uint32_t>(next);
            next += 2;
        }
        nodes_.resize(next);
        parallel_blocks(last - first, (last - first + kTasksPerLevel - 1) / kTasksPerLevel, context,
                        [&](std::size_t begin, std::size_t end, std::size_t) {
                            for (std::size_t i = first + begin; i < first + end; ++i) {
                                if (nodes_[i].child != 0) split(static_cast<std::uint32_t>(i));
                            }
                        });
        first = last;
    }
    find_groups();
    return true;
}

void PointTree::find_groups() {
    groups_.clear();
    std::vector<std::uint32_t> waiting{0};
    while (!waiting.empty()) {
        const std::uint32_t i = waiting.back();
        waiting.pop_back();
        if (nodes_[i].end - nodes_[i].begin <= kGroup) {
            groups_.push_back(i);
        } else {
            waiting.push_back(nodes_[i].child + 1);
            waiting.push_back(nodes_[i].child);
        }
    }
}

}  // namespace gnomon
