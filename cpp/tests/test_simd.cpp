// The polynomial functions against libm in double precision, and the lane operations against plain loops.
#include <cmath>
#include <random>

#include "check.hpp"
#include "gnomon/random.hpp"
#include "gnomon/simd.hpp"

using namespace gnomon;

static double worst_log2 = 0, worst_exp2 = 0, worst_pow = 0;

static void functions_agree_with_libm() {
    std::mt19937 rng(0);
    std::uniform_real_distribution<float> exponent(-30.0F, 30.0F), power(0.3F, 2.0F);
    for (int round = 0; round < 20000; ++round) {
        simd::f32 e;
        for (int l = 0; l < simd::kLanes; ++l) e[l] = exponent(rng);
        const simd::f32 x = simd::exp2(e), back = simd::log2(x);
        const float p = power(rng);
        const simd::f32 raised = simd::pow(x, p);
        for (int l = 0; l < simd::kLanes; ++l) {
            worst_exp2 = std::max(worst_exp2, std::fabs(x[l] / std::exp2(static_cast<double>(e[l])) - 1));
            const double exact = std::log2(static_cast<double>(x[l]));
            worst_log2 = std::max(worst_log2, std::fabs(back[l] - exact) / std::max(1.0, std::fabs(exact)));
            worst_pow = std::max(
                worst_pow, std::fabs(raised[l] / std::pow(static_cast<double>(x[l]), static_cast<double>(p)) - 1));
        }
    }
    CHECK(worst_exp2 < 3e-7);
    CHECK(worst_log2 < 3e-7);
    CHECK(worst_pow < 1e-5);  // |log2 x| <= 30 times the rounding of the exponent
    std::printf("worst errors: exp2 %.2g log2 %.2g pow %.2g\n", worst_exp2, worst_log2, worst_pow);
}

static void lanes_agree_with_loops() {
    simd::f32 v;
    double total = 0;
    for (int l = 0; l < simd::kLanes; ++l) total += (v[l] = static_cast<float>(l * l) + 0.5F);
    CHECK(simd::sum(v) == static_cast<float>(total));
    CHECK(!simd::any(v < simd::splat(0.0F)));
    CHECK(simd::any(v < simd::splat(1.0F)));
    CHECK(simd::clamp(v, 1.0F, 10.0F)[15] == 10.0F);
    simd::u32 x;
    for (int l = 0; l < simd::kLanes; ++l) x[l] = 1234567U * static_cast<unsigned>(l);
    const simd::u32 h = simd::mix32(x);
    for (int l = 0; l < simd::kLanes; ++l) CHECK(h[l] == mix32(x[l]));
}

static void draws_are_uniform_and_differ() {
    double mean = 0;
    int below = 0;
    for (int i = 0; i < 100000; ++i) {
        mean += unit_double(draw(7, 1, static_cast<std::uint64_t>(i))) / 100000;
        below += scale_to(static_cast<std::uint32_t>(draw(7, 2, static_cast<std::uint64_t>(i))), 10) < 3;
    }
    CHECK_CLOSE(mean, 0.5, 0.005);
    CHECK_CLOSE(below / 100000.0, 0.3, 0.01);
    CHECK(draw(7, 1, 0) != draw(7, 2, 0));
    CHECK(draw(7, 1, 0) != draw(8, 1, 0));
    CHECK(draw(7, 1, 0, 1) != draw(7, 1, 1, 0));
}

int main() {
    functions_agree_with_libm();
    lanes_agree_with_loops();
    draws_are_uniform_and_differ();
    return failures != 0;
}
