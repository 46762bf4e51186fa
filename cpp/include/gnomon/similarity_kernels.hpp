// Output kernels that are similarities: k(s) in (0, 1], falling with the squared distance s, sixteen at once.
//
//   value(s)            k                                    slope through value_and_slope: k' (<= 0)
//   drop(s)             k(0) - k without cancellation        at_zero()          k(0)
//   pull(s)             -k' / k                              neg_log(s)         -log k
//   push(s)             -k' / (1 - k), s > 0                 neg_log_deficit(s) -log(1 - k), s > 0
//   half_squared()      the squared distance at which k is half of k(0)
//   kFloor              the squared distance below which -log(1 - k) goes on as a straight line
#include "gnomon/simd.hpp"

#if defined(GNOMON_SIMILARITY_KERNELS_TOGGLE) == defined(GNOMON_TOGGLE)
#ifdef GNOMON_SIMILARITY_KERNELS_TOGGLE
#undef GNOMON_SIMILARITY_KERNELS_TOGGLE
#else
#define GNOMON_SIMILARITY_KERNELS_TOGGLE
#endif

namespace GNOMON_SPACE {

/// Squared distance below which the repulsion of a cross-entropy is held constant (infinite at 0 where k(0) = 1).
inline constexpr float kRepulsionFloor = 1e-3F;

/// k = 1 / (1 + s): Student's t with one degree of freedom.
struct Cauchy {
    static constexpr float kFloor = kRepulsionFloor;

    GNOMON_INLINE simd::f32 value(simd::f32 s) const { return 1.0F / (1.0F + s); }
    GNOMON_INLINE simd::f32 drop(simd::f32 s) const { return s / (1.0F + s); }
    GNOMON_INLINE simd::f32 pull(simd::f32 s) const { return 1.0F / (1.0F + s); }
    GNOMON_INLINE simd::f32 push(simd::f32 s) const { return 1.0F / (s * (1.0F + s)); }
    GNOMON_INLINE simd::f32 neg_log(simd::f32 s) const { return simd::log1p(s); }
    GNOMON_INLINE simd::f32 neg_log_deficit(simd::f32 s) const { return simd::log1p(1.0F / s); }
    GNOMON_INLINE void value_and_slope(simd::f32 s, simd::f32& value, simd::f32& slope) const {
        value = 1.0F / (1.0F + s);
        slope = -(value * value);
    }
    float at_zero() const { return 1.0F; }
    float half_squared() const { return 1.0F; }
};

/// k = 1 / (1 + a s^b).
struct RationalPower {
    float a, b;

    static constexpr float kFloor = kRepulsionFloor;
    // Below the smallest distance the slope of s^b, infinite at 0 for b < 1, stays finite: 0 * slope must be 0.
    static constexpr float kSmallest = 1e-12F;

    GNOMON_INLINE simd::f32 power(simd::f32 s) const { return a * simd::pow(simd::max(s, simd::splat(kSmallest)), b); }
    GNOMON_INLINE simd::f32 value(simd::f32 s) const { return 1.0F / (1.0F + power(s)); }
    GNOMON_INLINE simd::f32 drop(simd::f32 s) const {
        const simd::f32 p = power(s);
        return p / (1.0F + p);
    }
    GNOMON_INLINE simd::f32 pull(simd::f32 s) const {
        const simd::f32 p = power(s);
        return b * p / (simd::max(s, simd::splat(kSmallest)) * (1.0F + p));
    }
    GNOMON_INLINE simd::f32 push(simd::f32 s) const { return b / (s * (1.0F + power(s))); }
    GNOMON_INLINE simd::f32 neg_log(simd::f32 s) const { return simd::log1p(power(s)); }
    GNOMON_INLINE simd::f32 neg_log_deficit(simd::f32 s) const { return simd::log1p(1.0F / power(s)); }
    GNOMON_INLINE void value_and_slope(simd::f32 s, simd::f32& value, simd::f32& slope) const {
        const simd::f32 p = power(s);
        value = 1.0F / (1.0F + p);
        slope = -b * p * value * value / simd::max(s, simd::splat(kSmallest));
    }
    float at_zero() const { return 1.0F; }
    float half_squared() const { return simd::pow(simd::splat(a), -1.0F / b)[0]; }
};

/// k = exp(-x(s)) for a Shape with x(s) >= 0 and its slope: everything but x is the same for all of them.
template <class Shape>
struct Exponential : Shape {
    static constexpr float kFloor = kRepulsionFloor;
    // k ends at exp(-69) = 1e-30: products of smaller numbers are subnormal, which costs most processors dearly.
    static constexpr float kLargest = 69.0F;

    GNOMON_INLINE simd::f32 held_exponent(simd::f32 s) const {
        return simd::min(Shape::exponent(s), simd::splat(kLargest));
    }
    GNOMON_INLINE simd::f32 value(simd::f32 s) const { return simd::exp(-held_exponent(s)); }
    GNOMON_INLINE simd::f32 drop(simd::f32 s) const { return -simd::expm1(-Shape::exponent(s)); }
    GNOMON_INLINE simd::f32 pull(simd::f32 s) const { return Shape::exponent_slope(s); }
    GNOMON_INLINE simd::f32 push(simd::f32 s) const { return Shape::exponent_slope(s) / simd::expm1(held_exponent(s)); }
    GNOMON_INLINE simd::f32 neg_log(simd::f32 s) const { return Shape::exponent(s); }
    GNOMON_INLINE simd::f32 neg_log_deficit(simd::f32 s) const {
        return simd::log1p(1.0F / simd::expm1(held_exponent(s)));
    }
    GNOMON_INLINE void value_and_slope(simd::f32 s, simd::f32& value, simd::f32& slope) const {
        value = Exponential::value(s);
        slope = -Shape::exponent_slope(s) * value;
    }
    float at_zero() const { return 1.0F; }
};

struct GaussianShape {
    float a;

    GNOMON_INLINE simd::f32 exponent(simd::f32 s) const { return a * s; }
    GNOMON_INLINE simd::f32 exponent_slope(simd::f32) const { return a + simd::f32{}; }
    float half_squared() const { return 0.693147181F / a; }
};

struct StudentTShape {
    float dof;

    GNOMON_INLINE float order() const { return 0.5F * (dof + 1.0F); }
    GNOMON_INLINE simd::f32 exponent(simd::f32 s) const { return order() * simd::log1p(s / dof); }
    GNOMON_INLINE simd::f32 exponent_slope(simd::f32 s) const { return order() / (dof + s); }
    float half_squared() const { return dof * simd::expm1(simd::splat(0.693147181F / order()))[0]; }
};

/// k = exp(-a s).
using Gaussian = Exponential<GaussianShape>;

/// k = (1 + s / dof)^(-(dof + 1) / 2).
using StudentT = Exponential<StudentTShape>;

/// k = q / (q + c) of the Cauchy kernel q: the chance that a pair is data when noise comes c times as often.
struct NoiseContrast {
    float c;

    static constexpr float kFloor = 0.0F;  // k(0) < 1: nothing is infinite

    GNOMON_INLINE simd::f32 odds(simd::f32 s) const { return c * (1.0F + s); }
    GNOMON_INLINE simd::f32 value(simd::f32 s) const { return 1.0F / (1.0F + odds(s)); }
    GNOMON_INLINE simd::f32 drop(simd::f32 s) const { return c * s / ((1.0F + c) * (1.0F + odds(s))); }
    GNOMON_INLINE simd::f32 pull(simd::f32 s) const { return c / (1.0F + odds(s)); }
    GNOMON_INLINE simd::f32 push(simd::f32 s) const { return 1.0F / ((1.0F + s) * (1.0F + odds(s))); }
    GNOMON_INLINE simd::f32 neg_log(simd::f32 s) const { return simd::log1p(odds(s)); }
    GNOMON_INLINE simd::f32 neg_log_deficit(simd::f32 s) const { return simd::log1p(1.0F / odds(s)); }
    GNOMON_INLINE void value_and_slope(simd::f32 s, simd::f32& value, simd::f32& slope) const {
        value = 1.0F / (1.0F + odds(s));
        slope = -c * value * value;
    }
    float at_zero() const { return 1.0F / (1.0F + c); }
    float half_squared() const { return 1.0F + 1.0F / c; }
};

}  // namespace GNOMON_SPACE

#endif
