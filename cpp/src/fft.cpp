#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/fft.cpp"
#include "gnomon/fft.hpp"

#include <cassert>
#include <utility>

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(transform_forward);
GNOMON_CHOOSE(transform_inverse);

}  // namespace

std::array<double, 2> root_of_unity(std::size_t k, std::size_t n) {
    // Eighths of a turn: fold the angle into [0, pi/4] exactly, in integers, then sum the Taylor series.
    const std::size_t eighth = 8 * (k % n) / n, rest = 8 * (k % n) - eighth * n;
    const bool folded = eighth % 2 == 1;
    const double turn = static_cast<double>(folded ? n - rest : rest) / static_cast<double>(n);
    const double x = turn * 0.78539816339744830962, x2 = x * x;
    double cosine = 1, sine = x, cos_term = 1, sin_term = x;
    for (int i = 1; i <= 10; ++i) {
        cos_term *= -x2 / ((2 * i - 1) * (2 * i));
        sin_term *= -x2 / ((2 * i) * (2 * i + 1));
        cosine += cos_term;
        sine += sin_term;
    }
    if (folded) std::swap(cosine, sine);  // cos(pi/2 - x), sin(pi/2 - x)
    switch (eighth / 2) {
        case 0:
            return {cosine, sine};
        case 1:
            return {-sine, cosine};
        case 2:
            return {-cosine, -sine};
        default:
            return {sine, -cosine};
    }
}

std::size_t fast_length(std::size_t n) {
    for (std::size_t size = n;; ++size) {
        std::size_t rest = size;
        for (const std::size_t factor : {2, 3, 5})
            while (rest % factor == 0) rest /= factor;
        if (rest == 1) return size;
    }
}

FftPlan::FftPlan(std::size_t n) : n_(n) {
    std::size_t rest = n, stride = 1;
    while (rest > 1) {
        const int radix = rest % 4 == 0 ? 4 : rest % 3 == 0 ? 3 : rest % 5 == 0 ? 5 : 2;
        assert(rest % static_cast<std::size_t>(radix) == 0);
        const std::size_t groups = rest / static_cast<std::size_t>(radix);
        stages_.push_back({radix, groups, stride, factors_.size()});
        for (std::size_t p = 0; p < groups; ++p) {
            for (std::size_t k = 1; k < static_cast<std::size_t>(radix); ++k) {
                const auto [re, im] = root_of_unity(p * k, rest);
                factors_.push_back({static_cast<float>(re), static_cast<float>(im)});
            }
        }
        rest = groups;
        stride *= static_cast<std::size_t>(radix);
    }
}

ComplexLanes* fft(const FftPlan& plan, Direction direction, ComplexLanes* x, ComplexLanes* work) {
    void* result = (direction == Direction::forward ? transform_forward : transform_inverse)(plan, x, work);
    return static_cast<ComplexLanes*>(result);
}

}  // namespace gnomon

#else
#include "gnomon/fft.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;

GNOMON_INLINE ComplexLanes operator+(ComplexLanes a, ComplexLanes b) { return {a.re + b.re, a.im + b.im}; }
GNOMON_INLINE ComplexLanes operator-(ComplexLanes a, ComplexLanes b) { return {a.re - b.re, a.im - b.im}; }
GNOMON_INLINE ComplexLanes operator*(float s, ComplexLanes a) { return {s * a.re, s * a.im}; }

/// a times -i in the forward direction, +i in the inverse.
template <bool kInverse>
GNOMON_INLINE ComplexLanes quarter_turn(ComplexLanes a) {
    if constexpr (kInverse)
        return {-a.im, a.re};
    else
        return {a.im, -a.re};
}

/// The transform of R numbers, in place.
template <int R, bool kInverse>
GNOMON_INLINE void small_transform(ComplexLanes* a) {
    if constexpr (R == 2) {
        const ComplexLanes b = a[0] - a[1];
        a[0] = a[0] + a[1];
        a[1] = b;
    } else if constexpr (R == 3) {
        const ComplexLanes sum = a[1] + a[2], turned = quarter_turn<kInverse>(0.866025404F * (a[1] - a[2]));
        const ComplexLanes middle = a[0] - 0.5F * sum;
        a[0] = a[0] + sum;
        a[1] = middle + turned;
        a[2] = middle - turned;
    } else if constexpr (R == 4) {
        const ComplexLanes even = a[0] + a[2], odd = a[1] + a[3];
        const ComplexLanes cross = a[0] - a[2], turned = quarter_turn<kInverse>(a[1] - a[3]);
        a[0] = even + odd;
        a[1] = cross + turned;
        a[2] = even - odd;
        a[3] = cross - turned;
    } else {
        static_assert(R == 5);
        constexpr float c1 = 0.309016994F, c2 = -0.809016994F, s1 = 0.951056516F, s2 = 0.587785252F;
        const ComplexLanes p1 = a[1] + a[4], p2 = a[2] + a[3], m1 = a[1] - a[4], m2 = a[2] - a[3];
        const ComplexLanes u1 = a[0] + c1 * p1 + c2 * p2, u2 = a[0] + c2 * p1 + c1 * p2;
        const ComplexLanes t1 = quarter_turn<kInverse>(s1 * m1 + s2 * m2),
                           t2 = quarter_turn<kInverse>(s2 * m1 - s1 * m2);
        a[0] = a[0] + p1 + p2;
        a[1] = u1 + t1;
        a[2] = u2 + t2;
        a[3] = u2 - t2;
        a[4] = u1 - t1;
    }
}

/// One stage of Stockham's algorithm: x to y, sorted on the way.
template <int R, bool kInverse>
GNOMON_INLINE void stage(const FftPlan::Stage& s, const FftPlan::Factor* factors, const ComplexLanes* x,
                         ComplexLanes* y) {
    for (std::size_t p = 0; p < s.groups; ++p) {
        const FftPlan::Factor* w = factors + s.twiddles + p * (R - 1);
        for (std::size_t q = 0; q < s.stride; ++q) {
            ComplexLanes a[R];
            for (std::size_t k = 0; k < R; ++k) a[k] = x[q + s.stride * (p + s.groups * k)];
            small_transform<R, kInverse>(a);
            ComplexLanes* out = y + q + s.stride * R * p;
            out[0] = a[0];
            for (std::size_t k = 1; k < R; ++k) {
                const float re = w[k - 1].re, im = kInverse ? w[k - 1].im : -w[k - 1].im;
                out[k * s.stride] = {a[k].re * re - a[k].im * im, a[k].re * im + a[k].im * re};
            }
        }
    }
}

template <bool kInverse>
GNOMON_INLINE ComplexLanes* run(const FftPlan& plan, ComplexLanes* x, ComplexLanes* y) {
    for (const FftPlan::Stage& s : plan.stages()) {
        switch (s.radix) {
            case 2:
                stage<2, kInverse>(s, plan.factors().data(), x, y);
                break;
            case 3:
                stage<3, kInverse>(s, plan.factors().data(), x, y);
                break;
            case 4:
                stage<4, kInverse>(s, plan.factors().data(), x, y);
                break;
            default:
                stage<5, kInverse>(s, plan.factors().data(), x, y);
        }
        std::swap(x, y);
    }
    return x;
}

// Through void*: each level has its own ComplexLanes of one size and alignment.
GNOMON_KERNEL void* transform_forward(const FftPlan& plan, void* x, void* work) {
    return run<false>(plan, static_cast<ComplexLanes*>(x), static_cast<ComplexLanes*>(work));
}
GNOMON_KERNEL void* transform_inverse(const FftPlan& plan, void* x, void* work) {
    return run<true>(plan, static_cast<ComplexLanes*>(x), static_cast<ComplexLanes*>(work));
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
