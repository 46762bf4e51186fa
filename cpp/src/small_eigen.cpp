#include "gnomon/small_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gnomon {
namespace {

constexpr int kMaxSweeps = 40;

/// The rotation in the plane (p, q) that makes a(p, q) zero, applied to `a` from both sides and to `v` from the right.
void rotate(std::vector<double>& a, std::vector<double>& v, std::size_t m, std::size_t p, std::size_t q) {
    const double theta = (a[q * m + q] - a[p * m + p]) / (2.0 * a[p * m + q]);
    const double t = (theta >= 0.0 ? 1.0 : -1.0) / (std::fabs(theta) + std::sqrt(theta * theta + 1.0));
    const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
    for (std::size_t k = 0; k < m; ++k) {
        const double x = a[k * m + p], y = a[k * m + q];
        a[k * m + p] = c * x - s * y;
        a[k * m + q] = s * x + c * y;
    }
    for (std::size_t k = 0; k < m; ++k) {
        const double x = a[p * m + k], y = a[q * m + k];
        a[p * m + k] = c * x - s * y;
        a[q * m + k] = s * x + c * y;
    }
    for (std::size_t k = 0; k < m; ++k) {
        const double x = v[k * m + p], y = v[k * m + q];
        v[k * m + p] = c * x - s * y;
        v[k * m + q] = s * x + c * y;
    }
}

}  // namespace

SmallEigen small_eigen(const std::vector<double>& matrix, std::size_t m) {
    std::vector<double> a(matrix), v(m * m, 0.0);
    double norm = 0.0;
    for (std::size_t i = 0; i < m; ++i) {
        v[i * m + i] = 1.0;
        for (std::size_t j = 0; j < m; ++j) {
            if (j < i) a[i * m + j] = a[j * m + i];
            norm += a[i * m + j] * a[i * m + j];
        }
    }
    const double negligible = 1e-17 * std::sqrt(norm) / static_cast<double>(m);
    for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
        bool rotated = false;
        for (std::size_t p = 0; p + 1 < m; ++p) {
            for (std::size_t q = p + 1; q < m; ++q) {
                if (!(std::fabs(a[p * m + q]) > negligible)) continue;
                rotate(a, v, m, p, q);
                rotated = true;
            }
        }
        if (!rotated) break;
    }
    std::vector<std::size_t> order(m);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return a[i * m + i] > a[j * m + j]; });
    SmallEigen result{std::vector<double>(m), std::vector<double>(m * m)};
    for (std::size_t j = 0; j < m; ++j) {
        result.values[j] = a[order[j] * m + order[j]];
        for (std::size_t i = 0; i < m; ++i) result.vectors[i * m + j] = v[i * m + order[j]];
    }
    return result;
}

}  // namespace gnomon
