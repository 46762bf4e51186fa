#include "gnomon/frames.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kBatchesPerChunk = 32;
constexpr std::size_t kPointsPerChunk = 256;
constexpr std::size_t kEdgesPerChunk = 1024;
constexpr double kRankSquare = 1e-12;  // squared share of the largest singular value below which a direction is lost

using f64x4 = double __attribute__((vector_size(32)));
using f32x8 = float __attribute__((vector_size(32)));

// Number of directions before the largest drop from one singular value to the next, among those that exist.
std::size_t largest_gap(const LocalSpectra& spectra, std::size_t lane, std::size_t rank) {
    std::size_t best = rank;
    double drop = 0;
    for (std::size_t r = 0; r + 1 < rank; ++r) {
        const double gap = std::sqrt(spectra.square(lane, r)) - std::sqrt(spectra.square(lane, r + 1));
        if (gap > drop) best = r + 1, drop = gap;
    }
    return best;
}

void write_frame(const LocalSpectra& spectra, std::size_t lane, std::size_t at, std::size_t k, double share,
                 const FrameOutputs& out) {
    const std::size_t m = out.values.cols();
    std::fill_n(out.values.row(at), m, 0.0);
    std::fill_n(out.coefficients.row(at), out.coefficients.cols(), 0.0);
    out.total[at] = 0;
    out.dimension[at] = out.gap[at] = 0;
    if (!spectra.defined(lane)) return;
    const std::size_t rank = spectra.rank(lane, kRankSquare);
    for (std::size_t r = 0; r < std::min(m, rank); ++r) {
        const double value = std::sqrt(spectra.square(lane, r));
        out.values(at, r) = value;
        if (out.coefficients.cols() == 0) continue;
        for (std::size_t j = 0; j < k; ++j)
            out.coefficients(at, j * m + r) = spectra.root(lane, j) * spectra.left(lane, r, j) / value;
    }
    out.total[at] = spectra.total(lane);
    out.dimension[at] = static_cast<std::int32_t>(spectra.leading(lane, share));
    out.gap[at] = static_cast<std::int32_t>(largest_gap(spectra, lane, rank));
}

constexpr std::size_t kMostDirections = 6;  // as many accumulators of 2 x 4 lanes fit the registers

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

// out[l] = sum_j coef[j, l] z_j for the m directions l; z is (k, stride), out (m, stride), stride a multiple of 8.
GNOMON_CLONES void combine(const double* z, std::size_t k, std::size_t stride, const double* coef, std::size_t m,
                           double* out) {
    const std::size_t n_groups = (m + kMostDirections - 1) / kMostDirections;
    for (std::size_t f = 0; f < stride; f += 8)
        for (std::size_t group = 0, first = 0; group < n_groups; ++group) {
            const std::size_t count = m * (group + 1) / n_groups - first;
            const double* c = coef + first;
            double* to = out + first * stride + f;
            switch (count) {
                case 1:
                    combine_columns<1>(z + f, k, stride, c, m, to);
                    break;
                case 2:
                    combine_columns<2>(z + f, k, stride, c, m, to);
                    break;
                case 3:
                    combine_columns<3>(z + f, k, stride, c, m, to);
                    break;
                case 4:
                    combine_columns<4>(z + f, k, stride, c, m, to);
                    break;
                case 5:
                    combine_columns<5>(z + f, k, stride, c, m, to);
                    break;
                default:
                    combine_columns<6>(z + f, k, stride, c, m, to);
            }
            first += count;
        }
}

// length[f] = root of sum_l (scale_l row_l[f])^2 over m rows of `stride`.
GNOMON_CLONES void lengths(const double* rows, std::size_t m, std::size_t stride, const double* scales,
                           double* length) {
    for (std::size_t f = 0; f < stride; f += 4) {
        f64x4 sum{};
        for (std::size_t l = 0; l < m; ++l) {
            const f64x4 x = scales[l] * simd::load_as<f64x4>(rows + l * stride + f);
            sum += x * x;
        }
        simd::store(length + f, f64x4{__builtin_sqrt(sum[0]), __builtin_sqrt(sum[1]), __builtin_sqrt(sum[2]),
                                      __builtin_sqrt(sum[3])});
    }
}

// All inner products of m rows with m rows of D floats, summed in double over blocks of 256.
GNOMON_CLONES void cross_products(const float* a, const float* b, std::size_t m, std::size_t n_features, double* out) {
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
}

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

void tangent_frames(const RowSource& X, const Neighborhoods& neighborhoods, std::span<const std::int64_t> rows,
                    double variance_share, const FrameOutputs& out, const Context& context) {
    const std::size_t k = neighborhoods.indices.cols();
    std::vector<LocalSpectra> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)), LocalSpectra(k));
    parallel_blocks(rows.size(), kBatchesPerChunk * kEigenBatch, context,
                    [&](std::size_t begin, std::size_t end, std::size_t worker) {
                        for (std::size_t first = begin; first < end; first += kEigenBatch) {
                            const std::size_t size = std::min(kEigenBatch, end - first);
                            scratch[worker].solve(X, neighborhoods, rows.subspan(first, size));
                            for (std::size_t lane = 0; lane < size; ++lane)
                                write_frame(scratch[worker], lane, first + lane, k, variance_share, out);
                        }
                    });
}

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
