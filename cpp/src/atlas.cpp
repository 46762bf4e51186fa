#include "gnomon/atlas.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <variant>
#include <vector>

#include "atlas_blend.hpp"
#include "row_reader.hpp"

namespace gnomon {
namespace {

using detail::Blend;
using detail::Point;

constexpr std::size_t kBlock = 8;   // new rows of one piece of work
constexpr double kAgreement = 4.0;  // charts agree within about twice the scale of the map around them
constexpr double kReach2 = 9.0;     // charts of the inverse are cut off at three times their farthest neighbour
constexpr double kRidge = 1e-9;     // of the mean spread in the map: keeps a flat neighbourhood solvable

// Sums over rows with d factors each; rows that come several times are read once.
class RowSums {
public:
    void begin(std::size_t d) {
        d_ = d;
        rows_.clear();
        factors_.clear();
    }
    double* add(std::size_t row) {
        rows_.push_back(row);
        factors_.resize(rows_.size() * d_, 0.0);
        return factors_.data() + (rows_.size() - 1) * d_;
    }
    // Calls body(row, factors) once for each row, ascending; the factors of equal rows are added in order.
    template <class Body>
    void for_each(Body&& body) {
        order_.resize(rows_.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::sort(order_.begin(), order_.end(),
                  [&](std::size_t a, std::size_t b) { return rows_[a] != rows_[b] ? rows_[a] < rows_[b] : a < b; });
        sum_.resize(d_);
        for (std::size_t e = 0; e < order_.size();) {
            const std::size_t row = rows_[order_[e]];
            std::fill(sum_.begin(), sum_.end(), 0.0);
            for (; e < order_.size() && rows_[order_[e]] == row; ++e)
                for (std::size_t c = 0; c < d_; ++c) sum_[c] += factors_[order_[e] * d_ + c];
            body(row, sum_.data());
        }
    }

private:
    std::size_t d_ = 0;
    std::vector<std::size_t> rows_, order_;
    std::vector<double> factors_, sum_;
};

double distance2(const double* a, const double* b, std::size_t d) {
    double sum = 0;
    for (std::size_t c = 0; c < d; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

// The agreement of two predictions a squared distance of z scales apart, and its derivative.
double agreement(double z) { return 1 / ((1 + z) * (1 + z)); }
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
        s.vote[i] = w[i] * std::pow(s.support[i], consensus);
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
        s.d_weight[i] += d_vote * std::pow(s.support[i], beta);
        if (beta == 0) continue;
        const double d_support = d_vote * w[i] * beta * std::pow(s.support[i], beta - 1);
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

template <class Rows>
class Predictor {
public:
    Predictor(Rows rows, const Charts& charts, const BlendParams& params, std::size_t n)
        : rows_(std::move(rows)), charts_(charts), params_(params), n_(n) {}

    void predict(const RowSource& X_new, std::size_t row, const std::int32_t* candidates, std::size_t K,
                 const AtlasOutputs& out) {
        const std::size_t d = charts_.Y.cols();
        detail::load_point(X_new, row, s_.x);
        s_.z.resize(s_.x.values.size());
        s_.squared.resize(K);
        for (std::size_t j = 0; j < K; ++j) s_.squared[j] = rows_.squared(s_.x, point(candidates, j));
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
    static std::size_t point(const std::int32_t* candidates, std::size_t j) {
        return static_cast<std::size_t>(candidates[j]);
    }

    // y_i + B (x - x_i), from the origin.
    void chart(std::size_t i, const double* origin, double* out) {
        const std::size_t d = charts_.Y.cols(), k = charts_.indices.cols();
        const auto c = static_cast<std::size_t>(charts_.chart[i]);
        const double* factors = charts_.coefficients.row(c);
        rows_.displace(s_.x, i, s_.z);
        for (std::size_t b = 0; b < d; ++b) out[b] = charts_.Y(i, b) - origin[b];
        for (std::size_t l = 0; l < k; ++l) {
            if (unused(factors + l * d, d)) continue;
            const double p = rows_.product(static_cast<std::size_t>(charts_.indices(c, l)), c, s_.z);
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
                rows_.add(f[c], row, s_.x, out + c * D);
                total[c] += f[c];
            }
        });
        for (std::size_t c = 0; c < d; ++c) rows_.finish(total[c], s_.x, out + c * D);
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

    Rows rows_;
    const Charts& charts_;
    const BlendParams& params_;
    std::size_t n_;
    Scratch s_;
    std::vector<std::size_t> points_;
    std::vector<double> by_log_;
};

// Solves A x = b for symmetric positive definite A (d, d), which it destroys; b becomes x.
void solve(double* A, double* b, std::size_t d) {
    for (std::size_t c = 0; c < d; ++c) {
        for (std::size_t e = 0; e < c; ++e)
            for (std::size_t r = c; r < d; ++r) A[r * d + c] -= A[r * d + e] * A[c * d + e];
        const double root = std::sqrt(std::max(A[c * d + c], 1e-300));
        for (std::size_t r = c; r < d; ++r) A[r * d + c] /= root;
    }
    for (std::size_t c = 0; c < d; ++c) {
        for (std::size_t e = 0; e < c; ++e) b[c] -= A[c * d + e] * b[e];
        b[c] /= A[c * d + c];
    }
    for (std::size_t c = d; c-- > 0;) {
        for (std::size_t e = c + 1; e < d; ++e) b[c] -= A[e * d + c] * b[e];
        b[c] /= A[c * d + c];
    }
}

// The row of one position as a sum of rows of the data.
class Inverter {
public:
    Inverter(const Charts& charts, const BlendParams& params) : charts_(charts), params_(params) {}

    bool invert(const double* y, const std::int32_t* candidates, std::size_t K, RowSums& sums) {
        const std::size_t d = charts_.Y.cols();
        squared_.resize(K);
        for (std::size_t j = 0; j < K; ++j)
            squared_[j] = distance2(y, charts_.Y.row(static_cast<std::size_t>(candidates[j])), d);
        blend_.weigh(squared_, K < charts_.Y.rows(), params_);
        double all = 0;
        for (const double w : blend_.weight) all += w;
        sums.begin(1);
        for (std::size_t i = 0; i < blend_.at.size(); ++i)
            add(static_cast<std::size_t>(candidates[blend_.at[i]]), y, blend_.weight[i] / all, sums);
        return blend_.truncated;
    }

private:
    // Adds weight * (x_i + C_i (y - y_i)).
    void add(std::size_t i, const double* y, double weight, RowSums& sums) {
        const std::size_t d = charts_.Y.cols(), k = charts_.indices.cols();
        const double* yi = charts_.Y.row(i);
        away_.assign(k * d, 0.0);
        share_.assign(k, 0.0);
        moment_.assign(d * d, 0.0);
        double trace = 0, count = 0;
        for (std::size_t l = 0; l < k; ++l) {
            const double* yl = charts_.Y.row(static_cast<std::size_t>(charts_.indices(i, l)));
            for (std::size_t c = 0; c < d; ++c) away_[l * d + c] = yl[c] - yi[c];
            share_[l] = agreement(distance2(yl, yi, d) / (kAgreement * charts_.reach[i] * charts_.reach[i]));
            count += share_[l];
        }
        for (std::size_t l = 0; l < k; ++l)
            for (std::size_t a = 0; a < d; ++a)
                for (std::size_t b = 0; b < d; ++b)
                    moment_[a * d + b] += share_[l] / count * away_[l * d + a] * away_[l * d + b];
        for (std::size_t a = 0; a < d; ++a) trace += moment_[a * d + a];
        for (std::size_t a = 0; a < d; ++a) moment_[a * d + a] += kRidge * trace / static_cast<double>(d);
        gap_.resize(d);
        for (std::size_t a = 0; a < d; ++a) gap_[a] = y[a] - yi[a];
        double stayed = weight;
        if (trace > 0) {
            const double cut = limit(d, k);
            for (std::size_t l = 0; l < k; ++l) {
                double factor = 0;
                for (std::size_t a = 0; a < d; ++a) factor += away_[l * d + a] * solved_[a];
                factor *= weight * cut * share_[l] / count;
                *sums.add(static_cast<std::size_t>(charts_.indices(i, l))) = factor;
                stayed -= factor;
            }
        }
        *sums.add(i) = stayed;
    }

    // Solves for the gap; returns the share of it within three times the farthest neighbour, in the metric of the
    // moment.
    double limit(std::size_t d, std::size_t k) {
        double farthest = 0;
        for (std::size_t l = 0; l < k; ++l) {
            if (!(share_[l] > 0.25)) continue;  // neighbours within about the scale of the map
            farthest = std::max(farthest, length2(&away_[l * d], d));
        }
        farthest *= kReach2;
        const double wanted = length2(gap_.data(), d);
        return wanted > farthest ? std::sqrt(farthest / wanted) : 1.0;
    }

    double length2(const double* v, std::size_t d) {
        std::vector<double>& A = factor_;
        A = moment_;
        solved_.assign(v, v + d);
        solve(A.data(), solved_.data(), d);
        double sum = 0;
        for (std::size_t a = 0; a < d; ++a) sum += v[a] * solved_[a];
        return sum;
    }

    const Charts& charts_;
    const BlendParams& params_;
    Blend blend_;
    std::vector<double> squared_, away_, share_, moment_, factor_, gap_, solved_;
};

}  // namespace

void atlas_predict(const RowSource& X, const RowSource& X_new, Span2<const std::int32_t> candidates,
                   const Charts& charts, const BlendParams& params, const AtlasOutputs& out, const Context& context) {
    const auto n_workers = static_cast<std::size_t>(std::max(context.n_threads, 1));
    std::visit(
        [&](const auto& rows) {
            using Rows = decltype(detail::reader_of(rows));
            std::vector<Predictor<Rows>> workers;
            for (std::size_t worker = 0; worker < n_workers; ++worker)
                workers.emplace_back(detail::reader_of(rows), charts, params, n_rows(X));
            parallel_blocks(candidates.rows(), kBlock, context,
                            [&](std::size_t begin, std::size_t end, std::size_t worker) {
                                for (std::size_t row = begin; row < end; ++row)
                                    workers[worker].predict(X_new, row, candidates.row(row), candidates.cols(), out);
                            });
        },
        X);
}

void atlas_invert(const RowSource& X, Span2<const double> Y_new, Span2<const std::int32_t> candidates,
                  const Charts& charts, const BlendParams& params, Span2<double> rows,
                  std::span<std::uint8_t> truncated, const Context& context) {
    const auto n_workers = static_cast<std::size_t>(std::max(context.n_threads, 1));
    std::vector<Inverter> inverters(n_workers, Inverter(charts, params));
    std::vector<RowSums> sums(n_workers);
    Point origin;
    origin.values.assign(n_features(X), 0.0);
    std::visit(
        [&](const auto& table) {
            std::vector<decltype(detail::reader_of(table))> readers(n_workers, detail::reader_of(table));
            parallel_blocks(Y_new.rows(), kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
                for (std::size_t row = begin; row < end; ++row) {
                    truncated[row] =
                        inverters[worker].invert(Y_new.row(row), candidates.row(row), candidates.cols(), sums[worker]);
                    double* out = rows.row(row);
                    std::fill_n(out, rows.cols(), 0.0);
                    sums[worker].for_each(
                        [&](std::size_t at, const double* factor) { readers[worker].add(*factor, at, origin, out); });
                }
            });
        },
        X);
}

}  // namespace gnomon
