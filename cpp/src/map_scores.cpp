#include "gnomon/map_scores.hpp"

#include <algorithm>
#include <vector>

#include "gnomon/random.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {

GNOMON_CLONES void squared_map_distances(Span2<const double> Y, std::size_t i, double* out) {
    const std::size_t d = Y.cols();
    for (std::size_t l = 0; l < Y.rows(); ++l) {
        double sum = 0;
        for (std::size_t c = 0; c < d; ++c) {
            const double gap = Y.data()[l * d + c] - Y.data()[i * d + c];
            sum += gap * gap;
        }
        out[l] = sum;
    }
}

namespace {

constexpr std::size_t kAnchorsPerChunk = 4;
constexpr std::uint64_t kTripletStream = 0x7472;

template <class T, class Count>
GNOMON_INLINE std::size_t count_below(const T* d, std::size_t begin, std::size_t end, T limit) {
    Count count = 0;
    for (std::size_t l = begin; l < end; ++l) count += d[l] < limit;
    return static_cast<std::size_t>(count);
}
template <class T, class Count>
GNOMON_INLINE std::size_t count_up_to(const T* d, std::size_t begin, std::size_t end, T limit) {
    Count count = 0;
    for (std::size_t l = begin; l < end; ++l) count += d[l] <= limit;
    return static_cast<std::size_t>(count);
}

// Rows at d[j] or nearer that come before j, and rows strictly nearer that come after. Counts are as wide as the
// numbers, so that the loops need no conversion; n < 2^31.
GNOMON_CLONES std::size_t rows_before(const float* d, std::size_t n, std::size_t j) {
    return count_up_to<float, std::int32_t>(d, 0, j, d[j]) + count_below<float, std::int32_t>(d, j, n, d[j]);
}
GNOMON_CLONES std::size_t rows_before(const double* d, std::size_t n, std::size_t j) {
    return count_up_to<double, std::int64_t>(d, 0, j, d[j]) + count_below<double, std::int64_t>(d, j, n, d[j]);
}

// Rank of row j seen from row i: 1 is the nearest.
template <class T>
std::size_t rank_of(const T* d, std::size_t n, std::size_t i, std::size_t j) {
    const bool self_before = i < j ? d[i] <= d[j] : d[i] < d[j];
    return rows_before(d, n, j) + 1 - (self_before ? 1 : 0);
}

// The `count` rows nearest to row i, ascending by distance, then by number.
template <class T>
void nearest(const T* d, std::size_t n, std::size_t i, std::size_t count, std::vector<std::int32_t>& found) {
    found.clear();
    auto nearer = [&](std::int32_t a, std::int32_t b) {
        const T x = d[static_cast<std::size_t>(a)], y = d[static_cast<std::size_t>(b)];
        return x != y ? x < y : a < b;
    };
    // A heap with the farthest on top; rows come in ascending order, so a tie with the top never enters.
    for (std::size_t l = 0; l < n; ++l) {
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
    std::sort_heap(found.begin(), found.end(), nearer);
}

struct Scratch {
    std::vector<double> map_row;
    std::vector<std::int32_t> in_data, in_map, sorted;
};

template <class T>
std::int64_t excess_ranks(const T* d, std::size_t n, std::size_t i, const std::vector<std::int32_t>& neighbors,
                          std::size_t k) {
    std::int64_t sum = 0;
    for (std::size_t t = 0; t < k; ++t) {
        const std::size_t rank = rank_of(d, n, i, static_cast<std::size_t>(neighbors[t]));
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
    out.intruders[at] = excess_ranks(data, n, i, s.in_map, k);
    out.extruders[at] = excess_ranks(map, n, i, s.in_data, k);
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

constexpr std::size_t kStrip = 64;   // columns whose bounds and counts stay in the first cache
constexpr std::size_t kBatch = 256;  // rows, times the square of at most 2048 bounds in 32 bits

// Counts in the columns of `limits` (k, kStrip) of some rows; as wide as the numbers, so that loops need no conversion.
template <class T, class Count>
GNOMON_INLINE void count_strip(Span2<const T> distances, Span2<const T> limits, std::size_t begin, std::size_t end,
                               std::size_t first, std::size_t width, std::int64_t* sums, std::int64_t* squares) {
    T line[kStrip] = {};
    Count sum[kStrip] = {}, square[kStrip] = {};
    for (std::size_t i = begin; i < end; ++i) {
        std::copy_n(distances.row(i) + first, width, line);
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
        sums[first + c] += sum[c];
        squares[first + c] += square[c];
    }
}

GNOMON_CLONES void count_in(Span2<const float> distances, Span2<const float> limits, std::size_t begin, std::size_t end,
                            std::size_t first, std::size_t width, std::int64_t* sums, std::int64_t* squares) {
    count_strip<float, std::int32_t>(distances, limits, begin, end, first, width, sums, squares);
}
GNOMON_CLONES void count_in(Span2<const double> distances, Span2<const double> limits, std::size_t begin,
                            std::size_t end, std::size_t first, std::size_t width, std::int64_t* sums,
                            std::int64_t* squares) {
    count_strip<double, std::int64_t>(distances, limits, begin, end, first, width, sums, squares);
}

template <class T>
void count_all(Span2<const T> distances, Span2<const T> bounds, std::span<std::int64_t> sums,
               std::span<std::int64_t> squares, const Context& context) {
    const std::size_t m = distances.rows(), k = bounds.rows();
    const auto n_workers = static_cast<std::size_t>(std::max(context.n_threads, 1));
    std::vector<std::vector<T>> limits(n_workers, std::vector<T>(k * kStrip));
    parallel_blocks(distances.cols(), kStrip, context, [&](std::size_t first, std::size_t last, std::size_t worker) {
        T* own = limits[worker].data();
        for (std::size_t s = 0; s < k; ++s) std::copy_n(bounds.row(s) + first, last - first, own + s * kStrip);
        for (std::size_t begin = 0; begin < m; begin += kBatch)
            count_in(distances, Span2<const T>(own, k, kStrip), begin, std::min(m, begin + kBatch), first, last - first,
                     sums.data(), squares.data());
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

void count_below_bounds(Span2<const float> distances, Span2<const float> bounds, std::span<std::int64_t> sums,
                        std::span<std::int64_t> squares, const Context& context) {
    count_all(distances, bounds, sums, squares, context);
}

void count_below_bounds(Span2<const double> distances, Span2<const double> bounds, std::span<std::int64_t> sums,
                        std::span<std::int64_t> squares, const Context& context) {
    count_all(distances, bounds, sums, squares, context);
}

}  // namespace gnomon
