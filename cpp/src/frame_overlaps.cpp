#include <algorithm>
#include <cmath>
#include <vector>

#include "gnomon/frames.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kEdgesPerChunk = 1024;

using f32x8 = float __attribute__((vector_size(32)));

// All inner products of m rows with m rows of D floats, summed in double over blocks of 256.
const auto cross_products = each_level(
    [](const float* a, const float* b, std::size_t m, std::size_t n_features, double* out) GNOMON_INLINE_LAMBDA {
        constexpr std::size_t kBlock = 256;
        for (std::size_t p = 0; p < m; ++p)
            for (std::size_t q = 0; q < m; q += 4) {
                const std::size_t count = std::min<std::size_t>(4, m - q);
                double total[4] = {};
                const float* x = a + p * n_features;
                const float* y[4];
                for (std::size_t v = 0; v < 4; ++v) y[v] = b + (q + std::min(v, count - 1)) * n_features;
                for (std::size_t begin = 0; begin < n_features; begin += kBlock) {
                    const std::size_t end = std::min(n_features, begin + kBlock);
                    f32x8 sums[4] = {};
                    std::size_t f = begin;
                    for (; f + 8 <= end; f += 8) {
                        const f32x8 s = simd::load_as<f32x8>(x + f);
                        for (std::size_t v = 0; v < 4; ++v) sums[v] += s * simd::load_as<f32x8>(y[v] + f);
                    }
                    for (std::size_t v = 0; v < 4; ++v) {
                        for (std::size_t l = 0; l < 8; ++l) total[v] += static_cast<double>(sums[v][l]);
                        for (std::size_t g = f; g < end; ++g)
                            total[v] += static_cast<double>(x[g]) * static_cast<double>(y[v][g]);
                    }
                }
                for (std::size_t v = 0; v < count; ++v) out[p * m + q + v] = total[v];
            }
    });

}  // namespace

void frame_overlaps(Span2<const float> frames, std::size_t n_directions, Span2<const std::int32_t> edges, bool nuclear,
                    std::span<double> out, const Context& context) {
    const std::size_t m = n_directions, D = frames.cols() / std::max<std::size_t>(m, 1);
    struct Batch {
        std::vector<double> cross, a, v;
    };
    std::vector<Batch> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)));
    parallel_blocks(edges.rows(), kEdgesPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        Batch& s = scratch[worker];
        s.cross.resize(m * m);
        s.a.resize(m * m * kEigenBatch);
        s.v.resize(m * m * kEigenBatch);
        for (std::size_t first = begin; first < end; first += kEigenBatch) {
            const std::size_t size = std::min(kEigenBatch, end - first);
            std::fill(s.a.begin(), s.a.end(), 0.0);
            for (std::size_t lane = 0; lane < size; ++lane) {
                cross_products(frames.row(static_cast<std::size_t>(edges(first + lane, 0))),
                               frames.row(static_cast<std::size_t>(edges(first + lane, 1))), m, D, s.cross.data());
                double squares = 0;
                for (const double x : s.cross) squares += x * x;
                out[first + lane] = squares;
                if (!nuclear) continue;
                for (std::size_t p = 0; p < m; ++p)
                    for (std::size_t q = 0; q <= p; ++q) {
                        double sum = 0;
                        for (std::size_t r = 0; r < m; ++r) sum += s.cross[p * m + r] * s.cross[q * m + r];
                        s.a[(p * m + q) * kEigenBatch + lane] = sum;
                    }
            }
            if (!nuclear) continue;
            symmetric_eigen(m, s.a.data(), s.v.data());
            for (std::size_t lane = 0; lane < size; ++lane) {
                double sum = 0;
                for (std::size_t p = 0; p < m; ++p)
                    sum += std::sqrt(std::max(s.a[(p * m + p) * kEigenBatch + lane], 0.0));
                out[first + lane] = sum;
            }
        }
    });
}

}  // namespace gnomon
