// What the searches by a metric share: from the values that are summed to distances, and from keys to results.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "gnomon/neighbors_tile.hpp"
#include "gnomon/pair_metrics.hpp"

namespace gnomon {

/// Rows are ranked by values, which ascend with the distances: squares, or numbers of columns.
class MetricValues {
public:
    MetricValues(PairMetric metric, std::size_t n_columns, double scale)
        : metric_(metric), n_columns_(static_cast<double>(n_columns)), scale_(scale) {}

    /// The value that is kept in a key.
    float key(double value) const { return static_cast<float>(value * factor()); }
    /// What a value is multiplied by for its key.
    double factor() const { return is_square() ? scale_ * scale_ : scale_; }
    double distance(double value) const {
        if (is_square()) return std::sqrt(value);
        if (metric_ == PairMetric::hamming) return value / n_columns_;
        return metric_ == PairMetric::rogers_tanimoto ? 2.0 * value / (n_columns_ + value) : value;
    }

    /// Writes the smallest keys as neighbours. Values that differ may become one distance, so ties are put in order of
    /// index afterwards.
    void write(std::span<std::uint64_t> keys, std::span<std::int32_t> indices, float* distances) const {
        const std::size_t k = indices.size(), kept = std::min(k, keys.size());
        const auto end = keys.begin() + static_cast<std::ptrdiff_t>(kept);
        if (kept < keys.size()) std::nth_element(keys.begin(), end, keys.end());
        for (auto key = keys.begin(); key != end; ++key) {
            const double value = static_cast<double>(key_distance(*key)) / factor();
            *key = make_key(static_cast<float>(distance(value)), key_index(*key));
        }
        std::sort(keys.begin(), end);
        for (std::size_t j = 0; j < k; ++j) {
            indices[j] = j < kept ? key_index(keys[j]) : -1;
            distances[j] = j < kept ? key_distance(keys[j]) : std::numeric_limits<float>::infinity();
        }
    }

private:
    bool is_square() const { return metric_ == PairMetric::wrapped || metric_ == PairMetric::euclidean; }

    PairMetric metric_;
    double n_columns_, scale_;
};

}  // namespace gnomon
