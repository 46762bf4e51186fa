#include "gnomon/momentum.hpp"

#include <cmath>
#include <vector>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 2048;
constexpr float kGainStep = 0.2F, kGainDecay = 0.8F, kGainFloor = 0.01F;

/// New gains and velocities of count coordinates.
GNOMON_CLONES void update(float* velocity, float* gain, const float* gradient, std::size_t count,
                          const MomentumParameters& p) {
    for (std::size_t i = 0; i < count; ++i) {
        float g = 1.0F;
        if (p.gains) {
            const bool downhill = velocity[i] * gradient[i] < 0.0F;
            g = downhill ? gain[i] + kGainStep : gain[i] * kGainDecay;
            g = g < kGainFloor ? kGainFloor : g;
            gain[i] = g;
        }
        velocity[i] = p.momentum * velocity[i] - p.learning_rate * g * gradient[i];
    }
}

void limit_steps(float* velocity, std::size_t rows, std::size_t d, float longest) {
    for (std::size_t i = 0; i < rows; ++i, velocity += d) {
        float squared = 0;
        for (std::size_t c = 0; c < d; ++c) squared += velocity[c] * velocity[c];
        if (squared <= longest * longest) continue;
        const float shrink = longest / std::sqrt(squared);
        for (std::size_t c = 0; c < d; ++c) velocity[c] *= shrink;
    }
}

}  // namespace

MomentumReport momentum_step(Span2<float> Y, Span2<const float> gradient, Span2<float> velocity, Span2<float> gains,
                             const MomentumParameters& p, const Context& context) {
    const std::size_t n = Y.rows(), d = Y.cols(), chunks = (n + kRowsPerChunk - 1) / kRowsPerChunk;
    std::vector<double> squares(2 * chunks), sums(chunks * d);
    parallel_blocks(n, kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        const std::size_t chunk = begin / kRowsPerChunk, count = (end - begin) * d;
        const float* g = gradient.row(begin);
        float *v = velocity.row(begin), *y = Y.row(begin);
        update(v, gains.row(begin), g, count, p);
        if (p.max_step > 0.0F) limit_steps(v, end - begin, d, p.max_step);
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
    MomentumReport report{0, 0};
    std::vector<double> total(d);
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        report.gradient_norm += squares[2 * chunk];
        report.step_norm += squares[2 * chunk + 1];
        for (std::size_t c = 0; c < d; ++c) total[c] += sums[chunk * d + c];
    }
    report = {std::sqrt(report.gradient_norm), std::sqrt(report.step_norm)};
    if (!p.centered) return report;
    std::vector<float> mean(d);
    for (std::size_t c = 0; c < d; ++c) mean[c] = static_cast<float>(total[c] / static_cast<double>(n));
    parallel_blocks(n, kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        float* y = Y.row(begin);
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t c = 0; c < d; ++c) *y++ -= mean[c];
    });
    return report;
}

}  // namespace gnomon
