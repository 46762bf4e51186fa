#include "row_reader.hpp"

#include <variant>

#include "gnomon/levels.hpp"

namespace gnomon::detail {
namespace {

constexpr std::size_t kSums = 8;  // partial sums, added in one fixed order

GNOMON_INLINE double total(const double* sums) {
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template <class T>
const auto sum_of_squares = each_level([](const double* x, const T* r, std::size_t n) GNOMON_INLINE_LAMBDA -> double {
    double sums[kSums] = {};
    std::size_t f = 0;
    for (; f + kSums <= n; f += kSums)
        for (std::size_t u = 0; u < kSums; ++u) {
            const double e = x[f + u] - static_cast<double>(r[f + u]);
            sums[u] += e * e;
        }
    for (std::size_t u = 0; f < n; ++f, ++u) {
        const double e = x[f] - static_cast<double>(r[f]);
        sums[u] += e * e;
    }
    return total(sums);
});

template <class T>
const auto sum_of_products =
    each_level([](const T* a, const T* b, const double* z, std::size_t n) GNOMON_INLINE_LAMBDA -> double {
        double sums[kSums] = {};
        std::size_t f = 0;
        for (; f + kSums <= n; f += kSums)
            for (std::size_t u = 0; u < kSums; ++u)
                sums[u] += (static_cast<double>(a[f + u]) - static_cast<double>(b[f + u])) * z[f + u];
        for (std::size_t u = 0; f < n; ++f, ++u)
            sums[u] += (static_cast<double>(a[f]) - static_cast<double>(b[f])) * z[f];
        return total(sums);
    });

template <class T>
const auto subtract = each_level([](const double* x, const T* r, std::size_t n, double* out) GNOMON_INLINE_LAMBDA {
    for (std::size_t f = 0; f < n; ++f) out[f] = x[f] - static_cast<double>(r[f]);
});

template <class T>
const auto accumulate =
    each_level([](double a, const T* r, const double* x, std::size_t n, double* out) GNOMON_INLINE_LAMBDA {
        for (std::size_t f = 0; f < n; ++f) out[f] += a * (static_cast<double>(r[f]) - x[f]);
    });

template <class T>
class DenseReader final : public RowReader {
public:
    explicit DenseReader(const Span2<const T>& rows) : rows_(rows) {}

    double squared(const Point& x, std::size_t j) override {
        return sum_of_squares<T>(x.values.data(), rows_.row(j), rows_.cols());
    }
    void displace(const Point& x, std::size_t j, std::vector<double>& z) override {
        subtract<T>(x.values.data(), rows_.row(j), rows_.cols(), z.data());
    }
    double product(std::size_t l, std::size_t j, const std::vector<double>& z) override {
        return sum_of_products<T>(rows_.row(l), rows_.row(j), z.data(), rows_.cols());
    }
    void add(double a, std::size_t l, const Point& x, double* out) override {
        accumulate<T>(a, rows_.row(l), x.values.data(), rows_.cols(), out);
    }
    void finish(double, const Point&, double*) override {}

private:
    Span2<const T> rows_;
};

/// Every operation costs the entries of the rows it reads.
template <class T>
class SparseReader final : public RowReader {
public:
    explicit SparseReader(const SparseRows<T>& rows) : rows_(rows), mark_(rows.n_features, 0) {}

    double squared(const Point& x, std::size_t j) override {
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
    void displace(const Point& x, std::size_t j, std::vector<double>& z) override {
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
    double product(std::size_t l, std::size_t j, const std::vector<double>& z) override {
        return dot(l, z) - dot(j, z);
    }
    void add(double a, std::size_t l, const Point&, double* out) override {
        each(l, [&](std::size_t f, double v) { out[f] += a * v; });
    }
    void finish(double sum, const Point& x, double* out) override {
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
std::unique_ptr<RowReader> reader_from(const Span2<const T>& rows) {
    return std::make_unique<DenseReader<T>>(rows);
}
template <class T>
std::unique_ptr<RowReader> reader_from(const SparseRows<T>& rows) {
    return std::make_unique<SparseReader<T>>(rows);
}

template <class T>
void load_from(const Span2<const T>& rows, std::size_t i, Point& out) {
    out.values.assign(rows.row(i), rows.row(i) + rows.cols());
}
template <class T>
void load_from(const SparseRows<T>& rows, std::size_t i, Point& out) {
    if (out.values.size() != rows.n_features) out.values.assign(rows.n_features, 0.0);
    for (const std::int32_t f : out.features) out.values[static_cast<std::size_t>(f)] = 0;
    out.features.clear();
    for (auto e = static_cast<std::size_t>(rows.matrix.offsets[i]);
         e < static_cast<std::size_t>(rows.matrix.offsets[i + 1]); ++e) {
        out.features.push_back(rows.matrix.columns[e]);
        out.values[static_cast<std::size_t>(rows.matrix.columns[e])] = static_cast<double>(rows.matrix.values[e]);
    }
}

}  // namespace

std::unique_ptr<RowReader> reader_of(const RowSource& source) {
    return std::visit([](const auto& rows) { return reader_from(rows); }, source);
}

void load_point(const RowSource& source, std::size_t i, Point& out) {
    std::visit([&](const auto& rows) { load_from(rows, i, out); }, source);
}

}  // namespace gnomon::detail
