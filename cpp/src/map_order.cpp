#include "gnomon/map_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace gnomon {
namespace {

constexpr std::size_t kMostComponents = 3;
constexpr int kBits = 20;  // of each component

bool is_placed(const double* place, std::size_t m) {
    return std::all_of(place, place + m, [](double x) { return std::isfinite(x); });
}

// One corner of the box around the placed points and its longest side.
std::pair<std::vector<double>, double> bounds(Span2<const double> places, std::size_t m) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<double> low(m, kInfinity), high(m, -kInfinity);
    for (std::size_t i = 0; i < places.rows(); ++i) {
        if (!is_placed(places.row(i), m)) continue;
        for (std::size_t c = 0; c < m; ++c) {
            low[c] = std::min(low[c], places(i, c));
            high[c] = std::max(high[c], places(i, c));
        }
    }
    double side = 0;
    for (std::size_t c = 0; c < m; ++c) side = std::max(side, high[c] - low[c]);
    return {low, side};
}

}  // namespace

std::vector<std::int32_t> map_order(Span2<const double> places) {
    const std::size_t m = std::min(places.cols(), kMostComponents);
    const auto [low, side] = bounds(places, m);
    const double top = std::ldexp(1.0, kBits) - 1, scale = side > 0 && std::isfinite(side) ? top / side : 0.0;
    std::vector<std::pair<std::uint64_t, std::int32_t>> keys(places.rows());
    for (std::size_t i = 0; i < places.rows(); ++i) {
        std::uint64_t key = std::numeric_limits<std::uint64_t>::max();
        if (is_placed(places.row(i), m)) {
            key = 0;
            for (std::size_t c = 0; c < m; ++c) {
                const auto cell = static_cast<std::uint64_t>((places(i, c) - low[c]) * scale);
                for (int bit = 0; bit < kBits; ++bit)
                    key |= (cell >> bit & 1U) << (static_cast<std::size_t>(bit) * m + c);
            }
        }
        keys[i] = {key, static_cast<std::int32_t>(i)};
    }
    std::sort(keys.begin(), keys.end());
    std::vector<std::int32_t> order(keys.size());
    std::transform(keys.begin(), keys.end(), order.begin(), [](const auto& key) { return key.second; });
    return order;
}

}  // namespace gnomon
