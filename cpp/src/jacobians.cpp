#include "gnomon/jacobians.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "gnomon/batched_cholesky.hpp"
#include "gnomon/batched_eigen.hpp"
#include "gnomon/map_order.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kBatchesPerChunk = 32;
constexpr double kRankShare = 1e-12;  // eigenvalues below this share of the largest are rounding
constexpr double kNoSlack = 1e-9;     // a neighbour the others say nothing about has leverage 1 up to this
constexpr double kCertain = 1e10;     // trace times trace of the inverse up to which no eigenvalue is rounding

// What one worker needs for one batch of points.
struct Scratch {
    Scratch(std::size_t n_neighbors, std::size_t n_components)
        : k(n_neighbors),
          d(n_components),
          a(k * k * kEigenBatch),
          v(k * k * kEigenBatch),
          full(a.size()),
          inverse(a.size()),
          solved(k * d * kEigenBatch),
          diagonal(k * kEigenBatch),
          turned(solved.size()),
          target(k * d),
          projected(k * d),
          fitted(k * d),
          leverage(k),
          means(k),
          order(k),
          roots(kEigenBatch * k),
          total(kEigenBatch),
          damping(kEigenBatch),
          rank(kEigenBatch),
          defined(kEigenBatch) {}

    std::size_t k, d;
    LocalProducts local;
    std::vector<double> products;                                 // Gram matrix of one point, padded
    std::vector<double> a, v;                                     // weighted Gram matrices and eigenvectors of a batch
    std::vector<double> full, inverse, solved, diagonal, turned;  // see solve_full
    std::vector<double> target, projected, fitted, leverage, means;
    std::vector<std::size_t> order;  // eigenvalues of one point, descending
    std::vector<double> roots;       // square roots of the normalised weights
    std::vector<double> total;       // traces of the weighted Gram matrices
    std::vector<double> damping;     // what is added to their eigenvalues
    std::vector<std::size_t> rank;   // of those solved without eigenvectors; 0 for the others
    std::vector<char> defined;
};

// Fills lane l of the batch with the weighted Gram matrix of point i.
void load_lane(const RowSource& X, const Neighborhoods& hoods, std::size_t i, std::size_t l, bool centered,
               Scratch& s) {
    const std::span<const std::int32_t> neighbors(hoods.indices.row(i), s.k);
    const std::span<const float> weights(hoods.weights.row(i), s.k);
    s.local.compute(X, i, neighbors, weights, s.products);
    const std::size_t n = s.local.stride();
    s.defined[l] = has_two_distinct(s.products.data(), n);
    double sum = 0;
    for (const float w : weights) sum += static_cast<double>(w);
    double* roots = s.roots.data() + l * s.k;
    for (std::size_t j = 0; j < s.k; ++j)
        roots[j] = s.defined[l] ? std::sqrt(static_cast<double>(weights[j]) / sum) : 0;
    // About the weighted mean of the neighbours: (I - 1 w') G (I - w 1'), w the squared roots.
    double mean = 0;
    for (std::size_t p = 0; p < s.k; ++p) {
        s.means[p] = 0;
        for (std::size_t q = 0; centered && q < s.k; ++q) s.means[p] += roots[q] * roots[q] * s.products[p * n + q];
    }
    for (std::size_t p = 0; p < s.k; ++p) mean += roots[p] * roots[p] * s.means[p];
    for (std::size_t p = 0; p < s.k; ++p)
        for (std::size_t q = 0; q < s.k; ++q)
            s.a[(p * s.k + q) * kEigenBatch + l] =
                roots[p] * roots[q] * (s.products[p * n + q] - s.means[p] - s.means[q] + mean);
}

// The number of leading eigenvalues kept, after sorting them.
std::size_t choose_dimension(std::size_t l, double share, Scratch& s) {
    auto value = [&](std::size_t p) { return s.a[(p * s.k + p) * kEigenBatch + l]; };
    std::iota(s.order.begin(), s.order.end(), std::size_t{0});
    sort_falling(s.order.begin(), s.order.end(), value);
    double all = 0, kept = 0;
    for (const std::size_t p : s.order) all += std::max(value(p), 0.0);
    std::size_t m = 0;
    while (m < s.k && value(s.order[m]) > kRankShare * value(s.order[0]) && (m == 0 || kept < share * all))
        kept += value(s.order[m++]);
    return m;
}

struct Fit {
    double total = 0, residual = 0;           // sums of squares about the mean of the neighbours
    double left_out_total = 0, left_out = 0;  // each neighbour predicted by the others' mean and by their fit
    double predicted = 0;                     // squares of the left-out predictions
    double jackknife = 0;                     // of left_out - (1 - R2) left_out_total, neighbour by neighbour, squared
};

// How much of the targets the fitted values account for, in the fit and left out of it.
Fit score(std::size_t l, bool centered, Scratch& s) {
    Fit fit;
    double* total = s.means.data();  // of each neighbour, left out
    double* left = s.leverage.data();
    std::size_t count = 0;
    for (std::size_t j = 0; j < s.k; ++j) {
        const double weight = centered ? s.roots[l * s.k + j] * s.roots[l * s.k + j] : 0;
        const double slack = 1 - weight - s.leverage[j], rest = std::max(1 - weight, kNoSlack);
        total[j] = left[j] = 0;
        count += s.roots[l * s.k + j] > 0;
        for (std::size_t c = 0; c < s.d; ++c) {
            const double y = s.target[j * s.d + c], e = y - s.fitted[j * s.d + c];
            const double without = slack > kNoSlack ? e / slack : y / rest;
            fit.total += y * y;
            fit.residual += e * e;
            total[j] += (y / rest) * (y / rest);
            left[j] += without * without;
            fit.predicted += (y / rest - without) * (y / rest - without);
        }
        fit.left_out_total += total[j];
        fit.left_out += left[j];
    }
    if (!(fit.left_out_total > 0) || count < 2) return fit;
    const double share = fit.left_out / fit.left_out_total;
    double sum = 0;
    for (std::size_t j = 0; j < s.k; ++j) sum += (left[j] - share * total[j]) * (left[j] - share * total[j]);
    fit.jackknife = sum * static_cast<double>(count) / static_cast<double>(count - 1);
    return fit;
}

// Ridge regression in the basis of the leading eigenvectors; coefficients go to `out` (k * d).
Fit regress(std::size_t l, std::size_t m, double ridge, bool centered, Scratch& s, double* out, double* ellipse) {
    const std::size_t k = s.k, d = s.d;
    auto value = [&](std::size_t p) { return s.a[(p * k + p) * kEigenBatch + l]; };
    double mean = 0;
    for (std::size_t r = 0; r < m; ++r) mean += value(s.order[r]) / static_cast<double>(m);
    std::fill_n(out, k * d, 0.0);
    std::fill(s.fitted.begin(), s.fitted.end(), 0.0);
    std::fill(s.leverage.begin(), s.leverage.end(), 0.0);
    std::vector<double>& image = s.projected;  // (m, d): J' in the orthonormal frame of the tangent space
    for (std::size_t r = 0; r < m; ++r) {
        const std::size_t p = s.order[r];
        const double lambda = value(p), damped = lambda + ridge * mean;
        auto vector = [&](std::size_t j) { return s.v[(p * k + j) * kEigenBatch + l]; };
        for (std::size_t c = 0; c < d; ++c) {
            double dot = 0;
            for (std::size_t j = 0; j < k; ++j) dot += vector(j) * s.target[j * d + c];
            for (std::size_t j = 0; j < k; ++j) {
                out[j * d + c] += vector(j) * (dot / damped);
                s.fitted[j * d + c] += vector(j) * (dot * (lambda / damped));
            }
            image[r * d + c] = dot * (std::sqrt(lambda) / damped);
        }
        for (std::size_t j = 0; j < k; ++j) s.leverage[j] += vector(j) * vector(j) * (lambda / damped);
    }
    for (std::size_t j = 0; j < k; ++j)
        for (std::size_t c = 0; c < d; ++c) out[j * d + c] *= s.roots[l * k + j];
    for (std::size_t a = 0; a < d; ++a)
        for (std::size_t b = 0; b < d; ++b) {
            double sum = 0;
            for (std::size_t r = 0; r < m; ++r) sum += image[r * d + a] * image[r * d + b];
            ellipse[a * d + b] = sum;
        }
    return score(l, centered, s);
}

void write_undefined(std::size_t at, const JacobianOutputs& out) {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    std::fill_n(out.coefficients.row(at), out.coefficients.cols(), std::numeric_limits<double>::quiet_NaN());
    std::fill_n(out.ellipses.row(at), out.ellipses.cols(), std::numeric_limits<double>::quiet_NaN());
    out.r2[at] = out.predicted_r2[at] = out.r2_error[at] = out.predicted_square[at] = kNaN;
    out.dimension[at] = 0;
}

// The displacements of the neighbours of point i in the map, from their mean, times the roots of the weights.
void load_target(Span2<const double> Y, const Neighborhoods& hoods, std::size_t i, std::size_t l, bool centered,
                 Scratch& s) {
    for (std::size_t c = 0; c < s.d; ++c) {
        double mean = 0;
        for (std::size_t j = 0; j < s.k; ++j) {
            const double root = s.roots[l * s.k + j];
            const double* y = Y.row(root > 0 ? static_cast<std::size_t>(hoods.indices(i, j)) : i);
            s.target[j * s.d + c] = y[c] - Y(i, c);
            mean += root * root * s.target[j * s.d + c];
        }
        for (std::size_t j = 0; j < s.k; ++j)
            s.target[j * s.d + c] = s.roots[l * s.k + j] * (s.target[j * s.d + c] - (centered ? mean : 0));
    }
}

// Of a whole batch, the points whose neighbours span as many directions as there are, so that all eigenvectors are kept
// and none is needed: with M the inverse of the damped Gram matrix and y the targets, M y are the coefficients and
// 1 - damping M the projection on the fit. Each such point gets its rank, damping, M y and the diagonal of M; the
// others rank 0.
//
// The Gram matrix is made regular first, on what is no direction: the roots of the weights if it is centred, and
// neighbours without weight. Targets are orthogonal to these, and their share of the diagonal is known.
void solve_full(Span2<const double> Y, const Neighborhoods& hoods, std::span<const std::size_t> points,
                const JacobianParams& params, Scratch& s) {
    const std::size_t k = s.k, d = s.d;
    std::fill(s.rank.begin(), s.rank.end(), 0);
    std::fill(s.damping.begin(), s.damping.end(), 0.0);
    if (params.variance_share < 1) return;
    s.full = s.a;
    std::fill(s.solved.begin(), s.solved.end(), 0.0);
    for (std::size_t l = 0; l < points.size(); ++l) {
        const double* roots = s.roots.data() + l * k;
        std::size_t count = 0;
        s.total[l] = 0;
        for (std::size_t j = 0; j < k; ++j) {
            count += roots[j] > 0;
            s.total[l] += s.a[(j * k + j) * kEigenBatch + l];
        }
        if (!s.defined[l] || count < (params.centered ? 2U : 1U)) continue;
        s.rank[l] = count - (params.centered ? 1 : 0);
        const double mean = s.total[l] / static_cast<double>(s.rank[l]);
        for (std::size_t p = 0; p < k; ++p) {
            if (!(roots[p] > 0)) s.full[(p * k + p) * kEigenBatch + l] = mean;
            for (std::size_t q = 0; params.centered && q <= p; ++q)
                s.full[(p * k + q) * kEigenBatch + l] += mean * roots[p] * roots[q];
        }
        s.damping[l] = params.ridge * mean;
        load_target(Y, hoods, points[l], l, params.centered, s);
        for (std::size_t e = 0; e < k * d; ++e) s.solved[e * kEigenBatch + l] = s.target[e];
    }
    const double none[kEigenBatch] = {};
    inverse_factors(k, s.full.data(), none, s.inverse.data());
    inverse_diagonals(k, s.inverse.data(), s.diagonal.data());
    for (std::size_t l = 0; l < points.size(); ++l) {
        double trace = 0;
        for (std::size_t j = 0; j < k; ++j) trace += s.diagonal[j * kEigenBatch + l];
        if (!(trace * s.total[l] < kCertain)) s.rank[l] = 0;
    }
    inverse_factors(k, s.full.data(), s.damping.data(), s.inverse.data());
    inverse_diagonals(k, s.inverse.data(), s.diagonal.data());
    solve_by_factors(k, d, s.inverse.data(), s.solved.data(), s.turned.data());
}

// Ridge regression of a point that solve_full has solved; coefficients go to `out` (k * d).
Fit regress_full(std::size_t l, bool centered, Scratch& s, double* out, double* ellipse) {
    const std::size_t k = s.k, d = s.d;
    const double damping = s.damping[l], mean = s.total[l] / static_cast<double>(s.rank[l]);
    auto solved = [&](std::size_t e) { return s.solved[e * kEigenBatch + l]; };
    for (std::size_t j = 0; j < k; ++j) {
        const double root = s.roots[l * k + j], weight = centered ? root * root : 0;
        const double left = damping * (s.diagonal[j * kEigenBatch + l] - weight / (mean + damping));
        s.leverage[j] = root > 0 ? 1 - weight - left : 0;
        for (std::size_t c = 0; c < d; ++c) {
            const double x = solved(j * d + c);
            out[j * d + c] = root * x;
            s.fitted[j * d + c] = s.target[j * d + c] - damping * x;
        }
    }
    for (std::size_t a = 0; a < d; ++a)
        for (std::size_t b = 0; b <= a; ++b) {
            double sum = 0;
            for (std::size_t j = 0; j < k; ++j) sum += solved(j * d + a) * s.fitted[j * d + b];
            ellipse[a * d + b] = ellipse[b * d + a] = sum;
        }
    return score(l, centered, s);
}

void solve_lane(Span2<const double> Y, const Neighborhoods& hoods, std::size_t i, std::size_t l, std::size_t at,
                const JacobianParams& params, Scratch& s, const JacobianOutputs& out) {
    std::size_t m = s.rank[l];
    const bool full = m > 0;
    if (!full && s.defined[l]) m = choose_dimension(l, params.variance_share, s);
    if (m == 0) return write_undefined(at, out);
    load_target(Y, hoods, i, l, params.centered, s);
    double *coefficients = out.coefficients.row(at), *ellipse = out.ellipses.row(at);
    const Fit fit = full ? regress_full(l, params.centered, s, coefficients, ellipse)
                         : regress(l, m, params.ridge, params.centered, s, coefficients, ellipse);
    // Neighbours that all lie on one point in the map leave nothing to account for.
    const bool spread = fit.total > 0;
    out.r2[at] = spread ? static_cast<float>(1 - fit.residual / fit.total) : 0.0F;
    out.predicted_r2[at] = spread ? static_cast<float>(1 - fit.left_out / fit.left_out_total) : 0.0F;
    out.predicted_square[at] = spread ? static_cast<float>(fit.predicted / fit.left_out_total) : 0.0F;
    out.r2_error[at] = spread ? static_cast<float>(std::sqrt(fit.jackknife) / fit.left_out_total) : 0.0F;
    out.dimension[at] = static_cast<std::int32_t>(m);
}

// The positions of `rows` in the order of their places in the map.
std::vector<std::int32_t> order_of(Span2<const double> Y, std::span<const std::int64_t> rows) {
    std::vector<double> places(rows.size() * Y.cols());
    for (std::size_t p = 0; p < rows.size(); ++p)
        std::copy_n(Y.row(static_cast<std::size_t>(rows[p])), Y.cols(), places.data() + p * Y.cols());
    return map_order({places.data(), rows.size(), Y.cols()});
}

}  // namespace

void local_jacobians(const RowSource& X, Span2<const double> Y, const Neighborhoods& neighborhoods,
                     std::span<const std::int64_t> rows, const JacobianParams& params, const JacobianOutputs& out,
                     const Context& context) {
    const std::size_t k = neighborhoods.indices.cols();
    std::vector<Scratch> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)), Scratch(k, Y.cols()));
    // Neighbours in the map share neighbours in the data: one after the other, they find them in the cache.
    const std::vector<std::int32_t> order = order_of(Y, rows);
    auto row = [&](std::size_t p) { return static_cast<std::size_t>(rows[static_cast<std::size_t>(order[p])]); };
    parallel_blocks(rows.size(), kBatchesPerChunk * kEigenBatch, context,
                    [&](std::size_t begin, std::size_t end, std::size_t worker) {
                        Scratch& s = scratch[worker];
                        std::size_t points[kEigenBatch];
                        for (std::size_t first = begin; first < end; first += kEigenBatch) {
                            const std::size_t size = std::min(kEigenBatch, end - first);
                            std::fill(s.a.begin(), s.a.end(), 0.0);
                            for (std::size_t l = 0; l < size; ++l) {
                                if (const std::size_t next = first + l + 1; next < end)
                                    LocalProducts::prefetch(X, row(next), {neighborhoods.indices.row(row(next)), k});
                                points[l] = row(first + l);
                                load_lane(X, neighborhoods, points[l], l, params.centered, s);
                            }
                            solve_full(Y, neighborhoods, {points, size}, params, s);
                            if (std::any_of(s.rank.begin(), s.rank.begin() + static_cast<std::ptrdiff_t>(size),
                                            [](std::size_t rank) { return rank == 0; }))
                                symmetric_eigen(k, s.a.data(), s.v.data());
                            for (std::size_t l = 0; l < size; ++l)
                                solve_lane(Y, neighborhoods, points[l], l, static_cast<std::size_t>(order[first + l]),
                                           params, s, out);
                        }
                    });
}

}  // namespace gnomon
