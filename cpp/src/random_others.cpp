#include "gnomon/random_others.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "gnomon/random.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kBlock = 256;

struct Draws {
    std::uint64_t seed, stream, item;

    std::uint32_t below(std::uint64_t step, std::size_t n) const {
        return scale_to(static_cast<std::uint32_t>(draw(seed, stream, item, step) >> 32),
                        static_cast<std::uint32_t>(n));
    }
};

bool holds(std::span<const std::int32_t> points, std::int32_t point) {
    return std::find(points.begin(), points.end(), point) != points.end();
}

/// Draws until enough points are found. Expects that at most half of all points are refused: two draws for each point.
void by_rejection(const Draws& draws, std::size_t n, std::span<const std::int32_t> excluded,
                  std::span<std::int32_t> out) {
    std::uint64_t step = 0;
    for (std::size_t found = 0; found < out.size();) {
        const auto point = static_cast<std::int32_t>(draws.below(step++, n));
        if (point == static_cast<std::int32_t>(draws.item) || holds(excluded, point) || holds(out.first(found), point))
            continue;
        out[found++] = point;
    }
}

/// Shuffles the front of a list of all points that may be drawn.
void by_shuffle(const Draws& draws, std::size_t n, std::span<const std::int32_t> excluded, std::span<std::int32_t> out,
                std::vector<std::int32_t>& scratch) {
    scratch.resize(n);
    std::iota(scratch.begin(), scratch.end(), 0);
    scratch[draws.item] = -1;
    for (const std::int32_t point : excluded) scratch[static_cast<std::size_t>(point)] = -1;
    scratch.erase(std::remove(scratch.begin(), scratch.end(), -1), scratch.end());
    for (std::size_t k = 0; k < out.size(); ++k) {
        std::swap(scratch[k], scratch[k + draws.below(k, scratch.size() - k)]);
        out[k] = scratch[k];
    }
}

}  // namespace

void random_others(std::uint64_t seed, std::uint64_t stream, Span2<const std::int32_t> excluded,
                   Span2<std::int32_t> out, const Context& context) {
    const std::size_t n = out.rows(), wanted = out.cols(), refused = excluded.cols();
    const bool crowded = 2 * (wanted + refused + 1) > n;
    parallel_blocks(n, kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<std::int32_t> scratch;
        for (std::size_t i = begin; i < end; ++i) {
            const Draws draws{seed, stream, i};
            const std::span<const std::int32_t> row_excluded(excluded.data() + i * refused, refused);
            const std::span<std::int32_t> row_out(out.data() + i * wanted, wanted);
            if (crowded)
                by_shuffle(draws, n, row_excluded, row_out, scratch);
            else
                by_rejection(draws, n, row_excluded, row_out);
        }
    });
}

}  // namespace gnomon
