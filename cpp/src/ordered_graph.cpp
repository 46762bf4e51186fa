#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/ordered_graph.cpp"
#include "gnomon/ordered_graph.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "gnomon/edge_sums.hpp"
#include "gnomon/map_order.hpp"
#include "gnomon/point_lanes.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 1024;
constexpr std::size_t kEdges = 1 << 15, kRows = 1 << 12;  // of a part at most, but for the edges of a single point
constexpr std::size_t kAhead = 2;                         // points whose weights are asked for before they are read

/// The edges of the points of a part.
struct PartEdges {
    std::span<const OrderedGraph::Row> rows;
    const float* weights;       ///< of all edges
    const std::uint16_t* ends;  ///< of its own, one after the other
    const float* points;        ///< (n, 2)
    float scale;
    const AddedSums& added;
};

using Point = std::uint64_t;  // two numbers, copied as one

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(pull_part);

}  // namespace

/// Finds the other points of a part, in the order of the map, and numbers them.
class OrderedGraph::Numbering {
public:
    explicit Numbering(std::size_t n) : marks_((n + 63) / 64), numbers_(n) {}

    void number(const OrderedGraph& graph, std::span<const std::int32_t> place_of, Part& part) {
        places_.clear();
        for (std::size_t t = part.begin; t < part.end; ++t) {
            const auto from = graph.edges_.columns.begin() + graph.rows_[t].edge;
            std::transform(from, from + graph.rows_[t].degree, std::back_inserter(places_),
                           [&](std::int32_t column) { return place_of[static_cast<std::size_t>(column)]; });
        }
        find_others(part);
        std::transform(places_.begin(), places_.end(), graph.ends_.get() + part.edge, [&](std::int32_t place) {
            return static_cast<std::uint16_t>(numbers_[static_cast<std::size_t>(place)]);
        });
    }

private:
    void find_others(Part& part) {
        std::int32_t number = 0;
        for (std::size_t t = part.begin; t < part.end; ++t) numbers_[t] = number++;
        std::size_t low = marks_.size(), high = 0, count = 0;  // words with marks, and marks
        for (const std::int32_t place : places_) {
            const auto t = static_cast<std::size_t>(place);
            if (t >= part.begin && t < part.end) continue;
            marks_[t / 64] |= std::uint64_t{1} << (t % 64);
            low = std::min(low, t / 64);
            high = std::max(high, t / 64 + 1);
        }
        for (std::size_t w = low; w < high; ++w) count += static_cast<std::size_t>(std::popcount(marks_[w]));
        part.others.reserve(count);
        for (std::size_t w = low; w < high; ++w) {
            for (; marks_[w] != 0; marks_[w] &= marks_[w] - 1) {
                const std::size_t t = 64 * w + static_cast<std::size_t>(std::countr_zero(marks_[w]));
                part.others.push_back(static_cast<std::int32_t>(t));
                numbers_[t] = number++;
            }
        }
    }

    std::vector<std::uint64_t> marks_;
    std::vector<std::int32_t> numbers_, places_;  // by place; of each edge
};

std::size_t OrderedGraph::longest_row(const CsrView<float>& edges) {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < edges.rows(); ++i) most = std::max(most, edges.offsets[i + 1] - edges.offsets[i]);
    return static_cast<std::size_t>(most);
}

OrderedGraph::OrderedGraph(const CsrView<float>& edges, Span2<const float> Y, const Context& context)
    : edges_(edges), rows_(Y.rows()), ends_(new std::uint16_t[edges.columns.size()]) {
    std::vector<std::int32_t> place_of(n());
    {
        const std::vector<double> positions(Y.data(), Y.data() + Y.size());
        const std::vector<std::int32_t> order = map_order({positions.data(), Y.rows(), Y.cols()});
        for (std::size_t t = 0; t < n(); ++t) {
            const auto i = static_cast<std::size_t>(order[t]);
            place_of[i] = static_cast<std::int32_t>(t);
            rows_[t] = {edges.offsets[i], static_cast<std::int32_t>(edges.offsets[i + 1] - edges.offsets[i]), order[t]};
        }
    }
    divide();
    std::vector<Numbering> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)), Numbering(n()));
    parallel_for(parts_.size(), context,
                 [&](std::size_t p, std::size_t worker) { scratch[worker].number(*this, place_of, parts_[p]); });
}

/// Begins a part wherever the one before has as many edges or points as it may.
void OrderedGraph::divide() {
    std::size_t edge = 0;
    for (std::size_t t = 0; t < n(); ++t) {
        const auto degree = static_cast<std::size_t>(rows_[t].degree);
        if (parts_.empty() || edge + degree - parts_.back().edge > kEdges || t - parts_.back().begin == kRows)
            parts_.push_back({t, t, edge, {}});
        parts_.back().end = t + 1;
        edge += degree;
    }
}

void OrderedGraph::cauchy_sums(Span2<const float> Y, float scale, Span2<const float> base, float base_scale,
                               Span2<float> out, const Context& context) const {
    const std::unique_ptr<Point[]> in_order(new Point[n()]);
    parallel_blocks(n(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t t = begin; t < end; ++t)
            std::memcpy(&in_order[t], Y.row(static_cast<std::size_t>(rows_[t].point)), sizeof(Point));
    });
    const AddedSums added{base, base_scale, out};
    std::vector<std::vector<Point>> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)));
    parallel_for(parts_.size(), context, [&](std::size_t p, std::size_t worker) {
        const Part& part = parts_[p];
        const std::size_t own = part.end - part.begin;
        std::vector<Point>& points = scratch[worker];
        points.resize(own + part.others.size());
        std::copy_n(in_order.get() + part.begin, own, points.begin());
        std::transform(part.others.begin(), part.others.end(), points.begin() + static_cast<std::ptrdiff_t>(own),
                       [&](std::int32_t place) { return in_order[static_cast<std::size_t>(place)]; });
        pull_part({std::span(rows_).subspan(part.begin, own), edges_.values.data(), ends_.get() + part.edge,
                   reinterpret_cast<const float*>(points.data()), scale, added});
    });
}

}  // namespace gnomon

#else
#include "gnomon/point_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

GNOMON_KERNEL void pull_part(const PartEdges& part) {
    const std::uint16_t* ends = part.ends;
    for (std::size_t t = 0; t < part.rows.size(); ++t) {
        if (t + kAhead < part.rows.size()) {
            const OrderedGraph::Row& next = part.rows[t + kAhead];
            for (std::int32_t e = 0; e < next.degree; e += simd::kLanes)
                __builtin_prefetch(part.weights + next.edge + e);
        }
        const OrderedGraph::Row& row = part.rows[t];
        const auto i = static_cast<std::size_t>(row.point), degree = static_cast<std::size_t>(row.degree);
        float force[2];
        pull_row<2>(Cauchy{}, part.scale, part.points, 2, t, ends, part.weights + row.edge, degree, force);
        ends += degree;
        part.added.write(i, 1, 2, force);
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
