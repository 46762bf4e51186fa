#include "gnomon/jacobians.hpp"
#include "row_source.hpp"

namespace gnomon::bindings {
namespace {

using Rows = Vector<const std::int64_t>;

nb::tuple jacobians(const RowSource& X, const Matrix<const double>& Y, const Matrix<const std::int32_t>& indices,
                    const Matrix<const float>& weights, const Rows& rows, double ridge, double variance_share,
                    bool centered, int n_threads) {
    const std::size_t n = rows.shape(0), k = indices.shape(1), d = Y.shape(1);
    auto coefficients = make_output<double>({n, k, d});
    auto ellipses = make_output<double>({n, d, d});
    auto r2 = make_output<float>({n}), predicted_r2 = make_output<float>({n}), r2_error = make_output<float>({n});
    auto predicted_square = make_output<float>({n});
    auto dimension = make_output<std::int32_t>({n});
    const JacobianOutputs out{{coefficients.data(), n, k * d},
                              {ellipses.data(), n, d * d},
                              {r2.data(), n},
                              {predicted_r2.data(), n},
                              {r2_error.data(), n},
                              {predicted_square.data(), n},
                              {dimension.data(), n}};
    run_released(n_threads, [&](const Context& context) {
        local_jacobians(X, view(Y), {view(indices), view(weights)}, view(rows), {ridge, variance_share, centered}, out,
                        context);
    });
    return nb::make_tuple(coefficients, ellipses, r2, predicted_r2, r2_error, predicted_square, dimension);
}

nb::tuple effects(const RowSource& X, const Matrix<const std::int32_t>& indices, const Matrix<const float>& weights,
                  const Rows& rows, const Matrix<const double>& coefficients, std::size_t n_top, bool all_features,
                  int n_threads) {
    const std::size_t n = rows.shape(0), k = indices.shape(1), d = coefficients.shape(1) / k, D = n_features(X);
    auto top = make_output<std::int32_t>({n, n_top});
    auto arrows = make_output<float>({n, n_top, d});
    auto top_importance = make_output<float>({n, n_top});
    auto importance = make_output<float>({all_features ? n : 0, D});
    auto mean = make_output<double>({D});
    const EffectOutputs out{{top.data(), n, n_top},
                            {arrows.data(), n, n_top * d},
                            {top_importance.data(), n, n_top},
                            {importance.data(), all_features ? n : 0, D},
                            {mean.data(), D}};
    run_released(n_threads, [&](const Context& context) {
        feature_effects(X, {view(indices), view(weights)}, view(rows), view(coefficients), out, context);
    });
    return nb::make_tuple(top, arrows, top_importance, importance, mean);
}

nb::tuple pooled(const RowSource& X, const Matrix<const std::int32_t>& indices, const Matrix<const float>& weights,
                 const Matrix<const double>& coefficients, const Matrix<const double>& places, const Rows& tried,
                 std::size_t rounds, std::size_t n_top, bool all_features, int n_threads) {
    const std::size_t n = n_rows(X), k = indices.shape(1), d = coefficients.shape(1) / k, D = n_features(X);
    auto top = make_output<std::int32_t>({n, n_top});
    auto arrows = make_output<float>({n, n_top, d});
    auto top_importance = make_output<float>({n, n_top});
    auto importance = make_output<float>({all_features ? n : 0, D});
    auto mean = make_output<double>({D});
    auto ellipses = make_output<double>({n, d, d});
    auto predicted = make_output<double>({tried.shape(0), k, d});
    const EffectOutputs out{{top.data(), n, n_top},
                            {arrows.data(), n, n_top * d},
                            {top_importance.data(), n, n_top},
                            {importance.data(), all_features ? n : 0, D},
                            {mean.data(), D}};
    const PooledOutputs more{{ellipses.data(), n, d * d}, view(tried), {predicted.data(), tried.shape(0), k * d}};
    run_released(n_threads, [&](const Context& context) {
        pooled_effects(X, {view(indices), view(weights)}, view(coefficients), view(places), rounds, out, more, context);
    });
    return nb::make_tuple(top, arrows, top_importance, importance, mean, ellipses, predicted);
}

}  // namespace

void register_geometry(nb::module_& m) {
    m.def(
        "local_jacobians",
        [](const AnyMatrix& X, const Matrix<const double>& Y, const Matrix<const std::int32_t>& indices,
           const Matrix<const float>& weights, const Rows& rows, double ridge, double variance_share, bool centered,
           int n_threads) {
            return jacobians(dense_rows(X), Y, indices, weights, rows, ridge, variance_share, centered, n_threads);
        },
        nb::arg("X").noconvert(), nb::arg("Y").noconvert(), nb::arg("indices").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("rows").noconvert(), nb::arg("ridge"), nb::arg("variance_share"),
        nb::arg("centered"), nb::arg("n_threads"),
        "Coefficients, ellipses, R2, predicted R2 and dimensions of the listed rows.");
    m.def(
        "local_jacobians_sparse",
        [](const Offsets& offsets, const Columns& columns, const AnyVector& values, std::size_t n_features,
           const Matrix<const double>& Y, const Matrix<const std::int32_t>& indices, const Matrix<const float>& weights,
           const Rows& rows, double ridge, double variance_share, bool centered, int n_threads) {
            return jacobians(sparse_rows(offsets, columns, values, n_features), Y, indices, weights, rows, ridge,
                             variance_share, centered, n_threads);
        },
        nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
        nb::arg("n_features"), nb::arg("Y").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("ridge"), nb::arg("variance_share"), nb::arg("centered"),
        nb::arg("n_threads"), "local_jacobians of a table in CSR form with sorted columns.");
    m.def(
        "feature_effects",
        [](const AnyMatrix& X, const Matrix<const std::int32_t>& indices, const Matrix<const float>& weights,
           const Rows& rows, const Matrix<const double>& coefficients, std::size_t n_top, bool all_features,
           int n_threads) {
            return effects(dense_rows(X), indices, weights, rows, coefficients, n_top, all_features, n_threads);
        },
        nb::arg("X").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("n_top"), nb::arg("all_features"),
        nb::arg("n_threads"), "Top features, their arrows and importances; all importances if wanted; their mean.");
    m.def(
        "feature_effects_sparse",
        [](const Offsets& offsets, const Columns& columns, const AnyVector& values, std::size_t n_features,
           const Matrix<const std::int32_t>& indices, const Matrix<const float>& weights, const Rows& rows,
           const Matrix<const double>& coefficients, std::size_t n_top, bool all_features, int n_threads) {
            return effects(sparse_rows(offsets, columns, values, n_features), indices, weights, rows, coefficients,
                           n_top, all_features, n_threads);
        },
        nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
        nb::arg("n_features"), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("n_top"), nb::arg("all_features"),
        nb::arg("n_threads"), "feature_effects of a table in CSR form with sorted columns.");
    m.def(
        "pooled_effects",
        [](const AnyMatrix& X, const Matrix<const std::int32_t>& indices, const Matrix<const float>& weights,
           const Matrix<const double>& coefficients, const Matrix<const double>& places, const Rows& tried,
           std::size_t rounds, std::size_t n_top, bool all_features, int n_threads) {
            return pooled(dense_rows(X), indices, weights, coefficients, places, tried, rounds, n_top, all_features,
                          n_threads);
        },
        nb::arg("X").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("coefficients").noconvert(), nb::arg("places").noconvert(), nb::arg("tried").noconvert(),
        nb::arg("rounds"), nb::arg("n_top"), nb::arg("all_features"), nb::arg("n_threads"),
        "feature_effects of all rows from averaged Jacobians, and their ellipses.");
    m.def(
        "pooled_effects_sparse",
        [](const Offsets& offsets, const Columns& columns, const AnyVector& values, std::size_t n_features,
           const Matrix<const std::int32_t>& indices, const Matrix<const float>& weights,
           const Matrix<const double>& coefficients, const Matrix<const double>& places, const Rows& tried,
           std::size_t rounds, std::size_t n_top, bool all_features, int n_threads) {
            return pooled(sparse_rows(offsets, columns, values, n_features), indices, weights, coefficients, places,
                          tried, rounds, n_top, all_features, n_threads);
        },
        nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
        nb::arg("n_features"), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("coefficients").noconvert(), nb::arg("places").noconvert(), nb::arg("tried").noconvert(),
        nb::arg("rounds"), nb::arg("n_top"), nb::arg("all_features"), nb::arg("n_threads"),
        "pooled_effects of a table in CSR form with sorted columns.");
}

}  // namespace gnomon::bindings
