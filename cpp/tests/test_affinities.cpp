// Weights of a given entropy or sum, and their symmetric merge against a dense one.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "gnomon/affinities.hpp"
#include "gnomon/symmetrize.hpp"

using namespace gnomon;

static void rows_have_the_entropy_and_the_sum() {
    constexpr std::size_t n = 100, k = 37;
    std::mt19937 rng(0);
    std::gamma_distribution<float> gap(1.0F, 0.1F);
    std::vector<float> distances(n * k), weights(n * k), nearest(n), bandwidths(n);
    for (std::size_t i = 0; i < n; ++i) {
        float d = 1.0F;
        for (std::size_t j = 0; j < k; ++j) distances[i * k + j] = d += gap(rng);
    }
    gaussian_weights({distances.data(), n, k}, std::log2(11.0F), {weights.data(), n, k}, bandwidths, {2});
    for (std::size_t i = 0; i < n; ++i) {
        double entropy = 0;
        for (std::size_t j = 0; j < k; ++j) entropy -= weights[i * k + j] * std::log2(weights[i * k + j] + 1e-30);
        CHECK_CLOSE(entropy, std::log2(11.0), 2e-5);
    }
    membership_weights({distances.data(), n, k}, 1.0, -1.0, {weights.data(), n, k}, nearest, bandwidths, {2});
    for (std::size_t i = 0; i < n; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < k; ++j) sum += weights[i * k + j];
        CHECK_CLOSE(sum, std::log2(k + 1.0), 2e-5);
        CHECK(nearest[i] == distances[i * k]);
    }
}

static void long_rows_are_sorted_too() {
    constexpr std::size_t n = 400, k = 399;  // more than are sorted by counting; every pair in both directions
    std::vector<std::int32_t> indices(n * k);
    std::vector<float> weights(n * k);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < k; ++j) {
            indices[i * k + j] = static_cast<std::int32_t>((i + 1 + j * 5 % k) % n);
            weights[i * k + j] = 0.001F * static_cast<float>(i + 1) + static_cast<float>(indices[i * k + j]);
        }
    }
    const SymmetricMatrix joined =
        symmetrize({indices.data(), n, k}, [&](std::size_t i, float*) { return weights.data() + i * k; },
                   {SymmetricRule::Kind::sum, 1.0F}, {2});
    for (std::size_t i = 0; i < n; ++i) {
        CHECK(joined.offsets[i + 1] - joined.offsets[i] == static_cast<std::int64_t>(k));
        for (auto e = static_cast<std::size_t>(joined.offsets[i]);
             e + 1 < static_cast<std::size_t>(joined.offsets[i + 1]); ++e) {
            CHECK(joined.columns[e] < joined.columns[e + 1]);
            const auto c = static_cast<double>(joined.columns[e]), r = static_cast<double>(i);
            CHECK_CLOSE(joined.values[e], 1.001 * (r + c) + 0.002, 1e-3);
        }
    }
}

static void weights_are_the_same_whenever_they_are_made() {
    constexpr std::size_t n = 60, k = 37;
    constexpr float none = std::numeric_limits<float>::infinity();
    std::mt19937 rng(2);
    std::vector<float> distances(n * k), weights(n * k), bandwidths(n), again(k);
    for (std::size_t i = 0; i < n; ++i) {
        float d = 0.5F;
        for (std::size_t j = 0; j < k; ++j) {
            d += i % 5 == 0 ? 0.0F : 0.01F * static_cast<float>(rng() % 100);  // every fifth row: all as near
            distances[i * k + j] = rng() % 10 == 0 || i == 7 ? none : d;       // some missing, one without any
        }
    }
    gaussian_weights({distances.data(), n, k}, 3.0F, {weights.data(), n, k}, bandwidths, {2});
    const GaussianRows rows({distances.data(), n, k}, 3.0F, bandwidths, {1});
    CHECK(rows.n_weighted() == n - 1);
    for (std::size_t i = 0; i < n; ++i) {
        rows.weigh(i, again.data());
        double sum = 0;
        for (std::size_t j = 0; j < k; ++j) {
            CHECK(again[j] == weights[i * k + j]);
            CHECK(distances[i * k + j] < none || again[j] == 0.0F);
            sum += again[j];
        }
        CHECK_CLOSE(sum, i == 7 ? 0.0 : 1.0, 1e-5);
    }
}

static void an_empty_row_is_empty() {
    const std::vector<float> distances(3, std::numeric_limits<float>::infinity());
    std::vector<float> weights(3, 1.0F), nearest(1), bandwidths(1);
    gaussian_weights({distances.data(), 1, 3}, 1.0F, {weights.data(), 1, 3}, bandwidths, {1});
    for (const float w : weights) CHECK(w == 0.0F);
    membership_weights({distances.data(), 1, 3}, 1.0, -1.0, {weights.data(), 1, 3}, nearest, bandwidths, {1});
    for (const float w : weights) CHECK(w == 0.0F);
    CHECK(bandwidths[0] == 0.0F);
}

static void the_merge_equals_a_dense_one() {
    constexpr std::size_t n = 50, k = 7;
    std::mt19937 rng(1);
    std::vector<std::int32_t> indices(n * k);
    std::vector<float> weights(n * k), dense(n * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < k; ++j) {
            const std::size_t to = (i + 1 + (j * 7 + rng() % 7)) % n;
            indices[i * k + j] = static_cast<std::int32_t>(to);
            dense[i * n + to] = weights[i * k + j] = static_cast<float>(rng() % 5) / 4.0F;
        }
    }
    for (const SymmetricRule rule :
         {SymmetricRule{SymmetricRule::Kind::sum, 0.25F}, SymmetricRule{SymmetricRule::Kind::fuzzy, 0.5F}}) {
        for (const std::size_t part_entries : {n * k + 1, n * k / 3, std::size_t{1}}) {  // one part, three, one a row
            const auto row = [&](std::size_t i, float*) { return weights.data() + i * k; };
            const SymmetricMatrix joined = symmetrize({indices.data(), n, k}, row, rule, {3}, part_entries);
            const auto& [offsets, columns, values] = joined;
            std::vector<float> found(n * n);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::int64_t e = offsets[i]; e < offsets[i + 1]; ++e) {
                    CHECK(e == offsets[i] || columns[e - 1] < columns[e]);
                    found[i * n + static_cast<std::size_t>(columns[e])] = values[e];
                }
            }
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                    const float a = dense[i * n + j], b = dense[j * n + i];
                    const bool sum = rule.kind == SymmetricRule::Kind::sum;
                    CHECK_CLOSE(found[i * n + j], sum ? 0.25F * (a + b) : 0.5F * (a + b - a * b) + 0.5F * a * b, 1e-6);
                }
            }
        }
    }
}

int main() {
    rows_have_the_entropy_and_the_sum();
    weights_are_the_same_whenever_they_are_made();
    an_empty_row_is_empty();
    long_rows_are_sorted_too();
    the_merge_equals_a_dense_one();
    return failures != 0;
}
