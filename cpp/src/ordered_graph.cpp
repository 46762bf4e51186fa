#include "gnomon/ordered_graph.hpp"

#include <algorithm>

#include "gnomon/map_order.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 1024;

/// body(t, i) for each place t and the point i that lies there.
template <class Body>
void for_each_point(std::span<const std::int32_t> order, const Context& context, const Body& body) {
    parallel_blocks(order.size(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t t = begin; t < end; ++t) body(t, static_cast<std::size_t>(order[t]));
    });
}

}  // namespace

OrderedGraph::OrderedGraph(const CsrView<float>& edges, Span2<const float> Y, const Context& context)
    : offsets_(edges.offsets.size()),
      columns_(new std::int32_t[edges.columns.size()]),
      values_(new float[edges.values.size()]) {
    const std::vector<double> places(Y.data(), Y.data() + Y.size());
    order_ = map_order({places.data(), Y.rows(), Y.cols()});
    std::vector<std::int32_t> place(order_.size());
    for (std::size_t t = 0; t < order_.size(); ++t) {
        const auto i = static_cast<std::size_t>(order_[t]);
        place[i] = static_cast<std::int32_t>(t);
        offsets_[t + 1] = offsets_[t] + (edges.offsets[i + 1] - edges.offsets[i]);
    }
    for_each_point(order_, context, [&](std::size_t t, std::size_t i) {
        const auto from = edges.columns.begin() + edges.offsets[i], to = edges.columns.begin() + edges.offsets[i + 1];
        std::transform(from, to, columns_.get() + offsets_[t],
                       [&](std::int32_t column) { return place[static_cast<std::size_t>(column)]; });
        std::copy(edges.values.begin() + edges.offsets[i], edges.values.begin() + edges.offsets[i + 1],
                  values_.get() + offsets_[t]);
    });
}

void OrderedGraph::sums(PairLaw law, const OutputKernel& kernel, Span2<const float> Y, float scale,
                        Span2<const float> base, float base_scale, Span2<float> out, const Context& context) const {
    const std::size_t n = order_.size(), d = Y.cols();
    const std::unique_ptr<float[]> points(new float[n * d]), forces(new float[n * d]);
    for_each_point(order_, context,
                   [&](std::size_t t, std::size_t i) { std::copy_n(Y.row(i), d, points.get() + t * d); });
    const auto n_edges = static_cast<std::size_t>(offsets_.back());
    edge_sums(law, kernel, {offsets_, {columns_.get(), n_edges}, {values_.get(), n_edges}}, {points.get(), n, d}, scale,
              {}, 0.0F, {forces.get(), n, d}, context);
    for_each_point(order_, context, [&](std::size_t t, std::size_t i) {
        const float* force = forces.get() + t * d;
        for (std::size_t c = 0; c < d; ++c)
            out(i, c) = base.rows() == 0 ? force[c] : force[c] + base_scale * base(i, c);
    });
}

}  // namespace gnomon
