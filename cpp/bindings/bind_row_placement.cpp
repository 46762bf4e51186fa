#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <string>

#include "checks.hpp"
#include "gnomon/row_placement.hpp"
#include "gnomon/triplet_placement.hpp"

namespace gnomon::bindings {
namespace {

using Points = Matrix<const float>;
using Rows = Matrix<const std::int32_t>;
using Potentials = Matrix<const double>;

RepulsionLink link_named(const std::string& name) {
    if (name == "sum") return RepulsionLink::sum;
    if (name == "log") return RepulsionLink::log;
    if (name == "contrast") return RepulsionLink::contrast;
    throw std::invalid_argument("unknown link");
}

PairTerm term_of(const OutputKernel& kernel, const std::string& law, float scale) {
    return {kernel, pair_law(law), scale};
}

void check_neighbors(const Arguments& check, const Rows& neighbors, const Points& points) {
    check.at_least("the number of neighbours", static_cast<std::int64_t>(neighbors.shape(1)), 1);
    check.indices("neighbors", neighbors, points.shape(0));
}

void check_rows(const Arguments& check, const Rows& neighbors, const Points& weights, const Points& points) {
    check_neighbors(check, neighbors, points);
    check.shape("weights", weights, neighbors.shape(0), neighbors.shape(1));
}

/// What rows are placed by, with the arrays that it looks at.
class RowPlacer {
public:
    RowPlacer(Points points, PairTerm attraction, PairTerm repulsion, const std::string& link, double strength,
              Points sources, Values charges, Potentials table, std::pair<double, double> low, double spacing,
              int max_iter, double tolerance)
        : points_(std::move(points)),
          sources_(std::move(sources)),
          charges_(std::move(charges)),
          table_(std::move(table)),
          placement_{view(points_), attraction,     repulsion,      link_named(link),
                     strength,      view(sources_), view(charges_), {view(table_), {low.first, low.second}, spacing},
                     max_iter,      tolerance} {
        const Arguments check("RowPlacer");
        const std::size_t d = points_.shape(1);
        check.components(d);
        check.at_most("the number of points", points_.shape(0), INT32_MAX);
        check.shape("sources", sources_, sources_.shape(0), d);
        check.length("charges", charges_, sources_.shape(0));
        if (sources_.shape(0) > 0) return;  // the repulsion is their sum
        check.components(d, 2);
        check.positive("spacing", spacing);
        check.at_least("the number of columns of table", static_cast<std::int64_t>(table_.shape(1)), 1);
        check.at_least("the number of rows of table", static_cast<std::int64_t>(table_.shape(0)), 1);
    }

    std::pair<Output<float>, Output<double>> place(const Rows& neighbors, const Points& weights, int n_threads) const {
        check_rows(Arguments("RowPlacer.place"), neighbors, weights, points_);
        const std::size_t m = neighbors.shape(0), d = points_.shape(1);
        auto positions = make_output<float>({m, d});
        auto losses = make_output<double>({m, 2});
        run_released(n_threads, [&](const Context& context) {
            place_rows(placement_, view(neighbors), view(weights), {positions.data(), m, d}, {losses.data(), m, 2},
                       context);
        });
        return {positions, losses};
    }

    std::pair<Output<double>, Output<double>> losses(const Rows& neighbors, const Points& weights,
                                                     const Points& positions, int n_threads) const {
        const Arguments check("RowPlacer.losses");
        const std::size_t m = neighbors.shape(0), d = points_.shape(1);
        check_rows(check, neighbors, weights, points_);
        check.shape("positions", positions, m, d);
        auto values = make_output<double>({m});
        auto gradients = make_output<double>({m, d});
        run_released(n_threads, [&](const Context& context) {
            row_losses(placement_, view(neighbors), view(weights), view(positions), {values.data(), m},
                       {gradients.data(), m, d}, context);
        });
        return {values, gradients};
    }

private:
    Points points_, sources_;
    Values charges_;
    Potentials table_;
    RowPlacement placement_;
};

std::pair<Output<float>, Output<double>> bind_place_by_triplets(const Points& points, const Points& far,
                                                                const Rows& neighbors, const Points& weights,
                                                                int max_iter, double tolerance, int n_threads) {
    const Arguments check("place_by_triplets");
    const std::size_t m = neighbors.shape(0), d = points.shape(1);
    check.components(d);
    check_neighbors(check, neighbors, points);
    check.shape("far", far, far.shape(0), d);
    check.shape("weights", weights, m, neighbors.shape(1) * far.shape(0));
    auto positions = make_output<float>({m, d});
    auto losses = make_output<double>({m, 2});
    run_released(n_threads, [&](const Context& context) {
        place_by_triplets({view(points), view(far), max_iter, tolerance}, view(neighbors), view(weights),
                          {positions.data(), m, d}, {losses.data(), m, 2}, context);
    });
    return {positions, losses};
}

}  // namespace

void register_row_placement(nb::module_& m) {
    nb::class_<PairTerm>(m, "PairTerm", "scale * F(k(s)) of a pair of points.")
        .def(
            "__init__",
            [](PairTerm* self, const OutputKernel& kernel, const std::string& law, float scale) {
                new (self) PairTerm(term_of(kernel, law, scale));
            },
            nb::arg("kernel"), nb::arg("law"), nb::arg("scale"));
    nb::class_<RowPlacer>(m, "RowPlacer", "Places rows among the fixed points of a map.")
        .def(nb::init<Points, PairTerm, PairTerm, const std::string&, double, Points, Values, Potentials,
                      std::pair<double, double>, double, int, double>(),
             nb::arg("points").noconvert(), nb::arg("attraction"), nb::arg("repulsion"), nb::arg("link"),
             nb::arg("strength"), nb::arg("sources").noconvert(), nb::arg("charges").noconvert(),
             nb::arg("table").noconvert(), nb::arg("low"), nb::arg("spacing"), nb::arg("max_iter"),
             nb::arg("tolerance"))
        .def("place", &RowPlacer::place, nb::arg("neighbors").noconvert(), nb::arg("weights").noconvert(),
             nb::arg("n_threads"), "Positions (m, d) and the losses at the weighted mean and at the end, (m, 2).")
        .def("losses", &RowPlacer::losses, nb::arg("neighbors").noconvert(), nb::arg("weights").noconvert(),
             nb::arg("positions").noconvert(), nb::arg("n_threads"), "Losses (m,) and gradients (m, d) at positions.");
    m.def(
        "place_by_triplets", &bind_place_by_triplets, nb::arg("points").noconvert(), nb::arg("far").noconvert(),
        nb::arg("neighbors").noconvert(), nb::arg("weights").noconvert(), nb::arg("max_iter"), nb::arg("tolerance"),
        nb::arg("n_threads"),
        "Positions (m, d) that minimise sum_jl w_jl D_j / (D_j + D_l), and the losses at the mean and there, (m, 2).");
}

}  // namespace gnomon::bindings
