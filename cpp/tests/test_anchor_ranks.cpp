// Comparison of ranks against sorting and loops over all pairs, with many equal distances.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "check.hpp"
#include "gnomon/anchor_ranks.hpp"

using namespace gnomon;

namespace {

constexpr std::size_t kRows = 61, kNearest = 7, kPairs = 20, kGroups = 3;

std::vector<std::int64_t> ranks_of(const std::vector<double>& distances, std::size_t i) {
    std::vector<std::size_t> order;
    for (std::size_t j = 0; j < kRows; ++j)
        if (j != i) order.push_back(j);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return distances[a] < distances[b]; });
    std::vector<std::int64_t> rank(kRows, 0);
    for (std::size_t at = 0; at < order.size(); ++at) rank[order[at]] = static_cast<std::int64_t>(at + 1);
    return rank;
}

template <class T>
void sums_are_those_of_loops(int n_threads) {
    std::mt19937 rng(1);
    std::vector<double> y(kRows * 2), weights(kRows);
    std::vector<T> distances(kRows * kRows);
    for (double& value : y) value = static_cast<double>(rng() % 6);
    for (double& value : weights) value = static_cast<double>(rng() % 100);
    for (T& value : distances) value = static_cast<T>(rng() % 20) - T{2};  // rounding may leave what is below zero
    std::vector<std::int64_t> anchors(kRows);
    std::iota(anchors.begin(), anchors.end(), 0);
    std::vector<std::int32_t> groups(kRows);
    for (std::size_t i = 0; i < kRows; ++i) groups[i] = static_cast<std::int32_t>(i % kGroups);
    const std::vector<std::int64_t> sizes{1, 4, 5, 20, 59, 60};
    const std::size_t g = sizes.size();
    std::vector<std::int32_t> in_data(kRows * kNearest), in_map(kRows * kNearest);
    std::vector<std::int64_t> shared(kRows * g), intruders(kRows * g), extruders(kRows * g), discordant(kRows);
    std::vector<std::int64_t> coranked(kGroups * kRows);
    std::vector<double> map_errors(kRows * g), data_errors(kRows * g), weighted(kRows), moments(kRows * 5);
    std::vector<double> data_pairs(kRows * kPairs), map_pairs(kRows * kPairs);
    rank_anchors(Span2<const T>(distances.data(), kRows, kRows), {y.data(), kRows, 2}, anchors,
                 {sizes, weights, groups, 2.0, false, 9},
                 {{in_data.data(), kRows, kNearest},
                  {in_map.data(), kRows, kNearest},
                  {shared.data(), kRows, g},
                  {intruders.data(), kRows, g},
                  {extruders.data(), kRows, g},
                  {map_errors.data(), kRows, g},
                  {data_errors.data(), kRows, g},
                  weighted,
                  discordant,
                  {moments.data(), kRows, 5},
                  {data_pairs.data(), kRows, kPairs},
                  {map_pairs.data(), kRows, kPairs},
                  {coranked.data(), kGroups, kRows}},
                 {n_threads});
    std::vector<std::int64_t> counted(kGroups * kRows, 0);
    for (std::size_t i = 0; i < kRows; ++i) {
        std::vector<double> data(kRows), map(kRows);
        for (std::size_t j = 0; j < kRows; ++j) {
            data[j] = static_cast<double>(distances[i * kRows + j]);
            map[j] = std::pow(y[2 * j] - y[2 * i], 2) + std::pow(y[2 * j + 1] - y[2 * i + 1], 2);
        }
        const auto r = ranks_of(data, i), e = ranks_of(map, i);
        double total = 0, x_sum = 0, product = 0;
        std::int64_t opposite = 0;
        for (std::size_t j = 0; j < kRows; ++j) {
            if (j == i) continue;
            const auto larger = static_cast<std::size_t>(std::max(r[j], e[j]));
            ++counted[i % kGroups * kRows + larger];
            total += weights[larger];
            x_sum += 2.0 * data[j];
            product += 2.0 * data[j] * std::sqrt(map[j]);
            if (r[j] <= static_cast<std::int64_t>(kNearest))
                CHECK(in_data[i * kNearest + static_cast<std::size_t>(r[j]) - 1] == static_cast<std::int32_t>(j));
            if (e[j] <= static_cast<std::int64_t>(kNearest))
                CHECK(in_map[i * kNearest + static_cast<std::size_t>(e[j]) - 1] == static_cast<std::int32_t>(j));
            for (std::size_t l = 0; l < j; ++l) {
                if (l == i) continue;
                const int a = (data[j] > data[l]) - (data[j] < data[l]), b = (map[j] > map[l]) - (map[j] < map[l]);
                opposite += a * b < 0 ? 2 : ((a == 0) != (b == 0) ? 1 : 0);
            }
        }
        CHECK(weighted[i] == total);
        CHECK(discordant[i] == opposite);
        CHECK(std::abs(moments[i * 5] - x_sum) < 1e-9);
        CHECK(std::abs(moments[i * 5 + 4] - product) < 1e-9);
        for (std::size_t l = 0; l < g; ++l) {
            std::int64_t both = 0, in = 0, ex = 0;
            double of_map = 0, of_data = 0;
            for (std::size_t j = 0; j < kRows; ++j) {
                if (j == i) continue;
                const bool near_data = r[j] <= sizes[l], near_map = e[j] <= sizes[l];
                const auto gap = static_cast<double>(std::abs(r[j] - e[j]));
                both += near_data && near_map;
                in += near_map && !near_data ? r[j] - sizes[l] : 0;
                ex += near_data && !near_map ? e[j] - sizes[l] : 0;
                of_map += near_map ? gap / static_cast<double>(e[j]) : 0;
                of_data += near_data ? gap / static_cast<double>(r[j]) : 0;
            }
            CHECK(shared[i * g + l] == both);
            CHECK(intruders[i * g + l] == in);
            CHECK(extruders[i * g + l] == ex);
            CHECK(std::abs(map_errors[i * g + l] - of_map) < 1e-9);
            CHECK(std::abs(data_errors[i * g + l] - of_data) < 1e-9);
        }
    }
    CHECK(coranked == counted);
}

}  // namespace

int main() {
    sums_are_those_of_loops<float>(1);
    sums_are_those_of_loops<float>(3);
    sums_are_those_of_loops<double>(2);
    return failures != 0;
}
