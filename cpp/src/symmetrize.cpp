#include "gnomon/symmetrize.hpp"

#include <algorithm>
#include <bit>

namespace gnomon {
namespace {

constexpr std::size_t kBlock = 512;

std::int32_t column_of(std::uint64_t entry) { return static_cast<std::int32_t>(entry >> 32); }
float weight_of(std::uint64_t entry) { return std::bit_cast<float>(static_cast<std::uint32_t>(entry)); }
std::uint64_t make_entry(std::int32_t column, float weight) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(column)) << 32 | std::bit_cast<std::uint32_t>(weight);
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

/// Walks two rows sorted by column and passes each positive combined entry on.
template <class Combine, class Visit>
void merge(std::span<const std::uint64_t> out, std::span<const std::uint64_t> in, const Combine& combine,
           Visit&& visit) {
    auto a = out.begin();
    auto b = in.begin();
    while (a != out.end() || b != in.end()) {
        const bool from_out = b == in.end() || (a != out.end() && column_of(*a) <= column_of(*b));
        const bool from_in = a == out.end() || (b != in.end() && column_of(*b) <= column_of(*a));
        const std::int32_t column = from_out ? column_of(*a) : column_of(*b);
        const float value = combine(from_out ? weight_of(*a) : 0.0F, from_in ? weight_of(*b) : 0.0F);
        if (value > 0.0F) visit(column, value);
        a += from_out;
        b += from_in;
    }
}

template <class Body>
void with_rule(SymmetricRule rule, Body&& body) {
    if (rule.kind == SymmetricRule::Kind::sum)
        body(Sum{rule.parameter});
    else
        body(FuzzyMix{rule.parameter});
}

}  // namespace

Symmetrizer::Symmetrizer(Span2<const std::int32_t> indices, Span2<const float> weights, const Context& context,
                         std::size_t part_entries)
    : indices_(indices), weights_(weights), first_(indices.rows()) {
    const std::size_t n = indices.rows(), width = indices.cols();
    const std::size_t n_parts = std::max<std::size_t>(std::min(indices.size() / part_entries, n), 1);
    part_rows_ = (n + n_parts - 1) / n_parts;
    transposed_at_.resize(part_rows_ + 1);
    if (n_parts > 1) return;
    rows_.resize(indices.size());
    row_sizes_.resize(n);
    parallel_blocks(n, kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i)
            row_sizes_[i] = static_cast<std::int32_t>(sort_row(i, rows_.data() + i * width));
    });
}

std::size_t Symmetrizer::sort_row(std::size_t row, Entry* sorted) const {
    std::size_t size = 0;
    for (std::size_t j = 0; j < indices_.cols(); ++j) {
        if (weights_(row, j) > 0.0F) sorted[size++] = make_entry(indices_(row, j), weights_(row, j));
    }
    std::sort(sorted, sorted + size);
    return size;
}

std::span<const Symmetrizer::Entry> Symmetrizer::outgoing(std::size_t row, std::vector<Entry>& sorted) const {
    if (!rows_.empty()) return {rows_.data() + row * indices_.cols(), static_cast<std::size_t>(row_sizes_[row])};
    return {sorted.data(), sort_row(row, sorted.data())};
}

std::span<const Symmetrizer::Entry> Symmetrizer::incoming(std::size_t row) const {
    const std::size_t at = row - first_;
    return {transposed_.data() + transposed_at_[at],
            static_cast<std::size_t>(transposed_at_[at + 1] - transposed_at_[at])};
}

// A counting sort by column in two sweeps over the same few stripes of rows. Each stripe writes to places of its own,
// known from the counts, so the incoming entries of a row are ordered by origin whatever thread wrote them.
void Symmetrizer::transpose(std::size_t first, const Context& context) {
    if (first == first_) return;
    first_ = first;
    const std::size_t n = indices_.rows(), width = indices_.cols(), n_held = std::min(part_rows_, n - first);
    const std::size_t n_stripes = std::clamp<std::size_t>(width / 4, 1, 16);  // counts stay smaller than the entries
    const std::size_t stripe = (n + n_stripes - 1) / n_stripes;
    std::vector<std::uint32_t> place(n_stripes * n_held);
    const auto sweep = [&](auto&& visit) {
        parallel_blocks(n, stripe, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            std::uint32_t* own = place.data() + begin / stripe * n_held;
            for (std::size_t i = begin; i < end; ++i) {
                for (std::size_t j = 0; j < width; ++j) {
                    const std::size_t c = static_cast<std::uint32_t>(indices_(i, j)) - first;  // wraps below the first
                    if (c < n_held && weights_(i, j) > 0.0F) visit(i, c, weights_(i, j), own[c]);
                }
            }
        });
    };
    sweep([](std::size_t, std::size_t, float, std::uint32_t& count) { ++count; });
    for (std::size_t c = 0; c < n_held; ++c) {
        std::uint32_t before = 0;
        for (std::size_t s = 0; s < n_stripes; ++s) {
            const std::uint32_t count = place[s * n_held + c];
            place[s * n_held + c] = before;
            before += count;
        }
        transposed_at_[c + 1] = transposed_at_[c] + before;
    }
    transposed_.resize(static_cast<std::size_t>(transposed_at_[n_held]));
    sweep([&](std::size_t i, std::size_t c, float weight, std::uint32_t& next) {
        transposed_[static_cast<std::size_t>(transposed_at_[c]) + next++] =
            make_entry(static_cast<std::int32_t>(i), weight);
    });
}

/// Calls visit(row, out, in) for every row, a part after the other.
template <class Visit>
void Symmetrizer::visit_rows(const Context& context, const Visit& visit) {
    std::vector<std::vector<Entry>> workers(static_cast<std::size_t>(std::max(context.n_threads, 1)),
                                            std::vector<Entry>(rows_.empty() ? indices_.cols() : 0));
    for (std::size_t first = 0; first < indices_.rows(); first += part_rows_) {
        transpose(first, context);
        const std::size_t n_held = std::min(part_rows_, indices_.rows() - first);
        parallel_blocks(n_held, kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
            for (std::size_t i = first + begin; i < first + end; ++i)
                visit(i, outgoing(i, workers[worker]), incoming(i));
        });
    }
}

void Symmetrizer::count(SymmetricRule rule, std::span<std::int64_t> offsets, const Context& context) {
    offsets[0] = 0;
    with_rule(rule, [&](auto combine) {
        visit_rows(context, [&](std::size_t i, std::span<const Entry> out, std::span<const Entry> in) {
            std::int64_t size = 0;
            merge(out, in, combine, [&](std::int32_t, float) { ++size; });
            offsets[i + 1] = size;
        });
    });
    for (std::size_t i = 0; i < indices_.rows(); ++i) offsets[i + 1] += offsets[i];
}

void Symmetrizer::fill(SymmetricRule rule, std::span<const std::int64_t> offsets, std::span<std::int32_t> columns,
                       std::span<float> values, const Context& context) {
    with_rule(rule, [&](auto combine) {
        visit_rows(context, [&](std::size_t i, std::span<const Entry> out, std::span<const Entry> in) {
            auto at = static_cast<std::size_t>(offsets[i]);
            merge(out, in, combine, [&](std::int32_t column, float value) {
                columns[at] = column;
                values[at++] = value;
            });
        });
    });
}

}  // namespace gnomon
