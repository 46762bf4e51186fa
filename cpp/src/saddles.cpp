#include "gnomon/saddles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "gnomon/elementary.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kBlock = 64;  // rows whose nearest is found together
constexpr std::size_t kLanes = 16;
constexpr std::size_t kGroups = 32;  // of the numbers whose least are sought

// Squared distances of row i to all n rows.
template <class T>
const auto squares_from =
    each_level([](const T* products, const T* squares, std::size_t i, std::size_t n, T* out) GNOMON_INLINE_LAMBDA {
        for (std::size_t j = 0; j < n; ++j) {
            const T square = squares[i] + squares[j] - T{2} * products[j];
            out[j] = square > T{0} ? square : T{0};
        }
        out[i] = T{0};
    });

// Lowers `reach` of n rows to the squared mutual reachability of row x, whose squared radius is `own`.
template <class T>
const auto reach_from = each_level([](const T* products, const T* squares, const T* radii, T own, std::size_t x,
                                      std::size_t n, T* reach) GNOMON_INLINE_LAMBDA {
    for (std::size_t j = 0; j < n; ++j) {
        const T square = squares[x] + squares[j] - T{2} * products[j];
        const T radius = radii[j] > own ? radii[j] : own;
        const T raised = square > radius ? square : radius;
        reach[j] = raised < reach[j] ? raised : reach[j];
    }
});

// The least number of each block.
template <class T>
const auto least_of_blocks = each_level([](const T* numbers, std::size_t n_blocks, T* out) GNOMON_INLINE_LAMBDA {
    for (std::size_t b = 0; b < n_blocks; ++b, numbers += kBlock) {
        T lanes[kLanes];
        for (std::size_t l = 0; l < kLanes; ++l) lanes[l] = numbers[l];
        for (std::size_t at = kLanes; at < kBlock; at += kLanes)
            for (std::size_t l = 0; l < kLanes; ++l) lanes[l] = numbers[at + l] < lanes[l] ? numbers[at + l] : lanes[l];
        T lowest = lanes[0];
        for (std::size_t l = 1; l < kLanes; ++l) lowest = lanes[l] < lowest ? lanes[l] : lowest;
        out[b] = lowest;
    }
});

// The least number of each of kGroups groups, those that lie kGroups apart; n is a multiple of it.
template <class T>
const auto least_of_groups = each_level([](const T* numbers, std::size_t n, T* out) GNOMON_INLINE_LAMBDA {
    for (std::size_t g = 0; g < kGroups; ++g) out[g] = numbers[g];
    for (std::size_t at = kGroups; at < n; at += kGroups)
        for (std::size_t g = 0; g < kGroups; ++g) out[g] = numbers[at + g] < out[g] ? numbers[at + g] : out[g];
});

// Writes the numbers up to a bound, in their order, and returns how many there are; `out` has room for all n.
template <class T>
const auto numbers_up_to =
    each_level([](const T* numbers, std::size_t n, T bound, T* out) GNOMON_INLINE_LAMBDA -> std::size_t {
        std::size_t count = 0;
        for (std::size_t at = 0; at < n; at += kLanes) {
            int is_any = 0;
            for (std::size_t l = 0; l < kLanes; ++l) is_any |= numbers[at + l] <= bound ? 1 : 0;
            if (is_any == 0) continue;
            for (std::size_t l = 0; l < kLanes; ++l) {
                out[count] = numbers[at + l];
                count += numbers[at + l] <= bound ? 1 : 0;
            }
        }
        return count;
    });

// The k least of some numbers, ascending: k groups have numbers up to the k-th least of the groups' least numbers.
// `scratch` has as many places as numbers, a multiple of kGroups.
template <class T>
void least(const std::vector<T>& numbers, std::vector<T>& scratch, std::span<T> found) {
    const std::size_t k = found.size();
    T bound = std::numeric_limits<T>::infinity();
    if (k <= kGroups) {
        least_of_groups<T>(numbers.data(), numbers.size(), scratch.data());
        const auto last = scratch.begin() + static_cast<std::ptrdiff_t>(k - 1);
        std::nth_element(scratch.begin(), last, scratch.begin() + kGroups);
        bound = *last;
    }
    const std::size_t count = numbers_up_to<T>(numbers.data(), numbers.size(), bound, scratch.data());
    std::sort(scratch.begin(), scratch.begin() + static_cast<std::ptrdiff_t>(count));
    std::copy_n(scratch.begin(), k, found.begin());
}

// What grows from row 0 by the row nearest to what it has, of rows that are `reach` away.
template <class T>
class Growth {
public:
    explicit Growth(std::size_t n)
        : joined_(n), least_((n + kBlock - 1) / kBlock), reach_(least_.size() * kBlock, kFar) {}

    T* reach() { return reach_.data(); }

    /// Takes in a row.
    void join(std::size_t row) {
        joined_[row] = 1;
        reach_[row] = kFar;
    }

    /// The first of the nearest rows outside, and how far away it is.
    std::pair<std::size_t, T> next() {
        least_of_blocks<T>(reach_.data(), least_.size(), least_.data());
        const T lowest = *std::min_element(least_.begin(), least_.end());
        for (std::size_t b = 0; b < least_.size(); ++b) {
            if (least_[b] != lowest) continue;
            for (std::size_t j = b * kBlock; j < std::min((b + 1) * kBlock, joined_.size()); ++j)
                if (joined_[j] == 0 && reach_[j] == lowest) return {j, lowest};
        }
        return {0, lowest};  // there is none
    }

private:
    static constexpr T kFar = std::numeric_limits<T>::infinity();
    std::vector<char> joined_;
    std::vector<T> least_, reach_;  // (blocks) and (blocks, kBlock)
};

struct Edge {
    std::size_t a, b;
    double length;
};

// Turns the edges of a tree, in the order in which they grew, into merges of parts, those of the shortest edges first.
void merge_along(std::vector<Edge>& edges, Span2<double> merges) {
    std::stable_sort(edges.begin(), edges.end(), [](const Edge& x, const Edge& y) { return x.length < y.length; });
    const std::size_t n = edges.size() + 1;
    std::vector<std::size_t> above(2 * n - 1), sizes(2 * n - 1, 1);
    std::iota(above.begin(), above.end(), std::size_t{0});
    const auto part_of = [&](std::size_t row) {
        std::size_t part = row;
        while (above[part] != part) part = above[part];
        while (above[row] != part) row = std::exchange(above[row], part);
        return part;
    };
    for (std::size_t m = 0; m < edges.size(); ++m) {
        const std::size_t a = part_of(edges[m].a), b = part_of(edges[m].b);
        above[a] = above[b] = n + m;
        sizes[n + m] = sizes[a] + sizes[b];
        merges(m, 0) = static_cast<double>(std::min(a, b));
        merges(m, 1) = static_cast<double>(std::max(a, b));
        merges(m, 2) = edges[m].length;
        merges(m, 3) = static_cast<double>(sizes[n + m]);
    }
}

template <class T>
double root(T square) {
    return std::sqrt(static_cast<double>(square));
}

template <class T>
void grow_tree(Span2<const T> products, std::span<const T> squares, Span2<double> nearest, std::span<double> radii,
               Span2<double> merges) {
    const std::size_t n = squares.size(), k = nearest.cols();
    std::vector<T> away(round_up(n, kGroups), std::numeric_limits<T>::infinity());
    std::vector<T> scratch(away.size()), kept(k), reached(n);
    T lowest = std::numeric_limits<T>::infinity();
    for (std::size_t i = 0; i < n; ++i) {
        squares_from<T>(products.row(i), squares.data(), i, n, away.data());
        away[i] = std::numeric_limits<T>::infinity();
        least<T>(away, scratch, kept);
        std::transform(kept.begin(), kept.end(), nearest.row(i), root<T>);
        reached[i] = kept.back();
        if (reached[i] > T{0}) lowest = std::min(lowest, reached[i]);
    }
    if (!std::isfinite(lowest)) lowest = T{1};
    for (T& square : reached) square = std::max(square, lowest);
    std::transform(reached.begin(), reached.end(), radii.begin(), root<T>);
    Growth<T> grown(n);
    std::vector<Edge> edges;
    for (std::size_t row = 0; edges.size() + 1 < n;) {
        const T own = std::exchange(reached[row], std::numeric_limits<T>::infinity());  // no row reaches it again
        grown.join(row);
        reach_from<T>(products.row(row), squares.data(), reached.data(), own, row, n, grown.reach());
        const auto [next, square] = grown.next();
        edges.push_back({row, next, root(square)});
        row = next;
    }
    merge_along(edges, merges);
}

}  // namespace

void reachability_tree(Span2<const float> products, std::span<const float> squares, Span2<double> nearest,
                       std::span<double> radii, Span2<double> merges) {
    grow_tree(products, squares, nearest, radii, merges);
}
void reachability_tree(Span2<const double> products, std::span<const double> squares, Span2<double> nearest,
                       std::span<double> radii, Span2<double> merges) {
    grow_tree(products, squares, nearest, radii, merges);
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
