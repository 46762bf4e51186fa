#include "gnomon/map_scores.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "gnomon/random.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

// A known number of coordinates is a loop that compilers unroll.
template <std::size_t kComponents>
GNOMON_INLINE void squares_from(Span2<const double> Y, std::size_t i, double* out) {
    const std::size_t d = kComponents > 0 ? kComponents : Y.cols(), n = Y.rows();
    const double *places = Y.data(), *own = places + i * d;
    for (std::size_t l = 0; l < n; ++l) {
        double sum = 0;
        for (std::size_t c = 0; c < d; ++c) {
            const double gap = places[l * d + c] - own[c];
            sum += gap * gap;
        }
        out[l] = sum;
    }
}

const auto squares = each_level([](Span2<const double> Y, std::size_t i, double* out) GNOMON_INLINE_LAMBDA {
    if (Y.cols() == 2)
        squares_from<2>(Y, i, out);
    else if (Y.cols() == 3)
        squares_from<3>(Y, i, out);
    else
        squares_from<0>(Y, i, out);
});

}  // namespace

void squared_map_distances(Span2<const double> Y, std::size_t i, double* out) { squares(Y, i, out); }

namespace {

constexpr std::size_t kAnchorsPerChunk = 4;
constexpr std::uint64_t kTripletStream = 0x7472;

// Counts are as wide as the numbers, so that loops need no conversion; n < 2^31.
template <class T>
using CountOf = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

template <class T>
GNOMON_INLINE std::size_t count_below(const T* d, std::size_t begin, std::size_t end, T limit) {
    CountOf<T> count = 0;
    for (std::size_t l = begin; l < end; ++l) count += d[l] < limit;
    return static_cast<std::size_t>(count);
}
template <class T>
GNOMON_INLINE std::size_t count_up_to(const T* d, std::size_t begin, std::size_t end, T limit) {
    CountOf<T> count = 0;
    for (std::size_t l = begin; l < end; ++l) count += d[l] <= limit;
    return static_cast<std::size_t>(count);
}

// Of rows [begin, end): those at d[j] or nearer that come before j, and those strictly nearer that come after.
template <class T>
GNOMON_INLINE std::size_t count_before(const T* d, std::size_t begin, std::size_t end, std::size_t j) {
    const std::size_t middle = j < begin ? begin : (j < end ? j : end);
    return count_up_to<T>(d, begin, middle, d[j]) + count_below<T>(d, middle, end, d[j]);
}
template <class T>
const auto rows_before =
    each_level([](const T* d, std::size_t begin, std::size_t end, std::size_t j)
                   GNOMON_INLINE_LAMBDA -> std::size_t { return count_before<T>(d, begin, end, j); });
template <class T>
const auto any_below =
    each_level([](const T* d, std::size_t begin, std::size_t end, T limit)
                   GNOMON_INLINE_LAMBDA -> bool { return count_below<T>(d, begin, end, limit) > 0; });

constexpr std::size_t kBlock = 1024;  // rows that stay in the first cache while all limits are counted
constexpr std::size_t kGlance = 256;  // rows that are passed over if none is near enough

// The `count` rows nearest to row i, ascending by distance, then by number.
template <class T>
void nearest(const T* d, std::size_t n, std::size_t i, std::size_t count, std::vector<std::int32_t>& found) {
    found.clear();
    auto nearer = [&](std::int32_t a, std::int32_t b) {
        const T x = d[static_cast<std::size_t>(a)], y = d[static_cast<std::size_t>(b)];
        return x != y ? x < y : a < b;
    };
    // A heap with the farthest on top; rows come in ascending order, so a tie with the top never enters.
    for (std::size_t begin = 0; begin < n; begin += kGlance) {
        const std::size_t end = std::min(n, begin + kGlance);
        if (found.size() == count && !any_below<T>(d, begin, end, d[static_cast<std::size_t>(found.front())])) continue;
        for (std::size_t l = begin; l < end; ++l) {
            if (l == i) continue;
            if (found.size() < count) {
                found.push_back(static_cast<std::int32_t>(l));
                std::push_heap(found.begin(), found.end(), nearer);
            } else if (d[l] < d[static_cast<std::size_t>(found.front())]) {
                std::pop_heap(found.begin(), found.end(), nearer);
                found.back() = static_cast<std::int32_t>(l);
                std::push_heap(found.begin(), found.end(), nearer);
            }
        }
    }
    std::sort_heap(found.begin(), found.end(), nearer);
}

struct Scratch {
    std::vector<double> map_row;
    std::vector<std::int32_t> in_data, in_map, sorted;
    std::vector<std::size_t> before;
};

// The sum of rank - k over the k first neighbours of row i whose rank is larger; 1 is the rank of the nearest.
template <class T>
std::int64_t excess_ranks(const T* d, std::size_t n, std::size_t i, const std::vector<std::int32_t>& neighbors,
                          std::size_t k, std::vector<std::size_t>& before) {
    before.assign(k, 0);
    for (std::size_t begin = 0; begin < n; begin += kBlock)
        for (std::size_t t = 0; t < k; ++t)
            before[t] += rows_before<T>(d, begin, std::min(n, begin + kBlock), static_cast<std::size_t>(neighbors[t]));
    std::int64_t sum = 0;
    for (std::size_t t = 0; t < k; ++t) {
        const auto j = static_cast<std::size_t>(neighbors[t]);
        const bool self_before = i < j ? d[i] <= d[j] : d[i] < d[j];
        const std::size_t rank = before[t] + 1 - (self_before ? 1 : 0);
        if (rank > k) sum += static_cast<std::int64_t>(rank - k);
    }
    return sum;
}

// Draws (j, l) apart from each other and from i, and compares the order of their distances on both sides.
template <class T>
void draw_triplets(const T* data, const double* map, std::size_t n, std::size_t i, std::uint64_t seed, std::size_t at,
                   const MapScoreOutputs& out) {
    std::int32_t agreeing = 0;
    for (std::size_t t = 0; t < out.data_distances.cols(); ++t) {
        const std::uint64_t bits = draw(seed, kTripletStream, i, t);
        std::size_t j = scale_to(static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(n - 1));
        j += j >= i;
        std::size_t l = scale_to(static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(n - 2));
        l += l >= std::min(i, j);
        l += l >= std::max(i, j);
        const int in_data = (data[j] < data[l]) - (data[j] > data[l]), in_map = (map[j] < map[l]) - (map[j] > map[l]);
        agreeing += in_data == in_map ? 2 : (in_data == 0 || in_map == 0 ? 1 : 0);
        out.data_distances(at, t) = static_cast<double>(data[j]);
        out.map_distances(at, t) = map[j];
    }
    out.agreeing[at] = agreeing;
}

template <class T>
void score_anchor(const T* data, Span2<const double> Y, std::size_t i, std::size_t at, const MapScoreParams& params,
                  Scratch& s, const MapScoreOutputs& out) {
    const std::size_t n = Y.rows(), k = params.n_neighbors;
    s.map_row.resize(n);
    const double* map = s.map_row.data();
    squared_map_distances(Y, i, s.map_row.data());
    nearest(data, n, i, k, s.in_data);
    nearest(map, n, i, out.nearest_in_map.cols(), s.in_map);
    std::copy(s.in_map.begin(), s.in_map.end(), out.nearest_in_map.row(at));
    out.intruders[at] = excess_ranks(data, n, i, s.in_map, k, s.before);
    out.extruders[at] = excess_ranks(map, n, i, s.in_data, k, s.before);
    s.sorted = s.in_data;
    std::sort(s.sorted.begin(), s.sorted.end());
    out.shared[at] = static_cast<std::int32_t>(
        std::count_if(s.in_map.begin(), s.in_map.begin() + static_cast<std::ptrdiff_t>(k),
                      [&](std::int32_t j) { return std::binary_search(s.sorted.begin(), s.sorted.end(), j); }));
    draw_triplets(data, map, n, i, params.seed, at, out);
}

template <class T>
void score_all(Span2<const T> distances, Span2<const double> Y, std::span<const std::int64_t> anchors,
               const MapScoreParams& params, const MapScoreOutputs& out, const Context& context) {
    std::vector<Scratch> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)));
    parallel_blocks(anchors.size(), kAnchorsPerChunk, context,
                    [&](std::size_t begin, std::size_t end, std::size_t worker) {
                        for (std::size_t at = begin; at < end; ++at)
                            score_anchor(distances.row(at), Y, static_cast<std::size_t>(anchors[at]), at, params,
                                         scratch[worker], out);
                    });
}

constexpr std::size_t kStrip = 128;  // columns whose bounds and counts stay in the first cache
constexpr std::size_t kBatch = 256;  // rows, times the square of at most 2048 bounds in 32 bits

// Some columns of rows of numbers.
template <class T>
struct TableStrip {
    Span2<const T> rows;
    std::size_t first, width;

    GNOMON_INLINE void read(std::size_t i, T* line) const { std::copy_n(rows.row(i) + first, width, line); }
};

// Squared distances from the places of some rows to those of some others, which are kept by coordinate.
struct MapStrip {
    Span2<const double> places;
    std::span<const std::int64_t> rows;
    double* coordinates;  // (d, kStrip)

    GNOMON_INLINE void read(std::size_t i, double* line) const {
        const double* own = places.row(static_cast<std::size_t>(rows[i]));
        for (std::size_t c = 0; c < kStrip; ++c) line[c] = 0;
        for (std::size_t a = 0; a < places.cols(); ++a)
            for (std::size_t c = 0; c < kStrip; ++c) {
                const double gap = coordinates[a * kStrip + c] - own[a];
                line[c] += gap * gap;
            }
    }
};

// The strip of a map that begins at a row; its coordinates go to memory of (d, kStrip), zeros beyond its width.
MapStrip map_strip(Span2<const double> places, std::span<const std::int64_t> rows, std::size_t first, std::size_t width,
                   std::vector<double>& memory) {
    memory.assign(places.cols() * kStrip, 0.0);
    for (std::size_t c = 0; c < width; ++c)
        for (std::size_t a = 0; a < places.cols(); ++a) memory[a * kStrip + c] = places(first + c, a);
    return {places, rows, memory.data()};
}

// Counts in the columns of `limits` (k, kStrip) of some rows.
template <class T, class Strip>
const auto count_in = each_level([](const Strip& strip, Span2<const T> limits, std::size_t begin, std::size_t end,
                                    std::size_t width, std::int64_t* sums, std::int64_t* squares) GNOMON_INLINE_LAMBDA {
    using Count = CountOf<T>;
    T line[kStrip] = {};
    Count sum[kStrip] = {}, square[kStrip] = {};
    for (std::size_t i = begin; i < end; ++i) {
        strip.read(i, line);
        Count count[kStrip] = {};
        for (std::size_t s = 0; s < limits.rows(); ++s) {
            const T* limit = limits.row(s);
            for (std::size_t c = 0; c < kStrip; ++c) count[c] += line[c] < limit[c];
        }
        for (std::size_t c = 0; c < kStrip; ++c) {
            sum[c] += count[c];
            square[c] += count[c] * count[c];
        }
    }
    for (std::size_t c = 0; c < width; ++c) {
        sums[c] += sum[c];
        squares[c] += square[c];
    }
});

// What one worker needs for a strip.
template <class T>
struct StripMemory {
    std::vector<T> limits;
    std::vector<double> first, second;  // coordinates
};

// Counts m rows of numbers, of which strip_at(first, width, memory) gives a strip.
template <class T, class StripAt>
void count_all(std::size_t m, Span2<const T> bounds, std::span<std::int64_t> sums, std::span<std::int64_t> squares,
               const Context& context, const StripAt& strip_at) {
    const std::size_t k = bounds.rows();
    std::vector<StripMemory<T>> memory(static_cast<std::size_t>(std::max(context.n_threads, 1)));
    parallel_blocks(bounds.cols(), kStrip, context, [&](std::size_t first, std::size_t last, std::size_t worker) {
        StripMemory<T>& own = memory[worker];
        own.limits.resize(k * kStrip);
        for (std::size_t s = 0; s < k; ++s)
            std::copy_n(bounds.row(s) + first, last - first, own.limits.data() + s * kStrip);
        const auto strip = strip_at(first, last - first, own);
        for (std::size_t begin = 0; begin < m; begin += kBatch)
            count_in<T, std::remove_cvref_t<decltype(strip)>>(strip, Span2<const T>(own.limits.data(), k, kStrip),
                                                              begin, std::min(m, begin + kBatch), last - first,
                                                              sums.data() + first, squares.data() + first);
    });
}

template <class T>
void count_table(Span2<const T> distances, Span2<const T> bounds, std::span<std::int64_t> sums,
                 std::span<std::int64_t> squares, const Context& context) {
    count_all(
        distances.rows(), bounds, sums, squares, context,
        [&](std::size_t first, std::size_t width, StripMemory<T>&) { return TableStrip<T>{distances, first, width}; });
}

// Adds twice the pairs that each column sees in the same order on both sides, ties once.
template <class T>
const auto agree_in = each_level([](const TableStrip<T>& data, const MapStrip& one, const MapStrip& other,
                                    std::span<const std::int64_t> firsts, std::int64_t* halves) GNOMON_INLINE_LAMBDA {
    T a[kStrip] = {}, b[kStrip] = {};
    double x[kStrip], y[kStrip];
    std::int32_t apart[kStrip];
    std::int64_t sum[kStrip] = {};
    for (const std::int64_t first : firsts) {
        const auto at = static_cast<std::size_t>(first);
        data.read(at, a);
        data.read(at + 1, b);
        one.read(at, x);
        other.read(at + 1, y);
        for (std::size_t c = 0; c < kStrip; ++c) apart[c] = (b[c] > a[c]) - (b[c] < a[c]);
        for (std::size_t c = 0; c < kStrip; ++c) {
            const std::int64_t away = apart[c] - ((y[c] > x[c]) - (y[c] < x[c]));
            sum[c] += 2 - (away < 0 ? -away : away);
        }
    }
    for (std::size_t c = 0; c < data.width; ++c) halves[c] += sum[c];
});

template <class T>
void agree_all(Span2<const T> distances, const SeenPairs& seen, std::span<std::int64_t> halves,
               const Context& context) {
    std::vector<StripMemory<T>> memory(static_cast<std::size_t>(std::max(context.n_threads, 1)));
    parallel_blocks(halves.size(), kStrip, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        StripMemory<T>& own = memory[worker];
        const std::size_t width = end - begin;
        agree_in<T>(TableStrip<T>{distances, begin, width}, map_strip(seen.first, seen.rows, begin, width, own.first),
                    map_strip(seen.second, seen.rows, begin, width, own.second), seen.pairs, halves.data() + begin);
    });
}

}  // namespace

void score_map(Span2<const float> distances, Span2<const double> Y, std::span<const std::int64_t> anchors,
               const MapScoreParams& params, const MapScoreOutputs& out, const Context& context) {
    score_all(distances, Y, anchors, params, out, context);
}

void score_map(Span2<const double> distances, Span2<const double> Y, std::span<const std::int64_t> anchors,
               const MapScoreParams& params, const MapScoreOutputs& out, const Context& context) {
    score_all(distances, Y, anchors, params, out, context);
}

void count_agreeing(Span2<const float> distances, const SeenPairs& seen, std::span<std::int64_t> halves,
                    const Context& context) {
    agree_all(distances, seen, halves, context);
}

void count_agreeing(Span2<const double> distances, const SeenPairs& seen, std::span<std::int64_t> halves,
                    const Context& context) {
    agree_all(distances, seen, halves, context);
}

void count_below_bounds(Span2<const float> distances, Span2<const float> bounds, std::span<std::int64_t> sums,
                        std::span<std::int64_t> squares, const Context& context) {
    count_table(distances, bounds, sums, squares, context);
}

void count_below_bounds(Span2<const double> distances, Span2<const double> bounds, std::span<std::int64_t> sums,
                        std::span<std::int64_t> squares, const Context& context) {
    count_table(distances, bounds, sums, squares, context);
}

void count_below_in_map(Span2<const double> places, std::span<const std::int64_t> rows, Span2<const double> bounds,
                        std::span<std::int64_t> sums, std::span<std::int64_t> squares, const Context& context) {
    count_all(rows.size(), bounds, sums, squares, context,
              [&](std::size_t first, std::size_t width, StripMemory<double>& own) {
                  return map_strip(places, rows, first, width, own.first);
              });
}

}  // namespace gnomon
