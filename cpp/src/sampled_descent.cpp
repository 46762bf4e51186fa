#include "gnomon/sampled_descent.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gnomon {
namespace {

using namespace detail;
using simd::kLanes;

constexpr float kDecay1 = 0.5F, kDecay2 = 0.9F, kTiny = 1e-7F;  // uwot's batch setting: short memories

struct AdamStep {
    float rate;  // learning rate with both bias corrections
    float *Y, *first_moment, *second_moment;
};

/// Moves count coordinates.
GNOMON_CLONES void adam(const AdamStep& step, const float* attraction, const float* repulsion, const float* from,
                        std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
        const float force = attraction[k] + repulsion[k];
        float &m = step.first_moment[k], &v = step.second_moment[k];
        m += (1.0F - kDecay1) * (force - m);
        v += (1.0F - kDecay2) * (force * force - v);
        step.Y[k] = from[k] + step.rate * m / (__builtin_sqrtf(v) + kTiny);
    }
}

/// Moves the rows [begin, end) from epoch.Y to next.
void move_rows(const SampledEpoch& epoch, float rate, const SampledState& next, std::size_t begin, std::size_t end,
               SampledRows& rows) {
    const std::size_t d = epoch.Y.cols();
    for (std::size_t first = begin; first < end; first += kLanes) {
        find_forces(epoch, first, rows);
        const AdamStep step{rate, next.Y.row(first), next.first_moment.row(first), next.second_moment.row(first)};
        adam(step, rows.attraction.data(), rows.repulsion.data(), epoch.Y.row(first),
             std::min(kLanes * d, (end - first) * d));
    }
}

/// base to a whole power, without libm.
double power(double base, std::int64_t exponent) {
    double result = 1;
    for (; exponent > 0; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

/// The learning rate of an epoch times Adam's bias corrections.
float rate_of(const SampledSchedule& p, std::int64_t epoch) {
    const double rate = p.learning_rate * (1.0 - static_cast<double>(epoch) / static_cast<double>(p.max_epochs));
    const double decay1 = static_cast<double>(kDecay1), decay2 = static_cast<double>(kDecay2);
    return static_cast<float>(rate * std::sqrt(1.0 - power(decay2, epoch + 1)) / (1.0 - power(decay1, epoch + 1)));
}

}  // namespace

void sampled_epochs(const CsrView<float>& edges, const SamplingWeights& weights, const OutputKernel& kernel,
                    const SamplingParameters& parameters, const SampledSchedule& schedule, std::int64_t begin,
                    std::int64_t end, const SampledState& state, const Context& context) {
    check_law(PairLaw::log_deficit, kernel);
    const std::size_t n = state.Y.rows(), d = state.Y.cols();
    std::vector<float> other(n * d);
    std::vector<SampledRows> workers = SampledRows::of_workers(context, d);
    Span2<float> now = state.Y, next{other.data(), n, d};
    for (std::int64_t t = begin; t < end; ++t) {
        const SampledEpoch epoch(edges, weights, kernel, parameters, now, t);
        const float rate = rate_of(schedule, t);
        parallel_blocks(n, kSampledRows, context, [&](std::size_t first, std::size_t last, std::size_t worker) {
            move_rows(epoch, rate, {next, state.first_moment, state.second_moment}, first, last, workers[worker]);
        });
        std::swap(now, next);
    }
    if (now.data() != state.Y.data()) std::copy_n(now.data(), n * d, state.Y.data());
}

}  // namespace gnomon
