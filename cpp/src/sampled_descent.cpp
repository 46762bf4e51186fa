#include "gnomon/sampled_descent.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gnomon/adam.hpp"

namespace gnomon {
namespace {

using namespace detail;
using simd::kLanes;

constexpr float kDecay1 = 0.5F, kDecay2 = 0.9F, kTiny = 1e-7F;  // uwot's batch setting: short memories

/// Moves count coordinates from `from` to Y, where forces and averages stand.
const auto adam =
    each_level([](float rate, const float* attraction, const float* repulsion, const float* from, float* Y,
                  float* first_moment, float* second_moment, std::size_t count) GNOMON_INLINE_LAMBDA {
        const AdamRates<float> rates{rate, 1.0F - kDecay1, 1.0F - kDecay2, kTiny};
        for (std::size_t k = 0; k < count; ++k)
            Y[k] = from[k] + adam_move(rates, attraction[k] + repulsion[k], first_moment[k], second_moment[k]);
    });

/// The same for `count` points of d coordinates that share one average of squares, written to each of them.
const auto adam_of_points = each_level([](float rate, const float* attraction, const float* repulsion,
                                          const float* from, float* Y, float* first_moment, float* second_moment,
                                          std::size_t count, std::size_t d) GNOMON_INLINE_LAMBDA {
    for (std::size_t k = 0; k < count * d; k += d) {
        float squares = 0;
        for (std::size_t c = k; c < k + d; ++c) {
            const float force = attraction[c] + repulsion[c];
            first_moment[c] += (1.0F - kDecay1) * (force - first_moment[c]);
            squares += force * force;
        }
        const float second = second_moment[k] + (1.0F - kDecay2) * (squares / static_cast<float>(d) - second_moment[k]);
        const float step = rate / (__builtin_sqrtf(second) + kTiny);
        for (std::size_t c = k; c < k + d; ++c) {
            second_moment[c] = second;
            Y[c] = from[c] + step * first_moment[c];
        }
    }
});

/// total += added, for count coordinates.
const auto join = each_level([](const float* added, float* total, std::size_t count) GNOMON_INLINE_LAMBDA {
    for (std::size_t k = 0; k < count; ++k) total[k] += added[k];
});

/// Moves count points by the forces in rows.
void move_points(bool isotropic, float rate, const SampledRows& rows, const float* from, const SampledState& next,
                 std::size_t first, std::size_t count) {
    const std::size_t d = next.Y.cols();
    const float *attraction = rows.attraction.data(), *repulsion = rows.repulsion.data();
    float *to = next.Y.row(first), *first_moment = next.first_moment.row(first),
          *second_moment = next.second_moment.row(first);
    if (isotropic)
        adam_of_points(rate, attraction, repulsion, from, to, first_moment, second_moment, count, d);
    else
        adam(rate, attraction, repulsion, from, to, first_moment, second_moment, count * d);
}

/// The same with places, forces and moves in the points' own units, 1 / zoom^2: a step is as large for the structure
/// around a point whatever its size.
void move_zoomed(const SampledEpoch& epoch, float rate, const SampledState& next, std::size_t first, std::size_t count,
                 SampledRows& rows) {
    const std::size_t d = epoch.Y.cols();
    for (std::size_t k = 0; k < count; ++k) {
        const float zoom = epoch.weights.zoom[first + k];
        for (std::size_t c = k * d; c < (k + 1) * d; ++c) {
            rows.attraction[c] /= zoom * zoom;
            rows.repulsion[c] /= zoom * zoom;
        }
    }
    std::fill_n(rows.drawn.data(), count * d, 0.0F);
    move_points(epoch.isotropic, rate, rows, rows.drawn.data(), next, first, count);
    for (std::size_t k = 0; k < count; ++k) {
        const float zoom = epoch.weights.zoom[first + k];
        for (std::size_t c = 0; c < d; ++c) {
            float& to = next.Y.row(first + k)[c];
            to = epoch.Y.row(first + k)[c] + to / (zoom * zoom);
        }
    }
}

/// Moves the rows [begin, end) from epoch.Y to next.
void move_rows(const SampledEpoch& epoch, float rate, const SampledState& next, Span2<const float> added,
               std::size_t begin, std::size_t end, SampledRows& rows) {
    const std::size_t d = epoch.Y.cols();
    for (std::size_t first = begin; first < end; first += kLanes) {
        const std::size_t count = std::min<std::size_t>(kLanes, end - first);
        find_forces(epoch, first, rows);
        if (added.rows() != 0) join(added.row(first), rows.repulsion.data(), count * d);
        if (epoch.weights.zoom.empty())
            move_points(epoch.isotropic, rate, rows, epoch.Y.row(first), next, first, count);
        else
            move_zoomed(epoch, rate, next, first, count, rows);
    }
}

/// The learning rate of an epoch times Adam's bias corrections.
float rate_of(const SampledSchedule& p, std::int64_t epoch) {
    const double left = 1.0 - static_cast<double>(epoch) / static_cast<double>(p.max_epochs);
    const double rate = p.learning_rate * left * (p.quadratic ? left : 1.0);
    const double decay1 = static_cast<double>(kDecay1), decay2 = static_cast<double>(kDecay2);
    return static_cast<float>(rate * std::sqrt(1.0 - whole_power(decay2, epoch + 1)) /
                              (1.0 - whole_power(decay1, epoch + 1)));
}

}  // namespace

void sampled_epochs(const CsrView<float>& edges, const SamplingWeights& weights, const OutputKernel& kernel,
                    const SamplingParameters& parameters, const SampledSchedule& schedule, std::int64_t begin,
                    std::int64_t end, const SampledState& state, Span2<const float> added, const Context& context) {
    check_law(PairLaw::log_deficit, kernel);
    const std::size_t n = state.Y.rows(), d = state.Y.cols();
    std::vector<float> other(n * d);
    std::vector<SampledRows> workers = SampledRows::of_workers(context, d);
    Span2<float> now = state.Y, next{other.data(), n, d};
    for (std::int64_t t = begin; t < end; ++t) {
        SampledEpoch epoch(edges, weights, kernel, parameters, now, t, schedule.isotropic);
        epoch.turn = static_cast<int>(t % 2);
        const float rate = rate_of(schedule, t);
        parallel_blocks(n, kSampledRows, context, [&](std::size_t first, std::size_t last, std::size_t worker) {
            move_rows(epoch, rate, {next, state.first_moment, state.second_moment}, added, first, last,
                      workers[worker]);
        });
        std::swap(now, next);
    }
    if (now.data() != state.Y.data()) std::copy_n(now.data(), n * d, state.Y.data());
}

void sampled_epoch_of(const OwnedRows& owned, const OutputKernel& kernel, const SamplingParameters& parameters,
                      const SampledSchedule& schedule, std::int64_t t, const ConstRowSet& known,
                      Span2<const float> places, const SampledState& state, const Context& context) {
    check_law(PairLaw::log_deficit, kernel);
    const std::size_t own = state.Y.rows(), d = state.Y.cols(), n = own + owned.halo.size();
    const RankedRows drawn(known);
    const SampledPart part{owned.first, own, drawn, places, drawn.place(owned.first)};
    std::vector<float> ends;  // places of the own rows and of the halo, where others are given between them
    if (n != places.rows()) {
        ends.resize(n * d);
        std::copy_n(places.data(), own * d, ends.data());
        for (std::size_t h = 0; h < owned.halo.size(); ++h)
            std::copy_n(places.row(part.place(static_cast<std::size_t>(owned.halo[h]))), d,
                        ends.data() + (own + h) * d);
    }
    const SamplingWeights weights{owned.u, {}};
    const Span2<const float> Y{ends.empty() ? places.data() : ends.data(), n, d};
    SampledEpoch epoch(owned.edges, weights, kernel, parameters, Y, t, schedule.isotropic);
    epoch.turn = static_cast<int>(t % 2);
    epoch.part = &part;
    const float rate = rate_of(schedule, t);
    std::vector<SampledRows> workers = SampledRows::of_workers(context, d);
    parallel_blocks(own, kSampledRows, context, [&](std::size_t first, std::size_t last, std::size_t worker) {
        move_rows(epoch, rate, state, {}, first, last, workers[worker]);
    });
}

}  // namespace gnomon
