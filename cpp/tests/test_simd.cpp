// The polynomial functions against libm in double precision, and the lane operations against plain loops.
#include <algorithm>
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

static void functions_keep_their_accuracy_near_zero() {
    std::mt19937 rng(1);
    std::uniform_real_distribution<float> exponent(-30.0F, 20.0F);
    double of_log1p = 0, of_expm1 = 0;
    for (int round = 0; round < 20000; ++round) {
        simd::f32 e;
        for (int l = 0; l < simd::kLanes; ++l) e[l] = exponent(rng);
        const simd::f32 x = simd::exp2(e), held = simd::min(x, simd::splat(60.0F));
        const simd::f32 log = simd::log1p(x), up = simd::expm1(held), down = simd::expm1(-held);
        for (int l = 0; l < simd::kLanes; ++l) {
            const auto z = static_cast<double>(x[l]), h = static_cast<double>(held[l]);
            of_log1p = std::max(of_log1p, std::fabs(log[l] / std::log1p(z) - 1));
            of_expm1 = std::max({of_expm1, std::fabs(up[l] / std::expm1(h) - 1) / std::max(1.0, h),
                                 std::fabs(down[l] / std::expm1(-h) - 1)});
        }
    }
    CHECK(of_log1p < 4e-7);
    CHECK(of_expm1 < 6e-7);
    CHECK(simd::log1p(simd::splat(0.0F))[3] == 0.0F);
    CHECK(simd::expm1(simd::splat(0.0F))[3] == 0.0F);
    std::printf("worst errors: log1p %.2g expm1 %.2g\n", of_log1p, of_expm1);
}

static void lanes_agree_with_loops() {
    simd::f32 v;
    double total = 0;
    for (int l = 0; l < simd::kLanes; ++l) total += (v[l] = static_cast<float>(l * l) + 0.5F);
    CHECK(simd::sum(v) == static_cast<float>(total));
    for (int l = 0; l < simd::kLanes; ++l) {
        simd::f32 w = simd::splat(2.0F);
        w[l] = 0.5F;
        CHECK(simd::least(w) == 0.5F);
    }
    CHECK(!simd::any(v < simd::splat(0.0F)));
    CHECK(simd::any(v < simd::splat(1.0F)));
    CHECK(simd::clamp(v, 1.0F, 10.0F)[15] == 10.0F);
    CHECK(simd::clamp(v, 1.0F, 10.0F)[0] == 1.0F);
    for (int l = 0; l < simd::kLanes; ++l) {
        const simd::f32 w = simd::splat(9.5F - static_cast<float>(l));
        CHECK(simd::min(v, w)[l] == std::min(v[l], w[l]));
        CHECK(simd::max(v, w)[l] == std::max(v[l], w[l]));
        CHECK(simd::select_less(v, w, v + 1.0F, w)[l] == (v[l] < w[l] ? v[l] + 1.0F : w[l]));
    }
    CHECK(simd::select_less(v, v, v + 1.0F, v)[7] == v[7]);
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
    functions_keep_their_accuracy_near_zero();
    lanes_agree_with_loops();
    draws_are_uniform_and_differ();
    return failures != 0;
}
