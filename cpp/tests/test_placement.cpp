// Points placed among anchors: found again from their own distances, with equal bytes for 1, 2, 3 and 5 threads.
#include <cmath>
#include <vector>

#include "check.hpp"
#include "gnomon/placement.hpp"
#include "gnomon/random.hpp"

using namespace gnomon;

namespace {

std::vector<float> points(std::uint64_t seed, std::size_t count) {
    std::vector<float> result;
    for (std::size_t k = 0; k < count; ++k) result.push_back(4.0F * unit_float(draw(seed, 1, k)));
    return result;
}

}  // namespace

int main() {
    constexpr std::size_t n = 37, m = 1100, d = 2;
    const std::vector<float> anchors = points(1, m * d), weights(m, 1.0F), truth = points(2, n * d);
    const OutputKernel kernel = output_kernel("distance", 1.0F, 1.0F);
    std::vector<float> targets;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < m; ++j)
            targets.push_back(std::hypot(truth[i * d] - anchors[j * d], truth[i * d + 1] - anchors[j * d + 1]));
    const std::vector<std::int32_t> own(n, -1);
    const Placement placement{kernel, {anchors.data(), m, d}, weights, {anchors.data(), 50, d}, 3, 50};
    std::vector<float> first;
    for (const int n_threads : {1, 2, 3, 5}) {
        std::vector<float> found(n * d);
        std::vector<double> energies(n);
        place_points(placement, {targets.data(), n, m}, own, {found.data(), n, d}, energies, {n_threads});
        if (first.empty()) first = found;
        CHECK(found == first);
    }
    for (std::size_t k = 0; k < n * d; ++k) CHECK(std::fabs(first[k] - truth[k]) < 1e-3F);
    return failures != 0;
}
