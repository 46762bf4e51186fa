// A point whose distances to fixed ones are known finds its place again; rows do not see each other.
#include <cmath>
#include <vector>

#include "check.hpp"
#include "gnomon/distance_placement.hpp"
#include "gnomon/random.hpp"

using namespace gnomon;

int main() {
    constexpr std::size_t n = 30, m = 7, d = 2;
    std::vector<double> anchors(n * d), truth(m * d), start(m * d), delta(m * n);
    for (std::size_t i = 0; i < anchors.size(); ++i) anchors[i] = unit_float(draw(1, 0, i, 0));
    for (std::size_t i = 0; i < truth.size(); ++i) truth[i] = unit_float(draw(1, 1, i, 0));
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j)
            delta[i * n + j] = std::hypot(truth[i * d] - anchors[j * d], truth[i * d + 1] - anchors[j * d + 1]);
    for (std::size_t i = 0; i < m * d; ++i) start[i] = truth[i] + 0.1;
    std::vector<double> together = start;
    place_by_distances({together.data(), m, d}, {anchors.data(), n, d}, {delta.data(), m, n}, {}, 1000, 1e-12,
                       Context{3});
    for (std::size_t i = 0; i < m * d; ++i) CHECK(std::abs(together[i] - truth[i]) < 1e-8);
    for (std::size_t i = 0; i < m; ++i) {
        std::vector<double> alone(start.begin() + static_cast<std::ptrdiff_t>(i * d),
                                  start.begin() + static_cast<std::ptrdiff_t>((i + 1) * d));
        place_by_distances({alone.data(), 1, d}, {anchors.data(), n, d}, {delta.data() + i * n, 1, n}, {}, 1000, 1e-12,
                           Context{1});
        CHECK(alone[0] == together[i * d] && alone[1] == together[i * d + 1]);
    }
    return failures != 0;
}
