#include "gnomon/coarsening.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gnomon {
namespace {

constexpr int kMaxMerged = 7;
constexpr float kStrong = 0.3F;  // of the largest weight of the node
constexpr std::size_t kBlock = 256;

/// The neighbour with the largest weight that already belongs to an aggregate; -1 if none.
std::int32_t strongest_aggregate(const CsrView<float>& graph, std::size_t i,
                                 const std::vector<std::int32_t>& aggregate) {
    float largest = 0.0F;
    std::int32_t best = -1;
    for (std::int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
        const std::int32_t other = aggregate[graph.columns[e]];
        if (other >= 0 && graph.values[e] > largest) {
            largest = graph.values[e];
            best = other;
        }
    }
    return best;
}

/// Numbers the aggregates from 0; returns their number.
std::size_t aggregate_nodes(const CsrView<float>& graph, std::vector<std::int32_t>& aggregate) {
    const std::size_t n = graph.rows();
    aggregate.assign(n, -1);
    std::int32_t n_aggregates = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (aggregate[i] >= 0) continue;
        float largest = 0.0F;
        for (std::int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
            if (static_cast<std::size_t>(graph.columns[e]) != i) largest = std::max(largest, graph.values[e]);
        }
        int n_merged = 0;
        for (std::int64_t e = graph.offsets[i]; e < graph.offsets[i + 1] && n_merged < kMaxMerged; ++e) {
            const auto j = static_cast<std::size_t>(graph.columns[e]);
            if (j == i || aggregate[j] >= 0 || graph.values[e] < kStrong * largest) continue;
            aggregate[j] = n_aggregates;
            ++n_merged;
        }
        // A node whose strong neighbours are all taken joins one of them rather than stay alone.
        const std::int32_t joined = n_merged == 0 ? strongest_aggregate(graph, i, aggregate) : -1;
        aggregate[i] = joined >= 0 ? joined : n_aggregates++;
    }
    return static_cast<std::size_t>(n_aggregates);
}

/// Some rows of the coarse graph.
struct Rows {
    std::vector<std::int64_t> sizes;
    std::vector<std::int32_t> columns;
    std::vector<float> values;
};

/// Sums the rows of the nodes `members` [begin, end) of one aggregate; `sums` is all zero before and after.
void sum_rows(const CsrView<float>& graph, const std::vector<std::int32_t>& aggregate, const std::int32_t* begin,
              const std::int32_t* end, std::vector<float>& sums, Rows& rows) {
    const std::size_t first = rows.columns.size();
    for (const std::int32_t* node = begin; node != end; ++node) {
        for (std::int64_t e = graph.offsets[*node]; e < graph.offsets[*node + 1]; ++e) {
            if (!(graph.values[e] > 0.0F)) continue;
            const std::int32_t column = aggregate[graph.columns[e]];
            if (sums[column] == 0.0F) rows.columns.push_back(column);
            sums[column] += graph.values[e];
        }
    }
    std::sort(rows.columns.begin() + static_cast<std::ptrdiff_t>(first), rows.columns.end());
    for (std::size_t e = first; e < rows.columns.size(); ++e) {
        rows.values.push_back(sums[rows.columns[e]]);
        sums[rows.columns[e]] = 0.0F;
    }
    rows.sizes.push_back(static_cast<std::int64_t>(rows.columns.size() - first));
}

/// One matrix of all rows; each block is given back once it is copied.
CsrMatrix join(std::vector<Rows>& blocks, const Context& context) {
    CsrMatrix matrix;
    matrix.offsets.push_back(0);
    for (const Rows& rows : blocks)
        for (const std::int64_t size : rows.sizes) matrix.offsets.push_back(matrix.offsets.back() + size);
    matrix.columns.resize(static_cast<std::size_t>(matrix.offsets.back()));
    matrix.values.resize(matrix.columns.size());
    parallel_for(blocks.size(), context, [&](std::size_t b, std::size_t) {
        const Rows rows = std::move(blocks[b]);
        const std::int64_t first = matrix.offsets[b * kBlock];
        std::copy(rows.columns.begin(), rows.columns.end(), matrix.columns.begin() + first);
        std::copy(rows.values.begin(), rows.values.end(), matrix.values.begin() + first);
    });
    return matrix;
}

}  // namespace

Coarsening coarsen(const CsrView<float>& graph, const Context& context) {
    Coarsening result;
    const std::size_t n = graph.rows(), n_coarse = aggregate_nodes(graph, result.aggregate);
    std::vector<std::int32_t> begin(n_coarse + 1), members(n);
    for (const std::int32_t a : result.aggregate) ++begin[a + 1];
    for (std::size_t a = 0; a < n_coarse; ++a) begin[a + 1] += begin[a];
    std::vector<std::int32_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t i = 0; i < n; ++i) members[next[result.aggregate[i]]++] = static_cast<std::int32_t>(i);

    std::vector<Rows> blocks((n_coarse + kBlock - 1) / kBlock);
    std::vector<std::vector<float>> sums(static_cast<std::size_t>(std::max(context.n_threads, 1)));
    parallel_blocks(n_coarse, kBlock, context, [&](std::size_t first, std::size_t last, std::size_t worker) {
        sums[worker].resize(n_coarse, 0.0F);
        for (std::size_t a = first; a < last; ++a) {
            sum_rows(graph, result.aggregate, members.data() + begin[a], members.data() + begin[a + 1], sums[worker],
                     blocks[first / kBlock]);
        }
    });
    result.graph = join(blocks, context);
    return result;
}

std::vector<std::int32_t> nested_order(std::span<const Coarsening> chain) {
    std::vector<std::int32_t> order(chain.back().graph.rows());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t l = chain.size(); l-- > 0;) {
        const std::vector<std::int32_t>& aggregate = chain[l].aggregate;
        std::vector<std::int32_t> next(order.size());
        for (const std::int32_t a : aggregate) ++next[a];
        std::int32_t place = 0;
        for (const std::int32_t a : order) place += std::exchange(next[a], place);
        order.resize(aggregate.size());
        for (std::size_t i = 0; i < aggregate.size(); ++i) order[next[aggregate[i]]++] = static_cast<std::int32_t>(i);
    }
    return order;
}

}  // namespace gnomon
