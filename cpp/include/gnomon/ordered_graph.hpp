// The edges of a graph in the order of a map in the plane: points that are near in it are worked on together, and those
// at the ends of their edges lie side by side, where the cache holds them all.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// The attraction of t-SNE, edge_sums of the law log and the Cauchy kernel, of so many points that no cache holds them.
/// Weights are read where they are; of their columns it keeps two bytes for each edge.
class OrderedGraph {
public:
    static constexpr std::size_t kMostEdges = 65535;  ///< of a point

    /// Edges of the point that has most.
    static std::size_t longest_row(const CsrView<float>& edges);

    /// Y: (n, 2). The edges must live as long.
    OrderedGraph(const CsrView<float>& edges, Span2<const float> Y, const Context& context);

    std::size_t n() const { return rows_.size(); }

    /// The bits of edge_sums; base has n rows or none, out has n.
    void cauchy_sums(Span2<const float> Y, float scale, Span2<const float> base, float base_scale, Span2<float> out,
                     const Context& context) const;

    /// A point and where its edges are.
    struct Row {
        std::int64_t edge;
        std::int32_t degree, point;
    };

private:
    /// Some points that follow each other in the order, and the other points at the ends of their edges. In it points
    /// are numbered anew: first its own, then the others.
    struct Part {
        std::size_t begin, end;            ///< places of its own points
        std::size_t edge;                  ///< the first of theirs: so many have all points before them
        std::vector<std::int32_t> others;  ///< places
    };
    class Numbering;

    void divide();

    CsrView<float> edges_;
    std::vector<Row> rows_;  ///< at each place
    std::vector<Part> parts_;
    std::unique_ptr<std::uint16_t[]> ends_;  ///< of all edges, one part after the other
};

}  // namespace gnomon
