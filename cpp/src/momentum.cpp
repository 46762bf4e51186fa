#include "gnomon/momentum.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 2048;
constexpr double kGainStep = 0.2, kGainDecay = 0.8, kGainFloor = 0.01;

/// New gains and velocities of count coordinates.
template <class T>
const auto update = each_level(
    [](T* velocity, T* gain, const T* gradient, std::size_t count, const MomentumParameters& p) GNOMON_INLINE_LAMBDA {
        constexpr T growth = static_cast<T>(kGainStep), decay = static_cast<T>(kGainDecay),
                    floor = static_cast<T>(kGainFloor);
        const T momentum = static_cast<T>(p.momentum), learning_rate = static_cast<T>(p.learning_rate);
        for (std::size_t i = 0; i < count; ++i) {
            T g = 1;
            if (p.gains) {
                const bool downhill = velocity[i] * gradient[i] < T{0};
                g = downhill ? gain[i] + growth : gain[i] * decay;
                g = g < floor ? floor : g;
                gain[i] = g;
            }
            velocity[i] = momentum * velocity[i] - learning_rate * g * gradient[i];
        }
    });

template <class T>
void limit_steps(T* velocity, std::size_t rows, std::size_t d, T longest) {
    for (std::size_t i = 0; i < rows; ++i, velocity += d) {
        T squared = 0;
        for (std::size_t c = 0; c < d; ++c) squared += velocity[c] * velocity[c];
        if (squared <= longest * longest) continue;
        const T shrink = longest / std::sqrt(squared);
        for (std::size_t c = 0; c < d; ++c) velocity[c] *= shrink;
    }
}

template <class T>
void divide_rows(const T* gradient, const T* pull, std::size_t rows, std::size_t d, std::vector<T>& out) {
    out.resize(rows * d);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t c = 0; c < d; ++c) out[i * d + c] = gradient[i * d + c] / pull[i];
}

}  // namespace

template <class T>
StepReport momentum_step(Span2<T> Y, Span2<const T> gradient, std::span<const T> pull, Span2<T> velocity,
                         Span2<T> gains, const MomentumParameters& p, const Context& context) {
    const std::size_t n = Y.rows(), d = Y.cols(), chunks = (n + kRowsPerChunk - 1) / kRowsPerChunk;
    std::vector<double> squares(2 * chunks), sums(chunks * d);
    std::vector<std::vector<T>> divided(static_cast<std::size_t>(std::max(context.n_threads, 1)));
    parallel_blocks(n, kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        const std::size_t chunk = begin / kRowsPerChunk, count = (end - begin) * d;
        const T* g = gradient.row(begin);
        if (!pull.empty()) {
            divide_rows(g, pull.data() + begin, end - begin, d, divided[worker]);
            g = divided[worker].data();
        }
        T *v = velocity.row(begin), *y = Y.row(begin);
        update<T>(v, gains.row(begin), g, count, p);
        if (p.max_step > 0.0) limit_steps(v, end - begin, d, static_cast<T>(p.max_step));
        double gradient_squared = 0, step_squared = 0;
        double* sum = sums.data() + chunk * d;
        for (std::size_t i = begin; i < end; ++i) {
            for (std::size_t c = 0; c < d; ++c, ++g, ++v, ++y) {
                *y += *v;
                sum[c] += static_cast<double>(*y);
                gradient_squared += static_cast<double>(*g) * static_cast<double>(*g);
                step_squared += static_cast<double>(*v) * static_cast<double>(*v);
            }
        }
        squares[2 * chunk] = gradient_squared;
        squares[2 * chunk + 1] = step_squared;
    });
    StepReport report{0, 0};
    std::vector<double> total(d);
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        report.gradient_norm += squares[2 * chunk];
        report.step_norm += squares[2 * chunk + 1];
        for (std::size_t c = 0; c < d; ++c) total[c] += sums[chunk * d + c];
    }
    report = {std::sqrt(report.gradient_norm), std::sqrt(report.step_norm)};
    if (!p.centered) return report;
    std::vector<T> mean(d);
    for (std::size_t c = 0; c < d; ++c) mean[c] = static_cast<T>(total[c] / static_cast<double>(n));
    parallel_blocks(n, kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        T* y = Y.row(begin);
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t c = 0; c < d; ++c) *y++ -= mean[c];
    });
    return report;
}

template StepReport momentum_step(Span2<float>, Span2<const float>, std::span<const float>, Span2<float>, Span2<float>,
                                  const MomentumParameters&, const Context&);
template StepReport momentum_step(Span2<double>, Span2<const double>, std::span<const double>, Span2<double>,
                                  Span2<double>, const MomentumParameters&, const Context&);

}  // namespace gnomon
