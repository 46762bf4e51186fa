// Sums of multiples of rows of a table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace gnomon::detail {

/// Sums over rows with d factors each; rows that come several times are read once.
class RowSums {
public:
    void begin(std::size_t d) {
        d_ = d;
        rows_.clear();
        factors_.clear();
    }
    double* add(std::size_t row) {
        rows_.push_back(row);
        factors_.resize(rows_.size() * d_, 0.0);
        return factors_.data() + (rows_.size() - 1) * d_;
    }
    /// Calls body(row, factors) once for each row, ascending; the factors of equal rows are added in order.
    template <class Body>
    void for_each(Body&& body) {
        order_.resize(rows_.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::sort(order_.begin(), order_.end(),
                  [&](std::size_t a, std::size_t b) { return rows_[a] != rows_[b] ? rows_[a] < rows_[b] : a < b; });
        sum_.resize(d_);
        for (std::size_t e = 0; e < order_.size();) {
            const std::size_t row = rows_[order_[e]];
            std::fill(sum_.begin(), sum_.end(), 0.0);
            for (; e < order_.size() && rows_[order_[e]] == row; ++e)
                for (std::size_t c = 0; c < d_; ++c) sum_[c] += factors_[order_[e] * d_ + c];
            body(row, sum_.data());
        }
    }

private:
    std::size_t d_ = 0;
    std::vector<std::size_t> rows_, order_;
    std::vector<double> factors_, sum_;
};

}  // namespace gnomon::detail
