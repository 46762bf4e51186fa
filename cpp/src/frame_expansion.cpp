#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/frame_expansion.cpp"
#include <algorithm>
#include <cmath>
#include <vector>

#include "gnomon/frames.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kPointsPerChunk = 256;

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(combine);
GNOMON_CHOOSE(lengths);

struct Scratch {
    Displacements displacements;
    std::vector<double> combined, length;
};

// Combines the displacements of the point at `at` of the list into its m directions.
void expand_point(const RowSource& X, const Frames& frames, std::size_t at, Scratch& s) {
    const std::size_t k = frames.neighborhoods.indices.cols(), m = frames.coefficients.cols() / k;
    const auto i = static_cast<std::size_t>(frames.rows[at]);
    s.displacements.gather(X, i, {frames.neighborhoods.indices.row(i), k}, {frames.neighborhoods.weights.row(i), k});
    s.combined.resize(m * s.displacements.stride());
    combine(s.displacements.row(0), k, s.displacements.stride(), frames.coefficients.row(at), m, s.combined.data());
}

template <class T>
void expand(const RowSource& X, const Frames& frames, std::span<const std::int64_t> positions, Span2<T> out,
            const Context& context) {
    const std::size_t m = frames.coefficients.cols() / frames.neighborhoods.indices.cols(), D = n_features(X);
    std::vector<Scratch> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)));
    parallel_blocks(positions.size(), kPointsPerChunk / 8, context,
                    [&](std::size_t begin, std::size_t end, std::size_t worker) {
                        Scratch& s = scratch[worker];
                        for (std::size_t e = begin; e < end; ++e) {
                            expand_point(X, frames, static_cast<std::size_t>(positions[e]), s);
                            T* to = out.row(e);
                            std::fill_n(to, out.cols(), T{0});
                            for (std::size_t l = 0; l < m; ++l)
                                for (std::size_t c = 0; c < s.displacements.n_columns(); ++c)
                                    to[l * D + static_cast<std::size_t>(s.displacements.feature(c))] =
                                        static_cast<T>(s.combined[l * s.displacements.stride() + c]);
                        }
                    });
}

// Calls body(at, scratch), which leaves a value for each column in scratch.length, for every defined point; writes the
// values to `out` if it has rows, and their mean over the defined points.
template <class Body>
void reduce_features(const RowSource& X, std::size_t n_points, std::span<const std::uint8_t> defined, Span2<float> out,
                     std::span<double> mean, const Context& context, Body&& body) {
    const std::size_t D = n_features(X), n_chunks = (n_points + kPointsPerChunk - 1) / kPointsPerChunk;
    std::vector<Scratch> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)));
    std::vector<double> sums(n_chunks * D, 0.0);  // one row for each chunk, added in their order
    parallel_blocks(n_points, kPointsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        Scratch& s = scratch[worker];
        double* chunk = sums.data() + begin / kPointsPerChunk * D;
        for (std::size_t at = begin; at < end; ++at) {
            if (out.rows() > 0) std::fill_n(out.row(at), D, defined[at] ? 0.0F : __builtin_nanf(""));
            if (!defined[at]) continue;
            body(at, s);
            for (std::size_t c = 0; c < s.displacements.n_columns(); ++c) {
                const auto f = static_cast<std::size_t>(s.displacements.feature(c));
                chunk[f] += s.length[c];
                if (out.rows() > 0) out(at, f) = static_cast<float>(s.length[c]);
            }
        }
    });
    const auto count =
        static_cast<double>(std::count_if(defined.begin(), defined.end(), [](auto x) { return x != 0; }));
    for (std::size_t f = 0; f < D; ++f) {
        double sum = 0;
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) sum += sums[chunk * D + f];
        mean[f] = count > 0 ? sum / count : 0.0;
    }
}

}  // namespace

void expand_frames(const RowSource& X, const Frames& frames, std::span<const std::int64_t> positions, Span2<double> out,
                   const Context& context) {
    expand(X, frames, positions, out, context);
}
void expand_frames(const RowSource& X, const Frames& frames, std::span<const std::int64_t> positions, Span2<float> out,
                   const Context& context) {
    expand(X, frames, positions, out, context);
}

void frame_importance(const RowSource& X, const Frames& frames, Span2<const double> scales,
                      std::span<const std::uint8_t> defined, Span2<float> out, std::span<double> mean,
                      const Context& context) {
    reduce_features(X, frames.rows.size(), defined, out, mean, context, [&](std::size_t at, Scratch& s) {
        expand_point(X, frames, at, s);
        s.length.resize(s.displacements.stride());
        lengths(s.combined.data(), scales.cols(), s.displacements.stride(), scales.row(at), s.length.data());
    });
}

void local_deviation(const RowSource& X, const Frames& frames, std::span<const std::uint8_t> defined, Span2<float> out,
                     std::span<double> mean, const Context& context) {
    const std::size_t k = frames.neighborhoods.indices.cols();
    reduce_features(X, frames.rows.size(), defined, out, mean, context, [&](std::size_t at, Scratch& s) {
        const auto i = static_cast<std::size_t>(frames.rows[at]);
        const std::span<const float> weights(frames.neighborhoods.weights.row(i), k);
        s.displacements.gather(X, i, {frames.neighborhoods.indices.row(i), k}, weights);
        double sum = 0;
        for (const float w : weights) sum += static_cast<double>(w);
        s.combined.resize(k);
        for (std::size_t j = 0; j < k; ++j) s.combined[j] = std::sqrt(static_cast<double>(weights[j]) / sum);
        s.length.resize(s.displacements.stride());
        lengths(s.displacements.row(0), k, s.displacements.stride(), s.combined.data(), s.length.data());
    });
}

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using f64x4 = simd::Lanes<double, 4>;

// As many accumulators of 2 x 4 lanes fit the registers.
#if GNOMON_VECTOR_BYTES == 16 && !defined(__aarch64__)
constexpr std::size_t kMostDirections = 3;
#else
constexpr std::size_t kMostDirections = 6;
#endif

// out[l] = sum_j coef[j, l] z_j over eight columns, for kCount of the m directions.
template <std::size_t kCount>
GNOMON_INLINE void combine_columns(const double* z, std::size_t k, std::size_t stride, const double* coef,
                                   std::size_t m, double* out) {
    f64x4 sums[kCount][2] = {};
    for (std::size_t j = 0; j < k; ++j) {
        const f64x4 x = simd::load_as<f64x4>(z + j * stride), y = simd::load_as<f64x4>(z + j * stride + 4);
        for (std::size_t l = 0; l < kCount; ++l) {
            sums[l][0] += coef[j * m + l] * x;
            sums[l][1] += coef[j * m + l] * y;
        }
    }
    for (std::size_t l = 0; l < kCount; ++l) {
        simd::store(out + l * stride, sums[l][0]);
        simd::store(out + l * stride + 4, sums[l][1]);
    }
}

// The same for a number of directions that is known when the program runs, at most kCount.
template <std::size_t kCount>
GNOMON_INLINE void combine_count(std::size_t count, const double* z, std::size_t k, std::size_t stride,
                                 const double* coef, std::size_t m, double* out) {
    if constexpr (kCount > 1)
        if (count < kCount) return combine_count<kCount - 1>(count, z, k, stride, coef, m, out);
    combine_columns<kCount>(z, k, stride, coef, m, out);
}

// out[l] = sum_j coef[j, l] z_j for the m directions l; z is (k, stride), out (m, stride), stride a multiple of 8.
GNOMON_KERNEL void combine(const double* z, std::size_t k, std::size_t stride, const double* coef, std::size_t m,
                           double* out) {
    const std::size_t n_groups = (m + kMostDirections - 1) / kMostDirections;
    for (std::size_t f = 0; f < stride; f += 8)
        for (std::size_t group = 0, first = 0; group < n_groups; ++group) {
            const std::size_t count = m * (group + 1) / n_groups - first;
            combine_count<kMostDirections>(count, z + f, k, stride, coef + first, m, out + first * stride + f);
            first += count;
        }
}

// length[f] = root of sum_l (scale_l row_l[f])^2 over m rows of `stride`.
GNOMON_KERNEL void lengths(const double* rows, std::size_t m, std::size_t stride, const double* scales,
                           double* length) {
    for (std::size_t f = 0; f < stride; f += 4) {
        f64x4 sum{};
        for (std::size_t l = 0; l < m; ++l) {
            const f64x4 x = scales[l] * simd::load_as<f64x4>(rows + l * stride + f);
            sum += x * x;
        }
        simd::store(length + f, simd::sqrt(sum));
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
