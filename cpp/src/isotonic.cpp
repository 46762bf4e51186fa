#include "gnomon/isotonic.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gnomon {

void isotonic_levels(std::span<double> values, std::span<double> weights) {
    const std::size_t n = values.size();
    std::vector<std::size_t> ends;  // of the blocks found so far, which lie at the front of values and weights
    ends.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        double level = values[i], weight = weights[i];
        if (!ends.empty() && values[ends.size() - 1] >= level) {
            double sum = weight * level;
            const auto pool = [&](std::size_t k) {
                sum += weights[k] * values[k];
                weight += weights[k];
                level = sum / weight;
            };
            const auto pool_last = [&] {
                ends.pop_back();
                pool(ends.size());
            };
            pool_last();
            while (i + 1 < n && level >= values[i + 1]) pool(++i);
            while (!ends.empty() && values[ends.size() - 1] >= level) pool_last();
        }
        values[ends.size()] = level;
        weights[ends.size()] = weight;
        ends.push_back(i + 1);
    }
    for (std::size_t block = ends.size(); block-- > 0;) {  // from the last: blocks stand at or before their places
        const double level = values[block];
        std::fill(values.begin() + static_cast<std::ptrdiff_t>(block ? ends[block - 1] : 0),
                  values.begin() + static_cast<std::ptrdiff_t>(ends[block]), level);
    }
}

}  // namespace gnomon
