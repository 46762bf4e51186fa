#include "gnomon/own_share.hpp"

#include <algorithm>

#include "gnomon/fft.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

using simd::f32;

constexpr std::size_t kReach = 32;    // nodes to each side; weights fall by .43 from one to the next
constexpr std::size_t kAngles = 256;  // of the integral over the transform
constexpr int kImages = 4;            // of a wave on the mesh, to each side
constexpr double kPi = 3.14159265358979323846;
constexpr float kResolved = 1.0F;  // nodes from which on a singular law is as it is

double power6(double x) { return x * x * x * x * x * x; }

/// sum over images m of W(t + 2 pi m) W(t + 2 pi (m + harmonic)), t = 2 pi k / kAngles and W the spline's transform,
/// over the square of sum W, the transform that the mesh divides by.
double spread_and_read(std::size_t k, int harmonic) {
    if (k == 0) return harmonic == 0 ? 1.0 : 0.0;
    const double sine = power6(root_of_unity(k, 2 * kAngles)[1]), half = kPi * static_cast<double>(k) / kAngles;
    const auto transform = [&](int m) { return sine / power6(half + kPi * m); };
    double sum = 0, products = 0;
    for (int m = -kImages; m <= kImages; ++m) {
        sum += transform(m);
        products += transform(m) * transform(m + harmonic);
    }
    return products / (sum * sum);
}

const auto evaluate_row = each_level([](const OutputKernel& output, bool shifted, float spacing, float down,
                                        std::size_t nodes, float* row) GNOMON_INLINE_LAMBDA {
    with_similarity(output, [&](auto kernel) GNOMON_INLINE_LAMBDA {
        for (std::size_t first = 0; first < nodes; first += simd::kLanes) {
            const f32 index = static_cast<float>(first) + __builtin_convertvector(simd::lane_index(), f32);
            const f32 across = simd::min(index, static_cast<float>(nodes) - index);
            const f32 s = (across * across + down * down) * (spacing * spacing);
            simd::store(row + first, shifted ? -kernel.drop(s) : kernel.value(s));
        }
    });
});

/// -log(1 - k) at count squared distances, a multiple of 16, with a straight line below `resolved`.
void evaluate_deficits(const OutputKernel& kernel, float resolved, float* squared, std::size_t count, float* values) {
    float beyond[simd::kLanes], slopes[simd::kLanes];
    for (std::size_t first = 0; first < count; first += simd::kLanes) {
        for (std::size_t l = 0; l < simd::kLanes; ++l) {
            const float held = std::max(squared[first + l], resolved);
            beyond[l] = squared[first + l] - held;
            squared[first + l] = held;
        }
        evaluate_law(PairLaw::log_deficit, kernel, squared + first, simd::kLanes, slopes, values + first);
        for (std::size_t l = 0; l < simd::kLanes; ++l) values[first + l] += slopes[l] * beyond[l];
    }
}

float resolved_by(float spacing) { return (kResolved * spacing) * (kResolved * spacing); }

}  // namespace

double MeshKernel::at_zero() const {
    if (law == PairLaw::value) return static_cast<double>(kernel_at_zero(kernel));
    float squared[simd::kLanes] = {}, values[simd::kLanes];
    evaluate_deficits(kernel, resolved_by(spacing), squared, simd::kLanes, values);
    return static_cast<double>(values[0]);
}

void MeshKernel::row(float down, std::size_t nodes, float* row) const {
    if (law == PairLaw::value) return evaluate_row(kernel, shifted, spacing, down, nodes, row);
    const float zero = shifted ? static_cast<float>(at_zero()) : 0.0F;
    float squared[simd::kLanes];
    for (std::size_t first = 0; first < nodes; first += simd::kLanes) {
        for (std::size_t l = 0; l < simd::kLanes; ++l) {
            const float index = static_cast<float>(first + l);
            const float across = std::min(index, static_cast<float>(nodes) - index);
            squared[l] = (across * across + down * down) * (spacing * spacing);
        }
        evaluate_deficits(kernel, resolved_by(spacing), squared, simd::kLanes, row + first);
        for (std::size_t l = 0; l < simd::kLanes; ++l) row[first + l] -= zero;
    }
}

OwnShares::OwnShares() {
    for (int harmonic = 0; harmonic < 2; ++harmonic) {
        std::vector<double>& weights = weights_[static_cast<std::size_t>(harmonic)];
        weights.assign(kReach, 0.0);
        for (std::size_t k = 0; k < kAngles; ++k) {
            const double angle = spread_and_read(std::min(k, kAngles - k), harmonic) / kAngles;
            for (std::size_t node = 0; node < kReach; ++node)
                weights[node] += angle * (node == 0 ? 1.0 : 2.0 * root_of_unity(k * node, kAngles)[0]);
        }
    }
}

OwnShare OwnShares::at(const MeshKernel& kernel, std::size_t d) const {
    std::vector<float> row(2 * kReach);
    double sums[2][2] = {};  // by the harmonics down and across
    for (std::size_t down = 0; down < (d == 2 ? kReach : 1); ++down) {
        kernel.row(static_cast<float>(down), row.size(), row.data());
        for (std::size_t p = 0; p < 2; ++p) {
            double across = 0;
            for (std::size_t node = 0; node < kReach; ++node)
                across += weights_[p][node] * static_cast<double>(row[node]);
            for (std::size_t q = 0; q < d; ++q) sums[q][p] += (d == 2 ? weights_[q][down] : 1.0) * across;
        }
    }
    return {static_cast<float>(sums[0][0]), static_cast<float>(sums[0][1]), static_cast<float>(sums[1][1])};
}

}  // namespace gnomon
