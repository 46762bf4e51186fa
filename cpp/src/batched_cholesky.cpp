#include "gnomon/batched_cholesky.hpp"

#include "batch_lanes.hpp"

namespace gnomon {
namespace {

// Row by row: the row of the factor in `out`, from which the row of its inverse is made in place. The factor's rows
// are not needed after that, since L_i. = A_i. W' by the rows of W before.
const auto factors =
    each_level([](std::size_t order, const double* a, const double* shift, double* out) GNOMON_INLINE_LAMBDA {
        const f64 one = 1.0 - f64{}, added = simd::load_as<f64>(shift);
        for (std::size_t i = 0; i < order; ++i) {
            const double* row = a + i * order * kEigenBatch;
            double* mine = out + i * order * kEigenBatch;
            f64 square{};
            for (std::size_t j = 0; j < i; ++j) {
                const double* before = out + j * order * kEigenBatch;
                f64 sum{};
                for (std::size_t t = 0; t <= j; ++t) sum += at(row, t) * at(before, t);
                put(mine, j, sum);
                square += sum * sum;
            }
            const f64 over = one / root(at(row, i) + added - square);
            for (std::size_t j = 0; j < i; ++j) {
                f64 sum{};
                for (std::size_t t = j; t < i; ++t) sum += at(mine, t) * at(out, t * order + j);
                put(mine, j, -sum * over);
            }
            put(mine, i, over);
        }
    });

const auto solve = each_level([](std::size_t order, std::size_t d, const double* inverse, double* b, double* scratch)
                                  GNOMON_INLINE_LAMBDA {
                                      for (std::size_t i = 0; i < order; ++i)
                                          for (std::size_t c = 0; c < d; ++c) {
                                              f64 sum{};
                                              for (std::size_t t = 0; t <= i; ++t)
                                                  sum += at(inverse, i * order + t) * at(b, t * d + c);
                                              put(scratch, i * d + c, sum);
                                          }
                                      for (std::size_t j = 0; j < order; ++j)
                                          for (std::size_t c = 0; c < d; ++c) {
                                              f64 sum{};
                                              for (std::size_t t = j; t < order; ++t)
                                                  sum += at(inverse, t * order + j) * at(scratch, t * d + c);
                                              put(b, j * d + c, sum);
                                          }
                                  });

const auto diagonals = each_level([](std::size_t order, const double* inverse, double* out) GNOMON_INLINE_LAMBDA {
    for (std::size_t j = 0; j < order; ++j) {
        f64 sum{};
        for (std::size_t t = j; t < order; ++t) sum += at(inverse, t * order + j) * at(inverse, t * order + j);
        put(out, j, sum);
    }
});

}  // namespace

void inverse_factors(std::size_t order, const double* a, const double* shift, double* inverse) {
    factors(order, a, shift, inverse);
}
void solve_by_factors(std::size_t order, std::size_t d, const double* inverse, double* b, double* scratch) {
    solve(order, d, inverse, b, scratch);
}
void inverse_diagonals(std::size_t order, const double* inverse, double* out) { diagonals(order, inverse, out); }

}  // namespace gnomon
