// A binary tree of boxes over points in one, two or three dimensions, and what stands in for the points of each box
// when it is seen from afar.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

class PointTree {
public:
    static constexpr std::size_t kLeaf = 16;    ///< most points of a box that is not divided further
    static constexpr std::size_t kGroup = 128;  ///< most points that share a list of what they see

    struct Point {
        float at[3];  ///< 0 beyond the number of components
        std::uint32_t index;
    };
    /// A tight box around the points [begin, end); its two halves are nodes child and child + 1, or child is 0.
    struct Node {
        float low[3], high[3];
        float width;  ///< the longest side
        std::uint32_t begin, end, child;
    };

    /// Sorts the points of Y (n, d) into boxes; depends on Y alone. False if a point is not finite, or so far out that
    /// squares overflow.
    bool build(Span2<const float> Y, const Context& context);

    /// Sets the entries of points and stand-ins for weights u, v (n), or u = 1 and v = 1 / 2 where they are empty.
    void summarize(std::span<const float> u, std::span<const float> v, const Context& context);

    std::size_t components() const { return components_; }
    const std::vector<Point>& points() const { return points_; }          ///< in the order of the tree
    const std::vector<Node>& nodes() const { return nodes_; }             ///< level by level, children side by side
    const std::vector<std::uint32_t>& groups() const { return groups_; }  ///< nodes that part the points into groups

    /// An entry is d coordinates, u and v. Points have one each, nodes d + 1.
    std::size_t stride() const { return components_ + 2; }
    const float* entries() const { return entries_.data(); }
    const float* stand_ins() const { return stand_ins_.data(); }

private:
    void split(std::uint32_t node);
    void find_groups();

    std::size_t components_ = 0;
    std::vector<Point> points_, right_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> levels_, groups_;  // levels_: the first node of each level, and the end
    std::vector<float> entries_, stand_ins_;
};

}  // namespace gnomon
