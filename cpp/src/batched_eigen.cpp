#include "gnomon/batched_eigen.hpp"

#include <cstdint>
#include <vector>

#include "batch_lanes.hpp"

namespace gnomon {
namespace {

using i64 = std::int64_t __attribute__((vector_size(32)));

constexpr int kMaxIterations = 60;           // per eigenvalue; 1 to 4 are needed; the limit is for matrices of NaN
constexpr double kEpsilon = 1.1e-16;         // off-diagonal entries below this share of their neighbours are zero,
constexpr double kAbsoluteEpsilon = 1e-17;   // and those below this share of the largest entry
constexpr double kReflectionShare = 1e-300;  // a column this small needs no reflection

GNOMON_INLINE f64 absolute(f64 x) { return x < 0.0 ? -x : x; }
GNOMON_INLINE f64 with_sign(f64 size, f64 sign) { return sign < 0.0 ? -absolute(size) : absolute(size); }
GNOMON_INLINE bool any(i64 mask) { return (mask[0] | mask[1] | mask[2] | mask[3]) != 0; }

// Divides each matrix by its largest entry, so that no square leaves the range of double; returns the divisors.
GNOMON_INLINE f64 rescale(std::size_t order, double* a) {
    f64 largest{};
    for (std::size_t p = 0; p < order; ++p)
        for (std::size_t q = 0; q <= p; ++q) {
            const f64 x = absolute(at(a, p * order + q));
            largest = x > largest ? x : largest;
        }
    const f64 zero{}, divisor = largest > zero ? largest : 1.0 - zero;
    for (std::size_t p = 0; p < order; ++p)
        for (std::size_t q = 0; q <= p; ++q) put(a, p * order + q, at(a, p * order + q) / divisor);
    return divisor;
}

// Householder reflections of rows order-1, ..., 1. On return d is the diagonal and e[i] couples i-1 and i; row i of a
// holds the vector u of its reflection I - u u' inverse[i]. `p` is scratch of `order` vectors.
GNOMON_INLINE void tridiagonalise(std::size_t order, double* a, double* d, double* e, double* inverse, double* p) {
    const f64 zero{}, one = 1.0 - zero;
    for (std::size_t i = order; i-- > 1;) {
        double* u = a + i * order * kEigenBatch;
        f64 beyond{};
        for (std::size_t j = 0; j + 1 < i; ++j) beyond += at(u, j) * at(u, j);
        const f64 f = at(u, i - 1), square = beyond + f * f;
        const i64 reflect = beyond > kReflectionShare;
        const f64 g = f < zero ? root(square) : -root(square);
        const f64 h = reflect ? square - f * g : one, over = reflect ? one / h : zero;
        put(d, i, at(u, i));
        put(e, i, reflect ? g : f);
        put(u, i - 1, f - g);
        put(inverse, i, over);
        for (std::size_t j = 0; j < i; ++j) put(p, j, zero);
        for (std::size_t j = 0; j < i; ++j) {
            const double* row = a + j * order * kEigenBatch;
            const f64 uj = at(u, j);
            f64 sum{};
            for (std::size_t t = 0; t < j; ++t) {
                const f64 x = at(row, t);
                sum += x * at(u, t);
                put(p, t, at(p, t) + x * uj);
            }
            put(p, j, sum + at(row, j) * uj);
        }
        f64 inner{};
        for (std::size_t j = 0; j < i; ++j) inner += at(u, j) * at(p, j);
        const f64 half = 0.5 * inner * over * over;
        for (std::size_t j = 0; j < i; ++j) put(p, j, at(p, j) * over - half * at(u, j));
        for (std::size_t j = 0; j < i; ++j) {
            double* row = a + j * order * kEigenBatch;
            const f64 uj = at(u, j), pj = at(p, j);
            for (std::size_t t = 0; t <= j; ++t) put(row, t, at(row, t) - (uj * at(p, t) + pj * at(u, t)));
        }
    }
    put(d, 0, at(a, 0));
    put(e, 0, zero);
}

// v = the transposed product of the reflections: row p is the p-th vector of the tridiagonal basis.
GNOMON_INLINE void accumulate(std::size_t order, const double* a, const double* inverse, double* v) {
    const f64 zero{}, one = 1.0 - zero;
    for (std::size_t p = 0; p < order; ++p)
        for (std::size_t q = 0; q < order; ++q) put(v, p * order + q, p == q ? one : zero);
    for (std::size_t i = 1; i < order; ++i) {
        const double* u = a + i * order * kEigenBatch;
        const f64 over = at(inverse, i);
        for (std::size_t p = 0; p < i; ++p) {
            double* row = v + p * order * kEigenBatch;
            f64 sum{};
            for (std::size_t j = 0; j < i; ++j) sum += at(row, j) * at(u, j);
            sum *= over;
            for (std::size_t j = 0; j < i; ++j) put(row, j, at(row, j) - sum * at(u, j));
        }
    }
}

GNOMON_INLINE void rotate_rows(std::size_t order, double* low, double* high, f64 s, f64 c) {
    for (std::size_t j = 0; j < order; ++j) {
        const f64 x = at(low, j), y = at(high, j);
        put(high, j, s * x + c * y);
        put(low, j, c * x - s * y);
    }
}

// The end of the unreduced block that begins at l, as a number in every lane; e[i] couples i and i + 1.
GNOMON_INLINE f64 block_end(std::size_t order, std::size_t l, const double* d, const double* e) {
    const f64 zero{};
    f64 end = static_cast<double>(order - 1) - zero;
    for (std::size_t m = order - 1; m-- > l;) {
        const f64 size = absolute(at(d, m)) + absolute(at(d, m + 1));
        const i64 negligible = absolute(at(e, m)) <= kEpsilon * size + kAbsoluteEpsilon;
        end = negligible ? static_cast<double>(m) - zero : end;
    }
    return end;
}

// One implicit QL step, shifted towards eigenvalue l, in the lanes whose block [l, end] is longer than one.
GNOMON_INLINE void ql_step(std::size_t order, std::size_t l, f64 end, double* d, double* e, double* v) {
    const f64 zero{}, one = 1.0 - zero;
    i64 alive = end > static_cast<double>(l) - zero;
    const f64 el = alive ? at(e, l) : one;
    f64 g = (at(d, l + 1) - at(d, l)) / (2.0 * el), last{};
    std::size_t top = l;
    for (std::size_t i = l; i < order; ++i) {
        const i64 here = end == static_cast<double>(i) - zero;
        last = here ? at(d, i) : last;
        if (any(here)) top = i;
    }
    g = last - at(d, l) + el / (g + with_sign(root(g * g + one), g));
    f64 s = one, c = one, p{};
    for (std::size_t i = top; i-- > l;) {
        const i64 inside = alive & (static_cast<double>(i) - zero < end);
        const f64 f = s * at(e, i), b = c * at(e, i), r = root(f * f + g * g);
        const i64 on = inside & (r > zero), lost = inside & ~(r > zero);
        put(e, i + 1, inside ? r : at(e, i + 1));
        const f64 over = on ? one / (on ? r : one) : zero;
        s = on ? f * over : s;
        c = on ? g * over : c;
        const f64 before = at(d, i + 1) - p;
        const f64 turn = (at(d, i) - before) * s + 2.0 * c * b;
        p = on ? s * turn : p;
        put(d, i + 1, on ? before + p : (lost ? before : at(d, i + 1)));
        g = on ? c * turn - b : g;
        alive &= ~lost;
        rotate_rows(order, v + i * order * kEigenBatch, v + (i + 1) * order * kEigenBatch, on ? s : zero, on ? c : one);
    }
    const i64 started = end > static_cast<double>(l) - zero;
    put(d, l, alive ? at(d, l) - p : at(d, l));
    put(e, l, alive ? g : at(e, l));
    for (std::size_t i = l + 1; i < order; ++i)
        put(e, i, (started & (end == static_cast<double>(i) - zero)) ? zero : at(e, i));
}

}  // namespace

static const auto diagonalise =
    each_level([](std::size_t order, double* a, double* v, double* scratch) GNOMON_INLINE_LAMBDA {
        double *d = scratch, *e = d + order * kEigenBatch, *inverse = e + order * kEigenBatch,
               *p = inverse + order * kEigenBatch;
        const f64 scale = rescale(order, a);
        tridiagonalise(order, a, d, e, inverse, p);
        accumulate(order, a, inverse, v);
        for (std::size_t i = 1; i < order; ++i) put(e, i - 1, at(e, i));
        put(e, order - 1, f64{});
        for (std::size_t l = 0; l + 1 < order; ++l)
            for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
                const f64 end = block_end(order, l, d, e);
                if (!any(end > static_cast<double>(l) - f64{})) break;
                ql_step(order, l, end, d, e, v);
            }
        for (std::size_t p = 0; p < order; ++p) put(a, p * order + p, at(d, p) * scale);
    });

void symmetric_eigen(std::size_t order, double* a, double* v) {
    if (order == 0) return;
    std::vector<double> scratch(4 * order * kEigenBatch);
    diagonalise(order, a, v, scratch.data());
}

}  // namespace gnomon
