#include "gnomon/contrast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gnomon/radix_sort.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kColumnsPerChunk = 8;
constexpr std::size_t kSmall = 512;  // fewer entries than this are sorted by comparison

template <class Key>
struct Entry {
    Key key;
    std::uint32_t group;
};

struct Groups {
    std::span<const std::int32_t> of_row;
    std::vector<std::uint64_t> sizes;
    std::uint64_t n = 0;  // rows in some group
};

struct Moments {
    double count = 0, mean = 0, square = 0;  // square: sum of squared deviations from the mean
};

// What one column says of every group.
struct Summary {
    explicit Summary(std::size_t n_groups)
        : run(n_groups),
          below(n_groups),
          twice_u(n_groups),
          passed(n_groups),
          inside_square(n_groups),
          rest_square(n_groups),
          moments(n_groups) {}

    std::vector<std::uint64_t> run, below, twice_u;
    std::vector<std::uint64_t> passed;  // rows of the rest that rest_square knows of
    // Twice the pairs won less those lost, of each row of the group with the rest and the other way round, squared.
    std::vector<double> inside_square, rest_square;
    std::vector<std::uint32_t> touched;
    std::vector<Moments> moments;
    std::span<const std::uint64_t> sizes;
    std::uint64_t n = 0, n_below = 0;

    void begin_ranks(std::span<const std::uint64_t> group_sizes, std::uint64_t n_rows) {
        std::fill(below.begin(), below.end(), 0);
        std::fill(twice_u.begin(), twice_u.end(), 0);
        std::fill(passed.begin(), passed.end(), 0);
        std::fill(inside_square.begin(), inside_square.end(), 0.0);
        std::fill(rest_square.begin(), rest_square.end(), 0.0);
        sizes = group_sizes;
        n = n_rows;
        n_below = 0;
    }

    static double times_square(std::uint64_t count, std::uint64_t won, std::uint64_t lost) {
        const double lead = static_cast<double>(won) - static_cast<double>(lost);
        return static_cast<double>(count) * lead * lead;
    }

    // Rows of the rest that came since the last row of the group all lie below the same rows of it.
    void pass_rest(std::uint32_t g, std::uint64_t n_rest_below) {
        rest_square[g] += times_square(n_rest_below - passed[g], sizes[g] - below[g], below[g]);
        passed[g] = n_rest_below;
    }

    void close_run() {
        std::uint64_t total = 0;
        for (const std::uint32_t g : touched) total += run[g];
        for (const std::uint32_t g : touched) {
            // Pairs with the rest below count twice, tied pairs once.
            const std::uint64_t rest_below = n_below - below[g], tied = total - run[g];
            twice_u[g] += run[g] * (2 * rest_below + tied);
            inside_square[g] += times_square(run[g], rest_below, n - sizes[g] - rest_below - tied);
            pass_rest(g, rest_below);
            rest_square[g] += times_square(tied, sizes[g] - below[g] - run[g], below[g]);
            passed[g] += tied;
        }
        for (const std::uint32_t g : touched) {
            below[g] += run[g];
            run[g] = 0;
        }
        n_below += total;
        touched.clear();
    }

    void add_to_run(std::uint32_t g, std::uint64_t count) {
        if (count == 0) return;
        if (run[g] == 0) touched.push_back(g);
        run[g] += count;
    }

    // Mean and squared deviations of all groups but one.
    Moments rest_of(std::size_t g) const {
        const double shift = moments[g == 0 ? std::min<std::size_t>(1, moments.size() - 1) : 0].mean;
        Moments rest;
        for (std::size_t h = 0; h < moments.size(); ++h) {
            if (h == g) continue;
            rest.count += moments[h].count;
            rest.mean += moments[h].count * (moments[h].mean - shift);
        }
        rest.mean = shift + rest.mean / rest.count;
        for (std::size_t h = 0; h < moments.size(); ++h) {
            if (h == g) continue;
            const double gap = moments[h].mean - rest.mean;
            rest.square += moments[h].square + moments[h].count * gap * gap;
        }
        return rest;
    }

    // Variance of the share of `others` that each of `count` rows lies above, from the sum of (won - lost)^2 over them.
    static double spread_of(double square, double lead, std::uint64_t count, std::uint64_t others) {
        if (count < 2) return std::numeric_limits<double>::quiet_NaN();
        const auto rows = static_cast<double>(count), pairs = 2.0 * static_cast<double>(others);
        return std::max(0.0, square - lead * lead / rows) / (rows - 1) / (pairs * pairs);
    }

    static double variance_of(const Moments& m) {
        return m.count > 1 ? m.square / (m.count - 1) : std::numeric_limits<double>::quiet_NaN();
    }

    void write(std::size_t f, const ContrastOutputs& out) {
        for (std::size_t g = 0; g < sizes.size(); ++g) {
            const Moments &in = moments[g], rest = rest_of(g);
            const double pairs = static_cast<double>(sizes[g]) * static_cast<double>(n - sizes[g]);
            const double gap = in.mean - rest.mean, freedom = in.count + rest.count - 2;
            const double deviation = freedom > 0 ? std::sqrt((in.square + rest.square) / freedom) : 0.0;
            out.auc(g, f) = static_cast<double>(twice_u[g]) / (2 * pairs);
            out.mean(g, f) = in.mean;
            out.rest_mean(g, f) = rest.mean;
            out.variance(g, f) = variance_of(in);
            out.rest_variance(g, f) = variance_of(rest);
            pass_rest(static_cast<std::uint32_t>(g), n - sizes[g]);
            const double lead = static_cast<double>(twice_u[g]) - pairs;  // pairs won less pairs lost
            out.spread(g, f) = spread_of(inside_square[g], lead, sizes[g], n - sizes[g]);
            out.rest_spread(g, f) = spread_of(rest_square[g], lead, n - sizes[g], sizes[g]);
            if (deviation > 0)
                out.effect(g, f) = gap / deviation;
            else
                out.effect(g, f) = gap == 0 ? 0.0 : std::copysign(std::numeric_limits<double>::infinity(), gap);
        }
    }
};

// One column: values of grouped rows, and how many rows of each group hold an unlisted zero.
template <class T>
struct Column : Summary {
    using Key = SortKey<T>;

    enum class State : std::uint8_t { empty, constant, varying };

    explicit Column(std::size_t n_groups)
        : Summary(n_groups), constants(n_groups), states(n_groups, State::empty), zeros(n_groups) {}

    std::vector<double> constants;  // of the groups of one value
    std::vector<State> states;
    std::vector<T> values;
    std::vector<std::uint32_t> labels;
    std::vector<std::uint64_t> zeros;
    std::vector<Entry<Key>> entries;
    RadixSort<Entry<Key>> by_digits;

    void clear() {
        values.clear();
        labels.clear();
    }

    void note(std::uint32_t g, double value) {
        if (states[g] == State::empty) {
            states[g] = State::constant;
            constants[g] = value;
        } else if (value != constants[g]) {
            states[g] = State::varying;
        }
    }

    // Deviations are taken from the first value, so the means of a constant column are exactly that constant. So is
    // that of a group of one value, whatever others hold: rounding of its sum would pass for a spread within it.
    void find_moments(std::span<const std::uint64_t> sizes) {
        const bool has_zeros = std::any_of(zeros.begin(), zeros.end(), [](std::uint64_t z) { return z > 0; });
        const double shift = has_zeros || values.empty() ? 0.0 : static_cast<double>(values.front());
        for (std::size_t g = 0; g < sizes.size(); ++g)
            moments[g] = {static_cast<double>(sizes[g]), -shift * static_cast<double>(zeros[g]), 0.0};
        for (std::size_t e = 0; e < values.size(); ++e)
            moments[labels[e]].mean += static_cast<double>(values[e]) - shift;
        for (std::size_t g = 0; g < sizes.size(); ++g) {
            constants[g] = 0.0;
            states[g] = zeros[g] > 0 ? State::constant : State::empty;
        }
        for (std::size_t e = 0; e < values.size(); ++e) note(labels[e], static_cast<double>(values[e]));
        for (std::size_t g = 0; g < sizes.size(); ++g) {
            Moments& m = moments[g];
            m.mean = states[g] == State::constant ? constants[g] : shift + m.mean / m.count;
        }
        for (std::size_t g = 0; g < sizes.size(); ++g)
            moments[g].square = static_cast<double>(zeros[g]) * moments[g].mean * moments[g].mean;
        for (std::size_t e = 0; e < values.size(); ++e) {
            const double deviation = static_cast<double>(values[e]) - moments[labels[e]].mean;
            moments[labels[e]].square += deviation * deviation;
        }
    }

    void find_ranks(std::span<const std::uint64_t> sizes, std::uint64_t n) {
        entries.resize(values.size());
        for (std::size_t e = 0; e < values.size(); ++e) entries[e] = {sort_key(values[e]), labels[e]};
        if (entries.size() < kSmall)
            std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
        else
            by_digits.sort(entries);
        begin_ranks(sizes, n);
        const Key zero = sort_key(T{0});
        bool zeros_done = false;
        auto add_zeros = [&] {
            for (std::size_t g = 0; g < zeros.size(); ++g) add_to_run(static_cast<std::uint32_t>(g), zeros[g]);
            zeros_done = true;
        };
        for (std::size_t e = 0; e < entries.size();) {
            const Key key = entries[e].key;
            if (!zeros_done && key >= zero) {
                add_zeros();
                if (key > zero) close_run();
            }
            for (; e < entries.size() && entries[e].key == key; ++e) add_to_run(entries[e].group, 1);
            close_run();
        }
        if (!zeros_done) add_zeros();
        close_run();
    }

    void find(const Groups& groups) {
        find_moments(groups.sizes);
        find_ranks(groups.sizes, groups.n);
    }
};

// One column of bytes: how many rows of each group hold each value.
template <>
struct Column<std::uint8_t> : Summary {
    static constexpr std::size_t kValues = 256;

    explicit Column(std::size_t n_groups) : Summary(n_groups), counts(kValues * n_groups) {}

    std::vector<std::uint32_t> counts;  // (kValues, n_groups)
    std::uint8_t first = 0;             // from which deviations are taken, as in other columns

    void find(const Groups& groups) {
        const std::vector<std::uint64_t>& sizes = groups.sizes;
        const std::size_t n_groups = sizes.size();
        const double shift = static_cast<double>(first);
        for (std::size_t g = 0; g < n_groups; ++g) moments[g] = {static_cast<double>(sizes[g]), 0.0, 0.0};
        each_count([&](double x, std::size_t g, double count) { moments[g].mean += (x - shift) * count; });
        for (Moments& m : moments) m.mean = shift + m.mean / m.count;
        each_count([&](double x, std::size_t g, double count) {
            moments[g].square += (x - moments[g].mean) * (x - moments[g].mean) * count;
        });
        begin_ranks(sizes, groups.n);
        for (std::size_t x = 0; x < kValues; ++x) {
            for (std::size_t g = 0; g < n_groups; ++g)
                add_to_run(static_cast<std::uint32_t>(g), counts[x * n_groups + g]);
            close_run();
        }
    }

private:
    template <class Body>
    void each_count(const Body& body) const {
        const std::size_t n_groups = moments.size();
        for (std::size_t x = 0; x < kValues; ++x)
            for (std::size_t g = 0; g < n_groups; ++g)
                if (const std::uint32_t count = counts[x * n_groups + g]; count > 0)
                    body(static_cast<double>(x), g, static_cast<double>(count));
    }
};

template <class T>
void contrast_columns(const Span2<const T>& X, const Groups& groups, std::size_t begin, std::size_t end,
                      std::vector<Column<T>>& columns, const ContrastOutputs& out) {
    for (std::size_t f = begin; f < end; ++f) {
        columns[f - begin].clear();
        std::fill(columns[f - begin].zeros.begin(), columns[f - begin].zeros.end(), 0);
    }
    // A few columns together, so that every cache line of the rows is read once.
    for (std::size_t i = 0; i < X.rows(); ++i) {
        if (groups.of_row[i] < 0) continue;
        for (std::size_t f = begin; f < end; ++f) {
            columns[f - begin].values.push_back(X(i, f));
            columns[f - begin].labels.push_back(static_cast<std::uint32_t>(groups.of_row[i]));
        }
    }
    for (std::size_t f = begin; f < end; ++f) {
        columns[f - begin].find(groups);
        columns[f - begin].write(f, out);
    }
}

void contrast_columns(const Span2<const std::uint8_t>& X, const Groups& groups, std::size_t begin, std::size_t end,
                      std::vector<Column<std::uint8_t>>& columns, const ContrastOutputs& out) {
    const std::size_t n_groups = groups.sizes.size();
    const auto known = std::find_if(groups.of_row.begin(), groups.of_row.end(), [](std::int32_t g) { return g >= 0; });
    for (std::size_t f = begin; f < end; ++f) {
        Column<std::uint8_t>& column = columns[f - begin];
        std::fill(column.counts.begin(), column.counts.end(), 0U);
        column.first = X(static_cast<std::size_t>(known - groups.of_row.begin()), f);
    }
    for (std::size_t i = 0; i < X.rows(); ++i) {
        if (groups.of_row[i] < 0) continue;
        const auto g = static_cast<std::size_t>(groups.of_row[i]);
        for (std::size_t f = begin; f < end; ++f) ++columns[f - begin].counts[X(i, f) * n_groups + g];
    }
    for (std::size_t f = begin; f < end; ++f) {
        columns[f - begin].find(groups);
        columns[f - begin].write(f, out);
    }
}

template <class T>
void contrast_columns(const SparseRows<T>& X, const Groups& groups, std::size_t begin, std::size_t end,
                      std::vector<Column<T>>& columns, const ContrastOutputs& out) {
    Column<T>& column = columns.front();
    for (std::size_t f = begin; f < end; ++f) {
        column.clear();
        std::copy(groups.sizes.begin(), groups.sizes.end(), column.zeros.begin());
        for (auto e = static_cast<std::size_t>(X.matrix.offsets[f]);
             e < static_cast<std::size_t>(X.matrix.offsets[f + 1]); ++e) {
            const std::int32_t group = groups.of_row[static_cast<std::size_t>(X.matrix.columns[e])];
            if (group < 0) continue;
            column.values.push_back(X.matrix.values[e]);
            column.labels.push_back(static_cast<std::uint32_t>(group));
            --column.zeros[static_cast<std::size_t>(group)];
        }
        column.find(groups);
        column.write(f, out);
    }
}

template <class T>
T element_of(const Span2<const T>&);
template <class T>
T element_of(const SparseRows<T>&);

}  // namespace

void group_contrasts(const RowSource& X, std::span<const std::int32_t> groups, std::size_t n_groups,
                     const ContrastOutputs& out, const Context& context) {
    Groups known{groups, std::vector<std::uint64_t>(n_groups, 0), 0};
    for (const std::int32_t g : groups)
        if (g >= 0) {
            ++known.sizes[static_cast<std::size_t>(g)];
            ++known.n;
        }
    std::visit(
        [&](const auto& source) {
            using T = decltype(element_of(source));
            const auto n_workers = static_cast<std::size_t>(std::max(context.n_threads, 1));
            std::vector<std::vector<Column<T>>> scratch(n_workers,
                                                        std::vector<Column<T>>(kColumnsPerChunk, Column<T>(n_groups)));
            parallel_blocks(out.auc.cols(), kColumnsPerChunk, context,
                            [&](std::size_t begin, std::size_t end, std::size_t worker) {
                                contrast_columns(source, known, begin, end, scratch[worker], out);
                            });
        },
        X);
}

}  // namespace gnomon
