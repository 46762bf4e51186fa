#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/pair_laws.cpp"
#include "gnomon/pair_laws.hpp"

#include <algorithm>

namespace gnomon {
namespace {

constexpr std::size_t kTogether = 256;  // squares at a time

struct Tile {
    const float* squared;
    std::size_t count;
    float *slopes, *energies;
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(fill_values);
GNOMON_CHOOSE(fill_squares);
GNOMON_CHOOSE(fill_logs);
GNOMON_CHOOSE(fill_log_deficits);

}  // namespace

PairLaw pair_law(std::string_view name) {
    if (name == "value") return PairLaw::value;
    if (name == "log") return PairLaw::log;
    if (name == "log_deficit") return PairLaw::log_deficit;
    if (name == "square") return PairLaw::square;
    throw std::invalid_argument("unknown pair law");
}

void check_law(PairLaw law, const OutputKernel& kernel) {
    if (!is_defined(law, kernel)) throw std::invalid_argument("this law needs a kernel with values in (0, 1]");
}

void evaluate_law(PairLaw law, const OutputKernel& kernel, const float* squared, std::size_t count, float* slopes,
                  float* energies) {
    const Tile tile{squared, count, slopes, energies};
    switch (law) {
        case PairLaw::value:
            return fill_values(kernel, tile);
        case PairLaw::log:
            return fill_logs(kernel, tile);
        case PairLaw::log_deficit:
            return fill_log_deficits(kernel, tile);
        case PairLaw::square:
            return fill_squares(kernel, tile);
    }
}

float kernel_at_zero(const OutputKernel& kernel) {
    const float squared[simd::kLanes] = {};
    float slopes[simd::kLanes], values[simd::kLanes];
    evaluate_law(PairLaw::value, kernel, squared, simd::kLanes, slopes, values);
    return values[0];
}

}  // namespace gnomon

#else
#include "gnomon/output_kernels.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;

/// Fills a tile, sixteen squared distances at once: slope(s) alone, or both(s, slope, energy).
template <class Slope, class Both>
GNOMON_INLINE void fill(const Tile& tile, Slope&& slope, Both&& both) {
    if (tile.energies == nullptr) {
        for (std::size_t k = 0; k < tile.count; k += simd::kLanes)
            simd::store(tile.slopes + k, slope(simd::load(tile.squared + k)));
        return;
    }
    for (std::size_t k = 0; k < tile.count; k += simd::kLanes) {
        f32 a, b;
        both(simd::load(tile.squared + k), a, b);
        simd::store(tile.slopes + k, a);
        simd::store(tile.energies + k, b);
    }
}

GNOMON_KERNEL void fill_values(const OutputKernel& output, const Tile& tile) {
    with_kernel(output, [&](auto kernel) GNOMON_INLINE_LAMBDA {
        const auto both = [&](f32 s, f32& slope, f32& energy)
                              GNOMON_INLINE_LAMBDA { kernel.value_and_slope(s, energy, slope); };
        const auto slope = [&](f32 s) GNOMON_INLINE_LAMBDA {
            f32 of_value, value;
            kernel.value_and_slope(s, value, of_value);
            return of_value;
        };
        fill(tile, slope, both);
    });
}

/// Made of the values, so that kernels are not compiled for it once more; but for the one that costs less than to go
/// over the values again.
GNOMON_KERNEL void fill_squares(const OutputKernel& output, const Tile& tile) {
    if (output.kind == OutputKernel::Kind::linear) {
        const auto both = [](f32 s, f32& slope, f32& energy) GNOMON_INLINE_LAMBDA {
            f32 of_value, value;
            Linear{}.value_and_slope(s, value, of_value);
            slope = 2.0F * value * of_value;
            energy = value * value;
        };
        const auto slope = [&](f32 s) GNOMON_INLINE_LAMBDA {
            f32 a, b;
            both(s, a, b);
            return a;
        };
        return fill(tile, slope, both);
    }
    float values[kTogether];
    for (std::size_t begin = 0; begin < tile.count; begin += kTogether) {
        const std::size_t count = std::min(kTogether, tile.count - begin);
        float* slopes = tile.slopes + begin;
        fill_values(output, {tile.squared + begin, count, slopes, values});
        for (std::size_t k = 0; k < count; k += simd::kLanes) {
            const f32 value = simd::load(values + k);
            simd::store(slopes + k, 2.0F * value * simd::load(slopes + k));
            if (tile.energies != nullptr) simd::store(tile.energies + begin + k, value * value);
        }
    }
}

GNOMON_KERNEL void fill_logs(const OutputKernel& output, const Tile& tile) {
    with_similarity(output, [&](auto kernel) GNOMON_INLINE_LAMBDA {
        const auto slope = [&](f32 s) GNOMON_INLINE_LAMBDA { return kernel.pull(s); };
        const auto both = [&](f32 s, f32& a, f32& energy) GNOMON_INLINE_LAMBDA {
            a = kernel.pull(s);
            energy = kernel.neg_log(s);
        };
        fill(tile, slope, both);
    });
}

GNOMON_KERNEL void fill_log_deficits(const OutputKernel& output, const Tile& tile) {
    with_similarity(output, [&](auto kernel) GNOMON_INLINE_LAMBDA {
        const f32 floor = simd::splat(decltype(kernel)::kFloor);
        const auto slope = [&](f32 s) GNOMON_INLINE_LAMBDA { return -kernel.push(simd::max(s, floor)); };
        const auto both = [&](f32 s, f32& a, f32& energy) GNOMON_INLINE_LAMBDA {
            const f32 held = simd::max(s, floor);
            a = -kernel.push(held);
            energy = kernel.neg_log_deficit(held) - a * (held - s);
        };
        fill(tile, slope, both);
    });
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
