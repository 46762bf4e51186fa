// Rows of a table of one type against a point that is held dense: distances, inner products and sums.
#pragma once

#include <cstdint>
#include <vector>

#include "gnomon/rows.hpp"
#include "gnomon/simd.hpp"

namespace gnomon::detail {

/// A point of the data, dense, and where it may differ from zero (empty: anywhere).
struct Point {
    std::vector<double> values;
    std::vector<std::int32_t> features;
};

void load_point(const RowSource& source, std::size_t i, Point& out);

// For float, double and std::uint8_t, by level.
template <class T>
double squared_difference(const double* x, const T* r, std::size_t n);
template <class T>
double product_of_difference(const T* a, const T* b, const double* z, std::size_t n);
template <class T>
void difference(const double* x, const T* r, std::size_t n, double* out);
template <class T>
void add_multiple(double a, const T* r, const double* x, std::size_t n, double* out);

/// Reads dense rows. `x` is the point, `z` a vector of n_features that the reader may need to tidy up.
template <class T>
class Reader {
public:
    explicit Reader(const Span2<const T>& rows) : rows_(rows) {}

    double squared(const Point& x, std::size_t j) {
        return squared_difference(x.values.data(), rows_.row(j), rows_.cols());
    }
    /// z = x - x_j, until the next call.
    void displace(const Point& x, std::size_t j, std::vector<double>& z) {
        difference(x.values.data(), rows_.row(j), rows_.cols(), z.data());
    }
    /// (x_l - x_j) . z
    double product(std::size_t l, std::size_t j, const std::vector<double>& z) {
        return product_of_difference(rows_.row(l), rows_.row(j), z.data(), rows_.cols());
    }
    /// out += a (x_l - x)
    void add(double a, std::size_t l, const Point& x, double* out) {
        add_multiple(a, rows_.row(l), x.values.data(), rows_.cols(), out);
    }
    /// Ends a sequence of `add` whose factors had this sum.
    void finish(double, const Point&, double*) {}

private:
    Span2<const T> rows_;
};

/// Reads sparse rows; every operation costs the entries of the rows it reads.
template <class T>
class SparseReader {
public:
    explicit SparseReader(const SparseRows<T>& rows) : rows_(rows), mark_(rows.n_features, 0) {}

    double squared(const Point& x, std::size_t j) {
        double sum = 0;
        each(j, [&](std::size_t f, double v) {
            sum += (x.values[f] - v) * (x.values[f] - v);
            mark_[f] = 1;
        });
        each_of(x, [&](std::size_t f) {
            if (!mark_[f]) sum += x.values[f] * x.values[f];
        });
        each(j, [&](std::size_t f, double) { mark_[f] = 0; });
        return sum;
    }
    void displace(const Point& x, std::size_t j, std::vector<double>& z) {
        for (const std::size_t f : touched_) z[f] = 0;
        touched_.clear();
        each_of(x, [&](std::size_t f) {
            z[f] = x.values[f];
            touched_.push_back(f);
        });
        each(j, [&](std::size_t f, double v) {
            z[f] -= v;
            touched_.push_back(f);
        });
    }
    double product(std::size_t l, std::size_t j, const std::vector<double>& z) { return dot(l, z) - dot(j, z); }
    void add(double a, std::size_t l, const Point&, double* out) {
        each(l, [&](std::size_t f, double v) { out[f] += a * v; });
    }
    void finish(double sum, const Point& x, double* out) {
        each_of(x, [&](std::size_t f) { out[f] -= sum * x.values[f]; });
    }

private:
    template <class Body>
    void each(std::size_t row, Body&& body) const {
        const auto& m = rows_.matrix;
        for (auto e = static_cast<std::size_t>(m.offsets[row]); e < static_cast<std::size_t>(m.offsets[row + 1]); ++e)
            body(static_cast<std::size_t>(m.columns[e]), static_cast<double>(m.values[e]));
    }
    template <class Body>
    void each_of(const Point& x, Body&& body) const {
        for (const std::int32_t f : x.features) body(static_cast<std::size_t>(f));
    }
    double dot(std::size_t row, const std::vector<double>& z) const {
        double sum = 0;
        each(row, [&](std::size_t f, double v) { sum += v * z[f]; });
        return sum;
    }

    const SparseRows<T>& rows_;
    std::vector<char> mark_;
    std::vector<std::size_t> touched_;
};

template <class T>
Reader<T> reader_of(const Span2<const T>& rows) {
    return Reader<T>(rows);
}
template <class T>
SparseReader<T> reader_of(const SparseRows<T>& rows) {
    return SparseReader<T>(rows);
}

}  // namespace gnomon::detail
