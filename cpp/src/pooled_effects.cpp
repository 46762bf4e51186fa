#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gnomon/jacobians.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kWidth = 16;  // features taken together: a row of them is two cache lines
constexpr std::size_t kPointsPerChunk = 512;

using f64 = double __attribute__((vector_size(64)));
constexpr std::size_t kHalf = 8;
static_assert(kWidth == 2 * kHalf);

// Everything known of all points for the features of one block.
struct Block {
    Block(std::size_t n, std::size_t d)
        : values(n * kWidth), own(n * kWidth), deviation(n * kWidth), axes(n * d * kWidth) {}

    std::size_t first = 0, size = 0;  // the features
    std::vector<double> values;       // (n, kWidth), zero in the padding
    std::vector<float> own;           // (n, kWidth): weighted root mean square of x_jf - x_if
    std::vector<float> deviation;     // (n, kWidth): the same averaged once; 0 where the own is
    std::vector<float> axes;          // (n, d, kWidth)
};

template <class T>
void read_row(const Span2<const T>& rows, std::size_t i, const Block& block, std::vector<std::size_t>&, double* out) {
    const T* row = rows.row(i) + block.first;
    for (std::size_t f = 0; f < block.size; ++f) out[f] = static_cast<double>(row[f]);
}

// Blocks come in ascending order, so each row's entries are read on from where the last block ended.
template <class T>
void read_row(const SparseRows<T>& rows, std::size_t i, const Block& block, std::vector<std::size_t>& cursors,
              double* out) {
    const auto& matrix = rows.matrix;
    const auto begin = static_cast<std::size_t>(matrix.offsets[i]),
               end = static_cast<std::size_t>(matrix.offsets[i + 1]);
    std::size_t e = begin + cursors[i];
    for (; e < end && static_cast<std::size_t>(matrix.columns[e]) < block.first + block.size; ++e)
        out[static_cast<std::size_t>(matrix.columns[e]) - block.first] = static_cast<double>(matrix.values[e]);
    cursors[i] = e - begin;
}

// The Jacobian's columns at one point and the deviations: sums over k displacements of kWidth features each.
GNOMON_CLONES void fit_columns(const double* values, std::size_t i, const std::int32_t* neighbors, const float* weights,
                               std::size_t k, const double* coefficients, std::size_t d, double total, float* deviation,
                               float* axes) {
    for (std::size_t half = 0; half < kWidth; half += kHalf) {
        const f64 origin = simd::load_as<f64>(values + i * kWidth + half);
        f64 moment{};
        for (std::size_t j = 0; j < k; ++j) {
            if (!(weights[j] > 0)) continue;
            const f64 x = simd::load_as<f64>(values + static_cast<std::size_t>(neighbors[j]) * kWidth + half) - origin;
            moment += (static_cast<double>(weights[j]) / total) * (x * x);
        }
        for (std::size_t l = 0; l < kHalf; ++l) deviation[half + l] = static_cast<float>(__builtin_sqrt(moment[l]));
        for (std::size_t c = 0; c < d; ++c) {
            f64 sum{};
            for (std::size_t j = 0; j < k; ++j) {
                if (!(weights[j] > 0)) continue;
                const f64 x =
                    simd::load_as<f64>(values + static_cast<std::size_t>(neighbors[j]) * kWidth + half) - origin;
                sum += coefficients[j * d + c] * x;
            }
            for (std::size_t l = 0; l < kHalf; ++l) axes[c * kWidth + half + l] = static_cast<float>(sum[l]);
        }
    }
}

// The mean of `axes` over point i and those of its neighbours that are defined.
GNOMON_CLONES void average(const float* axes, std::size_t i, const std::int32_t* neighbors, const float* weights,
                           std::size_t k, const char* defined, std::size_t length, float* out) {
    std::size_t count = 1;
    for (std::size_t j = 0; j < k; ++j) count += weights[j] > 0 && defined[neighbors[j]];
    const float share = 1.0F / static_cast<float>(count);
    for (std::size_t at = 0; at < length; at += kWidth) {
        simd::f32 sum = simd::load(axes + i * length + at);
        for (std::size_t j = 0; j < k; ++j)
            if (weights[j] > 0 && defined[neighbors[j]])
                sum += simd::load(axes + static_cast<std::size_t>(neighbors[j]) * length + at);
        simd::store(out + at, sum * share);
    }
}

// Lengths of the arrows of one block's features at one point; adds to the sums and to the ellipse (d, d).
GNOMON_CLONES void lengths_of(const float* axes, const float* deviation, std::size_t d, float* length, double* sums,
                              double* ellipse) {
    float square[kWidth] = {};
    for (std::size_t c = 0; c < d; ++c)
        for (std::size_t f = 0; f < kWidth; ++f) {
            const float x = axes[c * kWidth + f] * deviation[f];
            square[f] += x * x;
        }
    for (std::size_t f = 0; f < kWidth; ++f) {
        length[f] = __builtin_sqrtf(square[f]);
        sums[f] += static_cast<double>(length[f]);
    }
    for (std::size_t a = 0; a < d; ++a)
        for (std::size_t b = 0; b <= a; ++b) {
            float sum = 0;  // of few terms; what does not vary here moves nothing
            for (std::size_t f = 0; f < kWidth; ++f)
                sum += deviation[f] > 0 ? axes[a * kWidth + f] * axes[b * kWidth + f] : 0.0F;
            ellipse[a * d + b] += static_cast<double>(sum);
            if (a != b) ellipse[b * d + a] = ellipse[a * d + b];
        }
}

// The top list of one point, kept in descending order while features arrive in ascending order.
void note_top(std::size_t at, std::int32_t feature, float length, const float* arrow, std::size_t stride, float scale,
              std::size_t d, std::size_t seen, const EffectOutputs& out) {
    const std::size_t n_top = out.top_features.cols();
    std::size_t place = std::min(seen, n_top);
    if (place == n_top) {
        if (!(length > out.top_importance(at, n_top - 1))) return;
        --place;
    }
    for (; place > 0 && length > out.top_importance(at, place - 1); --place) {
        out.top_features(at, place) = out.top_features(at, place - 1);
        out.top_importance(at, place) = out.top_importance(at, place - 1);
        std::copy_n(out.top_arrows.row(at) + (place - 1) * d, d, out.top_arrows.row(at) + place * d);
    }
    out.top_features(at, place) = feature;
    out.top_importance(at, place) = length;
    for (std::size_t c = 0; c < d; ++c) out.top_arrows(at, place * d + c) = arrow[c * stride] * scale;
}

void write_undefined(std::size_t at, std::size_t D, const EffectOutputs& out, Span2<double> ellipses) {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t t = 0; t < out.top_features.cols(); ++t) out.top_features(at, t) = static_cast<std::int32_t>(t);
    std::fill_n(out.top_importance.row(at), out.top_importance.cols(), kNaN);
    std::fill_n(out.top_arrows.row(at), out.top_arrows.cols(), kNaN);
    if (out.importance.size() > 0) std::fill_n(out.importance.row(at), D, kNaN);
    std::fill_n(ellipses.row(at), ellipses.cols(), std::numeric_limits<double>::quiet_NaN());
}

// Adds what one block says about point i; `sums` (kWidth) collects the importances.
void note_point(const Block& block, std::size_t i, std::size_t d, const EffectOutputs& out, Span2<double> ellipses,
                double* sums) {
    const float *axes = block.axes.data() + i * d * kWidth, *deviation = block.deviation.data() + i * kWidth;
    float length[kWidth];
    lengths_of(axes, deviation, d, length, sums, ellipses.row(i));
    for (std::size_t f = 0; f < block.size; ++f) {
        if (out.importance.size() > 0) out.importance(i, block.first + f) = length[f];
        note_top(i, static_cast<std::int32_t>(block.first + f), length[f], axes + f, kWidth, deviation[f], d,
                 block.first + f, out);
    }
}

// Adds what the features of one block say about the displacements of the neighbours of one tried row.
void predict(const Block& block, const Neighborhoods& hoods, std::size_t t, std::size_t d, const PooledOutputs& out) {
    const auto i = static_cast<std::size_t>(out.tried[t]);
    const double* origin = block.values.data() + i * kWidth;
    const float* axes = block.axes.data() + i * d * kWidth;
    for (std::size_t j = 0; j < hoods.indices.cols(); ++j) {
        if (!(hoods.weights(i, j) > 0)) continue;
        const double* x = block.values.data() + static_cast<std::size_t>(hoods.indices(i, j)) * kWidth;
        for (std::size_t c = 0; c < d; ++c)
            for (std::size_t f = 0; f < block.size; ++f)
                out.predicted(t, j * d + c) += static_cast<double>(axes[c * kWidth + f]) * (x[f] - origin[f]);
    }
}

}  // namespace

void pooled_effects(const RowSource& X, const Neighborhoods& hoods, Span2<const double> coefficients,
                    std::size_t rounds, const EffectOutputs& out, const PooledOutputs& more, const Context& context) {
    const Span2<double> ellipses = more.ellipses;
    const std::size_t n = coefficients.rows(), k = hoods.indices.cols(), d = coefficients.cols() / k;
    const std::size_t D = out.mean_importance.size(), n_chunks = (n + kPointsPerChunk - 1) / kPointsPerChunk;
    std::vector<char> defined(n);
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        defined[i] = !std::isnan(coefficients(i, 0));
        count += static_cast<std::size_t>(defined[i]);
        if (defined[i])
            std::fill_n(ellipses.row(i), ellipses.cols(), 0.0);
        else
            write_undefined(i, D, out, ellipses);
    }
    std::fill_n(more.predicted.data(), more.predicted.size(), 0.0);
    Block block(n, d);
    std::vector<float> pooled(block.axes.size());
    std::vector<double> sums(n_chunks * kWidth);
    std::vector<std::size_t> cursors(n, 0);
    auto each_point = [&](auto&& body) {
        parallel_blocks(n, kPointsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            for (std::size_t i = begin; i < end; ++i) body(i);
        });
    };
    for (block.first = 0; block.first < D; block.first += kWidth) {
        block.size = std::min(kWidth, D - block.first);
        each_point([&](std::size_t i) {
            double* row = block.values.data() + i * kWidth;
            std::fill_n(row, kWidth, 0.0);
            std::visit([&](const auto& rows) { read_row(rows, i, block, cursors, row); }, X);
        });
        each_point([&](std::size_t i) {
            if (!defined[i]) return;
            double total = 0;
            for (std::size_t j = 0; j < k; ++j) total += static_cast<double>(hoods.weights(i, j));
            fit_columns(block.values.data(), i, hoods.indices.row(i), hoods.weights.row(i), k, coefficients.row(i), d,
                        total, block.own.data() + i * kWidth, block.axes.data() + i * d * kWidth);
        });
        if (rounds == 0) block.deviation = block.own;
        each_point([&](std::size_t i) {
            if (!defined[i] || rounds == 0) return;
            const float* own = block.own.data() + i * kWidth;
            float* deviation = block.deviation.data() + i * kWidth;
            average(block.own.data(), i, hoods.indices.row(i), hoods.weights.row(i), k, defined.data(), kWidth,
                    deviation);
            for (std::size_t f = 0; f < kWidth; ++f) deviation[f] = own[f] > 0 ? deviation[f] : 0.0F;
        });
        for (std::size_t round = 0; round < rounds; ++round) {
            each_point([&](std::size_t i) {
                if (defined[i])
                    average(block.axes.data(), i, hoods.indices.row(i), hoods.weights.row(i), k, defined.data(),
                            d * kWidth, pooled.data() + i * d * kWidth);
            });
            std::swap(block.axes, pooled);
        }
        for (std::size_t t = 0; t < more.tried.size(); ++t) predict(block, hoods, t, d, more);
        std::fill(sums.begin(), sums.end(), 0.0);
        each_point([&](std::size_t i) {
            if (defined[i]) note_point(block, i, d, out, ellipses, sums.data() + i / kPointsPerChunk * kWidth);
        });
        for (std::size_t f = 0; f < block.size; ++f) {
            double sum = 0;
            for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) sum += sums[chunk * kWidth + f];
            out.mean_importance[block.first + f] = count > 0 ? sum / static_cast<double>(count) : 0.0;
        }
    }
}

}  // namespace gnomon
