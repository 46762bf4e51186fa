#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gnomon/allocation.hpp"
#include "gnomon/levels.hpp"
#include "gnomon/pair_metrics.hpp"
#include "pair_metric_results.hpp"

namespace gnomon {
namespace {

constexpr double kRounding = 1.000001;  // more than a value gains when it becomes a key
constexpr std::size_t kTogether = 16;   // rows compared with a query at once, as additions wait for each other
constexpr std::size_t kPanel = 256;     // columns of these rows that are written out at a time

// Columns for each stored entry of two rows, above which a walk is faster: where four doubles are no register, far
// fewer.
#ifdef GNOMON_USE_LEVELS
const std::size_t kSparse = best_level() > 0 ? 8 : 2;
#elif defined(__AVX2__)
constexpr std::size_t kSparse = 8;
#else
constexpr std::size_t kSparse = 2;
#endif

using f64x4 = double __attribute__((vector_size(32)));

GNOMON_INLINE f64x4 magnitude(f64x4 x) { return x < f64x4{} ? -x : x; }

// Each metric is a sum over the columns that are stored in one row or both: `both` of a column in both, `alone` of a
// column in one. The search visits shared columns only: the sum is that of all `alone` of both rows plus `gained` of
// the shared ones. Where two rows are equal these cancel exactly, as all are summed in ascending order of columns.
// Metrics of differences have `added`: rows that store many columns are summed over all columns, several rows at once,
// to the same bits.
struct Additive {
    static double join(double total, double term) { return total + term; }
    static double value(double total, double, double) { return std::max(total, 0.0); }
};

struct Euclidean : Additive {
    static double alone(double x, double weight) { return weight * (x * x); }
    static double both(double x, double y, double weight) { return weight * ((x - y) * (x - y)); }
    static double gained(double x, double y, double weight) { return -2.0 * (weight * (x * y)); }
    GNOMON_INLINE static f64x4 added(f64x4 total, f64x4 gap, double weight) { return total + weight * (gap * gap); }
};

struct Manhattan : Additive {
    static double alone(double x, double) { return std::abs(x); }
    static double both(double x, double y, double) { return std::abs(x - y); }
    static double gained(double x, double y, double) { return std::abs(x - y) - (std::abs(x) + std::abs(y)); }
    GNOMON_INLINE static f64x4 added(f64x4 total, f64x4 gap, double) { return total + magnitude(gap); }
};

struct Chebyshev : Manhattan {
    static double join(double total, double term) { return std::max(total, term); }
    GNOMON_INLINE static f64x4 added(f64x4 total, f64x4 gap, double) {
        const f64x4 size = magnitude(gap);
        return total < size ? size : total;
    }
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
    GNOMON_INLINE static f64x4 added(f64x4 total, f64x4 gap, double period) {
        const f64x4 one_way = magnitude(gap), other_way = period - one_way;
        const f64x4 shorter = other_way < one_way ? other_way : one_way;
        return total + shorter * shorter;
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

// Whether a column in neither row adds nothing, and what is not stored counts as zero.
template <class Kernel>
inline constexpr bool kOfDifferences = requires(f64x4 x) { Kernel::added(x, x, 1.0); };

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

// The value, or zero, without a branch.
double value_if(bool yes, double value) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & (std::uint64_t{0} - std::uint64_t{yes}));
}

// The value of one pair by a walk through both rows: differences are taken before anything is summed. The walk ends
// where the value has passed `limit`, for metrics whose values only grow.
template <class Kernel>
double pair_value(const Row& a, const Row& b, std::span<const double> columns, double a_alone, double b_alone,
                  double limit = std::numeric_limits<double>::infinity()) {
    double total = 0.0;
    std::size_t i = 0, j = 0;
    while (i < a.size && j < b.size && total <= limit) {  // without branches, which could not be foretold
        const std::int32_t first = a.columns[i], second = b.columns[j];
        const double weight = parameter(columns, std::min(first, second));
        if constexpr (kOfDifferences<Kernel>) {
            const double x = value_if(first <= second, a.values[i]), y = value_if(second <= first, b.values[j]);
            total = Kernel::join(total, Kernel::both(x, y, weight));
        } else {
            const double x = a.values[i], y = b.values[j];
            const double one = Kernel::alone(first < second ? x : y, weight), both = Kernel::both(x, y, weight);
            total = Kernel::join(total, first == second ? both : one);
        }
        i += first <= second;
        j += second <= first;
    }
    for (; i < a.size && total <= limit; ++i)
        total = Kernel::join(total, Kernel::alone(a.values[i], parameter(columns, a.columns[i])));
    for (; j < b.size && total <= limit; ++j)
        total = Kernel::join(total, Kernel::alone(b.values[j], parameter(columns, b.columns[j])));
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

// Adds the terms of some columns of a query and of kTogether others (n_columns, kTogether), which are cleared.
template <class Kernel>
const auto add_columns = each_level([](const double* query, double* others, const double* parameters,
                                       std::size_t n_columns, double* totals) GNOMON_INLINE_LAMBDA {
    f64x4 first, second, third, fourth;
    std::memcpy(&first, totals, sizeof(first));
    std::memcpy(&second, totals + 4, sizeof(second));
    std::memcpy(&third, totals + 8, sizeof(third));
    std::memcpy(&fourth, totals + 12, sizeof(fourth));
    for (std::size_t c = 0; c < n_columns; ++c) {
        const f64x4 zero{}, x = zero + query[c];
        const auto add = [&](f64x4& total, double* row) GNOMON_INLINE_LAMBDA {
            f64x4 y;
            std::memcpy(&y, row, sizeof(y));
            total = Kernel::added(total, x - y, parameters[c]);
            std::memcpy(row, &zero, sizeof(zero));
        };
        double* rows = others + c * kTogether;
        add(first, rows);
        add(second, rows + 4);
        add(third, rows + 8);
        add(fourth, rows + 12);
    }
    std::memcpy(totals, &first, sizeof(first));
    std::memcpy(totals + 4, &second, sizeof(second));
    std::memcpy(totals + 8, &third, sizeof(third));
    std::memcpy(totals + 12, &fourth, sizeof(fourth));
});

// The values of pairs of one query, as pair_value gives them. Scratch space of one worker.
template <class Kernel>
class QueryPairs {
public:
    QueryPairs(const MetricOptions<double>& options, const SparseRows<double>& base, std::span<const double> base_alone)
        : base_(base), columns_(options.columns), base_alone_(base_alone) {}

    void load(const Row& query) {
        for (std::size_t e = 0; e < query_.size && !written_.empty(); ++e)
            written_[static_cast<std::size_t>(query_.columns[e])] = 0.0;
        query_ = query;
        own_ = sum_alone<Kernel>(query, columns_);
    }

    /// Writes values of the query and the rows that `row` numbers from 0 to count.
    template <class Number>
    void values(std::size_t count, Number&& row, double* out) {
        std::size_t begin = 0;
        if constexpr (kOfDifferences<Kernel>)
            for (; begin < count; begin += kTogether)
                if (!values_together(
                        std::min(kTogether, count - begin), [&](std::size_t j) { return row(begin + j); }, out + begin))
                    break;
        for (; begin < count; ++begin) {
            const std::size_t j = row(begin);
            out[begin] = pair_value<Kernel>(query_, row_of(base_, j), columns_, own_, base_alone_[j]);
        }
    }

private:
    // Of up to kTogether rows, over all columns; false where a walk is faster.
    template <class Number>
    bool values_together(std::size_t count, Number&& row, double* out) {
        Row rows[kTogether] = {};
        std::size_t stored = count * query_.size;
        for (std::size_t j = 0; j < count; ++j) {
            rows[j] = row_of(base_, row(j));
            stored += rows[j].size;
        }
        const std::size_t n_columns = base_.n_features;
        if (n_columns * kTogether > kSparse * stored) return false;
        if (written_.empty()) {
            written_.resize(n_columns);
            panel_.resize(std::min(kPanel, n_columns) * kTogether);
            if (columns_.empty()) ones_.assign(n_columns, 1.0);
        }
        for (std::size_t e = 0; e < query_.size; ++e)
            written_[static_cast<std::size_t>(query_.columns[e])] = query_.values[e];
        const double* parameters = columns_.empty() ? ones_.data() : columns_.data();
        double totals[kTogether] = {};
        for (std::size_t first = 0; first < n_columns; first += kPanel) {
            const std::size_t end = std::min(first + kPanel, n_columns);
            for (std::size_t j = 0; j < count; ++j) {
                Row& left = rows[j];
                std::size_t e = 0;
                for (; e < left.size && static_cast<std::size_t>(left.columns[e]) < end; ++e)
                    panel_[(static_cast<std::size_t>(left.columns[e]) - first) * kTogether + j] = left.values[e];
                left = {left.columns + e, left.values + e, left.size - e};
            }
            add_columns<Kernel>(written_.data() + first, panel_.data(), parameters + first, end - first, totals);
        }
        for (std::size_t j = 0; j < count; ++j) out[j] = Kernel::value(totals[j], own_, base_alone_[row(j)]);
        return true;
    }

    const SparseRows<double>& base_;
    std::span<const double> columns_, base_alone_;
    Row query_{};
    double own_ = 0.0;
    std::vector<double> written_, ones_;  // (n_features): the query, and parameters where there are none
    LineVector<double> panel_;            // (kPanel, kTogether): zero between calls
};

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
            std::vector<double> values(width);
            QueryPairs<Kernel> pairs(options, base, alone);
            for (std::size_t place = begin; place < end; ++place) {
                const auto i = static_cast<std::size_t>(candidates.order[place]);
                const std::int32_t* rows = candidates.rows.row(i);
                const auto count = static_cast<std::size_t>(std::find(rows, rows + width, -1) - rows);
                pairs.load(row_of(queries, i));
                pairs.values(count, [&](std::size_t j) { return static_cast<std::size_t>(rows[j]); }, values.data());
                for (std::size_t j = 0; j < count; ++j) keys[j] = make_key(keys_of.key(values[j]), rows[j]);
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
            QueryPairs<Kernel> pairs(options, b, alone);
            for (std::size_t i = begin; i < end; ++i) {
                pairs.load(row_of(a, i));
                pairs.values(alone.size(), [](std::size_t j) { return j; }, out.row(i));
                for (std::size_t j = 0; j < alone.size(); ++j) out(i, j) = values.distance(out(i, j));
            }
        });
    });
}

}  // namespace gnomon
