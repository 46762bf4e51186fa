#include "gnomon/small_svd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "gnomon/batched_eigen.hpp"

namespace gnomon {
namespace {

constexpr int kMaxSweeps = 60;
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr std::size_t kMatrices = 16 * kEigenBatch;  // that a thread solves at a time
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double inner(const double* a, const double* b, std::size_t n) {
    double sums[4] = {};
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (std::size_t l = 0; l < 4; ++l) sums[l] += a[i + l] * b[i + l];
    }
    double sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
    for (; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

void turn(double* a, double* b, std::size_t n, double c, double s) {
    for (std::size_t i = 0; i < n; ++i) {
        const double x = a[i], y = b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
}

/// A power of two about as large as the largest magnitude; 0 where all are zero or one is not finite.
double size_of(const double* values, std::size_t n) {
    double largest = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        if (!std::isfinite(values[i])) return 0.0;
        largest = std::max(largest, std::fabs(values[i]));
    }
    return largest > 0.0 ? std::ldexp(1.0, std::ilogb(largest)) : 0.0;
}

/// Makes row j of orthonormal rows, of which some that come after it may be zero, from the unit vector that is farthest
/// from those before it.
void complete(Span2<double> rows, std::size_t j) {
    const std::size_t n = rows.cols();
    std::size_t farthest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
        double near = 0.0;
        for (std::size_t k = 0; k < j; ++k) near += rows(k, i) * rows(k, i);
        if (near < least) least = near, farthest = i;
    }
    rows(j, farthest) = 1.0;
    for (int again = 0; again < 2; ++again) {
        for (std::size_t k = 0; k < j; ++k) {
            const double along = inner(rows.row(k), rows.row(j), n);
            for (std::size_t i = 0; i < n; ++i) rows(j, i) -= along * rows(k, i);
        }
    }
    const double length = std::sqrt(inner(rows.row(j), rows.row(j), n));
    for (std::size_t i = 0; i < n; ++i) rows(j, i) /= length;
}

}  // namespace

void small_svd(Span2<double> columns, std::span<double> values, Span2<double> right) {
    const std::size_t d = columns.rows(), n = columns.cols();
    const double size = size_of(columns.data(), columns.size());
    std::fill_n(right.data(), right.size(), 0.0);
    for (std::size_t j = 0; j < d; ++j) right(j, j) = 1.0;
    if (size == 0.0) {
        const bool zero =
            std::all_of(columns.data(), columns.data() + columns.size(), [](double x) { return x == 0.0; });
        std::fill(values.begin(), values.end(), zero ? 0.0 : kNaN);
        if (!zero) {
            std::fill_n(columns.data(), columns.size(), kNaN);
            std::fill_n(right.data(), right.size(), kNaN);
        }
        for (std::size_t j = 0; zero && j < d; ++j) complete(columns, j);
        return;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) columns.data()[i] /= size;
    const double square = kEpsilon * (4.0 + std::sqrt(static_cast<double>(n)));  // a cosine that rounding leaves
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
        bool turned = false;
        for (std::size_t p = 0; p + 1 < d; ++p) {
            for (std::size_t q = p + 1; q < d; ++q) {
                const double a = inner(columns.row(p), columns.row(p), n), b = inner(columns.row(q), columns.row(q), n);
                const double both = inner(columns.row(p), columns.row(q), n);
                if (!(std::fabs(both) > square * std::sqrt(a) * std::sqrt(b))) continue;
                const double half = (b - a) / (2.0 * both);
                const double t = (half >= 0.0 ? 1.0 : -1.0) / (std::fabs(half) + std::sqrt(half * half + 1.0));
                const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
                turn(columns.row(p), columns.row(q), n, c, s);
                turn(right.row(p), right.row(q), d, c, s);
                turned = true;
            }
        }
        if (!turned) break;
    }
    std::vector<double> lengths(d);
    for (std::size_t j = 0; j < d; ++j) lengths[j] = std::sqrt(inner(columns.row(j), columns.row(j), n));
    std::vector<std::size_t> order(d);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t p, std::size_t q) { return lengths[p] > lengths[q]; });
    const double negligible = 4.0 * kEpsilon * static_cast<double>(d) * lengths[order[0]];
    const std::vector<double> left(columns.data(), columns.data() + columns.size());
    const std::vector<double> turns(right.data(), right.data() + right.size());
    for (std::size_t j = 0; j < d; ++j) {
        const double length = lengths[order[j]];
        values[j] = length * size;
        for (std::size_t i = 0; i < n; ++i) columns(j, i) = length > 0.0 ? left[order[j] * n + i] / length : 0.0;
        if (!(length > negligible)) {  // of no direction but that of rounding
            std::fill_n(columns.row(j), n, 0.0);
            complete(columns, j);
        }
        std::copy_n(turns.data() + order[j] * d, d, right.row(j));
    }
}

void eigen_each(Span2<const double> matrices, Span2<double> values, Span2<double> vectors, const Context& context) {
    const std::size_t m = values.rows(), d = values.cols(), entries = d * d;
    parallel_blocks(m, kMatrices, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<double> a(entries * kEigenBatch), v(entries * kEigenBatch);
        std::vector<std::size_t> order(d);
        for (std::size_t i = begin; i < end; i += kEigenBatch) {
            const std::size_t lanes = std::min(kEigenBatch, end - i);
            double sizes[kEigenBatch] = {};
            std::fill(a.begin(), a.end(), 0.0);
            for (std::size_t l = 0; l < lanes; ++l) {
                const double* matrix = matrices.row((i + l) * d);
                sizes[l] = size_of(matrix, entries);
                if (sizes[l] == 0.0) continue;
                for (std::size_t e = 0; e < entries; ++e) a[e * kEigenBatch + l] = matrix[e] / sizes[l];
            }
            symmetric_eigen(d, a.data(), v.data());
            for (std::size_t l = 0; l < lanes; ++l) {
                const auto value = [&](std::size_t p) { return a[p * (d + 1) * kEigenBatch + l]; };
                const double* matrix = matrices.row((i + l) * d);
                const bool finite = std::all_of(matrix, matrix + entries, [](double x) { return std::isfinite(x); });
                std::iota(order.begin(), order.end(), std::size_t{0});
                sort_falling(order.begin(), order.end(), value);
                for (std::size_t j = 0; j < d; ++j) {
                    values(i + l, j) = finite ? value(order[j]) * sizes[l] : kNaN;
                    for (std::size_t k = 0; k < d; ++k) {
                        vectors((i + l) * d + k, j) = finite ? v[(order[j] * d + k) * kEigenBatch + l] : kNaN;
                    }
                }
            }
        }
    });
}

}  // namespace gnomon
