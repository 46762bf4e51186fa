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

float squared_distance(Span2<const float> Y, std::size_t i, std::size_t j) {
    float sum = 0.0F;
    for (std::size_t c = 0; c < Y.cols(); ++c) {
        const float step = Y.data()[i * Y.cols() + c] - Y.data()[j * Y.cols() + c];
        sum += step * step;
    }
    return sum;
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

void random_others_within(std::uint64_t seed, std::uint64_t stream, Span2<const std::int32_t> excluded,
                          const Vicinity& vicinity, Span2<std::int32_t> out, const Context& context) {
    const std::size_t n = out.rows(), wanted = out.cols(), refused = excluded.cols();
    const float reach = vicinity.radius * vicinity.radius;
    parallel_blocks(n, kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i) {
            const Draws draws{seed, stream, i};
            const std::span<const std::int32_t> row_excluded(excluded.data() + i * refused, refused);
            const std::span<std::int32_t> row_out(out.data() + i * wanted, wanted);
            const std::span<const std::int32_t> otherwise(vicinity.otherwise.data() + i * wanted, wanted);
            std::uint64_t step = 0;
            for (std::size_t k = 0; k < wanted; ++k) {
                const auto found = row_out.first(k);
                const auto stands_in = std::find_if(otherwise.begin(), otherwise.end(),
                                                    [&](std::int32_t point) { return !holds(found, point); });
                row_out[k] = stands_in == otherwise.end() ? otherwise[k] : *stands_in;
                for (int attempt = 0; attempt < vicinity.tries; ++attempt) {
                    const std::size_t j = draws.below(step++, n);
                    const auto point = static_cast<std::int32_t>(j);
                    if (j == i || squared_distance(vicinity.Y, i, j) > reach || holds(row_excluded, point) ||
                        holds(found, point))
                        continue;
                    row_out[k] = point;
                    break;
                }
            }
        }
    });
}

}  // namespace gnomon
