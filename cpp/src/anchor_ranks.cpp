#include "gnomon/anchor_ranks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "gnomon/map_scores.hpp"
#include "gnomon/radix_sort.hpp"
#include "gnomon/random.hpp"

namespace gnomon {
namespace {

constexpr std::uint64_t kPairStream = 0x7061;
constexpr std::size_t kAnchorsPerChunk = 2;
constexpr std::size_t kInsertion = 12;

template <class Key>
struct Item {
    Key key;
    std::int32_t row;
};

/// All rows but one in the order of their distances, equal ones by row number.
template <class Key>
class Order {
public:
    template <class T>
    void sort(const T* d, std::size_t n, std::size_t self) {
        items_.clear();
        for (std::size_t j = 0; j < n; ++j)
            if (j != self) items_.push_back({sort_key(d[j]), static_cast<std::int32_t>(j)});
        by_digits_.sort(items_);
    }

    std::size_t size() const { return items_.size(); }
    std::size_t row(std::size_t at) const { return static_cast<std::size_t>(items_[at].row); }
    bool ties_with_next(std::size_t at) const { return at + 1 < items_.size() && items_[at].key == items_[at + 1].key; }

private:
    std::vector<Item<Key>> items_;
    RadixSort<Item<Key>> by_digits_;
};

/// Sorts numbers and returns how many pairs stood in strictly descending order.
std::int64_t sort_and_count(std::vector<std::int32_t>& values, std::vector<std::int32_t>& space) {
    const std::size_t n = values.size();
    std::int64_t count = 0;
    for (std::size_t begin = 0; begin < n; begin += kInsertion)
        for (std::size_t at = begin + 1; at < std::min(begin + kInsertion, n); ++at) {
            const std::int32_t value = values[at];
            std::size_t to = at;
            for (; to > begin && values[to - 1] > value; --to) values[to] = values[to - 1];
            values[to] = value;
            count += static_cast<std::int64_t>(at - to);
        }
    space.resize(n);
    for (std::size_t width = kInsertion; width < n; width *= 2) {
        for (std::size_t begin = 0; begin < n; begin += 2 * width) {
            const std::size_t middle = std::min(begin + width, n), end = std::min(begin + 2 * width, n);
            std::size_t left = begin, right = middle, to = begin;
            while (left < middle && right < end) {
                const std::int32_t a = values[left], b = values[right];
                const bool later = b < a;
                space[to++] = later ? b : a;
                count += later ? static_cast<std::int64_t>(middle - left) : 0;
                left += !later;
                right += later;
            }
            std::copy(values.begin() + static_cast<std::ptrdiff_t>(left),
                      values.begin() + static_cast<std::ptrdiff_t>(middle),
                      space.begin() + static_cast<std::ptrdiff_t>(to));
            std::copy(values.begin() + static_cast<std::ptrdiff_t>(right),
                      values.begin() + static_cast<std::ptrdiff_t>(end),
                      space.begin() + static_cast<std::ptrdiff_t>(to + middle - left));
        }
        values.swap(space);
    }
    return count;
}

std::int64_t pairs_of(std::size_t count) {
    return static_cast<std::int64_t>(count) * (static_cast<std::int64_t>(count) - 1) / 2;
}

template <class Key>
struct Scratch {
    std::vector<double> map_row, map_error, data_error;
    std::vector<std::int64_t> shared, in, in_count, ex, ex_count;
    Order<Key> data;
    Order<std::uint64_t> map;
    std::vector<std::int32_t> data_rank, map_rank, level, sequence, space;
    std::vector<std::int64_t> coranked;
};

/// Ranks of all rows in one order, 1 for the nearest.
template <class Key>
void rank_rows(const Order<Key>& order, std::vector<std::int32_t>& rank) {
    rank.resize(order.size() + 1);
    for (std::size_t at = 0; at < order.size(); ++at) rank[order.row(at)] = static_cast<std::int32_t>(at + 1);
}

/// Pairs of rows in opposite order on both sides, counted twice, and those tied on one side alone.
template <class Key>
std::int64_t count_discordant(Scratch<Key>& s) {
    const std::size_t n = s.data.size();
    s.level.resize(n + 1);  // rank in the map, the same for equal distances
    std::int32_t level = 0;
    std::int64_t tied = 0;
    std::size_t run = 1;
    for (std::size_t at = 0; at < n; ++at) {
        s.level[s.map.row(at)] = level;
        if (s.map.ties_with_next(at)) {
            ++run;
            continue;
        }
        tied += pairs_of(run);
        run = 1;
        ++level;
    }
    s.sequence.resize(n);
    for (std::size_t at = 0; at < n; ++at) s.sequence[at] = s.level[s.data.row(at)];
    std::int64_t both = 0;
    for (std::size_t begin = 0, end; begin < n; begin = end) {
        end = begin + 1;
        while (s.data.ties_with_next(end - 1)) ++end;
        if (end - begin < 2) continue;
        const auto first = s.sequence.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = s.sequence.begin() + static_cast<std::ptrdiff_t>(end);
        std::sort(first, last);  // pairs tied in the data are not in opposite order
        tied += pairs_of(end - begin);
        for (auto from = first; from != last;) {
            const auto to = std::upper_bound(from, last, *from);
            both += pairs_of(static_cast<std::size_t>(to - from));
            from = to;
        }
    }
    return 2 * sort_and_count(s.sequence, s.space) + tied - 2 * both;
}

template <class T>
double distance(T d, const AnchorRankParams& params) {
    const double value = static_cast<double>(d);
    return params.unit * (params.squared ? std::sqrt(std::max(value, 0.0)) : value);
}

template <class T>
void sum_moments(const T* data, const double* map, std::size_t n, std::size_t i, const AnchorRankParams& params,
                 double* out) {
    double x_sum = 0, y_sum = 0, x_square = 0, y_square = 0, product = 0;
    for (std::size_t j = 0; j < n; ++j) {
        const double x = j == i ? 0.0 : distance(data[j], params), y = std::sqrt(map[j]);
        x_sum += x;
        y_sum += y;
        x_square += x * x;
        y_square += y * y;
        product += x * y;
    }
    const std::array<double, 5> sums{x_sum, y_sum, x_square, y_square, product};
    std::copy(sums.begin(), sums.end(), out);
}

template <class T>
void draw_pairs(const T* data, const double* map, std::size_t n, std::size_t i, std::size_t at,
                const AnchorRankParams& params, const AnchorRankOutputs& out) {
    for (std::size_t t = 0; t < out.data_distances.cols(); ++t) {
        const auto bits = static_cast<std::uint32_t>(draw(params.seed, kPairStream, i, t));
        std::size_t j = scale_to(bits, static_cast<std::uint32_t>(n - 1));
        j += j >= i;
        out.data_distances(at, t) = distance(data[j], params);
        out.map_distances(at, t) = std::sqrt(map[j]);
    }
}

template <class Row>
void add_up(Row* row, std::size_t count) {
    for (std::size_t g = 1; g < count; ++g) row[g] += row[g - 1];
}

/// Sums over neighbourhoods of all sizes: each row is entered where it comes in and where it goes out, then added up.
template <class Key>
void compare_ranks(std::size_t i, std::size_t at, const std::vector<std::int32_t>& place,
                   const AnchorRankParams& params, Scratch<Key>& s, const AnchorRankOutputs& out) {
    const std::size_t n = s.data_rank.size(), g = params.sizes.size();
    for (auto* sums : {&s.shared, &s.in, &s.in_count, &s.ex, &s.ex_count}) sums->assign(g + 1, 0);
    for (auto* sums : {&s.map_error, &s.data_error}) sums->assign(g + 1, 0.0);
    std::int64_t* coranked = s.coranked.data() + static_cast<std::size_t>(params.groups[at]) * n;
    double weighted = 0;
    for (std::size_t j = 0; j < n; ++j) {
        if (j == i) continue;
        const std::int32_t r = s.data_rank[j], e = s.map_rank[j], larger = std::max(r, e);
        const auto from_data = static_cast<std::size_t>(place[static_cast<std::size_t>(r)]);
        const auto from_map = static_cast<std::size_t>(place[static_cast<std::size_t>(e)]);
        const double gap = std::abs(static_cast<double>(r) - static_cast<double>(e));
        ++s.shared[std::max(from_data, from_map)];
        ++coranked[larger];
        weighted += params.weights[static_cast<std::size_t>(larger)];
        s.map_error[from_map] += gap / e;
        s.data_error[from_data] += gap / r;
        if (from_map < from_data) {
            s.in[from_map] += r, s.in[from_data] -= r;
            ++s.in_count[from_map], --s.in_count[from_data];
        } else if (from_data < from_map) {
            s.ex[from_data] += e, s.ex[from_map] -= e;
            ++s.ex_count[from_data], --s.ex_count[from_map];
        }
    }
    for (auto* sums : {&s.shared, &s.in, &s.in_count, &s.ex, &s.ex_count}) add_up(sums->data(), g);
    add_up(s.map_error.data(), g);
    add_up(s.data_error.data(), g);
    for (std::size_t l = 0; l < g; ++l) {
        out.shared(at, l) = s.shared[l];
        out.intruders(at, l) = s.in[l] - s.in_count[l] * params.sizes[l];
        out.extruders(at, l) = s.ex[l] - s.ex_count[l] * params.sizes[l];
        out.errors_in_map(at, l) = s.map_error[l];
        out.errors_in_data(at, l) = s.data_error[l];
    }
    out.weighted[at] = weighted;
}

template <class Key, class T>
void rank_anchor(const T* data, Span2<const double> Y, std::size_t i, std::size_t at,
                 const std::vector<std::int32_t>& place, const AnchorRankParams& params, Scratch<Key>& s,
                 const AnchorRankOutputs& out) {
    const std::size_t n = Y.rows();
    s.map_row.resize(n);
    s.coranked.resize(out.coranked.size());
    squared_map_distances(Y, i, s.map_row.data());
    s.data.sort(data, n, i);
    s.map.sort(s.map_row.data(), n, i);
    rank_rows(s.data, s.data_rank);
    rank_rows(s.map, s.map_rank);
    for (std::size_t t = 0; t < out.nearest_in_data.cols(); ++t) {
        out.nearest_in_data(at, t) = static_cast<std::int32_t>(s.data.row(t));
        out.nearest_in_map(at, t) = static_cast<std::int32_t>(s.map.row(t));
    }
    compare_ranks(i, at, place, params, s, out);
    out.discordant[at] = count_discordant(s);
    sum_moments(data, s.map_row.data(), n, i, params, out.moments.row(at));
    draw_pairs(data, s.map_row.data(), n, i, at, params, out);
}

/// Returns for each rank the place in `sizes` of the first that is not smaller.
std::vector<std::int32_t> places_of_ranks(std::size_t n, std::span<const std::int64_t> sizes) {
    std::vector<std::int32_t> place(n);
    std::size_t at = 0;
    for (std::size_t rank = 0; rank < n; ++rank) {
        while (at < sizes.size() && sizes[at] < static_cast<std::int64_t>(rank)) ++at;
        place[rank] = static_cast<std::int32_t>(at);
    }
    return place;
}

template <class T>
void rank_all(Span2<const T> distances, Span2<const double> Y, std::span<const std::int64_t> anchors,
              const AnchorRankParams& params, const AnchorRankOutputs& out, const Context& context) {
    using Key = SortKey<T>;
    const auto place = places_of_ranks(Y.rows(), params.sizes);
    std::vector<Scratch<Key>> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)));
    parallel_blocks(anchors.size(), kAnchorsPerChunk, context,
                    [&](std::size_t begin, std::size_t end, std::size_t worker) {
                        for (std::size_t at = begin; at < end; ++at)
                            rank_anchor(distances.row(at), Y, static_cast<std::size_t>(anchors[at]), at, place, params,
                                        scratch[worker], out);
                    });
    // Counts: their sum is the same whichever worker counted what.
    std::int64_t* total = out.coranked.data();
    std::fill(total, total + out.coranked.size(), 0);
    for (const auto& s : scratch)
        for (std::size_t at = 0; at < s.coranked.size(); ++at) total[at] += s.coranked[at];
}

}  // namespace

void rank_anchors(Span2<const float> distances, Span2<const double> Y, std::span<const std::int64_t> anchors,
                  const AnchorRankParams& params, const AnchorRankOutputs& out, const Context& context) {
    rank_all(distances, Y, anchors, params, out, context);
}

void rank_anchors(Span2<const double> distances, Span2<const double> Y, std::span<const std::int64_t> anchors,
                  const AnchorRankParams& params, const AnchorRankOutputs& out, const Context& context) {
    rank_all(distances, Y, anchors, params, out, context);
}

}  // namespace gnomon
