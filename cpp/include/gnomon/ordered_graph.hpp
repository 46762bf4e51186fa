// The edges of a graph in the order of a map: points that are near in it lie near in memory, where the edges of the one
// have just read what those of the next one read.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gnomon/edge_sums.hpp"

namespace gnomon {

/// A copy of edges. The order of points is that of a map; that of the edges of a point is kept, and with it all bits.
class OrderedGraph {
public:
    /// Y: (n, d).
    OrderedGraph(const CsrView<float>& edges, Span2<const float> Y, const Context& context);

    std::size_t n() const { return order_.size(); }

    /// As edge_sums of the edges that were copied; base has n rows or none, out has n.
    void sums(PairLaw law, const OutputKernel& kernel, Span2<const float> Y, float scale, Span2<const float> base,
              float base_scale, Span2<float> out, const Context& context) const;

private:
    std::vector<std::int32_t> order_;
    std::vector<std::int64_t> offsets_;
    std::unique_ptr<std::int32_t[]> columns_;
    std::unique_ptr<float[]> values_;
};

}  // namespace gnomon
