// Rows of a table against a point that is held dense: distances, inner products and sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gnomon/rows.hpp"

namespace gnomon::detail {

/// A point of the data, dense, and where it may differ from zero (empty: anywhere).
struct Point {
    std::vector<double> values;
    std::vector<std::int32_t> features;
};

void load_point(const RowSource& source, std::size_t i, Point& out);

/// Reads the rows of a table of some type. `x` is the point, `z` a vector of n_features that only the reader writes.
/// Scratch space of one worker.
class RowReader {
public:
    virtual ~RowReader() = default;

    virtual double squared(const Point& x, std::size_t j) = 0;
    /// z = x - x_j, until the next call.
    virtual void displace(const Point& x, std::size_t j, std::vector<double>& z) = 0;
    /// (x_l - x_j) . z
    virtual double product(std::size_t l, std::size_t j, const std::vector<double>& z) = 0;
    /// out += a (x_l - x), once `finish` has ended the sequence.
    virtual void add(double a, std::size_t l, const Point& x, double* out) = 0;
    /// Ends a sequence of `add` whose factors had this sum.
    virtual void finish(double sum, const Point& x, double* out) = 0;
};

std::unique_ptr<RowReader> reader_of(const RowSource& source);

}  // namespace gnomon::detail
