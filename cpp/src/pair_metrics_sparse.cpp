#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

#include "gnomon/pair_metrics.hpp"
#include "pair_metric_results.hpp"

namespace gnomon {
namespace {

constexpr double kRounding = 1.000001;  // more than a value gains when it becomes a key

// Each metric is a sum over the columns that are stored in one row or both: `both` of a column in both, `alone` of a
// column in one. The search visits shared columns only: the sum is that of all `alone` of both rows plus `gained` of
// the shared ones. Where two rows are equal these cancel exactly, as all are summed in ascending order of columns.
struct Additive {
    static double join(double total, double term) { return total + term; }
    static double value(double total, double, double) { return std::max(total, 0.0); }
};

struct Euclidean : Additive {
    static double alone(double x, double weight) { return weight * (x * x); }
    static double both(double x, double y, double weight) { return weight * ((x - y) * (x - y)); }
    static double gained(double x, double y, double weight) { return -2.0 * (weight * (x * y)); }
};

struct Manhattan : Additive {
    static double alone(double x, double) { return std::abs(x); }
    static double both(double x, double y, double) { return std::abs(x - y); }
    static double gained(double x, double y, double) { return std::abs(x - y) - (std::abs(x) + std::abs(y)); }
};

struct Chebyshev : Manhattan {
    static double join(double total, double term) { return std::max(total, term); }
};

struct Wrapped : Additive {
    static double alone(double x, double period) {
        const double one_way = std::abs(x), shorter = std::min(one_way, period - one_way);
        return shorter * shorter;
    }
    static double both(double x, double y, double period) { return alone(x - y, period); }
    static double gained(double x, double y, double period) {
        return both(x, y, period) - (alone(x, period) + alone(y, period));
    }
};

struct Hamming : Additive {
    static double alone(double, double) { return 1.0; }
    static double both(double x, double y, double) { return x != y ? 1.0 : 0.0; }
    static double gained(double x, double y, double) { return both(x, y, 0.0) - 2.0; }
};

struct Jaccard : Additive {
    static double alone(double, double) { return 1.0; }
    static double both(double, double, double) { return 0.0; }
    static double gained(double, double, double) { return -2.0; }
    // total = |either| - |both| and |either| + |both| = first + second
    static double value(double total, double first, double second) {
        return total > 0.0 ? 2.0 * total / (first + second + total) : 0.0;
    }
};

struct Dice : Jaccard {
    static double value(double total, double first, double second) {
        return total > 0.0 ? total / (first + second) : 0.0;
    }
};

struct SokalSneath : Jaccard {
    static double value(double total, double first, double second) {
        return total > 0.0 ? 4.0 * total / (first + second + 3.0 * total) : 0.0;
    }
};

// The sum of the larger values less that of the smaller ones is the total, and both together are first + second.
struct Ruzicka : Manhattan {
    static double value(double total, double first, double second) { return Jaccard::value(total, first, second); }
};

// Calls body with the metric's own type.
template <class Body>
void with_metric(PairMetric metric, Body&& body) {
    switch (metric) {
        case PairMetric::euclidean:
            return body(Euclidean{});
        case PairMetric::manhattan:
            return body(Manhattan{});
        case PairMetric::chebyshev:
            return body(Chebyshev{});
        case PairMetric::wrapped:
            return body(Wrapped{});
        case PairMetric::hamming:
        case PairMetric::rogers_tanimoto:
            return body(Hamming{});
        case PairMetric::ruzicka:
            return body(Ruzicka{});
        case PairMetric::jaccard:
            return body(Jaccard{});
        case PairMetric::dice:
            return body(Dice{});
        case PairMetric::sokal_sneath:
            return body(SokalSneath{});
    }
}

// The stored entries of one row.
struct Row {
    const std::int32_t* columns;
    const double* values;
    std::size_t size;
};

Row row_of(const SparseRows<double>& table, std::size_t i) {
    const auto begin = static_cast<std::size_t>(table.matrix.offsets[i]);
    const auto end = static_cast<std::size_t>(table.matrix.offsets[i + 1]);
    return {table.matrix.columns.data() + begin, table.matrix.values.data() + begin, end - begin};
}

double parameter(std::span<const double> columns, std::int32_t column) {
    return columns.empty() ? 1.0 : columns[static_cast<std::size_t>(column)];
}

template <class Kernel>
double sum_alone(const Row& row, std::span<const double> columns) {
    double total = 0.0;
    for (std::size_t e = 0; e < row.size; ++e)
        total = Kernel::join(total, Kernel::alone(row.values[e], parameter(columns, row.columns[e])));
    return total;
}

template <class Kernel>
std::vector<double> sums_alone(const SparseRows<double>& table, std::span<const double> columns) {
    std::vector<double> sums(table.matrix.rows());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sum_alone<Kernel>(row_of(table, i), columns);
    return sums;
}

// The value of one pair by a walk through both rows: differences are taken before anything is summed. The walk ends
// where the value has passed `limit`, for metrics whose values only grow.
template <class Kernel>
double pair_value(const Row& a, const Row& b, std::span<const double> columns, double a_alone, double b_alone,
                  double limit = std::numeric_limits<double>::infinity()) {
    double total = 0.0;
    std::size_t i = 0, j = 0;
    while ((i < a.size || j < b.size) && total <= limit) {
        if (j == b.size || (i < a.size && a.columns[i] < b.columns[j])) {
            total = Kernel::join(total, Kernel::alone(a.values[i], parameter(columns, a.columns[i])));
            ++i;
        } else if (i == a.size || b.columns[j] < a.columns[i]) {
            total = Kernel::join(total, Kernel::alone(b.values[j], parameter(columns, b.columns[j])));
            ++j;
        } else {
            total = Kernel::join(total, Kernel::both(a.values[i], b.values[j], parameter(columns, a.columns[i])));
            ++i;
            ++j;
        }
    }
    return Kernel::value(total, a_alone, b_alone);
}

// All values of one query, through the columns it shares with the base.
template <class Kernel>
void values_of(const Row& query, double alone, const SparseRows<double>& base_columns, std::span<const double> columns,
               std::span<const double> base_alone, std::vector<double>& values) {
    std::fill(values.begin(), values.end(), 0.0);
    for (std::size_t e = 0; e < query.size; ++e) {
        const Row column = row_of(base_columns, static_cast<std::size_t>(query.columns[e]));
        const double x = query.values[e], weight = parameter(columns, query.columns[e]);
        for (std::size_t p = 0; p < column.size; ++p)
            values[static_cast<std::size_t>(column.columns[p])] += Kernel::gained(x, column.values[p], weight);
    }
    for (std::size_t j = 0; j < values.size(); ++j)
        values[j] = Kernel::value((alone + base_alone[j]) + values[j], alone, base_alone[j]);
}

}  // namespace

void sparse_metric_neighbors(const MetricOptions<double>& options, const SparseRows<double>& base,
                             const SparseRows<double>& columns, const SparseRows<double>& queries,
                             const MetricNeighbors& found, const Context& context) {
    const std::size_t n = base.matrix.rows(), k = found.indices.cols();
    const MetricValues keys_of(options.metric, base.n_features, options.scale);
    with_metric(options.metric, [&](auto metric) {
        using Kernel = decltype(metric);
        const std::vector<double> alone = sums_alone<Kernel>(base, options.columns);
        parallel_blocks(queries.matrix.rows(), 16, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            std::vector<double> values(n);
            std::vector<std::uint64_t> keys(k);
            NearestKeys nearest(k);
            for (std::size_t i = begin; i < end; ++i) {
                const Row query = row_of(queries, i);
                const double own = sum_alone<Kernel>(query, options.columns);
                nearest.reset(1);
                const auto offer = [&](std::size_t j, double value) {
                    const float key = keys_of.key(value);
                    const auto index = static_cast<std::int32_t>(j);
                    if (key <= nearest.thresholds()[0] && index != found.self[i]) nearest.offer(0, key, index);
                };
                if constexpr (std::is_same_v<Kernel, Chebyshev>) {
                    for (std::size_t j = 0; j < n; ++j) {
                        const double limit =
                            kRounding * static_cast<double>(nearest.thresholds()[0]) / keys_of.factor();
                        offer(j, pair_value<Kernel>(query, row_of(base, j), options.columns, own, alone[j], limit));
                    }
                } else {
                    values_of<Kernel>(query, own, columns, options.columns, alone, values);
                    for (std::size_t j = 0; j < n; ++j) offer(j, values[j]);
                }
                const std::size_t kept = nearest.finish(0, keys.data());
                keys_of.write({keys.data(), kept}, {found.indices.row(i), k}, found.distances.row(i));
            }
        });
    });
}

void sparse_metric_rank(const MetricOptions<double>& options, const SparseRows<double>& base,
                        const SparseRows<double>& queries, const MetricCandidates& candidates,
                        const MetricNeighbors& found, const Context& context) {
    const std::size_t width = candidates.rows.cols(), k = found.indices.cols();
    const MetricValues keys_of(options.metric, base.n_features, options.scale);
    with_metric(options.metric, [&](auto metric) {
        using Kernel = decltype(metric);
        const std::vector<double> alone = sums_alone<Kernel>(base, options.columns);
        parallel_blocks(queries.matrix.rows(), 64, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            std::vector<std::uint64_t> keys(width);
            for (std::size_t place = begin; place < end; ++place) {
                const auto i = static_cast<std::size_t>(candidates.order[place]);
                const Row query = row_of(queries, i);
                const double own = sum_alone<Kernel>(query, options.columns);
                const std::int32_t* rows = candidates.rows.row(i);
                std::size_t count = 0;
                for (; count < width && rows[count] >= 0; ++count) {
                    const auto j = static_cast<std::size_t>(rows[count]);
                    const double value = pair_value<Kernel>(query, row_of(base, j), options.columns, own, alone[j]);
                    keys[count] = make_key(keys_of.key(value), rows[count]);
                }
                keys_of.write({keys.data(), count}, {found.indices.row(i), k}, found.distances.row(i));
            }
        });
    });
}

void sparse_metric_distances(const MetricOptions<double>& options, const SparseRows<double>& a,
                             const SparseRows<double>& b, Span2<double> out, const Context& context) {
    const MetricValues values(options.metric, a.n_features, 1.0);
    with_metric(options.metric, [&](auto metric) {
        using Kernel = decltype(metric);
        const std::vector<double> alone = sums_alone<Kernel>(b, options.columns);
        parallel_blocks(a.matrix.rows(), 8, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            for (std::size_t i = begin; i < end; ++i) {
                const Row row = row_of(a, i);
                const double own = sum_alone<Kernel>(row, options.columns);
                for (std::size_t j = 0; j < alone.size(); ++j) {
                    out(i, j) = values.distance(pair_value<Kernel>(row, row_of(b, j), options.columns, own, alone[j]));
                }
            }
        });
    });
}

}  // namespace gnomon
