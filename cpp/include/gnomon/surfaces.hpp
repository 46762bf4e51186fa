// Curved surfaces that a map may lie on, of radius 1: how far apart two points are, in which direction, and where a
// step along a direction leads. Points and directions are in double, so that places far out on the hyperboloid stay
// apart.
//
//   kWidth              numbers of a point and of a direction
//   pair(i, j, w)       returns t and q of two points and writes w, a vector at i that points to j
//   go(y, v, turned)    moves y along the geodesic of the vector v by 2 atan(|v| / 2) on the sphere, 2 asinh(|v| / 2)
//   on
//                       the hyperboloid, |v| to second order, and carries the vector `turned` along. No libm.
//
// t is the squared chord over 4: sin^2(d / 2) on the sphere, sinh^2(d / 2) on the hyperboloid. A direction on the
// sphere is a vector of space, one on the hyperboloid has two components in the axes of the disk, both of true length.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string_view>

namespace gnomon {

/// What two points tell of each other: t and, on the sphere, q = 1 - t without cancellation.
struct PairOnSurface {
    float t = 0.0F, q = 1.0F;
};

/// The unit sphere; points are unit vectors of space.
struct UnitSphere {
    static constexpr int kWidth = 3;

    static PairOnSurface pair(const double* here, const double* there, double* w) {
        double chord = 0, sum = 0;
        for (int c = 0; c < kWidth; ++c) {
            const double away = there[c] - here[c], both = there[c] + here[c];
            chord += away * away;
            sum += both * both;
        }
        for (int c = 0; c < kWidth; ++c) w[c] = there[c] - here[c] + 0.5 * chord * here[c];
        return {static_cast<float>(0.25 * chord), static_cast<float>(0.25 * sum)};
    }
    static void go(double* y, const double* v, double* turned) {
        double length = 0;
        for (int c = 0; c < kWidth; ++c) length += v[c] * v[c];
        length = std::sqrt(length);
        if (length > 0) {
            const double half = 0.5 * length, cosine = (1.0 - half * half) / (1.0 + half * half);
            const double sine = length / (1.0 + half * half);
            double along = 0;
            for (int c = 0; c < kWidth; ++c) along += turned[c] * v[c] / length;
            for (int c = 0; c < kWidth; ++c) {
                const double unit = v[c] / length, before = y[c];
                y[c] = cosine * before + sine * unit;
                turned[c] += along * ((cosine - 1.0) * unit - sine * before);
            }
        }
        double norm = 0, off = 0;
        for (int c = 0; c < kWidth; ++c) norm += y[c] * y[c];
        norm = std::sqrt(norm);
        for (int c = 0; c < kWidth; ++c) off += turned[c] * (y[c] /= norm);
        for (int c = 0; c < kWidth; ++c) turned[c] -= off * y[c];
    }
};

/// The hyperbolic plane of curvature -1; points are places u of the Poincare disk, |u| < 1.
struct UnitHyperboloid {
    static constexpr int kWidth = 2;
    static constexpr double kEdge = 0.99999977492967588;  // tanh(8): no point goes farther than 16 from the middle

    static double gap(const double* u) { return (1.0 - u[0] * u[0]) - u[1] * u[1]; }

    /// w = (there - here) / (1 - conj(here) there) in complex numbers, of length tanh(d / 2).
    static PairOnSurface pair(const double* here, const double* there, double* w) {
        const double x = there[0] - here[0], y = there[1] - here[1];
        const double real = gap(here) - (here[0] * x + here[1] * y), imaginary = here[1] * x - here[0] * y;
        const double square = real * real + imaginary * imaginary;
        w[0] = (x * real + y * imaginary) / square;
        w[1] = (y * real - x * imaginary) / square;
        return {static_cast<float>((x * x + y * y) / (gap(here) * gap(there))), 1.0F};
    }
    static void go(double* u, const double* v, double* turned) {
        const double scale = 0.5 / std::sqrt(1.0 + 0.25 * (v[0] * v[0] + v[1] * v[1]));  // tanh(asinh(|v| / 2)) / |v|
        const double x = scale * v[0], y = scale * v[1];
        // u' = (u + w) / (1 + conj(u) w)
        const double real = 1.0 + u[0] * x + u[1] * y, imaginary = u[0] * y - u[1] * x;
        const double square = real * real + imaginary * imaginary;
        double next[2] = {((u[0] + x) * real + (u[1] + y) * imaginary) / square,
                          ((u[1] + y) * real - (u[0] + x) * imaginary) / square};
        const double norm = std::sqrt(next[0] * next[0] + next[1] * next[1]);
        if (norm > kEdge)
            for (double& component : next) component *= kEdge / norm;
        // a vector carried along turns as (1 - u' conj(u))^2 does
        const double to_x = next[0] - u[0], to_y = next[1] - u[1];
        const double a = gap(u) - (to_x * u[0] + to_y * u[1]), b = to_x * u[1] - to_y * u[0];
        const double whole = a * a + b * b, cosine = (a * a - b * b) / whole, sine = 2.0 * a * b / whole;
        const double before = turned[0];
        turned[0] = cosine * before - sine * turned[1];
        turned[1] = sine * before + cosine * turned[1];
        u[0] = next[0];
        u[1] = next[1];
    }
};

/// A surface of some radius: distances are so many times those of the unit surface.
struct Surface {
    enum class Kind { sphere, hyperboloid };
    Kind kind = Kind::sphere;
    double radius = 1.0;

    std::size_t width() const { return kind == Kind::sphere ? UnitSphere::kWidth : UnitHyperboloid::kWidth; }
};

inline Surface surface_named(std::string_view name, double radius) {
    if (!(radius > 0)) throw std::invalid_argument("radius must be positive");
    if (name == "sphere") return {Surface::Kind::sphere, radius};
    if (name == "hyperboloid") return {Surface::Kind::hyperboloid, radius};
    throw std::invalid_argument("unknown surface");
}

/// Calls body with the type of a surface.
template <class Body>
void with_surface(const Surface& surface, Body&& body) {
    if (surface.kind == Surface::Kind::sphere) return body(UnitSphere{});
    return body(UnitHyperboloid{});
}

}  // namespace gnomon
