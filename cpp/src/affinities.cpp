#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/affinities.cpp"
#include "gnomon/affinities.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

using simd::kLanes;

constexpr std::size_t kBlock = 256;
constexpr int kMaxSteps = 64;
constexpr int kNewtonSteps = 20;     // after so many, plain bisection, which cannot stall
constexpr float kTolerance = 3e-6F;  // a third of the usual 1e-5; a few rounding errors of float
constexpr float kLn2 = 0.693147181F;
constexpr float kSmallestBits = -100.0F;  // 2^-100 is nothing beside a row sum of order 1, and its products are normal
constexpr float kBandwidthFloor = 1e-3F;  // of the mean distance, as in the reference implementation of UMAP

std::size_t padded(std::size_t k) { return (k + kLanes - 1) / kLanes * kLanes; }

struct Sample {
    float value;
    float slope;
};

/// A row's distances and weights, kept for a chunk of rows.
struct Row {
    explicit Row(std::size_t k) : x(padded(k)), weight(padded(k)), at(k) {}

    /// Keeps the finite distances; returns how many.
    GNOMON_INLINE std::size_t gather(const float* distances, std::size_t k) {
        std::size_t size = 0;
        for (std::size_t j = 0; j < k; ++j) {
            if (!(distances[j] < std::numeric_limits<float>::infinity())) continue;
            x[size] = distances[j];
            at[size++] = static_cast<std::int32_t>(j);
        }
        std::fill(x.begin() + static_cast<std::ptrdiff_t>(size), x.end(), 0.0F);
        return size;
    }

    std::vector<float> x, weight;
    std::vector<std::int32_t> at;
};

GNOMON_INLINE double excess_square(double d, double smallest, double largest) {
    return (d - smallest) / largest * ((d + smallest) / largest);
}

/// Replaces distances by (d^2 - min^2) / c, c such that the mean is 1, and keeps what does so; returns sqrt(c), or 0 if
/// all are equal. Scaling by the largest distance first keeps the squares in range.
GNOMON_INLINE float to_excess_squares(Row& row, std::size_t size, GaussianRow& scale) {
    float smallest = row.x[0], largest = row.x[0];
    for (std::size_t j = 1; j < size; ++j) {
        smallest = std::min(smallest, row.x[j]);
        largest = std::max(largest, row.x[j]);
    }
    if (!(largest > smallest)) return 0.0F;
    double total = 0.0;
    for (std::size_t j = 0; j < size; ++j) {
        const double excess = excess_square(row.x[j], smallest, largest);
        row.x[j] = static_cast<float>(excess);
        total += excess;
    }
    const double mean = total / static_cast<double>(size);
    for (std::size_t j = 0; j < size; ++j) row.x[j] = static_cast<float>(row.x[j] / mean);
    scale.smallest = smallest;
    scale.largest = largest;
    scale.mean = mean;
    return static_cast<float>(largest * __builtin_sqrt(mean));
}

/// The distance within which a row has `local_connectivity` neighbours, interpolated between the non-zero distances.
GNOMON_INLINE float nearest_distance(const Row& row, std::size_t size, double local_connectivity) {
    std::size_t first = 0;
    while (first < size && row.x[first] <= 0.0F) ++first;
    const std::size_t n_positive = size - first;
    if (n_positive == 0) return 0.0F;
    if (static_cast<double>(n_positive) < local_connectivity) return row.x[size - 1];
    const auto whole = static_cast<std::size_t>(local_connectivity);
    const auto rest = static_cast<float>(local_connectivity - static_cast<double>(whole));
    const float lower = whole == 0 ? 0.0F : row.x[first + whole - 1];
    return rest > 0.0F ? lower + rest * (row.x[first + whole] - lower) : lower;
}

/// Replaces distances by max(0, d - rho) / mean; returns that mean over the positive ones (0 if there is none).
GNOMON_INLINE float to_excess(Row& row, std::size_t size, float nearest, std::size_t& n_within) {
    double total = 0.0;
    n_within = 0;
    for (std::size_t j = 0; j < size; ++j) {
        row.x[j] = std::max(0.0F, row.x[j] - nearest);
        n_within += row.x[j] == 0.0F;
        total += row.x[j];
    }
    if (n_within == size) return 0.0F;
    const auto mean = static_cast<float>(total / static_cast<double>(size - n_within));
    for (std::size_t j = 0; j < size; ++j) row.x[j] /= mean;
    return mean;
}

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(calibrate_rows);
GNOMON_CHOOSE(membership_rows);
GNOMON_CHOOSE(weigh_row);

/// Mean of the finite distances, a zero for each row itself included.
double mean_distance(Span2<const float> distances, const Context& context) {
    const std::size_t n_blocks = (distances.rows() + kBlock - 1) / kBlock;
    std::vector<double> sums(n_blocks), counts(n_blocks);
    parallel_blocks(distances.rows(), kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        double sum = 0.0, count = static_cast<double>(end - begin);
        for (const float* d = distances.row(begin); d != distances.data() + end * distances.cols(); ++d) {
            if (*d < std::numeric_limits<float>::infinity()) sum += *d, count += 1.0;
        }
        sums[begin / kBlock] = sum;
        counts[begin / kBlock] = count;
    });
    double sum = 0.0, count = 0.0;
    for (std::size_t b = 0; b < n_blocks; ++b) sum += sums[b], count += counts[b];
    return count > 0.0 ? sum / count : 0.0;
}

}  // namespace

GaussianRows::GaussianRows(Span2<const float> distances, float log2_perplexity, std::span<float> bandwidths,
                           const Context& context)
    : distances_(distances), rows_(distances.rows()) {
    parallel_blocks(distances.rows(), kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        Row row(distances.cols());
        calibrate_rows(distances, log2_perplexity, rows_, bandwidths, row, begin, end);
    });
}

std::size_t GaussianRows::n_weighted() const {
    return static_cast<std::size_t>(
        std::count_if(rows_.begin(), rows_.end(), [](const GaussianRow& row) { return row.scale > 0.0F; }));
}

void GaussianRows::weigh(std::size_t row, float* weights) const {
    weigh_row(distances_.row(row), distances_.cols(), rows_[row], weights);
}

void gaussian_weights(Span2<const float> distances, float log2_perplexity, Span2<float> weights,
                      std::span<float> bandwidths, const Context& context) {
    const GaussianRows rows(distances, log2_perplexity, bandwidths, context);
    parallel_blocks(distances.rows(), kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i) rows.weigh(i, weights.row(i));
    });
}

void membership_weights(Span2<const float> distances, double local_connectivity, double usual_distance,
                        Span2<float> weights, std::span<float> nearest, std::span<float> bandwidths,
                        const Context& context) {
    const double global_mean = usual_distance >= 0.0 ? usual_distance : mean_distance(distances, context);
    parallel_blocks(distances.rows(), kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        Row row(distances.cols());
        membership_rows(distances, local_connectivity, global_mean, weights, nearest, bandwidths, row, begin, end);
    });
}

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;

/// 2^(-beta x) in the first `size` lanes from j on, exactly 0 elsewhere and where it would be below 2^-100.
GNOMON_INLINE f32 decayed(f32 x, float beta, std::size_t j, std::size_t size) {
    const f32 bits = x * -beta;
    const simd::i32 inside = simd::greater(simd::splat(static_cast<std::int32_t>(size - j)), simd::lane_index());
    return simd::select(inside & simd::greater(bits, simd::splat(kSmallestBits)), simd::exp2(bits), f32{});
}

/// Entropy in bits of p ~ 2^(-beta x), less a target.
struct ExcessEntropy {
    const float* x;
    std::size_t size;
    float target;

    GNOMON_INLINE Sample operator()(float beta) const {
        f32 p_sum{}, px_sum{}, pxx_sum{};
        for (std::size_t j = 0; j < size; j += kLanes) {
            const f32 v = simd::load(x + j);
            const f32 p = decayed(v, beta, j, size);
            p_sum += p;
            px_sum += p * v;
            pxx_sum += p * v * v;
        }
        const float total = simd::sum(p_sum);
        const float mean = simd::sum(px_sum) / total;
        const float variance = simd::sum(pxx_sum) / total - mean * mean;
        return {simd::log2(simd::splat(total))[0] + beta * mean - target, -kLn2 * beta * variance};
    }
};

/// Sum of 2^(-beta x), less a target.
struct ExcessSum {
    const float* x;
    std::size_t size;
    float target;

    GNOMON_INLINE Sample operator()(float beta) const {
        f32 p_sum{}, px_sum{};
        for (std::size_t j = 0; j < size; j += kLanes) {
            const f32 v = simd::load(x + j);
            const f32 p = decayed(v, beta, j, size);
            p_sum += p;
            px_sum += p * v;
        }
        return {simd::sum(p_sum) - target, -kLn2 * simd::sum(px_sum)};
    }
};

/// The zero of a decreasing function of beta > 0: Newton steps inside a bracket, else halving or doubling. Where there
/// is no zero it ends at about 2^-44 or 2^44 times the start.
template <class Function>
GNOMON_INLINE float decreasing_root(const Function& function) {
    float low = 0.0F, high = std::numeric_limits<float>::infinity(), beta = 1.0F;
    for (int step = 0; step < kMaxSteps; ++step) {
        const Sample at = function(beta);
        if (at.value < kTolerance && at.value > -kTolerance) break;
        (at.value > 0.0F ? low : high) = beta;
        const float newton = beta - at.value / at.slope;
        const bool bounded = high < std::numeric_limits<float>::infinity();
        if (step < kNewtonSteps && newton > low && newton < high && newton > 0.1F * beta && newton < 10.0F * beta) {
            beta = newton;
        } else {
            beta = bounded ? 0.5F * (low + high) : 2.0F * beta;
        }
        if (beta == low || beta == high) break;
    }
    return beta;
}

/// Writes scale * 2^(-beta x) where the kept distances came from, 0 elsewhere.
GNOMON_INLINE void scatter(Row& row, float beta, float scale, std::size_t size, float* out, std::size_t k) {
    for (std::size_t j = 0; j < size; j += kLanes)
        simd::store(row.weight.data() + j, decayed(simd::load(row.x.data() + j), beta, j, size) * scale);
    std::fill(out, out + k, 0.0F);
    for (std::size_t j = 0; j < size; ++j) out[row.at[j]] = row.weight[j];
}

GNOMON_KERNEL void calibrate_rows(Span2<const float> distances, float log2_perplexity, std::span<GaussianRow> rows,
                                  std::span<float> bandwidths, Row& row, std::size_t begin, std::size_t end) {
    const std::size_t k = distances.cols();
    for (std::size_t i = begin; i < end; ++i) {
        const std::size_t size = row.gather(distances.row(i), k);
        bandwidths[i] = 0.0F;
        if (size == 0) continue;
        const float log2_size = simd::log2(simd::splat(static_cast<float>(size)))[0];
        const float common = row.x[0];
        const float scale = to_excess_squares(row, size, rows[i]);
        if (scale == 0.0F || log2_size <= log2_perplexity) {  // equal weights: any bandwidth, or an infinite one
            rows[i].scale = 1.0F / static_cast<float>(size);
            bandwidths[i] = scale == 0.0F ? common : std::numeric_limits<float>::infinity();
            continue;
        }
        const float beta = decreasing_root(ExcessEntropy{row.x.data(), size, log2_perplexity});
        rows[i].beta = beta;
        rows[i].scale = 1.0F / ExcessSum{row.x.data(), size, 0.0F}(beta).value;
        bandwidths[i] = scale / __builtin_sqrtf(2.0F * kLn2 * beta);
    }
}

/// The weights that a calibrated row has; 0 of missing neighbours.
GNOMON_KERNEL void weigh_row(const float* distances, std::size_t k, GaussianRow row, float* weights) {
    if (row.beta == 0.0F) {
        for (std::size_t j = 0; j < k; ++j)
            weights[j] = distances[j] < std::numeric_limits<float>::infinity() ? row.scale : 0.0F;
        return;
    }
    for (std::size_t j = 0; j < k; ++j) {
        const auto excess = static_cast<float>(excess_square(distances[j], row.smallest, row.largest));
        weights[j] = static_cast<float>(excess / row.mean);
    }
    float last[kLanes] = {};
    const std::size_t whole = k / kLanes * kLanes;
    for (std::size_t j = 0; j < whole; j += kLanes)
        simd::store(weights + j, decayed(simd::load(weights + j), row.beta, j, k) * row.scale);
    std::copy(weights + whole, weights + k, last);
    simd::store(last, decayed(simd::load(last), row.beta, whole, k) * row.scale);
    std::copy(last, last + (k - whole), weights + whole);
}

GNOMON_KERNEL void membership_rows(Span2<const float> distances, double local_connectivity, double global_mean,
                                   Span2<float> weights, std::span<float> nearest, std::span<float> bandwidths,
                                   Row& row, std::size_t begin, std::size_t end) {
    const std::size_t k = distances.cols();
    for (std::size_t i = begin; i < end; ++i) {
        const std::size_t size = row.gather(distances.row(i), k);
        double total = 0.0;
        for (std::size_t j = 0; j < size; ++j) total += row.x[j];
        const float rho = nearest_distance(row, size, local_connectivity);
        // The distance of a point to itself, zero, counts in the mean.
        const double mean = rho > 0.0F ? total / static_cast<double>(size + 1) : global_mean;
        const float floor = kBandwidthFloor * static_cast<float>(mean);
        const float target = simd::log2(simd::splat(static_cast<float>(size + 1)))[0];

        std::size_t n_within = 0;
        const float scale = to_excess(row, size, rho, n_within);
        float sigma = 0.0F;  // where the neighbours within rho alone exceed the target, the floor decides
        if (static_cast<float>(n_within) < target) {
            sigma = scale / (kLn2 * decreasing_root(ExcessSum{row.x.data(), size, target}));
        }
        sigma = std::max(sigma, floor);
        const float beta = scale > 0.0F ? scale / (kLn2 * sigma) : 0.0F;
        scatter(row, beta, 1.0F, size, weights.row(i), k);
        nearest[i] = rho;
        bandwidths[i] = sigma;
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
