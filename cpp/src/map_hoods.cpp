#include "gnomon/map_hoods.hpp"

#include <algorithm>
#include <vector>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kHoodsPerChunk = 4;
constexpr std::size_t kTile = 64;  // columns of all rows that stay in the second cache

using f64x4 = double __attribute__((vector_size(32)));
constexpr std::size_t kStep = 8;  // two of them
static_assert(Displacements::kColumnPad % kStep == 0);

// Of the columns of z (k, stride) from `begin` on, `width` of them: the mean, the moments (d, stride) and the squares.
const auto sum_columns = each_level([](const double* z, std::size_t k, std::size_t stride, std::size_t begin,
                                       std::size_t width, const double* steps, std::size_t d, double* mean,
                                       double* moments, double* squares) GNOMON_INLINE_LAMBDA {
    width = width / kStep * kStep;  // tells the compiler that no lanes are left over
    double middle[kTile] = {}, square[kTile] = {};
    for (std::size_t j = 0; j < k; ++j) {
        const double* row = z + j * stride + begin;
        for (std::size_t f = 0; f < width; ++f) middle[f] += row[f];
    }
    for (std::size_t f = 0; f < width; ++f) middle[f] /= static_cast<double>(k);
    for (std::size_t c = 0; c < d; ++c) std::fill_n(moments + c * stride + begin, width, 0.0);
    for (std::size_t j = 0; j < k; ++j) {
        const double* row = z + j * stride + begin;
        double x[kTile];
        for (std::size_t f = 0; f < width; ++f) x[f] = row[f] - middle[f];
        for (std::size_t f = 0; f < width; ++f) square[f] += x[f] * x[f];
        for (std::size_t c = 0; c < d; ++c) {
            const double step = steps[j * d + c];
            double* sums = moments + c * stride + begin;
            for (std::size_t f = 0; f < width; ++f) sums[f] += step * x[f];
        }
    }
    for (std::size_t f = 0; f < width; ++f) mean[begin + f] = middle[f];
    for (std::size_t f = 0; f < width; ++f) squares[begin + f] = square[f];
});

// Of one row z (stride): its displacement from the mean times d rows of weights (d, stride), and its squares times the
// scales, which are returned.
const auto project_row =
    each_level([](const double* z, std::size_t stride, const double* mean, const double* weights, std::size_t d,
                  const double* scales, double* x, double* along) GNOMON_INLINE_LAMBDA -> double {
        f64x4 low{}, high{};
        for (std::size_t f = 0; f < stride; f += kStep) {
            const f64x4 a = simd::load_as<f64x4>(z + f) - simd::load_as<f64x4>(mean + f);
            const f64x4 b = simd::load_as<f64x4>(z + f + 4) - simd::load_as<f64x4>(mean + f + 4);
            simd::store(x + f, a);
            simd::store(x + f + 4, b);
            low += a * a * simd::load_as<f64x4>(scales + f);
            high += b * b * simd::load_as<f64x4>(scales + f + 4);
        }
        const f64x4 own = low + high;
        for (std::size_t c = 0; c < d; ++c) {
            const double* w = weights + c * stride;
            low = f64x4{};
            high = f64x4{};
            for (std::size_t f = 0; f < stride; f += kStep) {
                low += simd::load_as<f64x4>(x + f) * simd::load_as<f64x4>(w + f);
                high += simd::load_as<f64x4>(x + f + 4) * simd::load_as<f64x4>(w + f + 4);
            }
            const f64x4 sum = low + high;
            along[c] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
        }
        return (own[0] + own[2]) + (own[1] + own[3]);
    });

// The rows of one neighbourhood, from its first one.
struct Hood {
    Displacements displacements;
    std::vector<float> present;
    std::vector<double> mean, rows, scales, x;

    void gather(const RowSource& X, const std::int32_t* near, std::size_t k) {
        present.assign(k, 1.0F);
        displacements.gather(X, static_cast<std::size_t>(near[0]), {near, k}, present);
    }
    /// Writes n rows of columns to rows of features; those without a column are zero.
    void spread(const double* from, std::size_t n, std::size_t n_features, double* to) const {
        const std::size_t stride = displacements.stride(), n_columns = displacements.n_columns();
        std::fill_n(to, n * n_features, 0.0);
        for (std::size_t r = 0; r < n; ++r)
            for (std::size_t c = 0; c < n_columns; ++c)
                to[r * n_features + static_cast<std::size_t>(displacements.feature(c))] = from[r * stride + c];
    }
    /// The opposite; padding is zero.
    void collect(const double* from, std::size_t n, std::size_t n_features, std::vector<double>& to) const {
        const std::size_t stride = displacements.stride(), n_columns = displacements.n_columns();
        to.assign(n * stride, 0.0);
        for (std::size_t r = 0; r < n; ++r)
            for (std::size_t c = 0; c < n_columns; ++c)
                to[r * stride + c] = from[r * n_features + static_cast<std::size_t>(displacements.feature(c))];
    }
};

std::vector<Hood> make_scratch(const Context& context) {
    return std::vector<Hood>(static_cast<std::size_t>(std::max(context.n_threads, 1)));
}

}  // namespace

void hood_moments(const RowSource& X, Span2<const std::int32_t> near, Span2<const double> steps, const HoodMoments& out,
                  const Context& context) {
    const std::size_t k = near.cols(), d = steps.cols() / k, D = out.mean.cols();
    std::vector<Hood> scratch = make_scratch(context);
    parallel_blocks(near.rows(), kHoodsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        Hood& hood = scratch[worker];
        for (std::size_t m = begin; m < end; ++m) {
            hood.gather(X, near.row(m), k);
            const Displacements& z = hood.displacements;
            const std::size_t stride = z.stride();
            hood.mean.resize(stride);
            hood.scales.resize(stride);
            hood.rows.resize(d * stride);
            for (std::size_t f = 0; f < stride; f += kTile)
                sum_columns(z.row(0), k, stride, f, std::min(kTile, stride - f), steps.row(m), d, hood.mean.data(),
                            hood.rows.data(), hood.scales.data());
            hood.spread(hood.mean.data(), 1, D, out.mean.row(m));
            hood.spread(hood.rows.data(), d, D, out.moments.row(m));
            hood.spread(hood.scales.data(), 1, D, out.squares.row(m));
        }
    });
}

void hood_projections(const RowSource& X, Span2<const std::int32_t> near, Span2<const double> mean,
                      Span2<const double> weights, Span2<const double> scales, Span2<double> along,
                      Span2<double> squares, const Context& context) {
    const std::size_t k = near.cols(), d = along.cols() / k, D = mean.cols();
    std::vector<Hood> scratch = make_scratch(context);
    parallel_blocks(near.rows(), kHoodsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        Hood& hood = scratch[worker];
        for (std::size_t m = begin; m < end; ++m) {
            hood.gather(X, near.row(m), k);
            const Displacements& z = hood.displacements;
            const std::size_t stride = z.stride();
            hood.collect(mean.row(m), 1, D, hood.mean);
            hood.collect(weights.row(m), d, D, hood.rows);
            hood.collect(scales.row(m), 1, D, hood.scales);
            hood.x.resize(stride);
            for (std::size_t j = 0; j < k; ++j)
                squares(m, j) = project_row(z.row(j), stride, hood.mean.data(), hood.rows.data(), d, hood.scales.data(),
                                            hood.x.data(), along.row(m) + j * d);
        }
    });
}

}  // namespace gnomon
