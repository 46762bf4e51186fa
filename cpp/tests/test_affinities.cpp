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
            Symmetrizer symmetrizer({indices.data(), n, k}, {weights.data(), n, k}, {3}, part_entries);
            std::vector<std::int64_t> offsets(n + 1);
            symmetrizer.count(rule, offsets, {3});
            std::vector<std::int32_t> columns(static_cast<std::size_t>(offsets[n]));
            std::vector<float> values(columns.size()), found(n * n);
            symmetrizer.fill(rule, offsets, columns, values, {3});
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
    an_empty_row_is_empty();
    the_merge_equals_a_dense_one();
    return failures != 0;
}
