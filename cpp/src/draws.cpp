#include "gnomon/draws.hpp"

#include "gnomon/random.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kBlock = 1024;
constexpr std::uint64_t kAttempts = 64;  // each fails with probability 0.21; 64 failures in a row do not happen

struct Pair {
    double first, second;
};

/// Two independent normal numbers by Marsaglia's polar method, which needs no trigonometric function.
GNOMON_INLINE Pair normal_pair(std::uint64_t seed, std::uint64_t stream, std::uint64_t item, std::uint64_t step) {
    for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
        const std::uint64_t bits = draw(seed, stream, item, step * kAttempts + attempt);
        const double u = static_cast<double>(bits >> 32) * 0x1.0p-31 - 1.0;
        const double v = static_cast<double>(bits & 0xffffffffU) * 0x1.0p-31 - 1.0;
        const double s = u * u + v * v;
        if (s >= 1.0 || s < 1e-18) continue;
        const double log_s =
            0.69314718055994531 * static_cast<double>(simd::log2(simd::splat(static_cast<float>(s)))[0]);
        const double factor = __builtin_sqrt(-2.0 * (log_s < 0.0 ? log_s : 0.0) / s);
        return {u * factor, v * factor};
    }
    return {0.0, 0.0};
}

const auto normal_rows = each_level([](std::uint64_t seed, std::uint64_t stream, Span2<double> out, std::size_t begin,
                                       std::size_t end) GNOMON_INLINE_LAMBDA {
    for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t j = 0; j < out.cols(); j += 2) {
            const Pair pair = normal_pair(seed, stream, i, j / 2);
            out(i, j) = pair.first;
            if (j + 1 < out.cols()) out(i, j + 1) = pair.second;
        }
    }
});

}  // namespace

void fill_uniform(std::uint64_t seed, std::uint64_t stream, Span2<double> out, const Context& context) {
    parallel_blocks(out.rows(), kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i) {
            for (std::size_t j = 0; j < out.cols(); ++j) out(i, j) = unit_double(draw(seed, stream, i, j));
        }
    });
}

void fill_normal(std::uint64_t seed, std::uint64_t stream, Span2<double> out, const Context& context) {
    parallel_blocks(out.rows(), kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        normal_rows(seed, stream, out, begin, end);
    });
}

}  // namespace gnomon
