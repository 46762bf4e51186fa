#include "gnomon/reconstruction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kBlock = 64;
constexpr double kOptimal = 1e-12;  // a gradient this share below the multiplier is rounding

// Solves A x = 1 for the rows and columns `set` of a symmetric positive definite matrix of order k, by Cholesky.
// The ridge keeps every pivot above zero.
const auto solve_ones = each_level([](const double* a, std::size_t k, const std::size_t* set, std::size_t m,
                                      double* factor, double* x) GNOMON_INLINE_LAMBDA {
    for (std::size_t p = 0; p < m; ++p) {
        double* row = factor + p * m;
        double rest = 1.0;  // forward substitution goes along
        for (std::size_t q = 0; q <= p; ++q) {
            double sum = a[set[p] * k + set[q]];
            const double* other = factor + q * m;
            for (std::size_t r = 0; r < q; ++r) sum -= row[r] * other[r];
            if (q < p) {
                row[q] = sum / other[q];
                rest -= row[q] * x[q];
            } else {
                row[p] = std::sqrt(std::max(sum, std::numeric_limits<double>::min()));
                x[p] = rest / row[p];
            }
        }
    }
    for (std::size_t p = m; p-- > 0;) {
        double sum = x[p];
        for (std::size_t q = p + 1; q < m; ++q) sum -= factor[q * m + p] * x[q];
        x[p] = sum / factor[p * m + p];
    }
});

// What one worker needs for one row at a time.
struct Scratch {
    explicit Scratch(std::size_t n_neighbors)
        : a(n_neighbors * n_neighbors), factor(a.size()), w(n_neighbors), u(n_neighbors) {}

    Displacements displacements;
    std::vector<double> products;    // of all displacements, padded
    std::vector<double> a;           // the same of the present neighbours, scaled to trace 1, with the ridge
    std::vector<double> factor;      // Cholesky factor
    std::vector<double> w, u;        // weights, and those of a trial set
    std::vector<std::size_t> valid;  // the present neighbours
    std::vector<std::size_t> set;    // those that may have a positive weight
};

// Moves from w towards the trial weights of `set` until one becomes zero, and takes all that did out of the set.
void step_to_boundary(Scratch& s) {
    double share = 1.0;
    std::size_t first = s.set.size();
    for (std::size_t p = 0; p < s.set.size(); ++p) {
        const double from = s.w[s.set[p]], to = s.u[p];
        if (to > 0.0) continue;
        const double way = from > to ? from / (from - to) : 0.0;
        if (first == s.set.size() || way < share) {
            share = way;
            first = p;
        }
    }
    std::size_t kept = 0;
    for (std::size_t p = 0; p < s.set.size(); ++p) {
        const std::size_t j = s.set[p];
        const double moved = s.w[j] + share * (s.u[p] - s.w[j]);
        s.w[j] = p == first ? 0.0 : std::max(moved, 0.0);
        if (s.w[j] > 0.0) s.set[kept++] = j;
    }
    s.set.resize(kept);
}

// The neighbour whose weight should grow from zero, or m at the optimum: where A w is below its value on the set.
std::size_t entering(const Scratch& s, std::size_t m) {
    double multiplier = 0.0, least = std::numeric_limits<double>::infinity();
    std::size_t best = m;
    for (std::size_t p = 0; p < m; ++p) {
        double slope = 0.0;
        for (const std::size_t q : s.set) slope += s.a[p * m + q] * s.w[q];
        multiplier += s.w[p] * slope;
        if (s.w[p] == 0.0 && slope < least) {
            least = slope;
            best = p;
        }
    }
    return least < multiplier * (1.0 - kOptimal) ? best : m;
}

// Least w'Aw over the simplex by an active set: each round adds the most promising neighbour and drops those whose
// weights would turn negative. The value falls from round to round, so no set occurs twice and the end is exact.
void solve_convex(Scratch& s, std::size_t m) {
    std::size_t nearest = 0;
    for (std::size_t p = 1; p < m; ++p)
        if (s.a[p * m + p] < s.a[nearest * m + nearest]) nearest = p;
    std::fill_n(s.w.begin(), m, 0.0);
    s.w[nearest] = 1.0;
    s.set.assign(1, nearest);
    for (std::size_t round = 0; round < 10 * m; ++round) {  // a few rounds; the limit is for NaN
        const std::size_t next = entering(s, m);
        if (next == m) return;
        s.set.push_back(next);
        while (true) {
            solve_ones(s.a.data(), m, s.set.data(), s.set.size(), s.factor.data(), s.u.data());
            double sum = 0.0;
            bool inside = true;
            for (std::size_t p = 0; p < s.set.size(); ++p) sum += s.u[p];
            for (std::size_t p = 0; p < s.set.size(); ++p) inside &= (s.u[p] /= sum) > 0.0;
            if (inside) break;
            step_to_boundary(s);
            // Rounding alone took the new neighbour out again: w is optimal to working precision.
            if (std::find(s.set.begin(), s.set.end(), next) == s.set.end()) return;
        }
        for (std::size_t p = 0; p < s.set.size(); ++p) s.w[s.set[p]] = s.u[p];
    }
}

void solve_affine(Scratch& s, std::size_t m) {
    s.set.resize(m);
    for (std::size_t p = 0; p < m; ++p) s.set[p] = p;
    solve_ones(s.a.data(), m, s.set.data(), m, s.factor.data(), s.w.data());
}

void solve_row(const RowSource& X, std::size_t i, Span2<const std::int32_t> indices, Span2<const float> present,
               const ReconstructionParams& params, Span2<double> weights, Scratch& s) {
    const std::size_t k = indices.cols();
    std::fill_n(weights.row(i), k, 0.0);
    s.valid.clear();
    for (std::size_t j = 0; j < k; ++j)
        if (present(i, j) > 0) s.valid.push_back(j);
    const std::size_t m = s.valid.size();
    if (m == 0) return;
    s.displacements.gather(X, i, {indices.row(i), k}, {present.row(i), k});
    s.displacements.products(s.products);
    const std::size_t stride = s.displacements.padded_rows();
    double trace = 0.0;
    for (const std::size_t j : s.valid) trace += s.products[j * stride + j];
    std::fill_n(s.w.begin(), m, 1.0);
    if (trace > 0.0) {
        for (std::size_t p = 0; p < m; ++p)
            for (std::size_t q = 0; q < m; ++q)
                s.a[p * m + q] =
                    s.products[s.valid[p] * stride + s.valid[q]] / trace + (p == q ? params.regularization : 0.0);
        params.non_negative ? solve_convex(s, m) : solve_affine(s, m);
    }
    double sum = 0.0;
    for (std::size_t p = 0; p < m; ++p) sum += s.w[p];
    for (std::size_t p = 0; p < m; ++p) weights(i, s.valid[p]) = s.w[p] / sum;
}

}  // namespace

void reconstruction_weights(const RowSource& X, Span2<const std::int32_t> indices, Span2<const float> present,
                            const ReconstructionParams& params, Span2<double> weights, const Context& context) {
    std::vector<Scratch> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)), Scratch(indices.cols()));
    parallel_blocks(indices.rows(), kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        for (std::size_t i = begin; i < end; ++i) solve_row(X, i, indices, present, params, weights, scratch[worker]);
    });
}

}  // namespace gnomon
