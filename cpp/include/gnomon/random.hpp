// The only way to draw numbers. A draw is a function of (seed, stream, item, step) and nothing else: there is no state,
// so any thread can make any draw in any order and the result is the same.
#pragma once

#include <cstdint>

namespace gnomon {

/// A bijective mixer of 32 bits (two rounds of multiply and xor-shift; constants found by avalanche search).
constexpr std::uint32_t mix32(std::uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    x ^= x >> 16;
    return x;
}

/// A bijective mixer of 64 bits.
constexpr std::uint64_t mix64(std::uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    return x;
}

/// 64 random bits for one (seed, stream, item, step).
constexpr std::uint64_t draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t item, std::uint64_t step = 0) {
    std::uint64_t h = mix64(seed + 0x9e3779b97f4a7c15ULL * (stream + 1));
    h = mix64(h ^ (item + 0x9e3779b97f4a7c15ULL));
    return mix64(h + 0xbf58476d1ce4e5b9ULL * (step + 1));
}

/// An index in [0, n) from 32 random bits; the bias is below n / 2^32.
constexpr std::uint32_t scale_to(std::uint32_t bits, std::uint32_t n) {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(bits) * n) >> 32);
}

/// A number in [0, 1) with 24 random bits, exactly representable.
constexpr float unit_float(std::uint64_t bits) { return static_cast<float>(bits >> 40) * 0x1.0p-24F; }

/// A number in [0, 1) with 53 random bits, exactly representable.
constexpr double unit_double(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

}  // namespace gnomon
