#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/triplet_placement.cpp"
#include "gnomon/triplet_placement.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "gnomon/row_descent.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerBlock = 16;

/// Far points one component after the other, filled up to whole vectors.
struct FarPoints {
    std::size_t count, stride;
    std::vector<float> coordinates;

    explicit FarPoints(Span2<const float> far)
        : count(far.rows()), stride((count + simd::kLanes - 1) / simd::kLanes * simd::kLanes) {
        coordinates.assign(far.cols() * stride, 0.0F);
        for (std::size_t l = 0; l < count; ++l)
            for (std::size_t c = 0; c < far.cols(); ++c) coordinates[c * stride + l] = far(l, c);
    }
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(add_neighbor);
GNOMON_CHOOSE(far_distances);

class TripletRow {
public:
    TripletRow(const TripletPlacement& placement, const FarPoints& far)
        : descent(placement.points.cols()),
          placement_(placement),
          far_(far),
          d_(placement.points.cols()),
          distances_(far.stride),
          slopes_(far.stride) {}

    void take(const std::int32_t* neighbors, const float* weights, std::size_t k) {
        neighbors_ = neighbors;
        k_ = k;
        weights_.assign(k * far_.stride, 0.0F);
        for (std::size_t j = 0; j < k; ++j)
            std::copy_n(weights + j * far_.count, far_.count, weights_.data() + j * far_.stride);
    }

    double operator()(const float* y, double* gradient) {
        std::fill(gradient, gradient + d_, 0.0);
        std::fill(slopes_.begin(), slopes_.end(), 0.0F);
        far_distances(far_, y, d_, distances_.data());
        double loss = 0.0;
        curvature_ = 0.0;
        for (std::size_t j = 0; j < k_; ++j) {
            const float* z = point(j);
            float near = 1.0F, part, slope;
            for (std::size_t c = 0; c < d_; ++c) near += (y[c] - z[c]) * (y[c] - z[c]);
            add_neighbor(weights_.data() + j * far_.stride, distances_.data(), far_.stride, near, slopes_.data(), part,
                         slope);
            loss += static_cast<double>(part);
            curvature_ += 2.0 * static_cast<double>(slope);
            for (std::size_t c = 0; c < d_; ++c) gradient[c] += 2.0 * static_cast<double>(slope * (y[c] - z[c]));
        }
        for (std::size_t l = 0; l < far_.count; ++l)
            for (std::size_t c = 0; c < d_; ++c)
                gradient[c] += 2.0 * static_cast<double>(slopes_[l] * (y[c] - far_.coordinates[c * far_.stride + l]));
        return loss;
    }

    std::pair<double, double> place() {
        std::vector<float>& here = descent.here;
        for (std::size_t c = 0; c < d_; ++c) {
            double sum = 0.0;
            for (std::size_t j = 0; j < k_; ++j) sum += static_cast<double>(point(j)[c]);
            here[c] = static_cast<float>(sum / static_cast<double>(k_));
        }
        const double at_mean = (*this)(here.data(), descent.gradient.data());
        double best = at_mean;
        for (std::size_t j = 0; j < k_; ++j) {
            descent.trial.assign(point(j), point(j) + d_);
            const double found = (*this)(descent.trial.data(), descent.next.data());
            if (found < best) best = found, here = descent.trial;
        }
        (*this)(here.data(), descent.gradient.data());
        const double first = curvature_ > 0.0 ? 1.0 / curvature_ : 1.0;
        return {at_mean, descent.descend(*this, first, placement_.max_iter, placement_.tolerance)};
    }

    RowDescent descent;

private:
    const float* point(std::size_t j) const { return placement_.points.row(static_cast<std::size_t>(neighbors_[j])); }

    const TripletPlacement& placement_;
    const FarPoints& far_;
    std::size_t d_, k_ = 0;
    const std::int32_t* neighbors_ = nullptr;
    std::vector<float> distances_, slopes_, weights_;
    double curvature_ = 0.0;
};

}  // namespace

void place_by_triplets(const TripletPlacement& placement, Span2<const std::int32_t> neighbors,
                       Span2<const float> weights, Span2<float> positions, Span2<double> losses,
                       const Context& context) {
    assert(weights.cols() == neighbors.cols() * placement.far.rows() && neighbors.cols() > 0);
    const FarPoints far(placement.far);
    std::vector<TripletRow> workers(static_cast<std::size_t>(std::max(context.n_threads, 1)),
                                    TripletRow(placement, far));
    parallel_blocks(neighbors.rows(), kRowsPerBlock, context,
                    [&](std::size_t begin, std::size_t end, std::size_t worker) {
                        TripletRow& row = workers[worker];
                        for (std::size_t i = begin; i < end; ++i) {
                            row.take(neighbors.row(i), weights.row(i), neighbors.cols());
                            const auto [before, after] = row.place();
                            losses(i, 0) = before;
                            losses(i, 1) = after;
                            std::copy(row.descent.here.begin(), row.descent.here.end(), positions.row(i));
                        }
                    });
}

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;
using simd::kLanes;

/// What one neighbour adds: the sum of w D / (D + D_l); its slope in D; and into `slopes` those in D_l.
GNOMON_KERNEL void add_neighbor(const float* weights, const float* distances, std::size_t stride, float near,
                                float* slopes, float& loss, float& slope) {
    f32 total{}, rising{};
    for (std::size_t l = 0; l < stride; l += kLanes) {
        const f32 far = simd::load(distances + l), inverse = 1.0F / (near + far);
        const f32 share = simd::load(weights + l) * inverse;
        total += share * near;
        rising += share * far * inverse;
        simd::store(slopes + l, simd::load(slopes + l) - share * near * inverse);
    }
    loss = simd::sum(total);
    slope = simd::sum(rising);
}

GNOMON_KERNEL void far_distances(const FarPoints& far, const float* y, std::size_t d, float* distances) {
    for (std::size_t l = 0; l < far.stride; l += kLanes) {
        f32 sum = simd::splat(1.0F);
        for (std::size_t c = 0; c < d; ++c) {
            const f32 away = simd::splat(y[c]) - simd::load(far.coordinates.data() + c * far.stride + l);
            sum += away * away;
        }
        simd::store(distances + l, sum);
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
