#include "gnomon/contrast.hpp"
#include "row_source.hpp"

namespace gnomon::bindings {
namespace {

nb::tuple contrasts(const RowSource& X, std::size_t n_features, const Columns& groups, std::size_t n_groups,
                    int n_threads) {
    auto make = [&] { return make_output<double>({n_groups, n_features}); };
    auto auc = make(), mean = make(), rest_mean = make(), effect = make();
    auto as_span = [&](auto& a) { return Span2<double>(a.data(), n_groups, n_features); };
    const ContrastOutputs out{as_span(auc), as_span(mean), as_span(rest_mean), as_span(effect)};
    run_released(n_threads,
                 [&](const Context& context) { group_contrasts(X, view(groups), n_groups, out, context); });
    return nb::make_tuple(auc, mean, rest_mean, effect);
}

}  // namespace

void register_contrast(nb::module_& m) {
    m.def(
        "group_contrasts",
        [](const AnyMatrix& X, const Columns& groups, std::size_t n_groups, int n_threads) {
            return contrasts(dense_rows(X), X.shape(1), groups, n_groups, n_threads);
        },
        nb::arg("X").noconvert(), nb::arg("groups").noconvert(), nb::arg("n_groups"), nb::arg("n_threads"),
        "AUC, mean, mean of the rest and Cohen's d of every group and feature.");
    m.def(
        "group_contrasts_sparse",
        [](const Offsets& offsets, const Columns& rows, const AnyVector& values, const Columns& groups,
           std::size_t n_groups, int n_threads) {
            return contrasts(sparse_rows(offsets, rows, values, groups.shape(0)), offsets.shape(0) - 1, groups, n_groups,
                             n_threads);
        },
        nb::arg("offsets").noconvert(), nb::arg("rows").noconvert(), nb::arg("values").noconvert(),
        nb::arg("groups").noconvert(), nb::arg("n_groups"), nb::arg("n_threads"),
        "group_contrasts of a table in CSC form without duplicate entries.");
}

}  // namespace gnomon::bindings
