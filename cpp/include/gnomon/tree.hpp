// Sums over all pairs of points in one, two or three dimensions by the method of Barnes & Hut (Nature 324, 1986): a
// group of neighbouring points sees a far cell of others as a few stand-ins.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gnomon/output_kernels.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// The law F(k) of a pair.
enum class TreeLaw {
    value,       ///< F = k
    log_deficit  ///< F = -log(1 - k), continued linearly in s below s = 1e-3
};

/// The points in the order of a binary tree of boxes, and the boxes.
class PointTree {
public:
    static constexpr std::size_t kLeaf = 8;    ///< most points of a box that is not divided further
    static constexpr std::size_t kGroup = 64;  ///< most points that share a list of what they see

    struct Point {
        float at[3];  ///< 0 beyond the number of components
        std::uint32_t index;
    };
    /// A box around the points [begin, end), tight; its two halves are nodes child and child + 1, or child is 0.
    struct Node {
        float low[3], high[3];
        float width;  ///< the longest side
        std::uint32_t begin, end, child;
    };

    /// Depends on Y alone. False if a point is not finite, or so far out that squares overflow.
    bool build(Span2<const float> Y, const Context& context);

    const std::vector<Point>& points() const { return points_; }
    const std::vector<Node>& nodes() const { return nodes_; }             ///< children after their parents
    const std::vector<std::uint32_t>& levels() const { return levels_; }  ///< first node of each level, and the end
    const std::vector<std::uint32_t>& groups() const { return groups_; }  ///< nodes that part the points into groups

private:
    void split(std::uint32_t node);
    void find_groups();

    std::vector<Point> points_, right_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> levels_, groups_;
};

/// Barnes-Hut sums. What is kept between calls is memory; results depend on the arguments alone.
class Tree {
public:
    /// A cell is summed as a whole if its width is less than theta times its distance from the group of points that
    /// it acts on, measured between their boxes; theta = 0 sums over all pairs.
    explicit Tree(float theta);

    /// force_i = sum_j w_ij F'(k_ij) k'(s_ij) (y_i - y_j), w_ij = u_i v_j + v_i u_j, or 1 where u and v are empty;
    /// returns sum over i != j of w_ij F(k_ij). Y, force: (n, d), d = 1 to 3. Points that are not finite give NaN.
    double evaluate(TreeLaw law, Span2<const float> Y, std::span<const float> u, std::span<const float> v,
                    const OutputKernel& kernel, Span2<float> force, const Context& context);

private:
    void summarize(std::size_t d, std::span<const float> u, std::span<const float> v, const Context& context);

    float theta_;
    PointTree tree_;
    std::vector<float> u_, v_;    // in the order of the tree
    std::vector<float> entries_;  // the stand-ins of each node
};

}  // namespace gnomon
