// Sums of multiples of rows of a table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
        order_.resize(rows_.size());  // by row and by when it came, both below 2^32, in one number
        for (std::size_t e = 0; e < rows_.size(); ++e) order_[e] = std::uint64_t{rows_[e]} << 32 | e;
        std::sort(order_.begin(), order_.end());
        sum_.resize(d_);
        for (std::size_t e = 0; e < order_.size();) {
            const std::uint64_t row = order_[e] >> 32;
            std::fill(sum_.begin(), sum_.end(), 0.0);
            for (; e < order_.size() && order_[e] >> 32 == row; ++e) {
                const double* factors = factors_.data() + (order_[e] & 0xffffffffU) * d_;
                for (std::size_t c = 0; c < d_; ++c) sum_[c] += factors[c];
            }
            body(static_cast<std::size_t>(row), sum_.data());
        }
    }

private:
    std::size_t d_ = 0;
    std::vector<std::size_t> rows_;
    std::vector<std::uint64_t> order_;
    std::vector<double> factors_, sum_;
};

}  // namespace gnomon::detail
