// Distances by tiles, by bits and of sparse rows against sums written out, and the neighbours they give.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "gnomon/pair_metrics.hpp"

using namespace gnomon;

namespace {

constexpr std::size_t kRows = 70, kColumns = 67;  // no multiples of the sides of a tile or of a piece
constexpr double kPeriod = 5.0;

std::vector<double> make_rows() {
    std::vector<double> rows(kRows * kColumns);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t at = i * 2654435761U % 1009;
        rows[i] = at % 3 == 0 ? 0.0 : static_cast<double>(at % 32) / 8.0;  // in [0, 4)
    }
    return rows;
}

double expected(PairMetric metric, const double* a, const double* b) {
    double sum = 0.0, largest = 0.0, either = 0.0, both = 0.0, unequal = 0.0, squares = 0.0;
    double smaller = 0.0, larger = 0.0;
    for (std::size_t k = 0; k < kColumns; ++k) {
        const double gap = std::abs(a[k] - b[k]), shorter = std::min(gap, kPeriod - gap);
        sum += gap;
        smaller += std::min(a[k], b[k]);
        larger += std::max(a[k], b[k]);
        largest = std::max(largest, gap);
        squares += metric == PairMetric::wrapped ? shorter * shorter : gap * gap;
        unequal += gap > 0.0 ? 1.0 : 0.0;
        either += a[k] != 0.0 || b[k] != 0.0 ? 1.0 : 0.0;
        both += a[k] != 0.0 && b[k] != 0.0 ? 1.0 : 0.0;
    }
    switch (metric) {
        case PairMetric::manhattan:
            return sum;
        case PairMetric::chebyshev:
            return largest;
        case PairMetric::hamming:
            return unequal / static_cast<double>(kColumns);
        case PairMetric::rogers_tanimoto:
            return 2.0 * unequal / (static_cast<double>(kColumns) + unequal);
        case PairMetric::ruzicka:
            return larger > 0.0 ? 1.0 - smaller / larger : 0.0;
        case PairMetric::jaccard:
            return either > 0.0 ? 1.0 - both / either : 0.0;
        case PairMetric::dice:
            return either > 0.0 ? (either - both) / (either + both) : 0.0;
        case PairMetric::sokal_sneath:
            return either > 0.0 ? 2.0 * (either - both) / (2.0 * either - both) : 0.0;
        default:
            return std::sqrt(squares);
    }
}

// A table without its zeros.
struct Stored {
    explicit Stored(const std::vector<double>& rows, std::size_t n, std::size_t d, bool transposed) {
        for (std::size_t i = 0; i < (transposed ? d : n); ++i) {
            for (std::size_t j = 0; j < (transposed ? n : d); ++j) {
                const double value = transposed ? rows[j * d + i] : rows[i * d + j];
                if (value == 0.0) continue;
                columns.push_back(static_cast<std::int32_t>(j));
                values.push_back(value);
            }
            offsets.push_back(static_cast<std::int64_t>(values.size()));
        }
        table = {{offsets, columns, values}, transposed ? n : d};
    }
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    SparseRows<double> table;
};

void check_matrix(PairMetric metric, const std::vector<double>& rows, const std::vector<double>& found) {
    double error = 0.0;
    for (std::size_t i = 0; i < kRows; ++i) {
        for (std::size_t j = 0; j < kRows; ++j) {
            const double true_one = expected(metric, rows.data() + i * kColumns, rows.data() + j * kColumns);
            error = std::max(error, std::abs(true_one - found[i * kRows + j]));
        }
    }
    CHECK(error < 1e-12);
}

void check_neighbors(const std::vector<double>& matrix, const std::vector<std::int32_t>& indices,
                     const std::vector<float>& distances, std::size_t k) {
    for (std::size_t i = 0; i < kRows; ++i) {
        std::vector<double> others;
        for (std::size_t j = 0; j < kRows; ++j) {
            if (j != i) others.push_back(matrix[i * kRows + j]);
        }
        std::sort(others.begin(), others.end());
        for (std::size_t j = 0; j < k; ++j) {
            const std::size_t place = i * k + j;
            CHECK(std::abs(static_cast<double>(distances[place]) - others[j]) < 1e-5);
            CHECK(indices[place] != static_cast<std::int32_t>(i));
            CHECK(j == 0 || distances[place] >= distances[place - 1]);
        }
    }
}

}  // namespace

int main() {
    const std::vector<double> rows = make_rows(), periods(kColumns, kPeriod), none;
    const Span2<const double> table(rows.data(), kRows, kColumns);
    const Stored stored(rows, kRows, kColumns, false), columns(rows, kRows, kColumns, true);
    std::vector<std::int32_t> self(kRows);
    for (std::size_t i = 0; i < kRows; ++i) self[i] = static_cast<std::int32_t>(i);
    constexpr std::size_t k = 6;
    for (const PairMetric metric :
         {PairMetric::euclidean, PairMetric::manhattan, PairMetric::chebyshev, PairMetric::wrapped, PairMetric::hamming,
          PairMetric::rogers_tanimoto, PairMetric::ruzicka, PairMetric::jaccard, PairMetric::dice,
          PairMetric::sokal_sneath}) {
        const std::span<const double> parameters(metric == PairMetric::wrapped ? periods : none);
        const MetricOptions<double> options{metric, parameters};
        std::vector<double> matrix(kRows * kRows);
        const Span2<double> out(matrix.data(), kRows, kRows);
        for (const int n_threads : {1, 3}) {
            const Context context{n_threads};
            std::vector<std::int32_t> indices(kRows * k);
            std::vector<float> distances(kRows * k);
            const MetricNeighbors found{self, {indices.data(), kRows, k}, {distances.data(), kRows, k}};
            sparse_metric_distances(options, stored.table, stored.table, out, context);
            check_matrix(metric, rows, matrix);
            sparse_metric_neighbors(options, stored.table, columns.table, stored.table, found, context);
            check_neighbors(matrix, indices, distances, k);
            if (metric == PairMetric::euclidean || is_of_sets(metric)) continue;  // of sparse rows, of bits
            metric_distances(options, table, table, out, context);
            check_matrix(metric, rows, matrix);
            metric_neighbors(options, table, table, found, context);
            check_neighbors(matrix, indices, distances, k);
        }
    }
    std::vector<std::uint64_t> bits(kRows * 2, 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t column = i % kColumns;
        if (rows[i] != 0.0) bits[i / kColumns * 2 + column / 64] |= std::uint64_t{1} << (column % 64);
    }
    std::vector<double> matrix(kRows * kRows);
    const Span2<const std::uint64_t> sets(bits.data(), kRows, 2);
    for (const PairMetric metric : {PairMetric::jaccard, PairMetric::dice, PairMetric::sokal_sneath}) {
        metric_distances({metric, {}}, sets, sets, {matrix.data(), kRows, kRows}, Context{2});
        check_matrix(metric, rows, matrix);
    }
    return failures;
}
