#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "atlas_blend.hpp"
#include "gnomon/atlas.hpp"
#include "gnomon/elementary.hpp"
#include "row_reader.hpp"
#include "row_sums.hpp"

namespace gnomon {
namespace {

using detail::agreement;
using detail::Blend;
using detail::distance2;
using detail::kAgreement;
using detail::Point;
using detail::RowSums;

constexpr std::size_t kBlock = 8;  // new rows of one piece of work

double agreement_slope(double z) { return -2 / ((1 + z) * (1 + z) * (1 + z)); }

// What one worker needs for one new row.
struct Scratch {
    Point x;
    Blend blend;
    RowSums sums;
    std::vector<double> squared, z;
    std::vector<double> predictions;    // (M, d), from the position of the first chart's point
    std::vector<double> support, vote;  // (M): sum_j w_j kappa_ij; w_i support_i^consensus
    std::vector<double> d_weight, d_prediction;
    std::vector<double> total;
};

double scale2(const Charts& charts, std::size_t i, std::size_t j) {
    return kAgreement * (charts.reach[i] * charts.reach[i] + charts.reach[j] * charts.reach[j]);
}

// Blends predictions; writes the position (from the origin of the predictions) and returns the spread.
double vote(const Charts& charts, std::span<const std::size_t> points, double consensus, Scratch& s, double* position) {
    const std::size_t M = points.size(), d = charts.Y.cols();
    const auto& w = s.blend.weight;
    s.support.assign(M, 0.0);
    s.vote.resize(M);
    double sum = 0, weights = 0, off = 0;
    for (std::size_t i = 0; i < M; ++i) {
        for (std::size_t j = 0; j < M; ++j)
            s.support[i] += w[j] * agreement(distance2(&s.predictions[i * d], &s.predictions[j * d], d) /
                                             scale2(charts, points[i], points[j]));
        s.vote[i] = w[i] * exact_pow(s.support[i], consensus);
        sum += s.vote[i];
        weights += w[i];
    }
    for (std::size_t c = 0; c < d; ++c) {
        double value = 0;
        for (std::size_t i = 0; i < M; ++i) value += s.vote[i] * s.predictions[i * d + c];
        position[c] = value / sum;
    }
    for (std::size_t i = 0; i < M; ++i) off += w[i] * distance2(&s.predictions[i * d], position, d);
    s.total.assign(1, sum);
    return std::sqrt(off / weights);
}

// Derivative of component c of the position: by the squared distances of the charts in use and by their predictions.
void differentiate(const Charts& charts, std::span<const std::size_t> points, const BlendParams& params,
                   const double* position, std::size_t c, Scratch& s, std::vector<double>& by_log, double& by_last) {
    const std::size_t M = points.size(), d = charts.Y.cols();
    const auto& w = s.blend.weight;
    const double sum = s.total[0], beta = params.consensus;
    s.d_weight.assign(M, 0.0);
    s.d_prediction.assign(M * d, 0.0);
    for (std::size_t i = 0; i < M; ++i) {
        const double d_vote = (s.predictions[i * d + c] - position[c]) / sum;
        s.d_prediction[i * d + c] += s.vote[i] / sum;
        s.d_weight[i] += d_vote * exact_pow(s.support[i], beta);
        if (beta == 0) continue;
        const double d_support = d_vote * w[i] * beta * exact_pow(s.support[i], beta - 1);
        for (std::size_t j = 0; j < M; ++j) {
            const double h = scale2(charts, points[i], points[j]);
            const double z = distance2(&s.predictions[i * d], &s.predictions[j * d], d) / h;
            s.d_weight[j] += d_support * agreement(z);
            const double d_z = d_support * w[j] * agreement_slope(z) * 2 / h;
            for (std::size_t b = 0; b < d; ++b) {
                const double apart = s.predictions[i * d + b] - s.predictions[j * d + b];
                s.d_prediction[i * d + b] += d_z * apart;
                s.d_prediction[j * d + b] -= d_z * apart;
            }
        }
    }
    double d_rho = 0;
    for (std::size_t i = 0; i < M; ++i) d_rho += s.d_weight[i] * s.blend.slope[i];
    by_log.resize(M);
    for (std::size_t j = 0; j < M; ++j)
        by_log[j] = s.blend.pull[j] * d_rho - s.d_weight[j] * (s.blend.slope[j] + params.power * w[j]);
    by_last = s.blend.truncated ? d_rho : 0;
}

class Predictor {
public:
    Predictor(const RowSource& X, const Charts& charts, const BlendParams& params)
        : rows_(detail::reader_of(X)), charts_(charts), params_(params), n_(n_rows(X)) {}

    // The nearest of all points, ascending by distance and number. Rows of which the sketch says that they are too far
    // are not read; those that it takes for the nearest come first, so that few others are.
    void nearest(const RowSource& X_new, std::size_t row, std::size_t wanted, const RowSketch& sketch,
                 std::vector<std::int32_t>& candidates) {
        detail::load_point(X_new, row, s_.x);
        sketch.bound(s_.x.values, bounds_);
        const float first = level(wanted);
        nearest_.clear();
        read(wanted, -1.0F, first);
        if (!nearest_.empty() && nearest_.size() == wanted) read(wanted, first, bounds_.limit(nearest_.front().first));
        std::sort_heap(nearest_.begin(), nearest_.end());
        candidates.resize(nearest_.size());
        for (std::size_t j = 0; j < nearest_.size(); ++j) candidates[j] = nearest_[j].second;
    }

    void predict(const RowSource& X_new, std::size_t row, const std::int32_t* candidates, std::size_t K,
                 const AtlasOutputs& out) {
        const std::size_t d = charts_.Y.cols();
        detail::load_point(X_new, row, s_.x);
        s_.z.resize(s_.x.values.size());
        s_.squared.resize(K);
        for (std::size_t j = 0; j < K; ++j) s_.squared[j] = rows_->squared(s_.x, point(candidates, j));
        s_.blend.weigh(s_.squared, K < n_, params_);
        points_.clear();
        for (const std::size_t j : s_.blend.at) points_.push_back(point(candidates, j));
        const double* origin = charts_.Y.row(points_[0]);
        s_.predictions.resize(points_.size() * d);
        for (std::size_t i = 0; i < points_.size(); ++i) chart(points_[i], origin, &s_.predictions[i * d]);
        double* position = out.positions.row(row);
        out.spread[row] = vote(charts_, points_, params_.consensus, s_, position);
        out.truncated[row] = s_.blend.truncated;
        if (out.jacobians.size() != 0) derive(candidates, position, out.jacobians.row(row));
        for (std::size_t c = 0; c < d; ++c) position[c] += origin[c];
    }

private:
    // A bound that at least so many rows are not above.
    float level(std::size_t wanted) {
        if (bounds_.least.size() <= wanted) return std::numeric_limits<float>::infinity();
        least_ = bounds_.least;
        std::nth_element(least_.begin(), least_.begin() + static_cast<std::ptrdiff_t>(wanted) - 1, least_.end());
        return least_[wanted - 1];
    }

    // Reads the rows with bounds above `low` and not above `high`, which falls as nearer rows are found.
    void read(std::size_t wanted, float low, float high) {
        for (std::size_t b = 0; b < bounds_.least.size(); ++b) {
            if (bounds_.least[b] > high) continue;
            const std::size_t end = std::min(n_, (b + 1) * RowSketch::kBlock);
            for (std::size_t i = b * RowSketch::kBlock; i < end; ++i) {
                if (!(bounds_.squared[i] > low) || bounds_.squared[i] > high) continue;
                const std::pair<double, std::int32_t> one(rows_->squared(s_.x, i), static_cast<std::int32_t>(i));
                if (nearest_.size() == wanted) {
                    if (!(one < nearest_.front())) continue;
                    std::pop_heap(nearest_.begin(), nearest_.end());
                    nearest_.pop_back();
                }
                nearest_.push_back(one);
                std::push_heap(nearest_.begin(), nearest_.end());
                if (nearest_.size() == wanted) high = std::min(high, bounds_.limit(nearest_.front().first));
            }
        }
    }

    static std::size_t point(const std::int32_t* candidates, std::size_t j) {
        return static_cast<std::size_t>(candidates[j]);
    }

    // y_i + B (x - x_i), from the origin.
    void chart(std::size_t i, const double* origin, double* out) {
        const std::size_t d = charts_.Y.cols(), k = charts_.indices.cols();
        const auto c = static_cast<std::size_t>(charts_.chart[i]);
        const double* factors = charts_.coefficients.row(c);
        rows_->displace(s_.x, i, s_.z);
        for (std::size_t b = 0; b < d; ++b) out[b] = charts_.Y(i, b) - origin[b];
        for (std::size_t l = 0; l < k; ++l) {
            if (unused(factors + l * d, d)) continue;
            const double p = rows_->product(static_cast<std::size_t>(charts_.indices(c, l)), c, s_.z);
            for (std::size_t b = 0; b < d; ++b) out[b] += p * factors[l * d + b];
        }
    }

    static bool unused(const double* factors, std::size_t d) {
        return std::all_of(factors, factors + d, [](double v) { return v == 0; });
    }

    void derive(const std::int32_t* candidates, const double* position, double* out) {
        const std::size_t d = charts_.Y.cols(), k = charts_.indices.cols(), D = s_.x.values.size();
        s_.sums.begin(d);
        std::vector<double> factors(points_.size() * d), by_predictions(points_.size() * d * d);
        std::vector<double> last(d);
        for (std::size_t c = 0; c < d; ++c) {
            differentiate(charts_, points_, params_, position, c, s_, by_log_, last[c]);
            for (std::size_t i = 0; i < points_.size(); ++i) {
                const double squared = s_.squared[s_.blend.at[i]];
                factors[i * d + c] = s_.blend.exact || !(squared > 0) ? 0 : -2 * by_log_[i] / squared;
                for (std::size_t b = 0; b < d; ++b) by_predictions[(i * d + c) * d + b] = s_.d_prediction[i * d + b];
            }
        }
        for (std::size_t i = 0; i < points_.size(); ++i) {
            std::copy_n(&factors[i * d], d, s_.sums.add(points_[i]));
            add_chart(points_[i], &by_predictions[i * d * d], k, d);
        }
        if (s_.blend.truncated && s_.squared[s_.blend.last] > 0) {
            double* at = s_.sums.add(point(candidates, s_.blend.last));
            for (std::size_t c = 0; c < d; ++c) at[c] = -2 * last[c] / s_.squared[s_.blend.last];
        }
        std::fill_n(out, d * D, 0.0);
        std::vector<double> total(d, 0.0);
        s_.sums.for_each([&](std::size_t row, const double* f) {
            for (std::size_t c = 0; c < d; ++c) {
                rows_->add(f[c], row, s_.x, out + c * D);
                total[c] += f[c];
            }
        });
        for (std::size_t c = 0; c < d; ++c) rows_->finish(total[c], s_.x, out + c * D);
    }

    // Adds sum_b by[c, b] B_b of the chart that point i takes.
    void add_chart(std::size_t i, const double* by, std::size_t k, std::size_t d) {
        const auto c = static_cast<std::size_t>(charts_.chart[i]);
        std::vector<double> all(d, 0.0);
        for (std::size_t l = 0; l < k; ++l) {
            const double* coefficients = charts_.coefficients.row(c) + l * d;
            if (unused(coefficients, d)) continue;
            double* at = s_.sums.add(static_cast<std::size_t>(charts_.indices(c, l)));
            for (std::size_t a = 0; a < d; ++a) {
                for (std::size_t b = 0; b < d; ++b) at[a] += by[a * d + b] * coefficients[b];
                all[a] -= at[a];
            }
        }
        std::copy(all.begin(), all.end(), s_.sums.add(c));
    }

    std::unique_ptr<detail::RowReader> rows_;
    const Charts& charts_;
    const BlendParams& params_;
    std::size_t n_;
    Scratch s_;
    std::vector<std::size_t> points_;
    std::vector<double> by_log_;
    RowSketch::Bounds bounds_;
    std::vector<float> least_;
    std::vector<std::pair<double, std::int32_t>> nearest_;  // a heap, the farthest in front
};

}  // namespace

void atlas_predict(const RowSource& X, const RowSource& X_new, Span2<const std::int32_t> candidates,
                   const Charts& charts, const BlendParams& params, const AtlasOutputs& out, const Context& context) {
    const auto n_workers = static_cast<std::size_t>(std::max(context.n_threads, 1));
    std::vector<Predictor> workers;
    for (std::size_t worker = 0; worker < n_workers; ++worker) workers.emplace_back(X, charts, params);
    parallel_blocks(candidates.rows(), kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        for (std::size_t row = begin; row < end; ++row)
            workers[worker].predict(X_new, row, candidates.row(row), candidates.cols(), out);
    });
}

void atlas_linearize(const RowSource& X, const RowSketch& sketch, const RowSource& x, const Charts& charts,
                     const BlendParams& params, std::size_t n_first, std::size_t n_most, const AtlasOutputs& out) {
    const std::size_t n = n_rows(X);
    Predictor worker(X, charts, params);
    std::vector<std::int32_t> candidates;
    for (const std::size_t wanted : {std::min(n_first, n), std::min(n_most, n)}) {
        worker.nearest(x, 0, wanted, sketch, candidates);
        worker.predict(x, 0, candidates.data(), candidates.size(), out);
        if (!out.truncated[0]) return;
    }
}

}  // namespace gnomon
