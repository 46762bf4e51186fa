// Contrasts and map scores against loops over all pairs.
#include <algorithm>
#include <random>
#include <vector>

#include "check.hpp"
#include "gnomon/contrast.hpp"
#include "gnomon/map_scores.hpp"

using namespace gnomon;

static void auc_counts_pairs() {
    constexpr std::size_t kRows = 700, kFeatures = 5, kGroups = 3;
    std::mt19937 rng(0);
    std::vector<double> x(kRows * kFeatures);
    std::vector<std::int32_t> groups(kRows);
    for (double& value : x) value = static_cast<double>(rng() % 9) - 4;
    for (std::int32_t& g : groups) g = static_cast<std::int32_t>(rng() % (kGroups + 1)) - 1;
    std::vector<double> auc(kGroups * kFeatures), others(auc.size() * 4);
    std::vector<double> spread(auc.size()), rest_spread(auc.size()), variance(auc.size());
    auto other = [&](std::size_t k) { return Span2<double>(others.data() + k * auc.size(), kGroups, kFeatures); };
    group_contrasts(Span2<const double>(x.data(), kRows, kFeatures), groups, kGroups,
                    {{auc.data(), kGroups, kFeatures},
                     other(0),
                     other(1),
                     other(2),
                     {variance.data(), kGroups, kFeatures},
                     other(3),
                     {spread.data(), kGroups, kFeatures},
                     {rest_spread.data(), kGroups, kFeatures}},
                    {2});
    for (std::size_t g = 0; g < kGroups; ++g)
        for (std::size_t f = 0; f < kFeatures; ++f) {
            double wins = 0, pairs = 0;
            std::vector<double> inside(kRows), outside(kRows);  // pairs won and lost by each row
            for (std::size_t i = 0; i < kRows; ++i)
                for (std::size_t j = 0; j < kRows; ++j) {
                    if (groups[i] != static_cast<std::int32_t>(g) || groups[j] < 0 || groups[j] == groups[i]) continue;
                    const double a = x[i * kFeatures + f], b = x[j * kFeatures + f];
                    const double win = a > b ? 1 : (a == b ? 0.5 : 0);
                    wins += win;
                    inside[i] += win;
                    outside[j] += win;
                    pairs += 1;
                }
            CHECK(auc[g * kFeatures + f] == wins / pairs);
            double n_in = 0, n_out = 0, sum = 0, square = 0, in_square = 0, out_square = 0;
            for (std::size_t i = 0; i < kRows; ++i) {
                if (groups[i] < 0) continue;
                const bool is_in = groups[i] == static_cast<std::int32_t>(g);
                (is_in ? n_in : n_out) += 1;
                (is_in ? in_square : out_square) += (is_in ? inside[i] * inside[i] : outside[i] * outside[i]);
                if (is_in) sum += x[i * kFeatures + f];
                if (is_in) square += x[i * kFeatures + f] * x[i * kFeatures + f];
            }
            const std::size_t at = g * kFeatures + f;
            CHECK_CLOSE(variance[at], (square - sum * sum / n_in) / (n_in - 1), 1e-12);
            CHECK_CLOSE(spread[at], (in_square - wins * wins / n_in) / (n_in - 1) / n_out / n_out, 1e-12);
            CHECK_CLOSE(rest_spread[at], (out_square - wins * wins / n_out) / (n_out - 1) / n_in / n_in, 1e-12);
        }
}

static void ranks_agree_with_sorting() {
    constexpr std::size_t kRows = 1100, kNeighbors = 6, kNearest = 10, kTriplets = 40;  // more than one block
    std::mt19937 rng(1);
    std::vector<double> y(kRows * 2);
    std::vector<float> distances(kRows * kRows);
    std::vector<std::int64_t> anchors;
    for (double& value : y) value = static_cast<double>(rng() % 12);  // many ties
    for (std::size_t i = 0; i < kRows; ++i) {
        anchors.push_back(static_cast<std::int64_t>(i));
        for (std::size_t j = 0; j <= i; ++j)
            distances[i * kRows + j] = distances[j * kRows + i] = i == j ? 0.0F : static_cast<float>(rng() % 30);
    }
    std::vector<std::int64_t> intruders(kRows), extruders(kRows);
    std::vector<std::int32_t> shared(kRows), nearest(kRows * kNearest), agreeing(kRows);
    std::vector<double> data_pairs(kRows * kTriplets), map_pairs(kRows * kTriplets);
    score_map(Span2<const float>(distances.data(), kRows, kRows), {y.data(), kRows, 2}, anchors, {kNeighbors, 3},
              {intruders,
               extruders,
               shared,
               {nearest.data(), kRows, kNearest},
               agreeing,
               {data_pairs.data(), kRows, kTriplets},
               {map_pairs.data(), kRows, kTriplets}},
              {3});
    for (std::size_t i = 0; i < kRows; ++i) {
        auto ranks = [&](auto&& distance) {
            std::vector<std::size_t> order;
            for (std::size_t j = 0; j < kRows; ++j)
                if (j != i) order.push_back(j);
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
            std::vector<std::size_t> rank(kRows, 0);
            for (std::size_t r = 0; r < order.size(); ++r) rank[order[r]] = r + 1;
            return rank;
        };
        const auto in_data = ranks([&](std::size_t j) { return static_cast<double>(distances[i * kRows + j]); });
        const auto in_map = ranks(
            [&](std::size_t j) { return std::pow(y[2 * j] - y[2 * i], 2) + std::pow(y[2 * j + 1] - y[2 * i + 1], 2); });
        std::int64_t in = 0, ex = 0;
        std::int32_t both = 0;
        for (std::size_t j = 0; j < kRows; ++j) {
            if (j == i) continue;
            const bool near_data = in_data[j] <= kNeighbors, near_map = in_map[j] <= kNeighbors;
            if (near_map && !near_data) in += static_cast<std::int64_t>(in_data[j] - kNeighbors);
            if (near_data && !near_map) ex += static_cast<std::int64_t>(in_map[j] - kNeighbors);
            both += near_data && near_map;
        }
        CHECK(intruders[i] == in);
        CHECK(extruders[i] == ex);
        CHECK(shared[i] == both);
        for (std::size_t t = 0; t < kNearest; ++t)
            CHECK(in_map[static_cast<std::size_t>(nearest[i * kNearest + t])] == t + 1);
        CHECK(agreeing[i] >= 0 && agreeing[i] <= static_cast<std::int32_t>(2 * kTriplets));
    }
}

template <class T>
static void counts_below_bounds_are_those_of_a_loop() {
    for (const std::size_t n : {1, 64, 150}) {
        constexpr std::size_t kRows = 600, kBounds = 5;
        std::mt19937 rng(2);
        std::vector<T> distances(kRows * n), bounds(kBounds * n);
        for (T& value : distances) value = static_cast<T>(rng() % 50);
        for (T& value : bounds) value = static_cast<T>(rng() % 50);
        std::vector<std::int64_t> sums(n, 3), squares(n, 4);
        count_below_bounds(Span2<const T>(distances.data(), kRows, n), Span2<const T>(bounds.data(), kBounds, n), sums,
                           squares, {2});
        for (std::size_t j = 0; j < n; ++j) {
            std::int64_t sum = 3, square = 4;
            for (std::size_t i = 0; i < kRows; ++i) {
                std::int64_t count = 0;
                for (std::size_t s = 0; s < kBounds; ++s) count += distances[i * n + j] < bounds[s * n + j];
                sum += count;
                square += count * count;
            }
            CHECK(sums[j] == sum);
            CHECK(squares[j] == square);
        }
    }
}

int main() {
    counts_below_bounds_are_those_of_a_loop<float>();
    counts_below_bounds_are_those_of_a_loop<double>();
    auc_counts_pairs();
    ranks_agree_with_sorting();
    return failures != 0;
}
