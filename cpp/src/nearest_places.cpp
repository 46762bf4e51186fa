#include "gnomon/nearest_places.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "gnomon/map_order.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kLeaf = 16;  // places that share a box, and are looked for together
constexpr std::size_t kLeavesPerChunk = 32;
constexpr std::size_t kMostLevels = 32;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  // as a place: it is nearer than nothing

// Boxes of places along a curve: level 0 has a box for each leaf, and a box of the next level holds two of the one
// below, down to a single one.
struct Boxes {
    explicit Boxes(Span2<const double> Y) : n(Y.rows()), d(Y.cols()), row(map_order(Y)) {
        const std::size_t n_leaves = (n + kLeaf - 1) / kLeaf;
        places.assign(n_leaves * d * kLeaf, kNone);
        row.resize(n_leaves * kLeaf, -1);
        for (std::size_t p = 0; p < n; ++p)
            for (std::size_t c = 0; c < d; ++c)
                places[(p / kLeaf * d + c) * kLeaf + p % kLeaf] = Y(static_cast<std::size_t>(row[p]), c);
        for (std::size_t size = n_leaves, begin = 0;; begin += size, size = (size + 1) / 2) {
            levels.push_back(begin);
            sizes.push_back(size);
            if (size == 1) break;
        }
        sides.resize((levels.back() + 1) * 2 * d);
        for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) enclose(leaf);
        for (std::size_t level = 1; level < levels.size(); ++level)
            for (std::size_t at = 0; at < sizes[level]; ++at) join(level, at);
    }

    void enclose(std::size_t leaf) {
        double* box = sides.data() + leaf * 2 * d;
        const std::size_t size = std::min(kLeaf, n - leaf * kLeaf);
        for (std::size_t c = 0; c < d; ++c) {
            const double* first = places.data() + (leaf * d + c) * kLeaf;
            box[c] = *std::min_element(first, first + size);
            box[d + c] = *std::max_element(first, first + size);
        }
    }

    void join(std::size_t level, std::size_t at) {
        double* box = sides.data() + (levels[level] + at) * 2 * d;
        const std::size_t one = 2 * at, other = std::min(2 * at + 1, sizes[level - 1] - 1);
        const double* low = sides.data() + (levels[level - 1] + one) * 2 * d;
        const double* high = sides.data() + (levels[level - 1] + other) * 2 * d;
        for (std::size_t c = 0; c < d; ++c) {
            box[c] = std::min(low[c], high[c]);
            box[d + c] = std::max(low[d + c], high[d + c]);
        }
    }

    std::size_t n, d;
    std::vector<std::int32_t> row;           // of the map, at each position on the curve; -1 beyond the last
    std::vector<double> places;              // (n_leaves, d, kLeaf)
    std::vector<double> sides;               // (n_boxes, 2, d): lowest and highest coordinates
    std::vector<std::size_t> levels, sizes;  // first box and number of boxes of each level
};

// The nearest rows found so far for the places of one leaf, ascending by (square, row).
struct Lists {
    Lists(std::size_t k, std::size_t d) : squares(kLeaf * k), rows(kLeaf * k), own(kLeaf * d) {}

    std::vector<double> squares;     // (kLeaf, k)
    std::vector<std::int32_t> rows;  // (kLeaf, k)
    std::vector<double> own;         // (kLeaf, d): the places
    std::size_t counts[kLeaf] = {};
    double bounds[kLeaf] = {};  // farther places do not enter the list
};

// What a search looks at, in plain pointers.
struct Search {
    const double *places, *sides;
    const std::int32_t* row;
    const std::size_t *levels, *sizes;
    std::size_t n_levels, size, d, k;  // `size` places are looked for
    const double* own;
    double *squares, *bounds;
    std::int32_t* rows;
    std::size_t* counts;
};

GNOMON_INLINE void enter(const Search& s, std::size_t q, double square, std::int32_t row) {
    double* squares = s.squares + q * s.k;
    std::int32_t* rows = s.rows + q * s.k;
    std::size_t at = s.counts[q];
    if (at == s.k) {
        --at;
        if (square == squares[at] && row > rows[at]) return;
    } else {
        ++s.counts[q];
    }
    for (; at > 0 && (square < squares[at - 1] || (square == squares[at - 1] && row < rows[at - 1])); --at) {
        squares[at] = squares[at - 1];
        rows[at] = rows[at - 1];
    }
    squares[at] = square;
    rows[at] = row;
    if (s.counts[q] == s.k) s.bounds[q] = squares[s.k - 1];
}

// Squared distance of two boxes: no more than that of any two places in them, since rounding keeps the order.
template <std::size_t kComponents>
GNOMON_INLINE double apart(const double* a, const double* b, std::size_t given) {
    const std::size_t d = kComponents > 0 ? kComponents : given;
    double sum = 0;
    for (std::size_t c = 0; c < d; ++c) {
        const double above = a[c] - b[d + c], below = b[c] - a[d + c];
        const double gap = above > below ? above : below;
        sum += gap > 0 ? gap * gap : 0;
    }
    return sum;
}

// Compares the places looked for with those of a leaf.
template <std::size_t kComponents>
GNOMON_INLINE void compare(const Search& s, std::size_t leaf, std::size_t own_leaf) {
    const std::size_t d = kComponents > 0 ? kComponents : s.d;
    const double* places = s.places + leaf * d * kLeaf;
    const double* box = s.sides + leaf * 2 * d;
    for (std::size_t q = 0; q < s.size; ++q) {
        const double *own = s.own + q * d, bound = s.bounds[q];
        double outside = 0;
        for (std::size_t c = 0; c < d; ++c) {
            const double above = own[c] - box[d + c], below = box[c] - own[c];
            const double gap = above > below ? above : below;
            outside += gap > 0 ? gap * gap : 0;
        }
        if (outside > bound) continue;
        double squares[kLeaf] = {};
        for (std::size_t c = 0; c < d; ++c)
            for (std::size_t p = 0; p < kLeaf; ++p) {
                const double gap = places[c * kLeaf + p] - own[c];
                squares[p] += gap * gap;
            }
        for (std::size_t p = 0; p < kLeaf; ++p)
            if (squares[p] <= s.bounds[q] && (leaf != own_leaf || p != q))
                enter(s, q, squares[p], s.row[leaf * kLeaf + p]);
    }
}

// Looks through the leaf itself and those beside it first, and then from the whole map on for leaves that are near.
template <std::size_t kComponents>
GNOMON_INLINE void search_from(const Search& s, std::size_t own_leaf) {
    const std::size_t d = kComponents > 0 ? kComponents : s.d;
    const std::size_t n_leaves = s.sizes[0], begin = own_leaf > 0 ? own_leaf - 1 : 0;
    const std::size_t end = own_leaf + 2 < n_leaves ? own_leaf + 2 : n_leaves;
    const double* mine = s.sides + own_leaf * 2 * d;
    double farthest = std::numeric_limits<double>::infinity();
    struct {
        std::size_t level, at;
        double square;
        bool beside;
    } open[2 * kMostLevels + 3];
    std::size_t n_open = 0;
    open[n_open++] = {s.n_levels - 1, 0, 0.0, false};
    for (std::size_t leaf = end; leaf-- > begin;)
        if (leaf != own_leaf) open[n_open++] = {0, leaf, 0.0, true};
    open[n_open++] = {0, own_leaf, 0.0, true};
    while (n_open > 0) {
        const auto box = open[--n_open];
        if (box.square > farthest) continue;
        if (box.level == 0) {
            if (!box.beside && box.at >= begin && box.at < end) continue;
            compare<kComponents>(s, box.at, own_leaf);
            farthest = 0;
            for (std::size_t q = 0; q < s.size; ++q) farthest = s.bounds[q] > farthest ? s.bounds[q] : farthest;
            continue;
        }
        const std::size_t level = box.level - 1, one = 2 * box.at, other = one + 1;
        const double* sides = s.sides + s.levels[level] * 2 * d;
        const double near = apart<kComponents>(mine, sides + one * 2 * d, d);
        if (other >= s.sizes[level]) {
            open[n_open++] = {level, one, near, false};
            continue;
        }
        const double far = apart<kComponents>(mine, sides + other * 2 * d, d);
        if (near <= far) {
            open[n_open++] = {level, other, far, false};
            open[n_open++] = {level, one, near, false};
        } else {
            open[n_open++] = {level, one, near, false};
            open[n_open++] = {level, other, far, false};
        }
    }
}

const auto search = each_level([](const Search& s, std::size_t own_leaf) GNOMON_INLINE_LAMBDA {
    if (s.d == 2)
        search_from<2>(s, own_leaf);
    else if (s.d == 3)
        search_from<3>(s, own_leaf);
    else
        search_from<0>(s, own_leaf);
});

void search_leaf(const Boxes& boxes, std::size_t leaf, Lists& lists, Span2<std::int32_t> nearest) {
    const std::size_t d = boxes.d, k = nearest.cols(), size = std::min(kLeaf, boxes.n - leaf * kLeaf);
    std::fill_n(lists.counts, kLeaf, 0);
    std::fill_n(lists.bounds, kLeaf, std::numeric_limits<double>::infinity());
    for (std::size_t q = 0; q < size; ++q)
        for (std::size_t c = 0; c < d; ++c) lists.own[q * d + c] = boxes.places[(leaf * d + c) * kLeaf + q];
    search({boxes.places.data(), boxes.sides.data(), boxes.row.data(), boxes.levels.data(), boxes.sizes.data(),
            boxes.levels.size(), size, d, k, lists.own.data(), lists.squares.data(), lists.bounds, lists.rows.data(),
            lists.counts},
           leaf);
    for (std::size_t q = 0; q < size; ++q)
        std::copy_n(lists.rows.data() + q * k, k, nearest.row(static_cast<std::size_t>(boxes.row[leaf * kLeaf + q])));
}

}  // namespace

void nearest_places(Span2<const double> Y, Span2<std::int32_t> nearest, const Context& context) {
    if (nearest.size() == 0) return;
    const Boxes boxes(Y);
    std::vector<Lists> lists(static_cast<std::size_t>(std::max(context.n_threads, 1)), Lists(nearest.cols(), Y.cols()));
    parallel_blocks(boxes.sizes[0], kLeavesPerChunk, context,
                    [&](std::size_t begin, std::size_t end, std::size_t worker) {
                        for (std::size_t leaf = begin; leaf < end; ++leaf)
                            search_leaf(boxes, leaf, lists[worker], nearest);
                    });
}

}  // namespace gnomon
