#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/sampled_forces.cpp"
#include "gnomon/sampled_forces.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "gnomon/point_lanes.hpp"
#include "gnomon/random.hpp"

// GCC 12 does not see that the components read are those that were filled: both loops run over the same width.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(ask_for_draws);
GNOMON_CHOOSE(mark_lanes);
GNOMON_CHOOSE(push_rows);

constexpr std::uint64_t kDrawStream = 0x6e6567;  // "neg"

std::uint32_t epoch_key(const SamplingParameters& sampling, std::int64_t epoch) {
    return static_cast<std::uint32_t>(draw(sampling.seed, kDrawStream, static_cast<std::uint64_t>(epoch)));
}

}  // namespace

namespace detail {

SampledEpoch::SampledEpoch(const CsrView<float>& graph, const SamplingWeights& pair_weights, const OutputKernel& output,
                           const SamplingParameters& sampling, Span2<const float> points, std::int64_t epoch,
                           bool is_isotropic)
    : edges(graph),
      weights(pair_weights),
      kernel(output),
      parameters(sampling),
      Y(points),
      key(epoch_key(sampling, epoch)),
      isotropic(is_isotropic) {}

std::vector<SampledRows> SampledRows::of_workers(const Context& context, std::size_t d) {
    return std::vector<SampledRows>(static_cast<std::size_t>(std::max(context.n_threads, 1)), SampledRows(d));
}

void find_forces(const SampledEpoch& epoch, std::size_t first, SampledRows& rows) {
    const std::size_t count = epoch.part == nullptr ? epoch.Y.rows() : epoch.part->count;
    const std::size_t used = std::min<std::size_t>(simd::kLanes, count - first);
    const SamplingParameters& p = epoch.parameters;
    const std::size_t d = epoch.Y.cols();
    const ForceLimit limit{epoch.isotropic ? ForceLimit::Of::length : ForceLimit::Of::components, p.force_limit};
    ask_for_draws(epoch, first);  // their memory comes while the edges are at work
    // both ends of an edge move, and each edge is stored from both ends
    const float scale = -2.0F * p.edge_scale;
    const EdgeForces pulls{epoch.edges, epoch.Y, PairLaw::log, epoch.kernel,
                           2.0F,        limit,   epoch.turn,   epoch.weights.zoom};
    edge_forces(pulls, first, first + used, rows.tile, [&](std::size_t i, std::size_t count, const float* forces) {
        float* to = rows.attraction.data() + (i - first) * d;
        for (std::size_t c = 0; c < count * d; ++c) to[c] = scale * forces[c];
    });
    push_rows(epoch, limit, first, used, rows);
}

}  // namespace detail

using namespace detail;

void mark_draws(const SamplingParameters& parameters, std::int64_t epoch, std::size_t begin, std::size_t end,
                const RowSet& marked) {
    const std::uint32_t key = epoch_key(parameters, epoch);
    const auto n = static_cast<std::uint32_t>(marked.size());
    for (std::size_t first = begin; first < end; first += simd::kLanes)
        mark_lanes(key, first, parameters.n_draws, n, marked);
}

void sampled_forces(const CsrView<float>& edges, const SamplingWeights& weights, const OutputKernel& kernel,
                    const SamplingParameters& parameters, std::int64_t t, Span2<const float> Y, Span2<float> attraction,
                    Span2<float> repulsion, const Context& context) {
    check_law(PairLaw::log_deficit, kernel);
    const std::size_t d = Y.cols();
    const SampledEpoch epoch(edges, weights, kernel, parameters, Y, t);
    const float scale = 1.0F / parameters.edge_scale;
    std::vector<SampledRows> workers = SampledRows::of_workers(context, d);
    parallel_blocks(Y.rows(), kSampledRows, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        SampledRows& rows = workers[worker];
        for (std::size_t first = begin; first < end; first += simd::kLanes) {
            find_forces(epoch, first, rows);
            for (std::size_t k = 0; k < std::min(simd::kLanes * d, (end - first) * d); ++k) {
                attraction.row(first)[k] = scale * rows.attraction[k];
                repulsion.row(first)[k] = scale * rows.repulsion[k];
            }
        }
    });
}

}  // namespace gnomon

#else
#include "gnomon/point_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using gnomon::detail::SampledEpoch;
using gnomon::detail::SampledPart;
using gnomon::detail::SampledRows;
using simd::f32;
using simd::kLanes;

/// The draws [begin, begin + 16) of sixteen rows from `first` on, which they share, as rows of n: the draw t of m is
/// anywhere in the t-th of m equal pieces of the rows, so that every row is as likely as any other and rows that are
/// like their neighbours, as of a sorted table, are drawn evenly. begin < m.
GNOMON_KERNEL void draw_lanes(std::uint32_t key, std::size_t first, int begin, int m, std::uint32_t n,
                              std::int32_t* index) {
    const std::uint32_t base = mix32(static_cast<std::uint32_t>(first / kLanes) * 0x9e3779b1U + key);
    const simd::u32 item = simd::as<simd::u32>(simd::lane_index()) + static_cast<std::uint32_t>(begin);
    std::uint32_t bits[kLanes];
    simd::store(bits, simd::mix32(item * 0x2545f491U + base));
    const double piece = static_cast<double>(n) / m;
    for (int l = 0; l < kLanes; ++l) {
        const double place = (begin + l + static_cast<double>(bits[l]) * 0x1p-32) * piece;
        index[l] = static_cast<std::int32_t>(std::min(place, n - 1.0));
    }
    for (int l = m - begin; l < kLanes; ++l) index[l] = index[m - begin - 1];  // beyond the last draw
}

/// Rows of the whole map to their places among those that are known.
GNOMON_KERNEL void place_lanes(const SampledPart& part, std::uint32_t n, std::int32_t* index) {
    if (part.drawn.whole()) {  // from the first row of the part on, and then those before it
        const auto shift = static_cast<std::int32_t>(part.first);
        for (int l = 0; l < kLanes; ++l) {
            const std::int32_t from = index[l] - shift;
            index[l] = from + ((from >> 31) & static_cast<std::int32_t>(n));
        }
        return;
    }
    bool all = true;
    for (int l = 0; l < kLanes; ++l) {
        const auto row = static_cast<std::size_t>(index[l]);
        all &= part.drawn.rows().holds(row);
        index[l] = static_cast<std::int32_t>(part.place(row));
    }
    if (!all) throw std::invalid_argument("sampled_epoch_of: known must hold the rows that are drawn.");
}

/// Where the draws [begin, begin + count) of sixteen rows from `first` on stand, (count, d), and their weights if any.
template <int D>
GNOMON_KERNEL void place_draws(const SampledEpoch& epoch, std::size_t first, int begin, int count, SampledRows& rows) {
    const std::size_t d = epoch.Y.cols(), width = D > 0 ? D : d;
    const SampledPart* part = epoch.part;
    const auto n = static_cast<std::uint32_t>(part == nullptr ? epoch.Y.rows() : part->drawn.rows().size());
    const float* points = part == nullptr ? epoch.Y.data() : part->drawn_points.data();
    const std::size_t before = part == nullptr ? 0 : part->first;
    const std::span<const float> v = epoch.weights.v, zoom = epoch.weights.zoom;
    std::int32_t index[kLanes];
    for (int t = 0; t < count; t += kLanes) {
        draw_lanes(epoch.key, before + first, begin + t, epoch.parameters.n_draws, n, index);
        if (part != nullptr) place_lanes(*part, n, index);
        const int used = std::min(kLanes, count - t);
        for (int l = 0; l < used; ++l) {
            const auto from = static_cast<std::size_t>(index[l]);
            for (std::size_t c = 0; c < width; ++c)
                rows.drawn[static_cast<std::size_t>(t + l) * width + c] = points[from * width + c];
            if (!v.empty()) rows.tile.weights[t + l] = v[from];
            if (!zoom.empty()) rows.zoom[static_cast<std::size_t>(t + l)] = zoom[from];
        }
    }
}

/// Asks memory for the first points drawn for sixteen rows from `first` on, where they are drawn among all.
GNOMON_KERNEL void ask_for_draws(const SampledEpoch& epoch, std::size_t first) {
    if (epoch.part != nullptr) return;
    const int d = static_cast<int>(epoch.Y.cols());
    const int count = std::min(static_cast<int>(EdgeTile::kVectors), epoch.parameters.n_draws);
    std::int32_t index[kLanes];
    for (int t = 0; t < count; t += kLanes) {
        draw_lanes(epoch.key, first, t, epoch.parameters.n_draws, static_cast<std::uint32_t>(epoch.Y.rows()), index);
        prefetch_points(epoch.Y.data(), index, d);
    }
}

/// What the draws [begin, begin + count) for each of sixteen points add to total, (d) vectors.
template <int D, bool kZoomed>
GNOMON_INLINE void push_lanes(const SampledEpoch& epoch, const ForceLimit& limit, const f32* here, f32 own_zoom,
                              std::size_t first, int begin, int count, SampledRows& rows, f32* total) {
    const int d = static_cast<int>(epoch.Y.cols()), width = D > 0 ? D : d;
    EdgeTile& tile = rows.tile;
    const float* drawn = rows.drawn.data();
    place_draws<D>(epoch, first, begin, count, rows);
    for (int t = 0; t < count; ++t) {
        f32 squared{};  // 0 for the point itself
        for (int c = 0; c < width; ++c) {
            const f32 away = here[c] - drawn[t * width + c];
            squared += away * away;
        }
        if constexpr (kZoomed) {
            const f32 zoom = own_zoom * rows.zoom[static_cast<std::size_t>(t)];
            squared *= zoom * zoom;
        }
        simd::store(tile.squared + t * kLanes, squared);
    }
    const std::size_t lanes = static_cast<std::size_t>(count) * kLanes;
    evaluate_law(PairLaw::log_deficit, epoch.kernel, tile.squared, lanes, tile.slopes, nullptr);
    float scale = -2.0F, bound = limit.bound;
    if (limit.of == ForceLimit::Of::length) {
        shorten_slopes(scale, bound, tile.squared, lanes, tile.slopes);
        scale = 1.0F;
        bound = std::numeric_limits<float>::infinity();
    }
    for (int t = 0; t < count; ++t) {
        const f32 coefficient = scale * simd::load(tile.slopes + t * kLanes);
        const float weight = epoch.weights.v.empty() ? 1.0F : tile.weights[t];
        for (int c = 0; c < width; ++c) {
            const f32 away = here[c] - drawn[t * width + c];
            if constexpr (kZoomed) {
                const f32 zoom = own_zoom * rows.zoom[static_cast<std::size_t>(t)];
                total[c] += weight * zoom * simd::clamp(coefficient * (zoom * away), -bound, bound);
            } else {
                total[c] += weight * simd::clamp(coefficient * away, -bound, bound);
            }
        }
    }
}

template <int D>
GNOMON_INLINE void push_in(const SampledEpoch& epoch, const ForceLimit& limit, std::size_t first, std::size_t used,
                           SampledRows& rows) {
    const std::size_t d = epoch.Y.cols();
    const SamplingParameters& p = epoch.parameters;
    f32 here[kHeld<D>], total[kHeld<D>];
    std::int32_t index[kLanes];
    for (std::size_t l = 0; l < kLanes; ++l) index[l] = static_cast<std::int32_t>(first + std::min(l, used - 1));
    gather_points<D>(epoch.Y.data(), index, static_cast<int>(d), here);
    for (std::size_t c = 0; c < d; ++c) total[c] = f32{};
    constexpr int kTogether = static_cast<int>(EdgeTile::kVectors);
    const std::span<const float> zoom = epoch.weights.zoom;
    f32 own_zoom{};
    if (!zoom.empty())
        own_zoom =
            simd::from_lanes([&](int l) GNOMON_INLINE_LAMBDA { return zoom[static_cast<std::size_t>(index[l])]; });
    for (int begin = 0; begin < p.n_draws; begin += kTogether) {
        const int count = std::min(kTogether, p.n_draws - begin);
        if (zoom.empty())
            push_lanes<D, false>(epoch, limit, here, own_zoom, first, begin, count, rows, total);
        else
            push_lanes<D, true>(epoch, limit, here, own_zoom, first, begin, count, rows, total);
    }
    float scales[kLanes], lanes[kLanes];
    for (std::size_t l = 0; l < used; ++l)
        scales[l] = p.edge_scale * epoch.weights.u[first + l] * p.repulsion / static_cast<float>(p.n_draws);
    for (std::size_t c = 0; c < d; ++c) {
        simd::store(lanes, total[c]);
        for (std::size_t l = 0; l < used; ++l) rows.repulsion[l * d + c] = scales[l] * lanes[l];
    }
}

GNOMON_KERNEL void push_rows(const SampledEpoch& epoch, const ForceLimit& limit, std::size_t first, std::size_t used,
                             SampledRows& rows) {
    with_components(epoch.Y.cols(), [&](auto components) GNOMON_INLINE_LAMBDA {
        push_in<decltype(components)::value>(epoch, limit, first, used, rows);
    });
}

GNOMON_KERNEL void mark_lanes(std::uint32_t key, std::size_t first, int n_draws, std::uint32_t n,
                              const RowSet& marked) {
    std::int32_t index[kLanes];
    for (int t = 0; t < n_draws; t += kLanes) {
        draw_lanes(key, first, t, n_draws, n, index);
        const int used = std::min(kLanes, n_draws - t);
        for (int l = 0; l < used; ++l) marked.add(static_cast<std::size_t>(index[l]));
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
