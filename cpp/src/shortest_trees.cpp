#include "gnomon/shortest_trees.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 1024;
constexpr double kFar = std::numeric_limits<double>::infinity();

// Lowers the distances of the places still waiting to those from place `at`; coordinates are (d, size).
const auto approach = each_level([](const double* coordinates, std::size_t d, std::size_t size, std::size_t at,
                                    const double* waiting, double* near) GNOMON_INLINE_LAMBDA {
    for (std::size_t j = 0; j < size; ++j) {
        double sum = 0;
        for (std::size_t a = 0; a < d; ++a) {
            const double gap = coordinates[a * size + at] - coordinates[a * size + j];
            sum += gap * gap;
        }
        const double length = __builtin_sqrt(sum) + waiting[j];
        near[j] = length < near[j] ? length : near[j];
    }
});

struct Scratch {
    std::vector<double> coordinates, waiting, near;  // waiting: 0, or infinity for a place that is joined or not used
};

void grow(Span2<const double> places, Span2<const std::int32_t> neighbors, Span2<const bool> used, std::size_t row,
          Scratch& s, double* edges, std::int64_t* joined) {
    const std::size_t k = neighbors.cols(), d = places.cols(), size = k + 1;
    s.coordinates.assign(d * size, 0.0);
    s.waiting.assign(size, kFar);
    s.near.assign(size, kFar);
    std::fill_n(edges, k, std::numeric_limits<double>::quiet_NaN());
    std::fill_n(joined, k, 0);
    if (!std::isfinite(places(row, 0))) return;
    for (std::size_t j = 0; j < size; ++j) {
        if (j > 0 && !used(row, j - 1)) continue;
        const std::size_t other = j == 0 ? row : static_cast<std::size_t>(neighbors(row, j - 1));
        for (std::size_t a = 0; a < d; ++a) s.coordinates[a * size + j] = places(other, a);
        if (j > 0) s.waiting[j] = 0.0;
    }
    std::size_t at = 0;
    for (std::size_t step = 0; step < k; ++step) {
        approach(s.coordinates.data(), d, size, at, s.waiting.data(), s.near.data());
        at = static_cast<std::size_t>(std::min_element(s.near.begin(), s.near.end()) - s.near.begin());
        if (s.near[at] == kFar) return;
        edges[step] = s.near[at];
        joined[step] = static_cast<std::int64_t>(at);
        s.waiting[at] = s.near[at] = kFar;
    }
}

}  // namespace

void shortest_trees(Span2<const double> places, Span2<const std::int32_t> neighbors, Span2<const bool> used,
                    std::span<const std::int64_t> rows, Span2<double> edges, Span2<std::int64_t> joined,
                    const Context& context) {
    std::vector<Scratch> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)));
    parallel_blocks(rows.size(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        for (std::size_t at = begin; at < end; ++at)
            grow(places, neighbors, used, static_cast<std::size_t>(rows[at]), scratch[worker], edges.row(at),
                 joined.row(at));
    });
}

}  // namespace gnomon
