#include "gnomon/contrast.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

/// Groups (n) of the rows of a table, which a sparse one holds column by column: its rows are the features.
nb::tuple contrasts(const Table& X, const Columns& groups, std::size_t n_groups, int n_threads) {
    const Arguments check("group_contrasts");
    const std::size_t D = X.is_sparse() ? X.n_rows() : X.n_features();
    check.length("groups", groups, X.is_sparse() ? X.n_features() : X.n_rows());
    check.at_least("n_groups", static_cast<std::int64_t>(n_groups), 1);
    check.at_most("n_groups", n_groups, groups.shape(0));
    check.indices("groups", view(groups), n_groups, -1);
    auto make = [&] { return make_output<double>({n_groups, D}); };
    auto auc = make(), mean = make(), rest_mean = make(), effect = make();
    auto variance = make(), rest_variance = make(), spread = make(), rest_spread = make();
    auto as_span = [&](auto& a) { return Span2<double>(a.data(), n_groups, D); };
    const ContrastOutputs out{as_span(auc),      as_span(mean),          as_span(rest_mean), as_span(effect),
                              as_span(variance), as_span(rest_variance), as_span(spread),    as_span(rest_spread)};
    run_released(n_threads,
                 [&](const Context& context) { group_contrasts(X.rows(), view(groups), n_groups, out, context); });
    return nb::make_tuple(auc, mean, rest_mean, effect, variance, rest_variance, spread, rest_spread);
}

}  // namespace

void register_contrast(nb::module_& m) {
    m.def("group_contrasts", &contrasts, nb::arg("X"), nb::arg("groups").noconvert(), nb::arg("n_groups"),
          nb::arg("n_threads"),
          "AUC, mean, mean of the rest, Cohen's d, variance, variance of the rest, and over both sides the variance of "
          "the share of the other side that a row beats, of every group and feature. A sparse table is given by its "
          "columns, (n_features, n).");
}

}  // namespace gnomon::bindings
