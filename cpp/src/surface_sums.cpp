#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/surface_sums.cpp"
#include "gnomon/surface_sums.hpp"

#include <algorithm>
#include <cmath>

#include "gnomon/adam.hpp"
#include "gnomon/random.hpp"

namespace gnomon {
namespace {

using simd::kLanes;

constexpr std::size_t kTile = 512;                              // pairs at a time
constexpr std::size_t kRows = 64;                               // rows in a chunk
constexpr float kFresh1 = 0.5F, kFresh2 = 0.1F, kTiny = 1e-7F;  // as in sampled_descent.cpp
constexpr std::uint64_t kDrawStream = 0x6e6567;                 // as in sampled_forces.cpp

/// What is known of up to 512 pairs of one point: t and q, then squared distances and vectors away from the other
/// point.
struct Tile {
    alignas(64) float t[kTile], q[kTile], squared[kTile], slopes[kTile], energies[kTile], weights[kTile];
    alignas(64) float away[3][kTile];
    std::int32_t index[kTile];
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(add_energies);
GNOMON_CHOOSE(add_limited);
GNOMON_CHOOSE(stretch);

/// Fills a tile with the pairs of `here` and the points index[0, count), up to whole vectors with pairs of no weight.
template <class S>
std::size_t meet(const Surface& surface, const double* here, Span2<const double> Y, std::size_t count, Tile& tile) {
    const std::size_t whole = (count + kLanes - 1) / kLanes * kLanes;
    double w[S::kWidth];
    for (std::size_t k = 0; k < count; ++k) {
        const PairOnSurface pair = S::pair(here, Y.row(static_cast<std::size_t>(tile.index[k])), w);
        tile.t[k] = pair.t;
        tile.q[k] = pair.q;
        for (int c = 0; c < S::kWidth; ++c) tile.away[c][k] = static_cast<float>(w[c]);
    }
    for (std::size_t k = count; k < whole; ++k) {
        tile.t[k] = 0.0F;
        tile.q[k] = 1.0F;
        tile.weights[k] = 0.0F;
        for (int c = 0; c < S::kWidth; ++c) tile.away[c][k] = 0.0F;
    }
    stretch(surface, whole, tile);
    return whole;
}

struct Epoch {
    const Surface& surface;
    const CsrView<float>& edges;
    const SamplingWeights& weights;
    const OutputKernel& kernel;
    const SamplingParameters& parameters;
    Span2<const double> Y;
    std::uint32_t key;
    float rate;
};

/// The force on a point, edges and draws, in units of the edges' scale.
template <class S>
void find_force(const Epoch& epoch, std::size_t i, Tile& tile, double* force) {
    const SamplingParameters& p = epoch.parameters;
    const double* here = epoch.Y.row(i);
    double pulls[S::kWidth] = {}, pushes[S::kWidth] = {};
    const auto last = static_cast<std::size_t>(epoch.edges.offsets[i + 1]);
    for (auto first = static_cast<std::size_t>(epoch.edges.offsets[i]); first < last; first += kTile) {
        const std::size_t count = std::min(kTile, last - first);
        std::copy_n(epoch.edges.columns.data() + first, count, tile.index);
        std::copy_n(epoch.edges.values.data() + first, count, tile.weights);
        const std::size_t whole = meet<S>(epoch.surface, here, epoch.Y, count, tile);
        evaluate_law(PairLaw::log, epoch.kernel, tile.squared, whole, tile.slopes, nullptr);
        add_limited(tile, S::kWidth, whole, 2.0F, p.force_limit, pulls);
    }
    const auto n = static_cast<std::uint32_t>(epoch.Y.rows());
    const std::uint32_t base = mix32(static_cast<std::uint32_t>(i) * 0x9e3779b1U + epoch.key);
    for (std::size_t begin = 0; begin < static_cast<std::size_t>(p.n_draws); begin += kTile) {
        const std::size_t count = std::min(kTile, static_cast<std::size_t>(p.n_draws) - begin);
        for (std::size_t k = 0; k < count; ++k) {
            const auto l = scale_to(mix32(base + static_cast<std::uint32_t>(begin + k) * 0x2545f491U), n);
            tile.index[k] = static_cast<std::int32_t>(l);
            tile.weights[k] = epoch.weights.v.empty() ? 1.0F : epoch.weights.v[l];
        }
        const std::size_t whole = meet<S>(epoch.surface, here, epoch.Y, count, tile);
        evaluate_law(PairLaw::log_deficit, epoch.kernel, tile.squared, whole, tile.slopes, nullptr);
        add_limited(tile, S::kWidth, whole, -2.0F, p.force_limit, pushes);
    }
    const auto edge_scale = static_cast<double>(p.edge_scale);
    const double push = edge_scale * static_cast<double>(epoch.weights.u[i] * p.repulsion) / p.n_draws;
    for (int c = 0; c < S::kWidth; ++c) force[c] = -2.0 * edge_scale * pulls[c] + push * pushes[c];
}

template <class S>
void move_point(const Epoch& epoch, std::size_t i, const double* force, const SurfaceState& next) {
    double *first = next.first_moment.row(i), &second = next.second_moment[i];
    double squares = 0, v[S::kWidth];
    for (int c = 0; c < S::kWidth; ++c) {
        first[c] += static_cast<double>(kFresh1) * (force[c] - first[c]);
        squares += force[c] * force[c];
    }
    second += static_cast<double>(kFresh2) * (0.5 * squares - second);  // a surface has two dimensions
    const double step =
        static_cast<double>(epoch.rate) / (std::sqrt(second) + static_cast<double>(kTiny)) / epoch.surface.radius;
    for (int c = 0; c < S::kWidth; ++c) v[c] = step * first[c];
    double* to = next.Y.row(i);
    std::copy_n(epoch.Y.row(i), S::kWidth, to);
    S::go(to, v, first);
}

void move_rows(const Epoch& epoch, const SurfaceState& next, std::size_t begin, std::size_t end, Tile& tile) {
    with_surface(epoch.surface, [&](auto surface) {
        using S = decltype(surface);
        double force[S::kWidth];
        for (std::size_t i = begin; i < end; ++i) {
            find_force<S>(epoch, i, tile, force);
            move_point<S>(epoch, i, force, next);
        }
    });
}

struct Sums {
    const Surface& surface;
    PairLaw law;
    const OutputKernel& kernel;
    Span2<const double> Z, Y;
    std::span<const float> v;
    bool own;
    std::span<double> energies;
    Span2<double> force;
};

template <class S>
void sum_row(const Sums& job, std::size_t i, Tile& tile) {
    double energy = 0, force[S::kWidth] = {};
    for (std::size_t first = 0; first < job.Y.rows(); first += kTile) {
        const std::size_t count = std::min(kTile, job.Y.rows() - first);
        for (std::size_t k = 0; k < count; ++k) {
            tile.index[k] = static_cast<std::int32_t>(first + k);
            tile.weights[k] = job.v.empty() ? 1.0F : job.v[first + k];
        }
        if (job.own && i - first < count) tile.weights[i - first] = 0.0F;
        const std::size_t whole = meet<S>(job.surface, job.Z.row(i), job.Y, count, tile);
        evaluate_law(job.law, job.kernel, tile.squared, whole, tile.slopes, tile.energies);
        add_limited(tile, S::kWidth, whole, 1.0F, 1e30F, force);
        energy += add_energies(tile, whole);
    }
    job.energies[i] = energy;
    for (int c = 0; c < S::kWidth; ++c) job.force(i, static_cast<std::size_t>(c)) = force[c];
}

void sum_rows(const Sums& job, std::size_t begin, std::size_t end, Tile& tile) {
    with_surface(job.surface, [&](auto surface) {
        for (std::size_t i = begin; i < end; ++i) sum_row<decltype(surface)>(job, i, tile);
    });
}

std::vector<Tile> tiles_of_workers(const Context& context) {
    return std::vector<Tile>(static_cast<std::size_t>(std::max(context.n_threads, 1)));
}

float rate_of(const SampledSchedule& p, std::int64_t epoch) {
    const double rate = p.learning_rate * (1.0 - static_cast<double>(epoch) / static_cast<double>(p.max_epochs));
    const double forgotten1 = whole_power(1.0 - static_cast<double>(kFresh1), epoch + 1);
    const double forgotten2 = whole_power(1.0 - static_cast<double>(kFresh2), epoch + 1);
    return static_cast<float>(rate * std::sqrt(1.0 - forgotten2) / (1.0 - forgotten1));
}

}  // namespace

void surface_epochs(const Surface& surface, const CsrView<float>& edges, const SamplingWeights& weights,
                    const OutputKernel& kernel, const SamplingParameters& parameters, const SampledSchedule& schedule,
                    std::int64_t begin, std::int64_t end, const SurfaceState& state, const Context& context) {
    check_law(PairLaw::log_deficit, kernel);
    const std::size_t n = state.Y.rows(), width = state.Y.cols();
    std::vector<double> other(n * width);
    std::vector<Tile> tiles = tiles_of_workers(context);
    Span2<double> now = state.Y, next{other.data(), n, width};
    for (std::int64_t t = begin; t < end; ++t) {
        const auto key = static_cast<std::uint32_t>(draw(parameters.seed, kDrawStream, static_cast<std::uint64_t>(t)));
        const Epoch epoch{surface, edges, weights, kernel, parameters, now, key, rate_of(schedule, t)};
        const SurfaceState after{next, state.first_moment, state.second_moment};
        parallel_blocks(n, kRows, context, [&](std::size_t first, std::size_t last, std::size_t worker) {
            move_rows(epoch, after, first, last, tiles[worker]);
        });
        std::swap(now, next);
    }
    if (now.data() != state.Y.data()) std::copy_n(now.data(), n * width, state.Y.data());
}

void surface_pair_sums(const Surface& surface, PairLaw law, const OutputKernel& kernel, Span2<const double> Z,
                       Span2<const double> Y, std::span<const float> v, bool own, std::span<double> energies,
                       Span2<double> force, const Context& context) {
    check_law(law, kernel);
    const Sums job{surface, law, kernel, Z, Y, v, own, energies, force};
    std::vector<Tile> tiles = tiles_of_workers(context);
    parallel_blocks(Z.rows(), 16, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        sum_rows(job, begin, end, tiles[worker]);
    });
}

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;

/// asin(x) / x and asin(x) for x = sqrt(t) in [0, 1], q = 1 - t: a series up to 1/2, above by the angle that is left.
GNOMON_INLINE f32 arcsine(f32 t, f32 q) {
    const f32 x = simd::sqrt(t);
    const f32 rest = 0.5F * q / (1.0F + x);  // (1 - x) / 2
    const f32 z = simd::select_less(t, simd::splat(0.25F), t, rest);
    const f32 p =
        1.0F + z * (1.6666667e-1F +
                    z * (7.5e-2F +
                         z * (4.4642857e-2F +
                              z * (3.0381944e-2F +
                                   z * (2.2372159e-2F + z * (1.7352764e-2F + z * (1.396484e-2F + z * 1.155e-2F)))))));
    const f32 y = simd::sqrt(z) * p;
    return simd::select_less(t, simd::splat(0.25F), y, 1.57079633F - 2.0F * y);
}

/// Of two points: distance(t, q), the geodesic distance d, and stretch(t, q), the number that makes w of length d.
struct OnSphere {
    static constexpr float kTiny = 1e-24F;  // under a root: at antipodes w is 0 and has no direction to stretch

    GNOMON_INLINE static f32 distance(f32 t, f32 q) { return 2.0F * arcsine(t, q); }
    GNOMON_INLINE static f32 stretch(f32 t, f32 q) {  // d / sin d
        const f32 held = simd::max(t, simd::splat(kTiny));
        return arcsine(held, q) / simd::sqrt(held * simd::max(q, simd::splat(kTiny)));
    }
};

struct OnHyperboloid {
    static constexpr float kTiny = 1e-30F;

    GNOMON_INLINE static f32 distance(f32 t, f32) {  // 2 asinh(sqrt(t))
        return 2.0F * simd::log1p(simd::sqrt(t) + t / (1.0F + simd::sqrt(1.0F + t)));
    }
    GNOMON_INLINE static f32 stretch(f32 t, f32 q) {  // d / tanh(d / 2)
        const f32 held = simd::max(t, simd::splat(kTiny));
        return distance(held, q) * simd::sqrt((1.0F + held) / held);
    }
};

template <class S>
GNOMON_INLINE void stretch_on(float radius, int width, std::size_t count, Tile& tile) {
    for (std::size_t k = 0; k < count; k += kLanes) {
        const f32 t = simd::load(tile.t + k), q = simd::load(tile.q + k);
        const f32 distance = radius * S::distance(t, q), longer = -radius * S::stretch(t, q);
        simd::store(tile.squared + k, distance * distance);
        for (int c = 0; c < width; ++c) simd::store(tile.away[c] + k, longer * simd::load(tile.away[c] + k));
    }
}

/// Sets squared distances, and the vectors to the other points to vectors away from them.
GNOMON_KERNEL void stretch(const Surface& surface, std::size_t count, Tile& tile) {
    const auto radius = static_cast<float>(surface.radius);
    if (surface.kind == Surface::Kind::sphere)
        stretch_on<OnSphere>(radius, UnitSphere::kWidth, count, tile);
    else
        stretch_on<OnHyperboloid>(radius, UnitHyperboloid::kWidth, count, tile);
}

/// total_c += sum of weight * limit(scale * slope * away_c), each pair's force at most `bound` long.
GNOMON_KERNEL void add_limited(const Tile& tile, int width, std::size_t count, float scale, float bound,
                               double* total) {
    f32 sums[3] = {f32{}, f32{}, f32{}};
    for (std::size_t k = 0; k < count; k += kLanes) {
        const f32 longest = bound / simd::sqrt(simd::max(simd::load(tile.squared + k), simd::splat(1e-30F)));
        const f32 value = scale * simd::load(tile.slopes + k);
        const f32 factor = simd::load(tile.weights + k) * simd::min(simd::max(value, -longest), longest);
        for (int c = 0; c < 3; ++c)
            if (c < width) sums[c] += factor * simd::load(tile.away[c] + k);
    }
    for (int c = 0; c < width; ++c) total[c] += static_cast<double>(simd::sum(sums[c]));
}

/// The sum of weight * energy.
GNOMON_KERNEL double add_energies(const Tile& tile, std::size_t count) {
    f32 sum{};
    for (std::size_t k = 0; k < count; k += kLanes) sum += simd::load(tile.weights + k) * simd::load(tile.energies + k);
    return static_cast<double>(simd::sum(sum));
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
