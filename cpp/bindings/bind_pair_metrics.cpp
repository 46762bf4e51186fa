#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <string>
#include <type_traits>
#include <utility>

#include "checks.hpp"
#include "gnomon/pair_metrics.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

using Found = std::pair<Output<std::int32_t>, Output<float>>;

PairMetric metric_named(const Arguments& check, const std::string& name, bool bits, bool sparse) {
    const std::pair<const char*, PairMetric> metrics[] = {
        {"euclidean", PairMetric::euclidean}, {"manhattan", PairMetric::manhattan},
        {"chebyshev", PairMetric::chebyshev}, {"wrapped", PairMetric::wrapped},
        {"hamming", PairMetric::hamming},     {"rogerstanimoto", PairMetric::rogers_tanimoto},
        {"ruzicka", PairMetric::ruzicka},     {"jaccard", PairMetric::jaccard},
        {"dice", PairMetric::dice},           {"sokalsneath", PairMetric::sokal_sneath},
    };
    for (const auto& [known, metric] : metrics) {
        const bool dense = bits == is_of_sets(metric) && metric != PairMetric::euclidean;
        if (name == known && (sparse || dense)) return metric;
    }
    check.refuse("metric", "the name of a metric of such rows", "found " + name);
}

void check_parameters(const Arguments& check, PairMetric metric, std::size_t n, std::size_t n_columns) {
    if (n != 0 || metric == PairMetric::wrapped) check.equal("the length of parameters", n, n_columns);
}

void check_base(const Arguments& check, std::size_t n_rows, std::size_t n_columns, std::size_t k) {
    check.at_least("the number of rows", static_cast<std::int64_t>(n_rows), 1);
    check.at_most("the number of rows", n_rows, INT32_MAX);
    check.at_least("the number of columns", static_cast<std::int64_t>(n_columns), 1);
    check.at_least("k", static_cast<std::int64_t>(k), 1);
    check.at_most("k", k, kMostNeighbors);
}

void check_candidates(const Arguments& check, const IndexRows& candidates, const Indices& order, std::size_t n_base,
                      std::size_t n_queries, std::size_t k) {
    check.equal("the number of rows of candidates", candidates.shape(0), n_queries);
    check.at_most("k", k, candidates.shape(1));
    check.indices("candidates", candidates, n_base, -1);
    check.permutation("order", view(order), n_queries);
}

// Makes room for the results, runs search(found, context) and returns them.
template <class Search>
Found neighbors_of(std::size_t n_queries, std::size_t k, std::span<const std::int32_t> self, int n_threads,
                   Search&& search) {
    auto indices = make_output<std::int32_t>({n_queries, k});
    auto distances = make_output<float>({n_queries, k});
    const MetricNeighbors found{self, {indices.data(), n_queries, k}, {distances.data(), n_queries, k}};
    run_released(n_threads, [&](const Context& context) { search(found, context); });
    return {std::move(indices), std::move(distances)};
}

template <class T>
void register_dense(nb::module_& m) {
    using Data = Matrix<const T>;
    using Parameters = Vector<const T>;
    constexpr bool bits = std::is_same_v<T, std::uint64_t>;
    m.def(
        "metric_neighbors",
        [](const std::string& metric, const Data& base, const Data& queries, const Indices& self,
           const Parameters& parameters, double scale, std::size_t k, int n_threads) {
            const Arguments check("metric_neighbors");
            const MetricOptions<T> options{metric_named(check, metric, bits, false), view(parameters), scale};
            check_base(check, base.shape(0), base.shape(1), k);
            check_parameters(check, options.metric, parameters.shape(0), base.shape(1));
            check.equal("the number of columns of queries", queries.shape(1), base.shape(1));
            check.length("self", self, queries.shape(0));
            check.indices("self", view(self), base.shape(0), -1);
            return neighbors_of(queries.shape(0), k, view(self), n_threads,
                                [&](const auto& found, const auto& context) {
                                    metric_neighbors(options, view(base), view(queries), found, context);
                                });
        },
        nb::arg("metric"), nb::arg("base").noconvert(), nb::arg("queries").noconvert(), nb::arg("self").noconvert(),
        nb::arg("parameters").noconvert(), nb::arg("scale"), nb::arg("k"), nb::arg("n_threads"),
        "Return the k nearest rows of base for each query, except row self[i], and their distances.");
    m.def(
        "metric_rank",
        [](const std::string& metric, const Data& base, const Data& queries, const IndexRows& candidates,
           const Indices& order, const Parameters& parameters, double scale, std::size_t k, int n_threads) {
            const Arguments check("metric_rank");
            const MetricOptions<T> options{metric_named(check, metric, bits, false), view(parameters), scale};
            check_base(check, base.shape(0), base.shape(1), k);
            check_parameters(check, options.metric, parameters.shape(0), base.shape(1));
            check.equal("the number of columns of queries", queries.shape(1), base.shape(1));
            check_candidates(check, candidates, order, base.shape(0), queries.shape(0), k);
            return neighbors_of(queries.shape(0), k, {}, n_threads, [&](const auto& found, const auto& context) {
                metric_rank(options, view(base), view(queries), {view(candidates), view(order)}, found, context);
            });
        },
        nb::arg("metric"), nb::arg("base").noconvert(), nb::arg("queries").noconvert(),
        nb::arg("candidates").noconvert(), nb::arg("order").noconvert(), nb::arg("parameters").noconvert(),
        nb::arg("scale"), nb::arg("k"), nb::arg("n_threads"),
        "Return the k nearest of each query's candidates and their distances.");
    m.def(
        "metric_distances",
        [](const std::string& metric, const Data& a, const Data& b, const Parameters& parameters, int n_threads) {
            const Arguments check("metric_distances");
            const MetricOptions<T> options{metric_named(check, metric, bits, false), view(parameters)};
            check_base(check, a.shape(0), a.shape(1), 1);
            check_parameters(check, options.metric, parameters.shape(0), a.shape(1));
            check.equal("the number of columns of b", b.shape(1), a.shape(1));
            auto out = make_output<double>({a.shape(0), b.shape(0)});
            run_released(n_threads, [&](const Context& context) {
                metric_distances(options, view(a), view(b), {out.data(), a.shape(0), b.shape(0)}, context);
            });
            return out;
        },
        nb::arg("metric"), nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("parameters").noconvert(),
        nb::arg("n_threads"), "Return the distances between all rows of a and all rows of b.");
}

const SparseRows<double>& sparse(const Arguments& check, std::string_view what, const Table& table) {
    const auto* rows = std::get_if<SparseRows<double>>(&table.rows());
    if (rows == nullptr) check.refuse(what, "a sparse table of float64");
    return *rows;
}

using Parameters = Vector<const double>;

MetricOptions<double> sparse_options(const Arguments& check, const std::string& metric, const Parameters& parameters,
                                     const Table& base, const Table& others, double scale) {
    const PairMetric named = metric_named(check, metric, false, true);
    check_parameters(check, named, parameters.shape(0), base.n_features());
    check.equal("the number of columns", others.n_features(), base.n_features());
    return {named, view(parameters), scale};
}

void register_sparse(nb::module_& m) {
    m.def(
        "sparse_metric_neighbors",
        [](const std::string& metric, const Table& base, const Table& columns, const Table& queries,
           const Indices& self, const Parameters& parameters, double scale, std::size_t k, int n_threads) {
            const Arguments check("sparse_metric_neighbors");
            const auto options = sparse_options(check, metric, parameters, base, queries, scale);
            check_base(check, base.n_rows(), base.n_features(), k);
            check.equal("the number of rows of columns", columns.n_rows(), base.n_features());
            check.equal("the number of columns of columns", columns.n_features(), base.n_rows());
            check.length("self", self, queries.n_rows());
            check.indices("self", view(self), base.n_rows(), -1);
            const auto &rows = sparse(check, "base", base), &transposed = sparse(check, "columns", columns),
                       &asking = sparse(check, "queries", queries);
            return neighbors_of(queries.n_rows(), k, view(self), n_threads,
                                [&](const auto& found, const auto& context) {
                                    sparse_metric_neighbors(options, rows, transposed, asking, found, context);
                                });
        },
        nb::arg("metric"), nb::arg("base"), nb::arg("columns"), nb::arg("queries"), nb::arg("self").noconvert(),
        nb::arg("parameters").noconvert(), nb::arg("scale"), nb::arg("k"), nb::arg("n_threads"),
        "Return the k nearest sparse rows of base, given with its transpose, for each query, except row self[i].");
    m.def(
        "sparse_metric_rank",
        [](const std::string& metric, const Table& base, const Table& queries, const IndexRows& candidates,
           const Indices& order, const Parameters& parameters, double scale, std::size_t k, int n_threads) {
            const Arguments check("sparse_metric_rank");
            const auto options = sparse_options(check, metric, parameters, base, queries, scale);
            check_base(check, base.n_rows(), base.n_features(), k);
            check_candidates(check, candidates, order, base.n_rows(), queries.n_rows(), k);
            const auto &rows = sparse(check, "base", base), &asking = sparse(check, "queries", queries);
            return neighbors_of(queries.n_rows(), k, {}, n_threads, [&](const auto& found, const auto& context) {
                sparse_metric_rank(options, rows, asking, {view(candidates), view(order)}, found, context);
            });
        },
        nb::arg("metric"), nb::arg("base"), nb::arg("queries"), nb::arg("candidates").noconvert(),
        nb::arg("order").noconvert(), nb::arg("parameters").noconvert(), nb::arg("scale"), nb::arg("k"),
        nb::arg("n_threads"), "Return the k nearest of each sparse query's candidates and their distances.");
    m.def(
        "sparse_metric_distances",
        [](const std::string& metric, const Table& a, const Table& b, const Parameters& parameters, int n_threads) {
            const Arguments check("sparse_metric_distances");
            const auto options = sparse_options(check, metric, parameters, a, b, 1.0);
            const auto &left = sparse(check, "a", a), &right = sparse(check, "b", b);
            const std::size_t n = a.n_rows(), n_others = b.n_rows();
            auto out = make_output<double>({n, n_others});
            run_released(n_threads, [&](const Context& context) {
                sparse_metric_distances(options, left, right, {out.data(), n, n_others}, context);
            });
            return out;
        },
        nb::arg("metric"), nb::arg("a"), nb::arg("b"), nb::arg("parameters").noconvert(), nb::arg("n_threads"),
        "Return the distances between all sparse rows of a and all of b.");
}

}  // namespace

void register_pair_metrics(nb::module_& m) {
    register_dense<float>(m);
    register_dense<double>(m);
    register_dense<std::uint64_t>(m);
    register_sparse(m);
}

}  // namespace gnomon::bindings
