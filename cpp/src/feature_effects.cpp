#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/feature_effects.cpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gnomon/jacobians.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kPointsPerChunk = 512;

constexpr std::size_t kLanes = 8;
static_assert(Displacements::kColumnPad % kLanes == 0);

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(effects_of_columns);

struct Scratch {
    Displacements displacements;
    std::vector<double> effect, length, weights;
    std::vector<std::size_t> best;  // columns of largest length so far, descending
};

// The n_top columns of largest length, descending, ties by number; fewer if there are fewer columns.
void select_top(const std::vector<double>& length, std::size_t n_columns, std::size_t n_top,
                std::vector<std::size_t>& best) {
    best.clear();
    for (std::size_t f = 0; f < n_columns; ++f) {
        if (best.size() == n_top && !(length[f] > length[best.back()])) continue;
        if (best.size() == n_top) best.pop_back();
        std::size_t at = best.size();
        best.push_back(f);
        for (; at > 0 && length[f] > length[best[at - 1]]; --at) std::swap(best[at], best[at - 1]);
    }
}

void write_top(const Scratch& s, std::size_t at, std::size_t d, const EffectOutputs& out) {
    const std::size_t n_top = out.top_features.cols(), stride = s.displacements.stride();
    std::int32_t* features = out.top_features.row(at);
    for (std::size_t t = 0; t < s.best.size(); ++t) {
        features[t] = s.displacements.feature(s.best[t]);
        out.top_importance(at, t) = static_cast<float>(s.length[s.best[t]]);
        for (std::size_t c = 0; c < d; ++c)
            out.top_arrows(at, t * d + c) = static_cast<float>(s.effect[c * stride + s.best[t]]);
    }
    // Features without a column do not vary here: they fill the remaining places with exact zeros, lowest first.
    std::int32_t next = 0;
    for (std::size_t t = s.best.size(); t < n_top; ++t, ++next) {
        while (std::find(features, features + t, next) != features + t) ++next;
        features[t] = next;
        out.top_importance(at, t) = 0;
        std::fill_n(out.top_arrows.row(at) + t * d, d, 0.0F);
    }
}

void write_undefined(std::size_t at, const EffectOutputs& out) {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    if (out.top_features.size() > 0) {
        for (std::size_t t = 0; t < out.top_features.cols(); ++t)
            out.top_features(at, t) = static_cast<std::int32_t>(t);
        std::fill_n(out.top_importance.row(at), out.top_importance.cols(), kNaN);
        std::fill_n(out.top_arrows.row(at), out.top_arrows.cols(), kNaN);
    }
    if (out.importance.size() > 0) std::fill_n(out.importance.row(at), out.importance.cols(), kNaN);
}

// One point; adds its importances to `sums` (empty: not wanted) and returns whether it is defined.
bool explain_point(const RowSource& X, const Neighborhoods& hoods, std::size_t i, std::size_t at,
                   Span2<const double> coefficients, Scratch& s, const EffectOutputs& out, std::span<double> sums) {
    const std::size_t k = hoods.indices.cols(), d = coefficients.cols() / k;
    if (std::isnan(coefficients(at, 0))) {
        write_undefined(at, out);
        return false;
    }
    const std::span<const float> weights(hoods.weights.row(i), k);
    s.displacements.gather(X, i, {hoods.indices.row(i), k}, weights);
    double total = 0;
    for (const float w : weights) total += static_cast<double>(w);
    s.weights.assign(weights.begin(), weights.end());
    for (double& w : s.weights) w /= total;
    const std::size_t stride = s.displacements.stride(), n_columns = s.displacements.n_columns();
    s.effect.resize(d * stride);
    s.length.resize(stride);
    effects_of_columns(s.displacements.row(0), k, stride, coefficients.row(at), d, s.weights.data(), s.effect.data(),
                       s.length.data());
    if (out.top_features.size() > 0) {
        select_top(s.length, n_columns, out.top_features.cols(), s.best);
        write_top(s, at, d, out);
    }
    if (out.importance.size() > 0) {
        std::fill_n(out.importance.row(at), out.importance.cols(), 0.0F);
        for (std::size_t f = 0; f < n_columns; ++f)
            out.importance(at, static_cast<std::size_t>(s.displacements.feature(f))) = static_cast<float>(s.length[f]);
    }
    if (!sums.empty())
        for (std::size_t f = 0; f < n_columns; ++f)
            sums[static_cast<std::size_t>(s.displacements.feature(f))] += s.length[f];
    return true;
}

}  // namespace

void feature_effects(const RowSource& X, const Neighborhoods& neighborhoods, std::span<const std::int64_t> rows,
                     Span2<const double> coefficients, const EffectOutputs& out, const Context& context) {
    const std::size_t n_features = out.mean_importance.size();
    const std::size_t n_chunks = (rows.size() + kPointsPerChunk - 1) / kPointsPerChunk;
    std::vector<Scratch> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)));
    std::vector<double> sums(n_chunks * n_features, 0.0);  // one row for each chunk, added in their order
    std::vector<std::size_t> n_defined(n_chunks, 0);
    parallel_blocks(rows.size(), kPointsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        const std::size_t chunk = begin / kPointsPerChunk;
        const std::span<double> chunk_sums(sums.data() + chunk * n_features, n_features);
        for (std::size_t at = begin; at < end; ++at)
            n_defined[chunk] += explain_point(X, neighborhoods, static_cast<std::size_t>(rows[at]), at, coefficients,
                                              scratch[worker], out, chunk_sums);
    });
    std::size_t count = 0;
    for (const std::size_t c : n_defined) count += c;
    for (std::size_t f = 0; f < n_features; ++f) {
        double sum = 0;
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) sum += sums[chunk * n_features + f];
        out.mean_importance[f] = count > 0 ? sum / static_cast<double>(count) : 0.0;
    }
}

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using f64 = simd::Lanes<double, kLanes>;

// For every column f: effect[c][f] = localstd_f * sum_j z_jf coef_jc and length[f] = |effect[.][f]|.
// z is (k, stride), coef (k, d), weights (k) sum to 1, effect (d, stride), length (stride).
GNOMON_KERNEL void effects_of_columns(const double* z, std::size_t k, std::size_t stride, const double* coef,
                                      std::size_t d, const double* weights, double* effect, double* length) {
    for (std::size_t f = 0; f < stride; f += kLanes) {
        f64 square{}, moment{};
        for (std::size_t j = 0; j < k; ++j) {
            const f64 x = simd::load_as<f64>(z + j * stride + f);
            moment += weights[j] * (x * x);
        }
        const f64 deviation = simd::sqrt(moment);
        for (std::size_t c = 0; c < d; ++c) {
            f64 sum{};
            for (std::size_t j = 0; j < k; ++j) sum += coef[j * d + c] * simd::load_as<f64>(z + j * stride + f);
            sum *= deviation;
            simd::store(effect + c * stride + f, sum);
            square += sum * sum;
        }
        simd::store(length + f, simd::sqrt(square));
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
