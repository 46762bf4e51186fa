#include "gnomon/batched_eigen.hpp"

#include <cstdint>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

using f64 = double __attribute__((vector_size(64)));
using i64 = std::int64_t __attribute__((vector_size(64)));
static_assert(sizeof(f64) == kEigenBatch * sizeof(double));

constexpr int kMaxSweeps = 40;               // 6 to 10 are needed; the limit is for matrices of NaN
constexpr double kOffDiagonalShare = 1e-28;  // converged: squared off-diagonal share of the squared norm
constexpr double kNegligibleShare = 1e-34;   // not worth a rotation

GNOMON_INLINE f64 at(const double* m, std::size_t index) { return simd::load_as<f64>(m + index * kEigenBatch); }
GNOMON_INLINE void put(double* m, std::size_t index, f64 x) { simd::store(m + index * kEigenBatch, x); }

GNOMON_INLINE f64 root(f64 x) {
    f64 r;
    for (std::size_t l = 0; l < kEigenBatch; ++l) r[l] = __builtin_sqrt(x[l]);
    return r;
}

GNOMON_INLINE bool all(i64 mask) {
    bool every = true;
    for (std::size_t l = 0; l < kEigenBatch; ++l) every &= mask[l] != 0;
    return every;
}

GNOMON_INLINE f64 off_diagonal_square(std::size_t order, const double* a) {
    f64 off{};
    for (std::size_t p = 0; p < order; ++p)
        for (std::size_t q = p + 1; q < order; ++q) off += at(a, p * order + q) * at(a, p * order + q);
    return off;
}

// One rotation in the plane (p, q) of every lane in `active`; the others are multiplied by the identity.
GNOMON_INLINE void rotate(std::size_t order, double* a, double* v, std::size_t p, std::size_t q, f64 negligible,
                          i64 active) {
    const f64 zero{}, one = 1.0 - zero, g = at(a, p * order + q);
    const i64 turn = active & (g * g > negligible);
    const f64 app = at(a, p * order + p), aqq = at(a, q * order + q);
    const f64 theta = (aqq - app) / (2.0 * (turn ? g : one));
    f64 t = one / ((theta < zero ? -theta : theta) + root(theta * theta + one));
    t = theta < zero ? -t : t;
    t = turn ? t : zero;
    const f64 c = one / root(t * t + one), s = t * c;
    for (std::size_t j = 0; j < order; ++j) {
        const f64 x = at(a, p * order + j), y = at(a, q * order + j);
        const f64 xr = c * x - s * y, yr = s * x + c * y;
        put(a, p * order + j, xr);
        put(a, j * order + p, xr);
        put(a, q * order + j, yr);
        put(a, j * order + q, yr);
        const f64 vx = at(v, p * order + j), vy = at(v, q * order + j);
        put(v, p * order + j, c * vx - s * vy);
        put(v, q * order + j, s * vx + c * vy);
    }
    const f64 rest = turn ? zero : g;
    put(a, p * order + p, app - t * g);
    put(a, q * order + q, aqq + t * g);
    put(a, p * order + q, rest);
    put(a, q * order + p, rest);
}

}  // namespace

GNOMON_CLONES void jacobi_eigen(std::size_t order, double* a, double* v) {
    const f64 zero{}, one = 1.0 - zero;
    f64 norm{};
    for (std::size_t p = 0; p < order; ++p)
        for (std::size_t q = 0; q < order; ++q) {
            norm += at(a, p * order + q) * at(a, p * order + q);
            put(v, p * order + q, p == q ? one : zero);
        }
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
        const i64 active = off_diagonal_square(order, a) > kOffDiagonalShare * norm;
        if (all(active == i64{})) return;
        for (std::size_t p = 0; p + 1 < order; ++p)
            for (std::size_t q = p + 1; q < order; ++q)
                rotate(order, a, v, p, q, kNegligibleShare * norm, active);
    }
}

}  // namespace gnomon
