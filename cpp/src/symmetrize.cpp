#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/symmetrize.cpp"
#include "gnomon/symmetrize.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

using simd::kLanes;
using Entry = std::uint64_t;  // column in the high half, bits of the weight in the low half: sorts by column

constexpr std::size_t kBlock = 128;
constexpr std::size_t kWave = 64 * kBlock;  // rows joined before they are moved to their place
constexpr std::size_t kCounted = 4096;      // columns of a chunk of the counting sort
constexpr std::size_t kRanked = 256;        // entries sorted by counting smaller ones; more are sorted by comparison
constexpr Entry kEnd = ~Entry{0};           // after the last entry of a row
constexpr std::uint32_t kNoColumn = kEnd >> 32;

std::uint32_t column_of(Entry entry) { return static_cast<std::uint32_t>(entry >> 32); }
float weight_of(Entry entry) { return std::bit_cast<float>(static_cast<std::uint32_t>(entry)); }
Entry make_entry(std::uint32_t column, float weight) {
    return static_cast<Entry>(column) << 32 | std::bit_cast<std::uint32_t>(weight);
}

struct Sum {
    float scale;
    float operator()(float a, float b) const { return scale * (a + b); }
};

/// Written through the larger and the smaller weight: equal bits for (a, b) and (b, a), and never above 1.
struct FuzzyMix {
    float mix;
    float operator()(float a, float b) const {
        const float high = std::max(a, b), low = std::min(a, b);
        return mix * (high + low * (1.0F - high)) + (1.0F - mix) * (high * low);
    }
};

/// Walks two rows sorted by column, both ended by kEnd, and writes each positive combined entry; returns how many.
template <class Combine>
std::size_t merge(const Entry* a, const Entry* b, const Combine& combine, Entry* merged) {
    std::size_t size = 0;
    while (true) {
        const std::uint32_t from = column_of(*a), to = column_of(*b), column = std::min(from, to);
        if (column == kNoColumn) return size;
        const float value = combine(from == column ? weight_of(*a) : 0.0F, to == column ? weight_of(*b) : 0.0F);
        merged[size] = make_entry(column, value);
        size += value > 0.0F;
        a += from == column;
        b += to == column;
    }
}

/// What one thread needs for a row at a time.
struct Scratch {
    explicit Scratch(std::size_t k)
        : weights(k + kLanes), unsorted(k + kLanes), outgoing(k + 1), columns(k + kLanes), ranks(k + kLanes) {}

    std::vector<float> weights;
    std::vector<Entry> unsorted, outgoing, incoming;
    std::vector<std::int32_t> columns, ranks;
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(count_smaller);

/// Whether the columns of a row that has been sorted are different: equal ones have equal ranks.
bool differ(const Scratch& scratch, std::size_t size) {
    if (size <= kRanked)
        return std::accumulate(scratch.ranks.begin(), scratch.ranks.begin() + static_cast<std::ptrdiff_t>(size),
                               std::size_t{0}) == size * (size - std::min<std::size_t>(size, 1)) / 2;
    for (std::size_t j = 1; j < size; ++j)
        if (column_of(scratch.outgoing[j - 1]) == column_of(scratch.outgoing[j])) return false;
    return true;
}

/// The positive entries of row i by column, ended by kEnd.
void sort_outgoing(std::size_t i, const std::int32_t* indices, const float* weights, std::size_t k, Scratch& scratch) {
    std::size_t size = 0;
    for (std::size_t j = 0; j < k; ++j) {
        scratch.columns[size] = indices[j];
        scratch.unsorted[size] = make_entry(static_cast<std::uint32_t>(indices[j]), weights[j]);
        size += weights[j] > 0.0F;
    }
    if (size > kRanked) {
        std::sort(scratch.unsorted.begin(), scratch.unsorted.begin() + static_cast<std::ptrdiff_t>(size));
        std::copy_n(scratch.unsorted.begin(), size, scratch.outgoing.begin());
    } else {
        count_smaller(scratch.columns.data(), size, scratch.ranks.data());
        for (std::size_t j = 0; j < size; ++j)
            scratch.outgoing[static_cast<std::size_t>(scratch.ranks[j])] = scratch.unsorted[j];
    }
    scratch.outgoing[size] = kEnd;
    if (!differ(scratch, size))
        throw std::invalid_argument("indices must differ within a row, and row " + std::to_string(i) +
                                    " names a neighbour twice. Make them with gnomon.neighbors.as_neighbor_graph.");
}

/// The positive entries among some, ended by kEnd.
void copy_incoming(std::span<const Entry> entries, std::vector<Entry>& positive) {
    positive.resize(std::max(positive.size(), entries.size() + 1));
    std::size_t size = 0;
    for (const Entry entry : entries) {
        positive[size] = entry;
        size += weight_of(entry) > 0.0F;
    }
    positive[size] = kEnd;
}

/// The entries whose columns are some consecutive rows, ordered by column and then by origin.
class Incoming {
public:
    Incoming(Span2<const std::int32_t> indices, const WeightsOf& weights) : indices_(indices), weights_(weights) {}

    std::size_t size(std::size_t row) const {
        return static_cast<std::size_t>(at_[row - first_ + 1] - at_[row - first_]);
    }
    std::span<const Entry> of(std::size_t row) const { return {entries_.get() + at_[row - first_], size(row)}; }

    // A counting sort by column in two sweeps over the same few stripes of rows. Each stripe writes to places of its
    // own, known from the counts, so the entries are ordered by origin whatever thread wrote them.
    void gather(std::size_t first, std::size_t n_held, std::vector<Scratch>& workers, const Context& context) {
        entries_.reset();
        first_ = first;
        at_.assign(n_held + 1, 0);
        const std::size_t n = indices_.rows(), width = indices_.cols();
        const std::size_t n_stripes = std::clamp<std::size_t>(width / 2, 1, 16);  // counts stay smaller than entries
        const std::size_t stripe = (n + n_stripes - 1) / n_stripes;
        std::vector<std::uint32_t> place(n_stripes * n_held);
        const auto place_of = [&](std::size_t i, std::size_t j) {  // wraps below the first
            return static_cast<std::size_t>(static_cast<std::uint32_t>(indices_(i, j))) - first;
        };
        parallel_blocks(n, stripe, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            std::uint32_t* count = place.data() + begin / stripe * n_held;
            for (std::size_t i = begin; i < end; ++i) {
                for (std::size_t j = 0; j < width; ++j) {
                    if (const std::size_t c = place_of(i, j); c < n_held) ++count[c];
                }
            }
        });
        parallel_blocks(n_held, kCounted, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            for (std::size_t s = 0; s < n_stripes; ++s) {
                for (std::size_t c = begin; c < end; ++c) {
                    std::uint32_t& own = place[s * n_held + c];
                    const auto before = static_cast<std::uint32_t>(at_[c + 1]);
                    at_[c + 1] += own;
                    own = before;
                }
            }
        });
        std::partial_sum(at_.begin(), at_.end(), at_.begin());
        entries_.reset(new Entry[static_cast<std::size_t>(at_.back())]);
        parallel_blocks(n, stripe, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
            std::uint32_t* next = place.data() + begin / stripe * n_held;
            for (std::size_t i = begin; i < end; ++i) {
                const float* weights = weights_(i, workers[worker].weights.data());
                for (std::size_t j = 0; j < width; ++j) {
                    const std::size_t c = place_of(i, j);
                    if (c < n_held) {
                        entries_[static_cast<std::size_t>(at_[c]) + next[c]++] =
                            make_entry(static_cast<std::uint32_t>(i), weights[j]);
                    }
                }
            }
        });
    }

private:
    Span2<const std::int32_t> indices_;
    const WeightsOf& weights_;
    std::size_t first_ = 0;
    std::unique_ptr<Entry[]> entries_;
    std::vector<std::int64_t> at_;
};

/// Rows of the result, some thousand at a time: they are joined where there is room for all that may come, and then
/// moved close together.
class Joined {
public:
    Joined(std::size_t n, std::size_t most, SymmetricRule rule) : rule_(rule) {
        matrix_ = {allocate<std::int64_t>(n + 1), allocate<std::int32_t>(most), allocate<float>(most)};
        matrix_.offsets[0] = 0;
    }

    void add_rows(std::size_t first, std::size_t last, Span2<const std::int32_t> indices, const WeightsOf& weights,
                  const Incoming& incoming, std::vector<Scratch>& workers, const Context& context) {
        const std::size_t width = indices.cols();
        room_.assign(1, 0);
        for (std::size_t i = first; i < last; ++i) room_.push_back(room_.back() + width + incoming.size(i));
        if (room_.back() > capacity_) {
            wave_.reset();
            capacity_ = room_.back() + room_.back() / 8;
            wave_.reset(new Entry[capacity_]);
        }
        std::int64_t* offsets = matrix_.offsets.get();
        parallel_blocks(last - first, kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
            Scratch& scratch = workers[worker];
            for (std::size_t i = first + begin; i < first + end; ++i) {
                sort_outgoing(i, indices.row(i), weights(i, scratch.weights.data()), width, scratch);
                copy_incoming(incoming.of(i), scratch.incoming);
                offsets[i + 1] = static_cast<std::int64_t>(join(scratch, wave_.get() + room_[i - first]));
            }
        });
        for (std::size_t i = first; i < last; ++i) offsets[i + 1] += offsets[i];
        parallel_blocks(last - first, kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            for (std::size_t i = first + begin; i < first + end; ++i) {
                const Entry* entry = wave_.get() + room_[i - first];
                for (auto at = static_cast<std::size_t>(offsets[i]); at < static_cast<std::size_t>(offsets[i + 1]);
                     ++at) {
                    matrix_.columns[at] = static_cast<std::int32_t>(column_of(*entry));
                    matrix_.values[at] = weight_of(*entry++);
                }
            }
        });
    }

    SymmetricMatrix finish(std::size_t n) {
        const auto size = static_cast<std::size_t>(matrix_.offsets[n]);
        shrink(matrix_.columns, size);
        shrink(matrix_.values, size);
        return std::move(matrix_);
    }

private:
    std::size_t join(const Scratch& scratch, Entry* to) const {
        const Entry *out = scratch.outgoing.data(), *in = scratch.incoming.data();
        return rule_.kind == SymmetricRule::Kind::sum ? merge(out, in, Sum{rule_.parameter}, to)
                                                      : merge(out, in, FuzzyMix{rule_.parameter}, to);
    }

    SymmetricRule rule_;
    SymmetricMatrix matrix_;
    std::unique_ptr<Entry[]> wave_;
    std::size_t capacity_ = 0;
    std::vector<std::size_t> room_;  // where each row of the wave begins
};

}  // namespace

SymmetricMatrix symmetrize(Span2<const std::int32_t> indices, const WeightsOf& weights, SymmetricRule rule,
                           const Context& context, std::size_t part_entries) {
    const std::size_t n = indices.rows();
    const std::size_t n_parts = std::max<std::size_t>(std::min(indices.size() / part_entries, n), 1);
    const std::size_t part_rows = (n + n_parts - 1) / n_parts;
    std::vector<Scratch> workers(static_cast<std::size_t>(std::max(context.n_threads, 1)), Scratch(indices.cols()));
    Incoming incoming(indices, weights);
    Joined joined(n, 2 * indices.size(), rule);
    for (std::size_t first = 0; first < n;) {
        // The result is small at first, and leaves room for more of what comes in.
        const std::size_t n_held = std::min(std::max(part_rows, (n - first) / 2), n - first), last = first + n_held;
        incoming.gather(first, n_held, workers, context);
        for (; first < last; first = std::min(first + kWave, last))
            joined.add_rows(first, std::min(first + kWave, last), indices, weights, incoming, workers, context);
    }
    return joined.finish(n);
}

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::i32;

/// How many of different columns are smaller than each; both arrays have room for whole vectors.
GNOMON_KERNEL void count_smaller(const std::int32_t* columns, std::size_t size, std::int32_t* ranks) {
    for (std::size_t first = 0; first < size; first += kLanes) {
        const i32 own = simd::load(columns + first);
        i32 rank{};
        for (std::size_t j = 0; j < size; ++j) rank -= simd::greater(own, simd::splat(columns[j]));
        simd::store(ranks + first, rank);
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
