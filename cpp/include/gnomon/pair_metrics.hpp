// Distances that are no Euclidean length of anything: between dense rows by register tiles, between sets by bits, and
// between sparse rows through the columns they share. Every distance is a function of its two rows alone, whichever
// function asks for it and with however many threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gnomon/parallel.hpp"
#include "gnomon/rows.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

enum class PairMetric {
    euclidean,  ///< of sparse rows; a parameter of each column is its weight, which may be negative
    manhattan,  ///< sum of |x - y|
    chebyshev,  ///< largest |x - y|
    wrapped,    ///< length of the differences by the shorter way round; the parameters are periods > |x - y|, or inf
    hamming,    ///< share of the columns in which the rows differ
    rogers_tanimoto,  ///< 2 h / (1 + h) of the share h of the columns in which the rows differ
    ruzicka,          ///< 1 - sum of the smaller values / sum of the larger ones, which are not negative
    jaccard,          ///< of the columns that are set in one row, the share not set in both; rows of bits, or sparse
    dice,             ///< j / (2 - j) of that share j; likewise
    sokal_sneath,     ///< 2 j / (1 + j) of that share j; likewise
};

/// Whether rows are compared as sets, dense ones as bits.
constexpr bool is_of_sets(PairMetric metric) { return metric >= PairMetric::jaccard; }

/// Rows that search and where their results go: self[i] is the row not to be found, or -1; indices and distances
/// (n, k), ascending by (distance, index), ending in -1 and infinity where fewer exist.
struct MetricNeighbors {
    std::span<const std::int32_t> self;
    Span2<std::int32_t> indices;
    Span2<float> distances;
};

/// Candidates (n, c) of each query, -1 behind the last, visited in `order` for the caches' sake.
struct MetricCandidates {
    Span2<const std::int32_t> rows;
    std::span<const std::int32_t> order;
};

/// How rows are compared. `columns` holds a parameter of each column, or nothing; `scale`, a power of two, keeps
/// distances inside the range of float32 while they are ranked.
template <class T>
struct MetricOptions {
    PairMetric metric;
    std::span<const T> columns;
    double scale = 1.0;
};

/// The nearest rows of base for each query among all of them. T: float, double, or std::uint64_t for bits (of sets).
template <class T>
void metric_neighbors(const MetricOptions<T>& options, Span2<const T> base, Span2<const T> queries,
                      const MetricNeighbors& found, const Context& context);

/// The nearest of the candidates of each query; `found.self` is not looked at.
template <class T>
void metric_rank(const MetricOptions<T>& options, Span2<const T> base, Span2<const T> queries,
                 const MetricCandidates& candidates, const MetricNeighbors& found, const Context& context);

/// All distances, (rows of a, rows of b).
template <class T>
void metric_distances(const MetricOptions<T>& options, Span2<const T> a, Span2<const T> b, Span2<double> out,
                      const Context& context);

/// The same for sparse rows. `columns` are the base's columns: its transpose.
void sparse_metric_neighbors(const MetricOptions<double>& options, const SparseRows<double>& base,
                             const SparseRows<double>& columns, const SparseRows<double>& queries,
                             const MetricNeighbors& found, const Context& context);
void sparse_metric_rank(const MetricOptions<double>& options, const SparseRows<double>& base,
                        const SparseRows<double>& queries, const MetricCandidates& candidates,
                        const MetricNeighbors& found, const Context& context);
void sparse_metric_distances(const MetricOptions<double>& options, const SparseRows<double>& a,
                             const SparseRows<double>& b, Span2<double> out, const Context& context);

}  // namespace gnomon
