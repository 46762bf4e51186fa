// Vectors of every width give the same bits: each level that the processor runs against vectors of sixteen bytes.
#ifndef GNOMON_LEVEL
#define GNOMON_FILE "../../tests/test_levels.cpp"
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "check.hpp"
#include "gnomon/point_lanes.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kResults = 32;

/// What a level makes of sixteen pairs of numbers.
struct Results {
    float lanes[kResults][simd::kLanes] = {};
    float single[4] = {};
    bool any[3] = {};
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

using Evaluate = void (*)(const float*, const float*, const std::int32_t*, Results&);

std::vector<Evaluate> levels() {
#if defined(GNOMON_USE_LEVELS)
    const Evaluate all[] = {base::evaluate, v3::evaluate, v4::evaluate};
    return {all, all + best_level() + 1};
#else
    return {base::evaluate};
#endif
}

void widths_agree() {
    std::mt19937 rng(0);
    const auto number = [&](int spread) {  // a positive number of random size, the same on every machine
        const float size = 1.0F + static_cast<float>(rng() >> 9) / 8388608.0F;
        return std::ldexp(size, static_cast<int>(rng() % static_cast<std::uint32_t>(2 * spread)) - spread);
    };
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (int round = 0; round < 2000; ++round) {
        float a[simd::kLanes], b[simd::kLanes];
        std::int32_t bits[simd::kLanes];
        for (int l = 0; l < simd::kLanes; ++l) {
            a[l] = number(40);
            b[l] = number(12) * (rng() % 2 == 0 ? 1.0F : -1.0F);
            bits[l] = static_cast<std::int32_t>(rng());
        }
        if (round % 3 == 0) a[round % 16] = 0.0F, b[round % 7] = -0.0F, b[round % 11] = a[round % 11];
        Results first;
        for (const Evaluate evaluate : levels()) {
            Results found;
            evaluate(a, b, bits, found);
            if (evaluate == levels().front()) first = found;
            CHECK(std::memcmp(first.lanes, found.lanes, sizeof found.lanes) == 0);
            CHECK(std::memcmp(first.single, found.single, sizeof found.single) == 0);
            CHECK(std::memcmp(first.any, found.any, sizeof found.any) == 0);
        }
        for (const auto& lanes : first.lanes) {
            std::uint32_t words[simd::kLanes];
            std::memcpy(words, lanes, sizeof words);
            for (const std::uint32_t word : words) hash = (hash ^ word) * 0x100000001b3U;
        }
    }
    std::printf("%d levels, results %016llx\n", static_cast<int>(levels().size()),
                static_cast<unsigned long long>(hash));
}

void lanes_are_in_order() {
    float a[simd::kLanes], b[simd::kLanes];
    std::int32_t bits[simd::kLanes];
    for (int l = 0; l < simd::kLanes; ++l) a[l] = static_cast<float>(l + 1), b[l] = 2.0F, bits[l] = l;
    for (const Evaluate evaluate : levels()) {
        Results found;
        evaluate(a, b, bits, found);
        for (int l = 0; l < simd::kLanes; ++l) {
            CHECK(found.lanes[0][l] == a[l] + 2.0F);
            CHECK(found.lanes[9][l] == static_cast<float>(l));
            CHECK(found.lanes[19][l] == a[15 - l]);
        }
        CHECK(found.single[0] == 136.0F && found.single[1] == 1.0F && found.single[2] == 5.0F);
        CHECK(found.any[0] && !found.any[1] && found.any[2]);
    }
}

#if defined(GNOMON_USE_LEVELS)
void the_level_is_that_of_the_processor() {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("sse2")) return;  // x86-64 has it: this compiler's library asks no processor, as Zig's
    const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool widest = wide && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
    CHECK(best_level() == (widest ? 2 : wide ? 1 : 0));
}

void a_lambda_does_the_same_at_each_level() {
    const auto running_sums = [](const float* x, std::size_t n, double* out) GNOMON_INLINE_LAMBDA -> double {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) out[i] = sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
        return sum;
    };
    using Levels = AtLevels<std::remove_const_t<decltype(running_sums)>>;
    float x[100];
    for (std::size_t i = 0; i < 100; ++i) x[i] = 1.0F / static_cast<float>(i + 1);
    double first[100], found[100];
    const double sum = Levels::base(x, 100, first);
    CHECK(first[0] == 1.0 && sum == first[99]);
    double (*const all[])(const float*, std::size_t, double*) = {Levels::base, Levels::v3, Levels::v4};
    for (int level = 0; level <= best_level(); ++level) {
        CHECK(all[level](x, 100, found) == sum);
        CHECK(std::memcmp(first, found, sizeof found) == 0);
    }
    CHECK(each_level(running_sums) == all[best_level()]);
}
#endif

}  // namespace
}  // namespace gnomon

int main() {
    gnomon::widths_agree();
    gnomon::lanes_are_in_order();
#if defined(GNOMON_USE_LEVELS)
    gnomon::the_level_is_that_of_the_processor();
    gnomon::a_lambda_does_the_same_at_each_level();
#endif
    return failures != 0;
}

#else
#include "gnomon/output_kernels.hpp"
#include "gnomon/point_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;
using simd::i32;
using f64 = simd::Lanes<double>;

GNOMON_KERNEL void evaluate(const float* x, const float* y, const std::int32_t* bits, Results& results) {
    const f32 a = simd::load(x), b = simd::load(y);
    const i32 whole = simd::load(bits);
    std::size_t at = 0;
    const auto keep = [&](auto value) GNOMON_INLINE_LAMBDA { simd::store(results.lanes[at++], value); };
    keep(a + b), keep(a - b), keep(a * b), keep(b / (1.0F + a)), keep(-b);
    keep(simd::min(a, b)), keep(simd::max(a, b)), keep(simd::clamp(b, -1.0F, 2.0F)), keep(simd::sqrt(a));
    keep(simd::to_float(simd::lane_index())), keep(simd::to_float(whole)), keep(simd::splat(x[3]));
    keep(simd::log2(a + 1e-30F)), keep(simd::exp2(b)), keep(simd::expm1(b)), keep(simd::log1p(a)),
        keep(simd::pow(a + 1e-30F, 0.7F));
    keep(simd::select(simd::greater(a, b), a, b));
    keep(simd::as<f32>((whole & 0x3fffffff) | (simd::as<i32>(b) << 31)));
    keep(simd::from_lanes([&](int l) GNOMON_INLINE_LAMBDA { return x[15 - l]; }));
    keep(simd::as<f32>(simd::mix32(simd::as<simd::u32>(whole)) & 0x3fffffffU));
    double wide[simd::kLanes];
    for (int l = 0; l < simd::kLanes; ++l) wide[l] = static_cast<double>(x[l]) / 3.0;
    keep(simd::narrowed<f32>(simd::load_as<f64>(wide)));
    const std::int32_t backwards[simd::kLanes] = {7, 6, 5, 4, 3, 2, 1, 0, 0, 1, 2, 3, 4, 5, 6, 7};
    f32 points[2];
    gather_points<2>(x, backwards, 2, points);
    keep(points[0]), keep(points[1]);
    gather_points<1>(x, backwards, 1, points);
    keep(points[0]);
    f32 value, slope;
    RationalPower{1.6F, 0.9F}.value_and_slope(a, value, slope);
    keep(value), keep(slope), keep(Gaussian{{0.5F}}.push(a + 0.1F));
    results.single[0] = simd::sum(a);
    results.single[1] = simd::least(a);
    results.single[2] = a[4];
    results.any[0] = simd::any(simd::greater(a, b + 10.0F));
    results.any[1] = simd::any(simd::greater(simd::splat(0.0F), a));
    results.any[2] = simd::any(simd::lane_index());
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
