#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/dense_eigen.cpp"
#include "gnomon/dense_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "gnomon/wide_lanes.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kStrip = 16;      // columns of vectors that are turned together: a row of them is two registers
constexpr int kMaxIterations = 60;      // per eigenvalue; 1 to 3 are needed
constexpr double kEpsilon = 1.1e-16;    // off-diagonal entries below this share of their neighbours are zero,
constexpr double kAbsolute = 1e-17;     // and those below this share of the largest entry
constexpr double kReflection = 1e-300;  // a column this small needs no reflection

struct Rotation {
    double c, s;
};

/// The rotations of one QL step: of rows high - 1 and high first, of rows low and low + 1 last.
struct Sweep {
    std::size_t low, high, first;
};

/// A matrix on its way to tridiagonal form: rows of `stride` numbers, of which those up to the diagonal count. Row i
/// holds the vector u of its reflection I - u u' inverse[i] once it is done.
struct Tridiagonal {
    std::size_t n, stride;
    std::vector<double> a, d, e, inverse;  // e[i] couples i and i + 1
};

struct Turns {
    std::vector<Rotation> rotations;
    std::vector<Sweep> sweeps;
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(fold_and_multiply);
GNOMON_CHOOSE(turn_strip);

/// Divides the matrix by a power of two near its largest entry, which changes no digit; returns the exponent.
int copy_scaled(Span2<const double> matrix, Tridiagonal& t) {
    double largest = 0.0;
    for (std::size_t i = 0; i < t.n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) largest = std::max(largest, std::fabs(matrix(i, j)));
    }
    int exponent = 0;
    if (largest > 0.0) std::frexp(largest, &exponent);
    const bool far = exponent > 1000 || exponent < -1000;  // where the power itself is no number
    const double scale = far ? 1.0 : std::ldexp(1.0, -exponent);
    for (std::size_t i = 0; i < t.n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            t.a[i * t.stride + j] = far ? std::ldexp(matrix(i, j), -exponent) : matrix(i, j) * scale;
        }
    }
    return exponent;
}

bool is_finite(Span2<const double> matrix) {
    for (std::size_t i = 0; i < matrix.rows(); ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            if (!std::isfinite(matrix(i, j))) return false;
        }
    }
    return true;
}

/// Householder reflections of rows n - 1, ..., 1. What one changes in the rows above is written when the next one reads
/// them.
void tridiagonalise(Tridiagonal& t) {
    std::vector<double> p(t.stride, 0.0), q(t.stride, 0.0);
    const double* before = nullptr;  // u of the last reflection, whose q waits
    for (std::size_t i = t.n; i-- > 0;) {
        double* u = t.a.data() + i * t.stride;
        if (before != nullptr) {
            for (std::size_t j = 0; j <= i; ++j) u[j] -= before[i] * q[j] + q[i] * before[j];
        }
        t.d[i] = u[i];
        if (i == 0) break;
        double beyond = 0.0;
        for (std::size_t j = 0; j + 1 < i; ++j) beyond += u[j] * u[j];
        const double f = u[i - 1], square = beyond + f * f;
        const bool reflect = beyond > kReflection;
        const double g = f < 0.0 ? std::sqrt(square) : -std::sqrt(square);
        const double over = reflect ? 1.0 / (square - f * g) : 0.0;
        t.e[i - 1] = reflect ? g : f;
        t.inverse[i] = over;
        u[i - 1] = f - g;
        fold_and_multiply(t.a.data(), t.stride, i, before, q.data(), u, p.data());
        double inner = 0.0;
        for (std::size_t j = 0; j < i; ++j) inner += u[j] * p[j];
        const double half = 0.5 * inner * over * over;
        for (std::size_t j = 0; j < i; ++j) q[j] = p[j] * over - half * u[j];
        before = u;
    }
}

/// The end of the unreduced block that begins at l.
std::size_t block_end(const Tridiagonal& t, std::size_t l) {
    std::size_t m = l;
    for (; m + 1 < t.n; ++m) {
        if (std::fabs(t.e[m]) <= kEpsilon * (std::fabs(t.d[m]) + std::fabs(t.d[m + 1])) + kAbsolute) break;
    }
    return m;
}

/// One implicit QL step on rows l to m, shifted towards eigenvalue l.
void ql_step(Tridiagonal& t, std::size_t l, std::size_t m, Turns* turns) {
    std::vector<double>&d = t.d, &e = t.e;
    double g = (d[l + 1] - d[l]) / (2.0 * e[l]);
    const double r = std::sqrt(g * g + 1.0);
    g = d[m] - d[l] + e[l] / (g + (g < 0.0 ? -r : r));
    double s = 1.0, c = 1.0, p = 0.0;
    const std::size_t first = turns == nullptr ? 0 : turns->rotations.size();
    std::size_t i = m;
    bool lost = false;
    while (i-- > l) {
        const double f = s * e[i], b = c * e[i], length = std::sqrt(f * f + g * g);
        e[i + 1] = length;
        if (!(length > 0.0)) {
            d[i + 1] -= p;
            lost = true;
            break;
        }
        s = f / length;
        c = g / length;
        const double from = d[i + 1] - p, turn = (d[i] - from) * s + 2.0 * c * b;
        p = s * turn;
        d[i + 1] = from + p;
        g = c * turn - b;
        if (turns != nullptr) turns->rotations.push_back({c, s});
    }
    if (!lost) {
        d[l] -= p;
        e[l] = g;
    }
    e[m] = 0.0;
    if (turns != nullptr) turns->sweeps.push_back({lost ? i + 1 : l, m, first});
}

void diagonalise(Tridiagonal& t, Turns* turns) {
    for (std::size_t l = 0; l + 1 < t.n; ++l) {
        for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
            const std::size_t m = block_end(t, l);
            if (m == l) break;
            ql_step(t, l, m, turns);
        }
    }
}

}  // namespace

std::size_t dense_eigen(Span2<const double> matrix, double least, std::span<double> values, Span2<double> vectors,
                        const Context& context) {
    const std::size_t n = matrix.rows(), stride = (n + 7) / 8 * 8;
    if (!is_finite(matrix)) {
        std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
        return 0;
    }
    Tridiagonal t{n, stride, std::vector<double>(n * stride), {}, {}, {}};
    t.d.assign(n, 0.0);
    t.e.assign(n, 0.0);
    t.inverse.assign(n, 0.0);
    const int exponent = copy_scaled(matrix, t);
    tridiagonalise(t);
    Turns turns;
    diagonalise(t, vectors.cols() == 0 ? nullptr : &turns);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return t.d[i] > t.d[j]; });
    for (std::size_t j = 0; j < n; ++j) values[j] = std::ldexp(t.d[order[j]], exponent);
    std::size_t kept = 0;
    while (kept < vectors.cols() && values[kept] > least) ++kept;
    parallel_blocks(kept, kStrip, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<double> strip(n * kStrip, 0.0);
        for (std::size_t j = begin; j < end; ++j) strip[order[j] * kStrip + j - begin] = 1.0;
        turn_strip(t, turns, strip.data());
        for (std::size_t i = 0; i < n; ++i) {
            std::copy_n(strip.data() + i * kStrip, end - begin, vectors.row(i) + begin);
        }
    });
    return kept;
}

}  // namespace gnomon

#else
#include "gnomon/wide_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

/// p = A v for the first `size` rows of a symmetric matrix of which the part up to the diagonal is held, from which the
/// reflection before, u q' + q u', is taken off first.
GNOMON_KERNEL void fold_and_multiply(double* a, std::size_t stride, std::size_t size, const double* u, const double* q,
                                     const double* v, double* p) {
    for (std::size_t r = 0; r < size; ++r) {
        double* row = a + r * stride;
        const double ur = u == nullptr ? 0.0 : u[r], qr = u == nullptr ? 0.0 : q[r], vr = v[r];
        f64 sums{};
        std::size_t t = 0;
        if (u != nullptr) {
            for (; t + 8 <= r; t += 8) {
                const f64 x =
                    simd::load_as<f64>(row + t) - (simd::load_as<f64>(q + t) * ur + simd::load_as<f64>(u + t) * qr);
                simd::store(row + t, x);
                sums += x * simd::load_as<f64>(v + t);
                simd::store(p + t, simd::load_as<f64>(p + t) + x * vr);
            }
        } else {
            for (; t + 8 <= r; t += 8) {
                const f64 x = simd::load_as<f64>(row + t);
                sums += x * simd::load_as<f64>(v + t);
                simd::store(p + t, simd::load_as<f64>(p + t) + x * vr);
            }
        }
        double sum = sum_of(sums);
        for (; t <= r; ++t) {
            if (u != nullptr) row[t] -= ur * q[t] + qr * u[t];
            sum += row[t] * v[t];
            if (t < r) p[t] += row[t] * vr;
        }
        p[r] = sum;
    }
}

/// Applies all rotations, the last one first, and then all reflections, the first one first, to kStrip columns.
GNOMON_KERNEL void turn_strip(const Tridiagonal& t, const Turns& turns, double* strip) {
    for (std::size_t w = turns.sweeps.size(); w-- > 0;) {
        const Sweep& sweep = turns.sweeps[w];
        if (sweep.low == sweep.high) continue;
        const Rotation* rotation = turns.rotations.data() + sweep.first + (sweep.high - sweep.low);
        double* row = strip + sweep.low * kStrip;
        f64 low0 = simd::load_as<f64>(row), low1 = simd::load_as<f64>(row + 8);
        for (std::size_t i = sweep.low; i < sweep.high; ++i, row += kStrip) {
            --rotation;
            const double c = rotation->c, s = rotation->s;
            const f64 high0 = simd::load_as<f64>(row + kStrip), high1 = simd::load_as<f64>(row + kStrip + 8);
            simd::store(row, low0 * c + high0 * s);
            simd::store(row + 8, low1 * c + high1 * s);
            low0 = high0 * c - low0 * s;
            low1 = high1 * c - low1 * s;
        }
        simd::store(row, low0);
        simd::store(row + 8, low1);
    }
    for (std::size_t i = 1; i < t.n; ++i) {
        const double over = t.inverse[i];
        if (over == 0.0) continue;
        const double* u = t.a.data() + i * t.stride;
        f64 even0{}, even1{}, odd0{}, odd1{};
        std::size_t j = 0;
        for (; j + 2 <= i; j += 2) {
            const double* row = strip + j * kStrip;
            even0 += simd::load_as<f64>(row) * u[j];
            even1 += simd::load_as<f64>(row + 8) * u[j];
            odd0 += simd::load_as<f64>(row + kStrip) * u[j + 1];
            odd1 += simd::load_as<f64>(row + kStrip + 8) * u[j + 1];
        }
        if (j < i) {
            even0 += simd::load_as<f64>(strip + j * kStrip) * u[j];
            even1 += simd::load_as<f64>(strip + j * kStrip + 8) * u[j];
        }
        const f64 sum0 = (even0 + odd0) * over, sum1 = (even1 + odd1) * over;
        for (j = 0; j < i; ++j) {
            double* row = strip + j * kStrip;
            simd::store(row, simd::load_as<f64>(row) - sum0 * u[j]);
            simd::store(row + 8, simd::load_as<f64>(row + 8) - sum1 * u[j]);
        }
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
