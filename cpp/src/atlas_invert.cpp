#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "atlas_blend.hpp"
#include "gnomon/atlas.hpp"
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

constexpr std::size_t kBlock = 8;  // places of one piece of work
constexpr double kReach2 = 9.0;    // charts are cut off at three times their farthest neighbour
constexpr double kRidge = 1e-9;    // of the mean spread in the map: keeps a flat neighbourhood solvable

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

void atlas_invert(const RowSource& X, Span2<const double> Y_new, Span2<const std::int32_t> candidates,
                  const Charts& charts, const BlendParams& params, Span2<double> rows,
                  std::span<std::uint8_t> truncated, const Context& context) {
    const auto n_workers = static_cast<std::size_t>(std::max(context.n_threads, 1));
    std::vector<Inverter> inverters(n_workers, Inverter(charts, params));
    std::vector<RowSums> sums(n_workers);
    Point origin;
    origin.values.assign(n_features(X), 0.0);
    std::vector<std::unique_ptr<detail::RowReader>> readers(n_workers);
    for (auto& reader : readers) reader = detail::reader_of(X);
    parallel_blocks(Y_new.rows(), kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        for (std::size_t row = begin; row < end; ++row) {
            truncated[row] =
                inverters[worker].invert(Y_new.row(row), candidates.row(row), candidates.cols(), sums[worker]);
            double* out = rows.row(row);
            std::fill_n(out, rows.cols(), 0.0);
            sums[worker].for_each(
                [&](std::size_t at, const double* factor) { readers[worker]->add(*factor, at, origin, out); });
        }
    });
}

}  // namespace gnomon
