#include <algorithm>

#include "gnomon/jacobians.hpp"
#include "gnomon/map_hoods.hpp"
#include "gnomon/shortest_trees.hpp"
#include "hoods.hpp"

namespace gnomon::bindings {
namespace {

using Coefficients = Matrix<const double>;

nb::tuple jacobians(const Table& X, const Coefficients& Y, const IndexRows& indices, const Weights& weights,
                    const Rows& rows, double ridge, double variance_share, bool centered, int n_threads) {
    const Arguments check("local_jacobians");
    const Hoods hoods(check, X, indices, weights, rows);
    check.equal("the number of rows of Y", Y.shape(0), X.n_rows());
    check.components(Y.shape(1));
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
        local_jacobians(X.rows(), view(Y), hoods.neighborhoods(), hoods.rows(), {ridge, variance_share, centered}, out,
                        context);
    });
    return nb::make_tuple(coefficients, ellipses, r2, predicted_r2, r2_error, predicted_square, dimension);
}

/// Returns the number of components of the map that coefficients of n rows belong to.
std::size_t check_coefficients(const Arguments& check, const Hoods& hoods, const Coefficients& coefficients,
                               std::size_t n) {
    const std::size_t k = hoods.n_neighbors();
    check.at_least("the number of neighbours", static_cast<std::int64_t>(k), 1);
    const std::size_t d = coefficients.shape(1) / k;
    check.components(d);
    check.shape("coefficients", coefficients, n, k * d);
    return d;
}

/// The arrays that effects are written to, of n rows, n_top features each, D features in all and d components.
struct Effects {
    Output<std::int32_t> top;
    Output<float> arrows, top_importance, importance;
    Output<double> mean;

    Effects(std::size_t n, std::size_t n_top, std::size_t D, std::size_t d, bool all_features)
        : top(make_output<std::int32_t>({n, n_top})),
          arrows(make_output<float>({n, n_top, d})),
          top_importance(make_output<float>({n, n_top})),
          importance(make_output<float>({all_features ? n : 0, D})),
          mean(make_output<double>({D})) {}

    EffectOutputs view() {
        const std::size_t n = top.shape(0), n_top = top.shape(1);
        return {{top.data(), n, n_top},
                {arrows.data(), n, n_top * arrows.shape(2)},
                {top_importance.data(), n, n_top},
                {importance.data(), importance.shape(0), importance.shape(1)},
                {mean.data(), mean.shape(0)}};
    }
};

nb::tuple effects(const Table& X, const IndexRows& indices, const Weights& weights, const Rows& rows,
                  const Coefficients& coefficients, std::size_t n_top, bool all_features, int n_threads) {
    const Arguments check("feature_effects");
    const Hoods hoods(check, X, indices, weights, rows);
    const std::size_t n = rows.shape(0), d = check_coefficients(check, hoods, coefficients, n);
    check.at_most("n_top", n_top, X.n_features());
    Effects found(n, n_top, X.n_features(), d, all_features);
    run_released(n_threads, [&](const Context& context) {
        feature_effects(X.rows(), hoods.neighborhoods(), hoods.rows(), view(coefficients), found.view(), context);
    });
    return nb::make_tuple(found.top, found.arrows, found.top_importance, found.importance, found.mean);
}

nb::tuple pooled(const Table& X, const IndexRows& indices, const Weights& weights, const Coefficients& coefficients,
                 const Coefficients& places, const Rows& tried, std::size_t rounds, std::size_t n_top,
                 bool all_features, int n_threads) {
    const Arguments check("pooled_effects");
    const Hoods hoods(check, X, indices, weights);
    const std::size_t n = X.n_rows(), k = indices.shape(1), d = check_coefficients(check, hoods, coefficients, n);
    check.equal("the number of rows of places", places.shape(0), n);
    check.components(places.shape(1));
    check.indices("tried", tried, n);
    check.at_least("n_top", static_cast<std::int64_t>(n_top), 1);
    check.at_most("n_top", n_top, X.n_features());
    Effects found(n, n_top, X.n_features(), d, all_features);
    auto ellipses = make_output<double>({n, d, d});
    auto predicted = make_output<double>({tried.shape(0), k, d});
    const PooledOutputs more{{ellipses.data(), n, d * d}, view(tried), {predicted.data(), tried.shape(0), k * d}};
    run_released(n_threads, [&](const Context& context) {
        pooled_effects(X.rows(), hoods.neighborhoods(), view(coefficients), view(places), rounds, found.view(), more,
                       context);
    });
    return nb::make_tuple(found.top, found.arrows, found.top_importance, found.importance, found.mean, ellipses,
                          predicted);
}

nb::tuple trees(const Matrix<const double>& places, const Matrix<const std::int32_t>& neighbors,
                const Matrix<const bool>& used, const Rows& rows, int n_threads) {
    const Arguments check("shortest_trees");
    const std::size_t n = places.shape(0), m = rows.shape(0), k = neighbors.shape(1);
    check.components(places.shape(1));
    check.shape("neighbors", neighbors, n, k);
    check.indices("neighbors", neighbors, n);
    check.shape("used", used, n, k);
    check.indices("rows", rows, n);
    auto edges = make_output<double>({m, k});
    auto joined = make_output<std::int64_t>({m, k});
    run_released(n_threads, [&](const Context& context) {
        shortest_trees(view(places), view(neighbors), view(used), view(rows), {edges.data(), m, k},
                       {joined.data(), m, k}, context);
    });
    return nb::make_tuple(edges, joined);
}

/// Checks neighbourhoods in a map and returns the number of components of what is given for each of their rows.
std::size_t check_map_hoods(const Arguments& check, const Table& X, const IndexRows& near, const char* what,
                            std::size_t columns) {
    const std::size_t k = near.shape(1);
    check.at_least("the number of neighbours", static_cast<std::int64_t>(k), 1);
    check.indices("near", near, X.n_rows());
    check.require(columns % k == 0, what, "of as many numbers for each neighbour");
    check.components(columns / k);
    return columns / k;
}

nb::tuple moments_of_hoods(const Table& X, const IndexRows& near, const Coefficients& steps, int n_threads) {
    const Arguments check("hood_moments");
    const std::size_t m = near.shape(0), D = X.n_features();
    const std::size_t d = check_map_hoods(check, X, near, "steps", steps.shape(1));
    check.equal("the number of rows of steps", steps.shape(0), m);
    auto mean = make_output<double>({m, D}), moments = make_output<double>({m, d, D});
    auto squares = make_output<double>({m, D});
    const HoodMoments out{{mean.data(), m, D}, {moments.data(), m, d * D}, {squares.data(), m, D}};
    run_released(n_threads,
                 [&](const Context& context) { hood_moments(X.rows(), view(near), view(steps), out, context); });
    return nb::make_tuple(mean, moments, squares);
}

nb::tuple projections_of_hoods(const Table& X, const IndexRows& near, const Coefficients& mean,
                               const Coefficients& weights, const Coefficients& scales, int n_threads) {
    const Arguments check("hood_projections");
    const std::size_t m = near.shape(0), k = near.shape(1), D = X.n_features();
    check.at_least("the number of features", static_cast<std::int64_t>(D), 1);
    check.require(weights.shape(1) % D == 0, "weights", "of whole rows of features");
    const std::size_t d = weights.shape(1) / D;
    check_map_hoods(check, X, near, "weights", k * d);
    check.shape("mean", mean, m, D);
    check.equal("the number of rows of weights", weights.shape(0), m);
    check.shape("scales", scales, m, D);
    auto along = make_output<double>({m, k, d}), squares = make_output<double>({m, k});
    run_released(n_threads, [&](const Context& context) {
        hood_projections(X.rows(), view(near), view(mean), view(weights), view(scales), {along.data(), m, k * d},
                         {squares.data(), m, k}, context);
    });
    return nb::make_tuple(along, squares);
}

}  // namespace

void register_geometry(nb::module_& m) {
    m.def("shortest_trees", &trees, nb::arg("places").noconvert(), nb::arg("neighbors").noconvert(),
          nb::arg("used").noconvert(), nb::arg("rows").noconvert(), nb::arg("n_threads"),
          "Edges of the shortest trees of neighbourhoods in a map, and which place each edge joins.");
    m.def("local_jacobians", &jacobians, nb::arg("X"), nb::arg("Y").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("rows").noconvert(), nb::arg("ridge"), nb::arg("variance_share"),
          nb::arg("centered"), nb::arg("n_threads"),
          "Coefficients, ellipses, R2, predicted R2 and dimensions of the listed rows.");
    m.def("feature_effects", &effects, nb::arg("X"), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("rows").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("n_top"), nb::arg("all_features"),
          nb::arg("n_threads"), "Top features, their arrows and importances; all importances if wanted; their mean.");
    m.def("hood_moments", &moments_of_hoods, nb::arg("X"), nb::arg("near").noconvert(), nb::arg("steps").noconvert(),
          nb::arg("n_threads"),
          "Means of displacements from the first rows, their moments with steps and their squares.");
    m.def("hood_projections", &projections_of_hoods, nb::arg("X"), nb::arg("near").noconvert(),
          nb::arg("mean").noconvert(), nb::arg("weights").noconvert(), nb::arg("scales").noconvert(),
          nb::arg("n_threads"), "Displacements from the means times weights, and their squares times scales.");
    m.def("pooled_effects", &pooled, nb::arg("X"), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("coefficients").noconvert(), nb::arg("places").noconvert(), nb::arg("tried").noconvert(),
          nb::arg("rounds"), nb::arg("n_top"), nb::arg("all_features"), nb::arg("n_threads"),
          "feature_effects of all rows from averaged Jacobians, and their ellipses.");
}

}  // namespace gnomon::bindings
