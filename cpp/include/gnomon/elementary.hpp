// exp, log and powers in double, the same bits on every processor: libm picks its versions by processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {

/// e^x to two units in the last place, also where the result is subnormal; infinity and NaN as in libm.
GNOMON_INLINE double exact_exp(double x) {
    constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: the addition rounds to the nearest integer
    x = x > 710.0 ? 710.0 : x;
    x = x < -746.0 ? -746.0 : x;
    const double shifted = x * 1.4426950408889634 + kRound, n = shifted - kRound;
    const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;  // ln 2 in two parts
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = 1.0 + (r + r * r * p);
    // 2^n in two factors, of which each is a normal number
    const double half = n * 0.5 + kRound, first = half - kRound, second = (n - first) + kRound;
    const auto power = [](double rounded) __attribute__((always_inline)) {
        return __builtin_bit_cast(double, (__builtin_bit_cast(std::uint64_t, rounded) + 1023) << 52);
    };
    return (p * power(half)) * power(second);
}

/// log(x) to one unit in the last place; -infinity of 0, NaN below.
GNOMON_INLINE double exact_log(double x) {
    const bool tiny = x < 0x1p-1022;
    const double scaled = tiny ? x * 0x1p54 : x;
    const auto bits = __builtin_bit_cast(std::uint64_t, scaled);
    // scaled = m 2^e with m in [1/sqrt(2), sqrt(2)): the upper bits of 1/sqrt(2) are taken off, e is what is left
    constexpr std::uint64_t kRoot = 0x3fe6a09e667f3bcdULL;
    const std::uint64_t raised = bits - kRoot + 0x3ff0000000000000ULL;
    const double m = __builtin_bit_cast(double, (raised & 0x000fffffffffffffULL) + kRoot);
    constexpr double kShift = 4503599627370496.0;  // 2^52
    const double e =
        (__builtin_bit_cast(double, (raised >> 52) | 0x4330000000000000ULL) - kShift) - (tiny ? 1077.0 : 1023.0);
    // log m = 2 artanh(s) with s = (m - 1) / (m + 1), |s| < 0.1716: an odd series
    const double f = m - 1.0, s = f / (2.0 + f), z = s * s;
    double r = 2.0 / 23.0;
    r = r * z + 2.0 / 21.0;
    r = r * z + 2.0 / 19.0;
    r = r * z + 2.0 / 17.0;
    r = r * z + 2.0 / 15.0;
    r = r * z + 2.0 / 13.0;
    r = r * z + 2.0 / 11.0;
    r = r * z + 2.0 / 9.0;
    r = r * z + 2.0 / 7.0;
    r = r * z + 2.0 / 5.0;
    r = r * z + 2.0 / 3.0;
    const double square = 0.5 * f * f;  // 2 s = f - f^2 / 2 + s f^2 / 2
    const double found = e * 0x1.62e42feep-1 - ((square - (s * (square + r * z) + e * 0x1.a39ef35793c76p-33)) - f);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double result = x < kInfinity ? found : x;
    result = x > 0.0 ? result : (x == 0.0 ? -kInfinity : std::numeric_limits<double>::quiet_NaN());
    return result;
}

/// log(1 + x) for x >= -1, of full relative accuracy near 0.
GNOMON_INLINE double exact_log1p(double x) {
    const double u = 1.0 + x, lost = x - (u - 1.0);  // what rounding took from u, exactly
    const double found = exact_log(u) + (u == 0.0 ? 0.0 : lost / u);
    return u == 1.0 || !(x < std::numeric_limits<double>::infinity()) ? x : found;
}

/// e^x - 1, of full relative accuracy near 0.
GNOMON_INLINE double exact_expm1(double x) {
    double series = 0.0;  // x + x^2 / 2! + ... + x^14 / 14!
    for (int k = 14; k > 1; --k) series = (series + 1.0) * x / k;
    series = (series + 1.0) * x;
    return x * x < 0.0625 ? series : exact_exp(x) - 1.0;
}

/// x^p for x >= 0; errors grow with |p log x|, of which each unit is worth half a unit in the last place.
GNOMON_INLINE double exact_pow(double x, double p) {
    const double found = exact_exp(p * exact_log(x));
    return p == 0.0 ? 1.0 : (p == 1.0 ? x : found);
}

enum class Elementary { exp, expm1, log, log1p };

/// out = f(x), number by number; may be x itself.
void apply(Elementary f, std::span<const double> x, std::span<double> out, const Context& context);
/// out = x^p, for x >= 0.
void power(std::span<const double> x, double p, std::span<double> out, const Context& context);

}  // namespace gnomon
