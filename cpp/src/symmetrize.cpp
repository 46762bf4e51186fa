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

Symmetrizer::Symmetrizer(Span2<const std::int32_t> indices, Span2<const float> weights, const Context& context)
    : n_rows_(indices.rows()),
      width_(indices.cols()),
      rows_(indices.size()),
      row_sizes_(indices.rows()),
      transposed_at_(indices.rows() + 1) {
    sort_rows(indices, weights, context);
    transpose(context);
}

std::span<const Symmetrizer::Entry> Symmetrizer::outgoing(std::size_t row) const {
    return {rows_.data() + row * width_, static_cast<std::size_t>(row_sizes_[row])};
}

std::span<const Symmetrizer::Entry> Symmetrizer::incoming(std::size_t row) const {
    return {transposed_.data() + transposed_at_[row],
            static_cast<std::size_t>(transposed_at_[row + 1] - transposed_at_[row])};
}

void Symmetrizer::sort_rows(Span2<const std::int32_t> indices, Span2<const float> weights, const Context& context) {
    parallel_blocks(n_rows_, kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i) {
            Entry* row = rows_.data() + i * width_;
            std::size_t size = 0;
            for (std::size_t j = 0; j < width_; ++j) {
                if (weights(i, j) > 0.0F) row[size++] = make_entry(indices(i, j), weights(i, j));
            }
            std::sort(row, row + size);
            row_sizes_[i] = static_cast<std::int32_t>(size);
        }
    });
}

// A counting sort by column in two sweeps over the same few stripes of rows. Each stripe writes to places of its own,
// known from the counts, so the incoming entries of a row are ordered by origin whatever thread wrote them.
void Symmetrizer::transpose(const Context& context) {
    const std::size_t n_stripes = std::clamp<std::size_t>(width_ / 4, 1, 16);  // counts stay smaller than the entries
    const std::size_t stripe = (n_rows_ + n_stripes - 1) / n_stripes;
    std::vector<std::uint32_t> place(n_stripes * n_rows_);
    parallel_blocks(n_rows_, stripe, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::uint32_t* count = place.data() + begin / stripe * n_rows_;
        for (std::size_t i = begin; i < end; ++i) {
            for (const Entry entry : outgoing(i)) ++count[column_of(entry)];
        }
    });
    for (std::size_t c = 0; c < n_rows_; ++c) {
        std::uint32_t before = 0;
        for (std::size_t s = 0; s < n_stripes; ++s) {
            const std::uint32_t count = place[s * n_rows_ + c];
            place[s * n_rows_ + c] = before;
            before += count;
        }
        transposed_at_[c + 1] = transposed_at_[c] + before;
    }
    transposed_.resize(static_cast<std::size_t>(transposed_at_[n_rows_]));
    parallel_blocks(n_rows_, stripe, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::uint32_t* next = place.data() + begin / stripe * n_rows_;
        for (std::size_t i = begin; i < end; ++i) {
            for (const Entry entry : outgoing(i)) {
                const auto c = static_cast<std::size_t>(column_of(entry));
                transposed_[static_cast<std::size_t>(transposed_at_[c]) + next[c]++] =
                    make_entry(static_cast<std::int32_t>(i), weight_of(entry));
            }
        }
    });
}

void Symmetrizer::count(SymmetricRule rule, std::span<std::int64_t> offsets, const Context& context) const {
    offsets[0] = 0;
    with_rule(rule, [&](auto combine) {
        parallel_blocks(n_rows_, kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            for (std::size_t i = begin; i < end; ++i) {
                std::int64_t size = 0;
                merge(outgoing(i), incoming(i), combine, [&](std::int32_t, float) { ++size; });
                offsets[i + 1] = size;
            }
        });
    });
    for (std::size_t i = 0; i < n_rows_; ++i) offsets[i + 1] += offsets[i];
}

void Symmetrizer::fill(SymmetricRule rule, std::span<const std::int64_t> offsets, std::span<std::int32_t> columns,
                       std::span<float> values, const Context& context) const {
    with_rule(rule, [&](auto combine) {
        parallel_blocks(n_rows_, kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            for (std::size_t i = begin; i < end; ++i) {
                auto at = static_cast<std::size_t>(offsets[i]);
                merge(outgoing(i), incoming(i), combine, [&](std::int32_t column, float value) {
                    columns[at] = column;
                    values[at++] = value;
                });
            }
        });
    });
}

}  // namespace gnomon
