#include "gnomon/saddles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gnomon/elementary.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

// Distances of row i to all others, of which there are n.
const auto distances_from = each_level(
    [](const double* products, const double* squares, std::size_t i, std::size_t n, double* out) GNOMON_INLINE_LAMBDA {
        for (std::size_t j = 0; j < n; ++j) {
            const double square = squares[i] + squares[j] - 2.0 * products[j];
            out[j] = __builtin_sqrt(square > 0.0 ? square : 0.0);
        }
        out[i] = 0.0;
    });

const auto raise_to =
    each_level([](const double* radii, double own, std::size_t n, double* distances) GNOMON_INLINE_LAMBDA {
        for (std::size_t j = 0; j < n; ++j) {
            const double radius = radii[j] > own ? radii[j] : own;
            distances[j] = distances[j] > radius ? distances[j] : radius;
        }
    });

// The k least of n numbers but entry i, ascending: a heap with the largest on top.
void least(const double* numbers, std::size_t n, std::size_t i, std::span<double> found) {
    const auto begin = found.begin(), end = found.end();
    std::size_t count = 0;
    for (std::size_t j = 0; j < n; ++j) {
        if (j == i) continue;
        if (count < found.size()) {
            found[count++] = numbers[j];
            if (count == found.size()) std::make_heap(begin, end);
        } else if (numbers[j] < found.front()) {
            std::pop_heap(begin, end);
            found.back() = numbers[j];
            std::push_heap(begin, end);
        }
    }
    std::sort_heap(begin, end);
}

}  // namespace

void mutual_reachability(Span2<const double> products, std::span<const double> squares, Span2<double> nearest,
                         std::span<double> radii, std::span<double> mutual) {
    const std::size_t n = squares.size(), k = nearest.cols();
    std::vector<double> distances(n);
    double* next = mutual.data();
    double lowest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
        distances_from(products.row(i), squares.data(), i, n, distances.data());
        least(distances.data(), n, i, {nearest.row(i), k});
        radii[i] = nearest(i, k - 1);
        if (radii[i] > 0.0) lowest = std::min(lowest, radii[i]);
        next = std::copy(distances.begin() + static_cast<std::ptrdiff_t>(i) + 1, distances.end(), next);
    }
    if (!std::isfinite(lowest)) lowest = 1.0;
    for (double& radius : radii) radius = std::max(radius, lowest);
    next = mutual.data();
    for (std::size_t i = 0; i < n; ++i) {
        raise_to(radii.data() + i + 1, radii[i], n - i - 1, next);
        next += n - i - 1;
    }
}

void density_dips(std::span<const double> radii, Span2<const double> merges, double dimension,
                  std::span<std::int64_t> smaller, std::span<double> falls) {
    const std::size_t n = radii.size();
    std::vector<double> peaks(radii.begin(), radii.end());
    std::vector<std::int64_t> sizes(n, 1);
    peaks.reserve(n + merges.rows());
    sizes.reserve(n + merges.rows());
    for (std::size_t m = 0; m < merges.rows(); ++m) {
        const auto i = static_cast<std::size_t>(merges(m, 0)), j = static_cast<std::size_t>(merges(m, 1));
        smaller[m] = std::min(sizes[i], sizes[j]);
        falls[m] = dimension * exact_log(merges(m, 2) / std::max(peaks[i], peaks[j]));
        peaks.push_back(std::min(peaks[i], peaks[j]));
        sizes.push_back(sizes[i] + sizes[j]);
    }
}

}  // namespace gnomon
