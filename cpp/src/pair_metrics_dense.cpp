#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/pair_metrics_dense.cpp"
#include <cassert>
#include <type_traits>
#include <vector>

#include "block_search.hpp"
#include "gnomon/pair_metrics.hpp"
#include "gnomon/tile_lanes.hpp"
#include "pair_metric_results.hpp"
#include "pair_metric_tile.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kMaxChunk = 480;         // queries of one task
constexpr std::size_t kChunkBytes = 1U << 19;  // packed queries of one task, to fit the second-level cache

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE_FOR(class, offer);

template <class T>
using Value = std::conditional_t<std::is_same_v<T, float>, float, double>;

// pack_panels for any type of numbers.
template <class T, class RowOf>
void pack(std::size_t width, std::size_t count, std::size_t d, RowOf&& row_of, T* out) {
    for (std::size_t first = 0; first < count; first += width, out += width * d) {
        for (std::size_t i = 0; i < width; ++i) {
            const T* row = first + i < count ? row_of(first + i) : nullptr;
            for (std::size_t k = 0; k < d; ++k) out[k * width + i] = row == nullptr ? T{} : row[k];
        }
    }
}

template <class T>
void search(const MetricOptions<T>& options, Span2<const T> base, Span2<const T> queries,
            std::span<const std::int32_t> self, const Task& task, NearestKeys& nearest) {
    const std::size_t d = base.cols(), n_queries = task.query1 - task.query0;
    const double factor = MetricValues(options.metric, d, options.scale).factor();
    std::vector<T> packed(round_up(n_queries, kTileRows) * d), panel(kTileCols * d);
    pack<T>(kTileRows, n_queries, d, [&](std::size_t i) { return queries.row(task.query0 + i); }, packed.data());
    nearest.reset(n_queries);
    alignas(64) Value<T> values[kTileRows * kTileCols];
    for (std::size_t j = task.base0; j < task.base1; j += kTileCols) {
        const std::size_t count = std::min(kTileCols, task.base1 - j);
        pack<T>(kTileCols, count, d, [&](std::size_t r) { return base.row(j + r); }, panel.data());
        for (std::size_t i = 0; i < n_queries; i += kTileRows) {
            metric_tile(options.metric, packed.data() + i * d, kTileRows, panel.data(), options.columns.data(), d,
                        values);
            for (std::size_t q = i; q < std::min(n_queries, i + kTileRows); ++q) {
                offer<Value<T>>(values + (q - i) * kTileCols, factor, count, static_cast<std::int32_t>(j),
                                self[task.query0 + q], q, nearest);
            }
        }
    }
}

}  // namespace

template <class T>
void metric_neighbors(const MetricOptions<T>& options, Span2<const T> base, Span2<const T> queries,
                      const MetricNeighbors& found, const Context& context) {
    assert(base.cols() == queries.cols() && found.indices.rows() == queries.rows());
    const std::size_t n = queries.rows(), d = base.cols(), k = found.indices.cols();
    const std::size_t chunk =
        std::clamp<std::size_t>(kChunkBytes / (sizeof(T) * d * kTileRows), 1, kMaxChunk / kTileRows) * kTileRows;
    const MetricValues values(options.metric, d, options.scale);
    search_in_blocks(
        n, base.rows(), k, chunk, context,
        [&](const Task& task, NearestKeys& nearest) { search(options, base, queries, found.self, task, nearest); },
        [&](std::size_t i, std::vector<std::uint64_t>& keys) {
            values.write(keys, {found.indices.row(i), k}, found.distances.row(i));
        });
}

template <class T>
void metric_rank(const MetricOptions<T>& options, Span2<const T> base, Span2<const T> queries,
                 const MetricCandidates& candidates, const MetricNeighbors& found, const Context& context) {
    assert(candidates.rows.rows() == queries.rows() && candidates.order.size() == queries.rows());
    const std::size_t d = base.cols(), width = candidates.rows.cols(), k = found.indices.cols();
    const MetricValues values(options.metric, d, options.scale);
    parallel_blocks(queries.rows(), 64, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<std::uint64_t> keys(width);
        std::vector<T> panel(kTileCols * d);
        alignas(64) Value<T> tile[kTileCols];
        for (std::size_t place = begin; place < end; ++place) {
            const auto i = static_cast<std::size_t>(candidates.order[place]);
            const std::int32_t* rows = candidates.rows.row(i);
            const auto count = static_cast<std::size_t>(std::find(rows, rows + width, -1) - rows);
            for (std::size_t j = 0; j < count; j += kTileCols) {
                const std::size_t some = std::min(kTileCols, count - j);
                pack<T>(kTileCols, some, d, [&](std::size_t r) { return base.row(rows[j + r]); }, panel.data());
                metric_tile(options.metric, queries.row(i), 1, panel.data(), options.columns.data(), d, tile);
                for (std::size_t r = 0; r < some; ++r)
                    keys[j + r] = make_key(values.key(static_cast<double>(tile[r])), rows[j + r]);
            }
            values.write({keys.data(), count}, {found.indices.row(i), k}, found.distances.row(i));
        }
    });
}

template <class T>
void metric_distances(const MetricOptions<T>& options, Span2<const T> a, Span2<const T> b, Span2<double> out,
                      const Context& context) {
    assert(a.cols() == b.cols() && out.rows() == a.rows() && out.cols() == b.rows());
    const std::size_t d = a.cols();
    const MetricValues values(options.metric, d, 1.0);
    std::vector<T> rows(round_up(a.rows(), kTileRows) * d);
    pack<T>(kTileRows, a.rows(), d, [&](std::size_t i) { return a.row(i); }, rows.data());
    parallel_blocks(b.rows(), kTileCols, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<T> panel(kTileCols * d);
        alignas(64) Value<T> tile[kTileRows * kTileCols];
        pack<T>(kTileCols, end - begin, d, [&](std::size_t r) { return b.row(begin + r); }, panel.data());
        for (std::size_t i = 0; i < a.rows(); i += kTileRows) {
            metric_tile(options.metric, rows.data() + i * d, kTileRows, panel.data(), options.columns.data(), d, tile);
            for (std::size_t r = i; r < std::min(a.rows(), i + kTileRows); ++r) {
                const Value<T>* row = tile + (r - i) * kTileCols;
                for (std::size_t j = begin; j < end; ++j)
                    out(r, j) = values.distance(static_cast<double>(row[j - begin]));
            }
        }
    });
}

#define GNOMON_INSTANTIATE(T)                                                                                       \
    template void metric_neighbors(const MetricOptions<T>&, Span2<const T>, Span2<const T>, const MetricNeighbors&, \
                                   const Context&);                                                                 \
    template void metric_rank(const MetricOptions<T>&, Span2<const T>, Span2<const T>, const MetricCandidates&,     \
                              const MetricNeighbors&, const Context&);                                              \
    template void metric_distances(const MetricOptions<T>&, Span2<const T>, Span2<const T>, Span2<double>,          \
                                   const Context&);
GNOMON_INSTANTIATE(float)
GNOMON_INSTANTIATE(double)
GNOMON_INSTANTIATE(std::uint64_t)
#undef GNOMON_INSTANTIATE

}  // namespace gnomon

#else
#include "gnomon/tile_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

// Offers one query's distances to 32 rows of which the first `count` exist.
template <class T>
GNOMON_KERNEL void offer(const T* values, double factor, std::size_t count, std::int32_t first, std::int32_t self,
                         std::size_t slot, NearestKeys& nearest) {
    alignas(64) float keys[kTileCols];
    for (std::size_t j = 0; j < kTileCols; ++j) keys[j] = static_cast<float>(static_cast<double>(values[j]) * factor);
    const simd::f32 threshold = simd::splat(nearest.thresholds()[slot]);
    const std::uint32_t hits =
        lane_bits(at_most(simd::load(keys), threshold), at_most(simd::load(keys + simd::kLanes), threshold));
    for_each_lane(hits, [&](std::size_t lane) {
        const std::int32_t index = first + static_cast<std::int32_t>(lane);
        if (lane < count && index != self) nearest.offer(slot, keys[lane], index);
    });
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
