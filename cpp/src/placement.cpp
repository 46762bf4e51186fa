#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/placement.cpp"
#include "gnomon/placement.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gnomon/pair_laws.hpp"
#include "gnomon/point_planes.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 8;
constexpr int kTrialSteps = 6;  // from each start; only the best goes on
constexpr double kFirstDamping = 1e-2, kLeastDamping = 1e-7, kMostDamping = 1e9;
constexpr double kSmallFall = 1e-7;  // share of the energy that float32 hides

/// Anchors and the kernel's values between them and the candidates, shared by all rows.
struct Shared {
    explicit Shared(const Placement& placement)
        : kernel(placement.kernel), anchors(placement.anchors), weights(padded(placement.weights)) {}
    const OutputKernel& kernel;
    PointPlanes anchors;
    std::vector<float> weights;
    std::vector<float> table;  // (candidates, whole_vectors(anchors))
};

/// What one row needs, kept between rows.
struct Row {
    Row(std::size_t m, std::size_t d)
        : targets(whole_vectors(m)),
          weights(whole_vectors(m)),
          gradient(d),
          hessian(d * d),
          factor(d * d),
          step(d),
          here(d),
          next(d),
          next_gradient(d),
          next_hessian(d * d) {}
    std::vector<float> targets, weights;
    std::vector<double> gradient, hessian, factor, step, here, next, next_gradient, next_hessian;
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(distances_to);
GNOMON_CHOOSE(energies_of_candidates);
GNOMON_CHOOSE(evaluate);

/// Solves (hessian + damping I) step = -gradient by Cholesky's factor of the lower triangle; false if it has none.
bool solve(Row& row, double damping) {
    const std::size_t d = row.here.size();
    std::vector<double>&l = row.factor, &x = row.step;
    for (std::size_t a = 0; a < d; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
            double sum = row.hessian[a * d + b] + (a == b ? damping : 0.0);
            for (std::size_t k = 0; k < b; ++k) sum -= l[a * d + k] * l[b * d + k];
            if (a == b) {
                if (!(sum > 0.0)) return false;
                l[a * d + a] = std::sqrt(sum);
            } else {
                l[a * d + b] = sum / l[b * d + b];
            }
        }
    }
    for (std::size_t a = 0; a < d; ++a) {
        double sum = -row.gradient[a];
        for (std::size_t k = 0; k < a; ++k) sum -= l[a * d + k] * x[k];
        x[a] = sum / l[a * d + a];
    }
    for (std::size_t a = d; a-- > 0;) {
        for (std::size_t k = a + 1; k < d; ++k) x[a] -= l[k * d + a] * x[k];
        x[a] /= l[a * d + a];
    }
    return true;
}

/// Levenberg-Marquardt steps from row.here, which ends at the lowest energy seen; returns that energy.
double improve(const Shared& shared, Row& row, int max_iter) {
    const std::size_t d = row.here.size();
    double energy = evaluate(shared, row, row.here.data(), row.gradient.data(), row.hessian.data());
    double damping = kFirstDamping;
    for (int t = 0; t < max_iter && energy > 0.0 && damping < kMostDamping; ++t) {
        double size = 0;
        for (std::size_t c = 0; c < d; ++c) size += row.hessian[c * d + c] / static_cast<double>(d);
        if (!(size > 0.0) || !solve(row, damping * size)) return energy;
        for (std::size_t c = 0; c < d; ++c)
            row.next[c] = static_cast<double>(static_cast<float>(row.here[c] + row.step[c]));
        const double found = evaluate(shared, row, row.next.data(), row.next_gradient.data(), row.next_hessian.data());
        if (!(found < energy)) {
            damping *= 4.0;
            continue;
        }
        const bool last = energy - found <= kSmallFall * energy;
        std::swap(row.here, row.next);
        std::swap(row.gradient, row.next_gradient);
        std::swap(row.hessian, row.next_hessian);
        energy = found;
        damping = std::max(damping / 3.0, kLeastDamping);
        if (last) break;
    }
    return energy;
}

/// The kernel between all candidates and anchors.
void fill_table(Shared& shared, Span2<const float> candidates, const Context& context) {
    const std::size_t m = whole_vectors(shared.anchors.size()), d = shared.anchors.width();
    shared.table.resize(candidates.rows() * m);
    parallel_blocks(candidates.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        alignas(64) float squared[kTilePoints], slopes[kTilePoints];
        std::vector<double> here(d);
        for (std::size_t g = begin; g < end; ++g) {
            for (std::size_t c = 0; c < d; ++c) here[c] = static_cast<double>(candidates(g, c));
            for (std::size_t first = 0; first < m; first += kTilePoints) {
                const std::size_t count = std::min(kTilePoints, m - first);
                distances_to(shared.anchors, here.data(), first, count, squared);
                evaluate_law(PairLaw::value, shared.kernel, squared, count, slopes,
                             shared.table.data() + g * m + first);
            }
        }
    });
}

}  // namespace

void place_points(const Placement& placement, Span2<const float> targets, std::span<const std::int32_t> own,
                  Span2<float> positions, std::span<double> energies, const Context& context) {
    const std::size_t m = placement.anchors.rows(), d = placement.anchors.cols(), g = placement.candidates.rows();
    Shared shared(placement);
    fill_table(shared, placement.candidates, context);
    const std::size_t n_starts = std::min(g, static_cast<std::size_t>(placement.n_starts));
    parallel_blocks(targets.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        Row row(m, d);
        std::vector<double> of_candidates(g), best(d);
        std::vector<std::size_t> order(g);
        for (std::size_t i = begin; i < end; ++i) {
            std::copy_n(targets.row(i), m, row.targets.begin());
            row.weights = shared.weights;
            if (own[i] >= 0) row.weights[static_cast<std::size_t>(own[i])] = 0.0F;
            energies_of_candidates(shared, row, of_candidates);
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n_starts), order.end(),
                              [&](std::size_t a, std::size_t b) {
                                  return of_candidates[a] != of_candidates[b] ? of_candidates[a] < of_candidates[b]
                                                                              : a < b;
                              });
            for (std::size_t s = 0; s < n_starts; ++s) {
                for (std::size_t c = 0; c < d; ++c)
                    row.here[c] = static_cast<double>(placement.candidates(order[s], c));
                const double energy = improve(shared, row, std::min(kTrialSteps, placement.max_iter));
                if (s > 0 && !(energy < energies[i])) continue;
                energies[i] = energy;
                best = row.here;
            }
            row.here = best;
            energies[i] = improve(shared, row, placement.max_iter);
            for (std::size_t c = 0; c < d; ++c) positions(i, c) = static_cast<float>(row.here[c]);
        }
    });
}

}  // namespace gnomon

#else
#include "gnomon/point_planes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;

/// squared[k] = |y - anchor_(begin + k)|^2.
GNOMON_KERNEL void distances_to(const PointPlanes& anchors, const double* y, std::size_t begin, std::size_t count,
                                float* squared) {
    for (std::size_t c = 0; c < anchors.width(); ++c) {
        const f32 here = simd::splat(static_cast<float>(y[c]));
        for (std::size_t k = 0; k < count; k += simd::kLanes) {
            const f32 away = here - simd::load(anchors.plane(c) + begin + k);
            const f32 before = c == 0 ? f32{} : simd::load(squared + k);
            simd::store(squared + k, before + away * away);
        }
    }
}

/// E at y, its gradient and the Gauss-Newton part of its Hessian.
GNOMON_KERNEL double evaluate(const Shared& shared, const Row& row, const double* y, double* gradient,
                              double* hessian) {
    alignas(64) float squared[kTilePoints], slopes[kTilePoints], values[kTilePoints];
    const PointPlanes& anchors = shared.anchors;
    const std::size_t d = anchors.width(), m = whole_vectors(anchors.size());
    std::fill(gradient, gradient + d, 0.0);
    std::fill(hessian, hessian + d * d, 0.0);
    double energy = 0;
    for (std::size_t begin = 0; begin < m; begin += kTilePoints) {
        const std::size_t count = std::min(kTilePoints, m - begin);
        distances_to(anchors, y, begin, count, squared);
        evaluate_law(PairLaw::value, shared.kernel, squared, count, slopes, values);
        f32 total{};
        for (std::size_t k = 0; k < count; k += simd::kLanes) {
            const f32 weight = simd::load(row.weights.data() + begin + k);
            const f32 residual = simd::load(values + k) - simd::load(row.targets.data() + begin + k);
            total += weight * residual * residual;
            simd::store(values + k, weight * residual * simd::load(slopes + k));
        }
        energy += static_cast<double>(simd::sum(total));
        for (std::size_t a = 0; a < d; ++a) {
            const f32 at_a = simd::splat(static_cast<float>(y[a]));
            f32 sum{};
            for (std::size_t k = 0; k < count; k += simd::kLanes)
                sum += simd::load(values + k) * (at_a - simd::load(anchors.plane(a) + begin + k));
            gradient[a] += 4.0 * static_cast<double>(simd::sum(sum));
            for (std::size_t b = 0; b <= a; ++b) {
                const f32 at_b = simd::splat(static_cast<float>(y[b]));
                f32 product{};
                for (std::size_t k = 0; k < count; k += simd::kLanes) {
                    const f32 slope = simd::load(slopes + k);
                    const f32 along_a = slope * (at_a - simd::load(anchors.plane(a) + begin + k));
                    const f32 along_b = slope * (at_b - simd::load(anchors.plane(b) + begin + k));
                    product += simd::load(row.weights.data() + begin + k) * along_a * along_b;
                }
                hessian[a * d + b] += 8.0 * static_cast<double>(simd::sum(product));
            }
        }
    }
    return energy;
}

GNOMON_KERNEL void energies_of_candidates(const Shared& shared, const Row& row, std::span<double> energies) {
    const std::size_t m = row.targets.size();
    for (std::size_t g = 0; g < energies.size(); ++g) {
        const float* values = shared.table.data() + g * m;
        f32 total{};
        for (std::size_t k = 0; k < m; k += simd::kLanes) {
            const f32 residual = simd::load(values + k) - simd::load(row.targets.data() + k);
            total += simd::load(row.weights.data() + k) * residual * residual;
        }
        energies[g] = static_cast<double>(simd::sum(total));
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
