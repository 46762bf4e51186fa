#include "gnomon/row_sketch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gnomon/simd.hpp"
#include "row_reader.hpp"

namespace gnomon {
namespace {

constexpr double kRounding = 4e-7;  // of a difference of two coordinates, in units of the largest: above 3 * 2^-24
constexpr double kSums = 1e-5;      // relative, of a sum of squares in single precision
constexpr double kLargest = 1e15;   // the squares of larger coordinates may overflow
constexpr float kBehind = std::numeric_limits<float>::infinity();

const auto bound_blocks = each_level([](const float* coordinates, const float* point, std::size_t n_blocks,
                                        std::size_t m, float* squared, float* least) GNOMON_INLINE_LAMBDA {
    for (std::size_t b = 0; b < n_blocks; ++b) {
        simd::f32 sum = simd::splat(0.0F);
        for (std::size_t c = 0; c < m; ++c) {
            const simd::f32 e = simd::load(coordinates + (b * m + c) * RowSketch::kBlock) - simd::splat(point[c]);
            sum += e * e;
        }
        simd::store(squared + b * RowSketch::kBlock, sum);
        least[b] = simd::least(sum);
    }
});

// The larger magnitude; NaN is larger than any number.
double larger(double magnitude, double coordinate) {
    const double other = std::abs(coordinate);
    return other < kLargest ? std::max(magnitude, other) : std::numeric_limits<double>::infinity();
}

}  // namespace

float RowSketch::Bounds::limit(double squared_distance) const {
    const double reach = (std::sqrt(squared_distance) + rounding) * (1 + kSums);
    const double squared = reach * reach;
    return squared < std::numeric_limits<float>::max() ? std::nextafter(static_cast<float>(squared), kBehind) : kBehind;
}

RowSketch::RowSketch(const RowSource& X, std::span<const double> center, Span2<const double> directions)
    : n_rows_(gnomon::n_rows(X)),
      n_directions_(directions.rows()),
      center_(center.begin(), center.end()),
      directions_(directions.data(), directions.data() + directions.size()) {
    const std::size_t m = n_directions_ + 1, n_blocks = (n_rows_ + kBlock - 1) / kBlock;
    coordinates_.assign(n_blocks * m * kBlock, kBehind);
    detail::Point row;
    std::vector<double> found;
    for (std::size_t i = 0; i < n_rows_; ++i) {
        detail::load_point(X, i, row);
        project(row.values, found);
        float* out = coordinates_.data() + i / kBlock * m * kBlock + i % kBlock;
        for (std::size_t c = 0; c < m; ++c) {
            largest_ = larger(largest_, found[c]);
            out[c * kBlock] = static_cast<float>(found[c]);
        }
    }
}

void RowSketch::project(std::span<const double> x, std::vector<double>& out) const {
    const std::size_t D = center_.size();
    out.assign(n_directions_ + 1, 0.0);
    double rest = 0;
    for (std::size_t f = 0; f < D; ++f) rest += (x[f] - center_[f]) * (x[f] - center_[f]);
    for (std::size_t c = 0; c < n_directions_; ++c) {
        const double* direction = directions_.data() + c * D;
        for (std::size_t f = 0; f < D; ++f) out[c] += direction[f] * (x[f] - center_[f]);
        rest -= out[c] * out[c];
    }
    out[n_directions_] = std::sqrt(std::max(rest, 0.0));
}

void RowSketch::bound(std::span<const double> x, Bounds& out) const {
    const std::size_t m = n_directions_ + 1, n_blocks = (n_rows_ + kBlock - 1) / kBlock;
    out.squared.resize(n_blocks * kBlock);
    out.least.resize(n_blocks);
    project(x, out.coordinates);
    double largest = largest_;
    for (const double c : out.coordinates) largest = larger(largest, c);
    out.rounding = kRounding * std::sqrt(static_cast<double>(m)) * largest;
    if (largest >= kLargest) {  // nothing is known
        std::fill(out.squared.begin(), out.squared.end(), 0.0F);
        std::fill(out.least.begin(), out.least.end(), 0.0F);
        return;
    }
    out.rounded.assign(out.coordinates.begin(), out.coordinates.end());
    bound_blocks(coordinates_.data(), out.rounded.data(), n_blocks, m, out.squared.data(), out.least.data());
}

}  // namespace gnomon
