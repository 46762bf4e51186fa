#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/elementary.cpp"
#include "gnomon/elementary.hpp"

#include <cstddef>

namespace gnomon {
namespace {

constexpr std::size_t kBlock = 16384;

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(apply_exp);
GNOMON_CHOOSE(apply_expm1);
GNOMON_CHOOSE(apply_log);
GNOMON_CHOOSE(apply_log1p);
GNOMON_CHOOSE(apply_power);

}  // namespace

void apply(Elementary f, std::span<const double> x, std::span<double> out, const Context& context) {
    const auto kernel = f == Elementary::exp     ? apply_exp
                        : f == Elementary::expm1 ? apply_expm1
                        : f == Elementary::log   ? apply_log
                                                 : apply_log1p;
    parallel_blocks(x.size(), kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        kernel(x.data() + begin, end - begin, out.data() + begin);
    });
}

void power(std::span<const double> x, double p, std::span<double> out, const Context& context) {
    parallel_blocks(x.size(), kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        apply_power(x.data() + begin, p, end - begin, out.data() + begin);
    });
}

}  // namespace gnomon

#else

namespace gnomon::GNOMON_LEVEL {
namespace {

GNOMON_KERNEL void apply_exp(const double* x, std::size_t n, double* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = exact_exp(x[i]);
}
GNOMON_KERNEL void apply_expm1(const double* x, std::size_t n, double* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = exact_expm1(x[i]);
}
GNOMON_KERNEL void apply_log(const double* x, std::size_t n, double* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = exact_log(x[i]);
}
GNOMON_KERNEL void apply_log1p(const double* x, std::size_t n, double* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = exact_log1p(x[i]);
}
GNOMON_KERNEL void apply_power(const double* x, double p, std::size_t n, double* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = exact_pow(x[i], p);
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
