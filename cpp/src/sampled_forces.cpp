#include "gnomon/sampled_forces.hpp"

#include <algorithm>
#include <stdexcept>

#include "gnomon/random.hpp"

// GCC 12 does not see that the components read are those that were filled: both loops run over the same width.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace gnomon {
namespace detail {
namespace {

using simd::f32;
using simd::kLanes;

constexpr std::uint64_t kDrawStream = 0x6e6567;  // "neg"

/// What each of sixteen rows from `first` on draws from in an epoch, and the bits of its draw t.
GNOMON_INLINE simd::u32 draw_base(std::uint32_t key, std::size_t first) {
    const simd::u32 item = reinterpret_cast<simd::u32>(simd::lane_index()) + static_cast<std::uint32_t>(first);
    return simd::mix32(item * 0x9e3779b1U + key);
}
GNOMON_INLINE simd::u32 draw_bits(simd::u32 base, int t) {
    return simd::mix32(base + static_cast<std::uint32_t>(t) * 0x2545f491U);
}

std::uint32_t epoch_key(const SamplingParameters& sampling, std::int64_t epoch) {
    return static_cast<std::uint32_t>(draw(sampling.seed, kDrawStream, static_cast<std::uint64_t>(epoch)));
}

/// Rows of the whole map, counted from the first row of a part on, to places among those that are known.
GNOMON_INLINE void place_lanes(const SampledPart& part, std::int32_t* index) {
    if (part.drawn.whole()) return;
    const std::size_t n = part.drawn.rows().size();
    bool all = true;
    for (std::size_t l = 0; l < kLanes; ++l) {
        const std::size_t from = part.first + static_cast<std::size_t>(index[l]), row = from < n ? from : from - n;
        all &= part.drawn.rows().holds(row);
        index[l] = static_cast<std::int32_t>(part.place(row));
    }
    if (!all) throw std::invalid_argument("sampled_epoch_of: known must hold the rows that are drawn.");
}

/// What the draws [begin, begin + count) for each of sixteen points add to total, (d) vectors.
template <int D, class Limit>
GNOMON_INLINE void push_lanes(const SampledEpoch& epoch, const Limit& limit, const f32* here, simd::u32 base, int begin,
                              int count, EdgeTile& tile, f32* total) {
    const int d = static_cast<int>(epoch.Y.cols()), width = D > 0 ? D : d;
    const SampledPart* part = epoch.part;
    const auto n = static_cast<std::uint32_t>(part == nullptr ? epoch.Y.rows() : part->drawn.rows().size());
    const float* points = part == nullptr ? epoch.Y.data() : part->drawn_points.data();
    const auto shift = static_cast<std::int32_t>(part == nullptr ? 0 : part->first);
    const float* v = epoch.weights.v.empty() ? nullptr : epoch.weights.v.data();
    f32 there[kHeld<D>], away[kHeld<D>];
    std::int32_t index[kLanes];
    std::uint32_t bits[kLanes];
    for (int t = 0; t < count; ++t) {
        simd::store(bits, draw_bits(base, begin + t));
        for (std::size_t l = 0; l < kLanes; ++l) {  // from the first row of the part on, and then those before it
            const std::int32_t from = static_cast<std::int32_t>(scale_to(bits[l], n)) - shift;
            index[l] = from + ((from >> 31) & static_cast<std::int32_t>(n));
        }
        if (part != nullptr) place_lanes(*part, index);
        gather_points<D>(points, index, d, there);
        simd::store(tile.squared + t * kLanes, differences<D>(here, there, d, away));  // 0 for the point itself
        for (int c = 0; c < width; ++c) simd::store(tile.away.data() + (t * width + c) * kLanes, away[c]);
        if (v != nullptr)
            for (std::size_t l = 0; l < kLanes; ++l)
                tile.weights[static_cast<std::size_t>(t) * kLanes + l] = v[index[l]];
    }
    evaluate_law(PairLaw::log_deficit, epoch.kernel, tile.squared, static_cast<std::size_t>(count) * kLanes,
                 tile.slopes, nullptr);
    for (int t = 0; t < count; ++t) {
        const f32 coefficient =
            limit.coefficient(-2.0F * simd::load(tile.slopes + t * kLanes), simd::load(tile.squared + t * kLanes));
        for (int c = 0; c < width; ++c) {
            f32 force = limit(coefficient * simd::load(tile.away.data() + (t * width + c) * kLanes));
            if (v != nullptr) force *= simd::load(tile.weights + t * kLanes);
            total[c] += force;
        }
    }
}

template <int D, class Limit>
GNOMON_INLINE void push_rows(const SampledEpoch& epoch, const Limit& limit, std::size_t first, std::size_t used,
                             SampledRows& rows) {
    const std::size_t d = epoch.Y.cols();
    const SamplingParameters& p = epoch.parameters;
    f32 here[kHeld<D>], total[kHeld<D>];
    std::int32_t index[kLanes];
    for (std::size_t l = 0; l < kLanes; ++l) index[l] = static_cast<std::int32_t>(first + std::min(l, used - 1));
    gather_points<D>(epoch.Y.data(), index, static_cast<int>(d), here);
    for (std::size_t c = 0; c < d; ++c) total[c] = f32{};
    const simd::u32 base = draw_base(epoch.key, epoch.part == nullptr ? first : epoch.part->first + first);
    constexpr int kTogether = static_cast<int>(EdgeTile::kVectors);
    for (int begin = 0; begin < p.n_draws; begin += kTogether)
        push_lanes<D>(epoch, limit, here, base, begin, std::min(kTogether, p.n_draws - begin), rows.tile, total);
    for (std::size_t l = 0; l < used; ++l) {
        const float scale = p.edge_scale * epoch.weights.u[first + l] * p.repulsion / static_cast<float>(p.n_draws);
        for (std::size_t c = 0; c < d; ++c) rows.repulsion[l * d + c] = scale * total[c][l];
    }
}

template <class Limit>
GNOMON_INLINE void limited_forces(const SampledEpoch& epoch, const Limit& limit, std::size_t first, std::size_t used,
                                  SampledRows& rows) {
    const std::size_t d = epoch.Y.cols();
    with_components(d, [&](auto components) GNOMON_INLINE_LAMBDA {
        constexpr int D = decltype(components)::value;
        push_rows<D>(epoch, limit, first, used, rows);
        const EdgeForces job{epoch.edges, epoch.Y, PairLaw::log, epoch.kernel, 2.0F};
        // both ends of an edge move, and each edge is stored from both ends
        const float scale = -2.0F * epoch.parameters.edge_scale;
        edge_forces<D>(job, limit, first, first + used, rows.tile,
                       [&](std::size_t i, const float* force) GNOMON_INLINE_LAMBDA {
                           for (std::size_t c = 0; c < d; ++c) rows.attraction[(i - first) * d + c] = scale * force[c];
                       });
    });
}

GNOMON_CLONES void clipped_forces(const SampledEpoch& epoch, std::size_t first, std::size_t used, SampledRows& rows) {
    limited_forces(epoch, Clipped{epoch.parameters.force_limit}, first, used, rows);
}

GNOMON_CLONES void shortened_forces(const SampledEpoch& epoch, std::size_t first, std::size_t used, SampledRows& rows) {
    limited_forces(epoch, Shortened{epoch.parameters.force_limit}, first, used, rows);
}

GNOMON_CLONES void mark_lanes(std::uint32_t key, std::size_t first, int n_draws, std::uint32_t n,
                              const RowSet& marked) {
    const simd::u32 base = draw_base(key, first);
    std::uint32_t bits[kLanes];
    for (int t = 0; t < n_draws; ++t) {
        simd::store(bits, draw_bits(base, t));
        for (std::size_t l = 0; l < kLanes; ++l) marked.add(scale_to(bits[l], n));
    }
}

}  // namespace

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
    const std::size_t used = std::min<std::size_t>(kLanes, count - first);
    (epoch.isotropic ? shortened_forces : clipped_forces)(epoch, first, used, rows);
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
