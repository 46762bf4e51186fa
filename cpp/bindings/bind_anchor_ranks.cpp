#include "checks.hpp"
#include "gnomon/anchor_ranks.hpp"

namespace gnomon::bindings {
namespace {

template <class T>
nb::tuple ranks(const Matrix<const T>& distances, const Matrix<const double>& Y,
                const Vector<const std::int64_t>& anchors, const Vector<const std::int64_t>& sizes,
                const Vector<const double>& weights, const Vector<const std::int32_t>& groups, std::size_t n_groups,
                std::size_t n_nearest, std::size_t n_pairs, double unit, bool squared, std::uint64_t seed,
                int n_threads) {
    const Arguments check("rank_anchors");
    const std::size_t m = anchors.shape(0), n = Y.shape(0), g = sizes.shape(0);
    check.at_least("the number of rows of Y", static_cast<std::int64_t>(n), 3);
    check.at_most("the number of rows of Y", n, INT32_MAX);
    check.components(Y.shape(1));
    check.shape("distances", distances, m, n);
    check.indices("anchors", anchors, n);
    check.indices("sizes", sizes, n);
    check.ascending("sizes", view(sizes), true);
    check.require(g == 0 || sizes.data()[0] >= 1, "sizes", "at least 1");
    check.length("weights", weights, n);
    check.length("groups", groups, m);
    check.indices("groups", groups, n_groups);
    check.at_most("n_nearest", n_nearest, n - 1);
    auto in_data = make_output<std::int32_t>({m, n_nearest}), in_map = make_output<std::int32_t>({m, n_nearest});
    auto shared = make_output<std::int64_t>({m, g}), intruders = make_output<std::int64_t>({m, g});
    auto extruders = make_output<std::int64_t>({m, g});
    auto map_errors = make_output<double>({m, g}), data_errors = make_output<double>({m, g});
    auto weighted = make_output<double>({m});
    auto discordant = make_output<std::int64_t>({m}), coranked = make_output<std::int64_t>({n_groups, n});
    auto moments = make_output<double>({m, 5});
    auto data_distances = make_output<double>({m, n_pairs}), map_distances = make_output<double>({m, n_pairs});
    const AnchorRankOutputs out{{in_data.data(), m, n_nearest},
                                {in_map.data(), m, n_nearest},
                                {shared.data(), m, g},
                                {intruders.data(), m, g},
                                {extruders.data(), m, g},
                                {map_errors.data(), m, g},
                                {data_errors.data(), m, g},
                                {weighted.data(), m},
                                {discordant.data(), m},
                                {moments.data(), m, 5},
                                {data_distances.data(), m, n_pairs},
                                {map_distances.data(), m, n_pairs},
                                {coranked.data(), n_groups, n}};
    run_released(n_threads, [&](const Context& context) {
        rank_anchors(view(distances), view(Y), view(anchors),
                     {view(sizes), view(weights), view(groups), unit, squared, seed}, out, context);
    });
    return nb::make_tuple(in_data, in_map, shared, intruders, extruders, map_errors, data_errors, weighted, discordant,
                          moments, data_distances, map_distances, coranked);
}

template <class T>
void bind_ranks(nb::module_& m) {
    m.def("rank_anchors", &ranks<T>, nb::arg("distances").noconvert(), nb::arg("Y").noconvert(),
          nb::arg("anchors").noconvert(), nb::arg("sizes").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("groups").noconvert(), nb::arg("n_groups"), nb::arg("n_nearest"), nb::arg("n_pairs"), nb::arg("unit"),
          nb::arg("squared"), nb::arg("seed"), nb::arg("n_threads"),
          "Ranks in the data against ranks in the map, for neighbourhoods of several sizes, seen from anchors.");
}

}  // namespace

void register_anchor_ranks(nb::module_& m) {
    bind_ranks<float>(m);
    bind_ranks<double>(m);
}

}  // namespace gnomon::bindings
