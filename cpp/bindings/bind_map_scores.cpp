#include "checks.hpp"
#include "gnomon/anchor_distances.hpp"
#include "gnomon/density_clusters.hpp"
#include "gnomon/isotonic.hpp"
#include "gnomon/map_scores.hpp"
#include "gnomon/nearest_places.hpp"
#include "gnomon/random.hpp"

namespace gnomon::bindings {
namespace {

constexpr std::uint64_t kKeyStream = 0x6b79;

template <class T>
nb::tuple scores(const Matrix<const T>& distances, const Matrix<const double>& Y,
                 const Vector<const std::int64_t>& anchors, std::size_t n_neighbors, std::size_t n_nearest,
                 std::size_t n_triplets, std::uint64_t seed, int n_threads) {
    const Arguments check("score_map");
    const std::size_t m = anchors.shape(0), n = Y.shape(0);
    check.at_least("the number of rows of Y", static_cast<std::int64_t>(n), 3);
    check.at_most("the number of rows of Y", n, INT32_MAX);
    check.components(Y.shape(1));
    check.shape("distances", distances, m, n);
    check.indices("anchors", anchors, n);
    check.at_least("n_neighbors", static_cast<std::int64_t>(n_neighbors), 1);
    check.at_most("n_nearest", n_nearest, n - 1);
    check.at_most("n_neighbors", n_neighbors, n_nearest);
    auto intruders = make_output<std::int64_t>({m}), extruders = make_output<std::int64_t>({m});
    auto shared = make_output<std::int32_t>({m}), agreeing = make_output<std::int32_t>({m});
    auto nearest = make_output<std::int32_t>({m, n_nearest});
    auto data_distances = make_output<double>({m, n_triplets}), map_distances = make_output<double>({m, n_triplets});
    const MapScoreOutputs out{{intruders.data(), m},
                              {extruders.data(), m},
                              {shared.data(), m},
                              {nearest.data(), m, n_nearest},
                              {agreeing.data(), m},
                              {data_distances.data(), m, n_triplets},
                              {map_distances.data(), m, n_triplets}};
    run_released(n_threads, [&](const Context& context) {
        score_map(view(distances), view(Y), view(anchors), {n_neighbors, seed}, out, context);
    });
    return nb::make_tuple(intruders, extruders, shared, nearest, agreeing, data_distances, map_distances);
}

template <class T>
void count_nearer(const Matrix<const T>& distances, const Matrix<const T>& bounds, const Vector<std::int64_t>& sums,
                  const Vector<std::int64_t>& squares, int n_threads) {
    const Arguments check("count_below_bounds");
    const std::size_t n = distances.shape(1);
    check.at_most("the number of bounds", bounds.shape(0), 2048);
    check.shape("bounds", bounds, bounds.shape(0), n);
    check.length("sums", sums, n);
    check.length("squares", squares, n);
    run_released(n_threads, [&](const Context& context) {
        count_below_bounds(view(distances), view(bounds), view(sums), view(squares), context);
    });
}

void count_nearer_in_map(const Matrix<const double>& Y, const Vector<const std::int64_t>& rows,
                         const Matrix<const double>& bounds, const Vector<std::int64_t>& sums,
                         const Vector<std::int64_t>& squares, int n_threads) {
    const Arguments check("count_below_in_map");
    const std::size_t n = Y.shape(0);
    check.components(Y.shape(1));
    check.indices("rows", rows, n);
    check.at_most("the number of bounds", bounds.shape(0), 2048);
    check.shape("bounds", bounds, bounds.shape(0), n);
    check.length("sums", sums, n);
    check.length("squares", squares, n);
    run_released(n_threads, [&](const Context& context) {
        count_below_in_map(view(Y), view(rows), view(bounds), view(sums), view(squares), context);
    });
}

Output<std::int32_t> nearest_in(const Matrix<const double>& Y, std::size_t k, int n_threads) {
    const Arguments check("nearest_places");
    const std::size_t n = Y.shape(0);
    check.at_most("the number of rows of Y", n, INT32_MAX);
    check.components(Y.shape(1));
    check.at_most("k + 1", k + 1, n);
    auto nearest = make_output<std::int32_t>({n, k});
    run_released(n_threads, [&](const Context& context) { nearest_places(view(Y), {nearest.data(), n, k}, context); });
    return nearest;
}

template <class T>
void agreeing(const Matrix<const T>& distances, const Matrix<const double>& first, const Matrix<const double>& second,
              const Vector<const std::int64_t>& rows, const Vector<const std::int64_t>& pairs,
              const Vector<std::int64_t>& halves, int n_threads) {
    const Arguments check("count_agreeing");
    const std::size_t n = first.shape(0), m = rows.shape(0);
    check.components(first.shape(1));
    check.shape("second", second, n, first.shape(1));
    check.indices("rows", rows, n);
    check.shape("distances", distances, m, n);
    check.indices("pairs", pairs, m > 0 ? m - 1 : 0);
    check.length("halves", halves, n);
    const SeenPairs seen{view(first), view(second), view(rows), view(pairs)};
    run_released(n_threads,
                 [&](const Context& context) { count_agreeing(view(distances), seen, view(halves), context); });
}

template <class T>
void squares_of(const Matrix<const T>& X, const Vector<const std::int64_t>& anchors, const Vector<const double>& means,
                double scale, const Matrix<float>& out, int n_threads) {
    const Arguments check("anchor_squares");
    check.indices("anchors", anchors, X.shape(0));
    check.length("means", means, X.shape(1));
    check.shape("out", out, anchors.shape(0), X.shape(0));
    run_released(n_threads, [&](const Context& context) {
        anchor_squares(view(X), view(anchors), view(means), scale, view(out), context);
    });
}

Output<std::int64_t> clusters_of(const Matrix<const double>& distances, std::size_t n_core, std::size_t min_size) {
    const Arguments check("density_clusters");
    const std::size_t n = distances.shape(0);
    check.shape("distances", distances, n, n);
    check.at_least("n_core", static_cast<std::int64_t>(n_core), 1);
    check.at_most("n_core", n_core, n);
    check.at_least("min_size", static_cast<std::int64_t>(min_size), 2);
    check.not_negative("distances", {distances.data(), n * n});
    auto labels = make_output<std::int64_t>({n});
    run_released(1, [&](const Context&) { density_clusters(view(distances), n_core, min_size, {labels.data(), n}); });
    return labels;
}

template <class T>
void bind_squares(nb::module_& m) {
    m.def("anchor_squares", &squares_of<T>, nb::arg("X").noconvert(), nb::arg("anchors").noconvert(),
          nb::arg("means").noconvert(), nb::arg("scale"), nb::arg("out").noconvert(), nb::arg("n_threads"),
          "Write squared distances from some rows of a table to all, through inner products.");
}

void levels_of(const Vector<double>& values, const Vector<double>& weights) {
    Arguments("isotonic_levels").length("weights", weights, values.shape(0));
    const nb::gil_scoped_release release;
    isotonic_levels({values.data(), values.shape(0)}, {weights.data(), weights.shape(0)});
}

template <class T>
void bind_scores(nb::module_& m) {
    m.def("score_map", &scores<T>, nb::arg("distances").noconvert(), nb::arg("Y").noconvert(),
          nb::arg("anchors").noconvert(), nb::arg("n_neighbors"), nb::arg("n_nearest"), nb::arg("n_triplets"),
          nb::arg("seed"), nb::arg("n_threads"),
          "Excess ranks both ways, shared neighbours, nearest in the map, triplets and sampled distances of anchors.");
    m.def("count_below_bounds", &count_nearer<T>, nb::arg("distances").noconvert(), nb::arg("bounds").noconvert(),
          nb::arg("sums").noconvert(), nb::arg("squares").noconvert(), nb::arg("n_threads"),
          "Add to each column how many of its bounds its distances are below, over rows, and the squares of these.");
    m.def("count_agreeing", &agreeing<T>, nb::arg("distances").noconvert(), nb::arg("first").noconvert(),
          nb::arg("second").noconvert(), nb::arg("rows").noconvert(), nb::arg("pairs").noconvert(),
          nb::arg("halves").noconvert(), nb::arg("n_threads"),
          "Add to each row twice the pairs of rows that it sees in the same order in data and map.");
}

}  // namespace

void register_map_scores(nb::module_& m) {
    bind_scores<float>(m);
    bind_scores<double>(m);
    bind_squares<float>(m);
    bind_squares<double>(m);
    bind_squares<std::uint8_t>(m);
    m.def("count_below_in_map", &count_nearer_in_map, nb::arg("Y").noconvert(), nb::arg("rows").noconvert(),
          nb::arg("bounds").noconvert(), nb::arg("sums").noconvert(), nb::arg("squares").noconvert(),
          nb::arg("n_threads"), "count_below_bounds of the squared distances from some places of a map to all.");
    m.def("nearest_places", &nearest_in, nb::arg("Y").noconvert(), nb::arg("k"), nb::arg("n_threads"),
          "The nearest other rows of every row of a map, ascending by distance, then by number.");
    m.def("density_clusters", &clusters_of, nb::arg("distances").noconvert(), nb::arg("n_core"), nb::arg("min_size"),
          "Clusters of rows by HDBSCAN from all their distances, -1 for none.");
    m.def("isotonic_levels", &levels_of, nb::arg("values").noconvert(), nb::arg("weights").noconvert(),
          "Replace values by the ascending ones nearest to them by weighted squares; weights are used up.");
    m.def(
        "random_keys",
        [](std::uint64_t seed, std::size_t n) {
            auto keys = make_output<std::uint64_t>({n});
            for (std::size_t i = 0; i < n; ++i) keys.data()[i] = draw(seed, kKeyStream, i);
            return keys;
        },
        nb::arg("seed"), nb::arg("n"), "64 random bits for each of n items; their order is a random permutation.");
}

}  // namespace gnomon::bindings
