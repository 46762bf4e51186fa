#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/row_placement.cpp"
#include "gnomon/row_placement.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "gnomon/elementary.hpp"
#include "gnomon/row_descent.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kTile = 512;         // pairs evaluated at once
constexpr std::size_t kRowsPerBlock = 32;  // of one task
constexpr std::size_t kStarts = 15;        // neighbours whose places are tried as starts

/// Some points with weights, one component after the other, filled up with points of no weight.
struct Planar {
    std::size_t count = 0, stride = 0;
    std::vector<float> coordinates, weights;

    void resize(std::size_t n, std::size_t d) {
        count = (n + simd::kLanes - 1) / simd::kLanes * simd::kLanes;
        stride = count;
        coordinates.assign(d * stride, 0.0F);
        weights.assign(count, 0.0F);
    }
};

struct Tile {
    alignas(64) float squared[kTile], slopes[kTile], energies[kTile], values[kTile], value_slopes[kTile];
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(add_gradient);
GNOMON_CHOOSE(add_logs);
GNOMON_CHOOSE(squared_distances);
GNOMON_CHOOSE(weighted_sum);

/// Four cubic B-splines at offset u in [0, 1) from the second node, and their slopes.
struct Spline {
    double weight[4], slope[4];

    explicit Spline(double u) {
        const double v = 1.0 - u;
        weight[0] = v * v * v / 6.0;
        weight[1] = 2.0 / 3.0 - 0.5 * u * u * (2.0 - u);
        weight[2] = 2.0 / 3.0 - 0.5 * v * v * (2.0 - v);
        weight[3] = u * u * u / 6.0;
        slope[0] = -0.5 * v * v;
        slope[1] = u * (1.5 * u - 2.0);
        slope[2] = -v * (1.5 * v - 2.0);
        slope[3] = 0.5 * u * u;
    }
};

/// Reads value and gradient off a table; false outside.
bool read_table(const SplineTable& table, const float* y, std::size_t d, double& value, double* gradient) {
    const Span2<const double>& nodes = table.coefficients;
    const double x = (static_cast<double>(y[0]) - table.low[0]) / table.spacing;
    if (!(x >= 1.0 && x < static_cast<double>(nodes.cols()) - 2.0)) return false;
    const auto column = static_cast<std::size_t>(x);
    const Spline across(x - static_cast<double>(column));
    value = 0.0;
    if (d == 1) {
        double slope = 0.0;
        for (std::size_t c = 0; c < 4; ++c) {
            const double node = nodes(0, column - 1 + c);
            value += across.weight[c] * node;
            slope += across.slope[c] * node;
        }
        gradient[0] = slope / table.spacing;
        return true;
    }
    const double z = (static_cast<double>(y[1]) - table.low[1]) / table.spacing;
    if (!(z >= 1.0 && z < static_cast<double>(nodes.rows()) - 2.0)) return false;
    const auto row = static_cast<std::size_t>(z);
    const Spline down(z - static_cast<double>(row));
    double slope[2] = {0.0, 0.0};
    for (std::size_t r = 0; r < 4; ++r) {
        const double* node = nodes.row(row - 1 + r) + column - 1;
        double weighted = 0.0, sloped = 0.0;
        for (std::size_t c = 0; c < 4; ++c) {
            weighted += across.weight[c] * node[c];
            sloped += across.slope[c] * node[c];
        }
        value += down.weight[r] * weighted;
        slope[0] += down.weight[r] * sloped;
        slope[1] += down.slope[r] * weighted;
    }
    for (std::size_t c = 0; c < 2; ++c) gradient[c] = slope[c] / table.spacing;
    return true;
}

Planar planar_sources(const RowPlacement& placement) {
    Planar sources;
    const std::size_t d = placement.points.cols();
    sources.resize(placement.sources.rows(), d);
    for (std::size_t l = 0; l < placement.sources.rows(); ++l) {
        for (std::size_t c = 0; c < d; ++c) sources.coordinates[c * sources.stride + l] = placement.sources(l, c);
        sources.weights[l] = placement.charges[l];
    }
    return sources;
}

/// The loss of one row at a time; owned by one worker.
class RowLoss {
public:
    RowLoss(const RowPlacement& placement, const Planar& sources)
        : placement_(placement), sources_(sources), d_(placement.points.cols()), push_(d_), descent(d_) {}

    void take_row(const std::int32_t* neighbors, const float* weights, std::size_t k) {
        near_.resize(k, d_);
        total_weight_ = 0.0;
        for (std::size_t j = 0; j < near_.count; ++j) {
            const float* point = placement_.points.row(static_cast<std::size_t>(neighbors[std::min(j, k - 1)]));
            for (std::size_t c = 0; c < d_; ++c) near_.coordinates[c * near_.stride + j] = point[c];
            if (j < k) near_.weights[j] = weights[j], total_weight_ += static_cast<double>(weights[j]);
        }
    }

    double operator()(const float* y, double* gradient) {
        std::fill(gradient, gradient + d_, 0.0);
        double repulsion = 0.0;
        if (!sum_repulsion(y, repulsion)) return std::numeric_limits<double>::infinity();
        const double sum = placement_.strength * repulsion;
        double factor = placement_.strength, loss = 0.0;
        if (placement_.link == RepulsionLink::sum) loss = sum;
        if (placement_.link == RepulsionLink::log) {
            const double held = std::max(repulsion, 1e-300);
            loss = placement_.strength * exact_log(held);
            factor = placement_.strength / held;
        }
        if (placement_.link == RepulsionLink::contrast) factor = 0.0;
        loss += sum_attraction(y, std::max(sum, 1e-30), gradient, factor);
        for (std::size_t c = 0; c < d_; ++c) gradient[c] += factor * push_[c];
        return loss;
    }

    /// Places the row taken; returns the losses at the weighted mean and at the end.
    std::pair<double, double> place(std::size_t k) {
        std::vector<float>& here = descent.here;
        for (std::size_t c = 0; c < d_; ++c) {
            double sum = 0.0;
            for (std::size_t j = 0; j < k; ++j)
                sum += static_cast<double>(near_.weights[j]) *
                       static_cast<double>(near_.coordinates[c * near_.stride + j]);
            here[c] = static_cast<float>(
                total_weight_ != 0.0 ? sum / total_weight_ : static_cast<double>(near_.coordinates[c * near_.stride]));
        }
        const double at_mean = (*this)(here.data(), descent.gradient.data());
        double best = at_mean;
        for (std::size_t j = 0; j < std::min(k, kStarts); ++j) {
            for (std::size_t c = 0; c < d_; ++c) descent.trial[c] = near_.coordinates[c * near_.stride + j];
            const double found = (*this)(descent.trial.data(), descent.next.data());
            if (found < best || !std::isfinite(best)) best = found, here = descent.trial;
        }
        (*this)(here.data(), descent.gradient.data());
        const double first = curvature_ > 0.0 ? 1.0 / curvature_ : 1.0;
        return {at_mean, descent.descend(*this, first, placement_.max_iter, placement_.tolerance)};
    }

private:
    bool sum_repulsion(const float* y, double& total) {
        if (placement_.table.coefficients.size() > 0) return read_table(placement_.table, y, d_, total, push_.data());
        total = 0.0;
        std::fill(push_.begin(), push_.end(), 0.0);
        const PairTerm& term = placement_.repulsion;
        const auto scale = static_cast<double>(term.scale);
        for (std::size_t first = 0; first < sources_.count; first += kTile) {
            const std::size_t count = std::min(kTile, sources_.count - first);
            squared_distances(sources_, y, d_, first, count, tile_.squared);
            evaluate_law(term.law, term.kernel, tile_.squared, count, tile_.slopes, tile_.energies);
            total += scale * static_cast<double>(weighted_sum(sources_.weights.data() + first, tile_.energies, count));
            add_gradient(sources_, y, d_, first, count, tile_.slopes, scale, push_.data());
        }
        return true;
    }

    /// Returns the attraction with what the link adds to it, adds its gradient, and sets the factor of the repulsion's.
    double sum_attraction(const float* y, double noise, double* gradient, double& factor) {
        const PairTerm& term = placement_.attraction;
        const auto scale = static_cast<double>(term.scale);
        double loss = 0.0;
        curvature_ = 0.0;
        for (std::size_t first = 0; first < near_.count; first += kTile) {
            const std::size_t count = std::min(kTile, near_.count - first);
            squared_distances(near_, y, d_, first, count, tile_.squared);
            evaluate_law(term.law, term.kernel, tile_.squared, count, tile_.slopes, tile_.energies);
            if (placement_.link == RepulsionLink::contrast) contrast(first, count, noise, factor);
            const float* weights = near_.weights.data() + first;
            loss += scale * static_cast<double>(weighted_sum(weights, tile_.energies, count));
            add_gradient(near_, y, d_, first, count, tile_.slopes, scale, gradient);
            curvature_ += 2.0 * std::fabs(scale * static_cast<double>(weighted_sum(weights, tile_.slopes, count)));
        }
        return loss;
    }

    /// Adds log(k_j + noise) to the terms of a tile.
    void contrast(std::size_t first, std::size_t count, double noise, double& factor) {
        evaluate_law(PairLaw::value, placement_.attraction.kernel, tile_.squared, count, tile_.value_slopes,
                     tile_.values);
        for (std::size_t j = 0; j < count; ++j) {
            const double sum = static_cast<double>(tile_.values[j]) + noise;
            tile_.values[j] = static_cast<float>(sum);
            tile_.slopes[j] += static_cast<float>(static_cast<double>(tile_.value_slopes[j]) / sum);
            factor += placement_.strength * static_cast<double>(near_.weights[first + j]) / sum;
        }
        add_logs(tile_.values, count, tile_.energies);
    }

    const RowPlacement& placement_;
    const Planar& sources_;
    std::size_t d_;
    Planar near_;
    std::vector<double> push_;
    Tile tile_;
    double total_weight_ = 0.0, curvature_ = 0.0;

public:
    RowDescent descent;
};

template <class Body>
void for_rows(const RowPlacement& placement, Span2<const std::int32_t> neighbors, Span2<const float> weights,
              const Context& context, Body&& body) {
    assert(neighbors.rows() == weights.rows() && neighbors.cols() == weights.cols() && neighbors.cols() > 0);
    check_law(placement.attraction.law, placement.attraction.kernel);
    const Planar sources = planar_sources(placement);
    std::vector<RowLoss> workers(static_cast<std::size_t>(std::max(context.n_threads, 1)), RowLoss(placement, sources));
    parallel_blocks(neighbors.rows(), kRowsPerBlock, context,
                    [&](std::size_t begin, std::size_t end, std::size_t worker) {
                        for (std::size_t i = begin; i < end; ++i) {
                            workers[worker].take_row(neighbors.row(i), weights.row(i), neighbors.cols());
                            body(i, workers[worker]);
                        }
                    });
}

}  // namespace

void place_rows(const RowPlacement& placement, Span2<const std::int32_t> neighbors, Span2<const float> weights,
                Span2<float> positions, Span2<double> losses, const Context& context) {
    for_rows(placement, neighbors, weights, context, [&](std::size_t i, RowLoss& loss) {
        const auto [before, after] = loss.place(neighbors.cols());
        losses(i, 0) = before;
        losses(i, 1) = after;
        std::copy(loss.descent.here.begin(), loss.descent.here.end(), positions.row(i));
    });
}

void row_losses(const RowPlacement& placement, Span2<const std::int32_t> neighbors, Span2<const float> weights,
                Span2<const float> positions, std::span<double> losses, Span2<double> gradients,
                const Context& context) {
    for_rows(placement, neighbors, weights, context,
             [&](std::size_t i, RowLoss& loss) { losses[i] = loss(positions.row(i), gradients.row(i)); });
}

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;
using simd::kLanes;

GNOMON_KERNEL void squared_distances(const Planar& points, const float* y, std::size_t d, std::size_t first,
                                     std::size_t count, float* squared) {
    for (std::size_t k = 0; k < count; k += kLanes) {
        f32 sum{};
        for (std::size_t c = 0; c < d; ++c) {
            const f32 away = simd::splat(y[c]) - simd::load(points.coordinates.data() + c * points.stride + first + k);
            sum += away * away;
        }
        simd::store(squared + k, sum);
    }
}

/// The sum of weights * terms over a tile.
GNOMON_KERNEL float weighted_sum(const float* weights, const float* terms, std::size_t count) {
    f32 sum{};
    for (std::size_t k = 0; k < count; k += kLanes) sum += simd::load(weights + k) * simd::load(terms + k);
    return simd::sum(sum);
}

/// terms += log x.
GNOMON_KERNEL void add_logs(const float* x, std::size_t count, float* terms) {
    for (std::size_t k = 0; k < count; k += kLanes)
        simd::store(terms + k, simd::load(terms + k) + simd::log2(simd::load(x + k)) * 0.693147181F);
}

/// gradient += 2 factor sum_j weights_j slopes_j (y - z_j).
GNOMON_KERNEL void add_gradient(const Planar& points, const float* y, std::size_t d, std::size_t first,
                                std::size_t count, const float* slopes, double factor, double* gradient) {
    for (std::size_t c = 0; c < d; ++c) {
        f32 sum{};
        for (std::size_t k = 0; k < count; k += kLanes) {
            const f32 away = simd::splat(y[c]) - simd::load(points.coordinates.data() + c * points.stride + first + k);
            sum += simd::load(points.weights.data() + first + k) * simd::load(slopes + k) * away;
        }
        gradient[c] += 2.0 * factor * static_cast<double>(simd::sum(sum));
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
