#include <utility>

#include "gnomon/atlas.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

using Real = Vector<const double>;
using Places = Matrix<const double>;
using Numbers = Matrix<const std::int32_t>;

/// The charts of a map, checked once. Keeps its arrays alive; they must not change.
class AtlasCharts {
public:
    AtlasCharts(Places Y, Numbers indices, Places coefficients, Columns chart, Real reach)
        : Y_(std::move(Y)),
          indices_(std::move(indices)),
          coefficients_(std::move(coefficients)),
          chart_(std::move(chart)),
          reach_(std::move(reach)) {
        const Arguments check("AtlasCharts");
        const std::size_t n = Y_.shape(0), k = indices_.shape(1);
        check.components(Y_.shape(1));
        check.equal("the number of rows of indices", indices_.shape(0), n);
        check.indices("indices", indices_, n);
        check.shape("coefficients", coefficients_, n, k * Y_.shape(1));
        check.length("chart", chart_, n);
        check.indices("chart", chart_, n);
        check.length("reach", reach_, n);
    }

    Charts view() const {
        using bindings::view;
        return {view(Y_), view(indices_), view(coefficients_), view(chart_), view(reach_)};
    }
    std::size_t n() const { return Y_.shape(0); }
    std::size_t n_components() const { return Y_.shape(1); }

private:
    Places Y_;
    Numbers indices_;
    Places coefficients_;
    Columns chart_;
    Real reach_;
};

/// What bounds the distances to the rows of a dense table; holds no reference to it.
class Sketch {
public:
    Sketch(const Table& X, const Real& center, const Places& directions) : sketch_(made(X, center, directions)) {}

    const RowSketch& view() const { return sketch_; }

private:
    static RowSketch made(const Table& X, const Real& center, const Places& directions) {
        const Arguments check("RowSketch");
        check.require(!X.is_sparse(), "X", "dense");
        check.length("center", center, X.n_features());
        check.shape("directions", directions, directions.shape(0), X.n_features());
        return {X.rows(), {center.data(), center.shape(0)}, bindings::view(directions)};
    }

    RowSketch sketch_;
};

void check_blend(const Arguments& check, const Table& X, const Numbers& candidates, const AtlasCharts& charts,
                 const BlendParams& params) {
    check.equal("the number of rows of X", X.n_rows(), charts.n());
    check.at_least("the number of candidates", static_cast<std::int64_t>(candidates.shape(1)), 1);
    check.indices("candidates", candidates, charts.n());
    check.positive("count", params.count);
    check.positive("softness", params.softness);
}

nb::tuple predict(const Table& X, const Table& X_new, const Numbers& candidates, const AtlasCharts& charts,
                  double count, double softness, double power, double consensus, bool jacobians, int n_threads) {
    const Arguments check("atlas_predict");
    const BlendParams params{count, softness, power, consensus};
    check_blend(check, X, candidates, charts, params);
    check.equal("the number of rows of X_new", X_new.n_rows(), candidates.shape(0));
    check.equal("the number of features of X_new", X_new.n_features(), X.n_features());
    check.require(X.is_sparse() == X_new.is_sparse(), "X_new", "dense or sparse as X is");
    const std::size_t m = candidates.shape(0), d = charts.n_components(), D = X.n_features();
    auto positions = make_output<double>({m, d}), spread = make_output<double>({m});
    auto truncated = make_output<std::uint8_t>({m});
    auto derivatives = make_output<double>({jacobians ? m : 0, d, D});
    const AtlasOutputs out{{positions.data(), m, d},
                           {spread.data(), m},
                           {truncated.data(), m},
                           {derivatives.data(), jacobians ? m : 0, d * D}};
    run_released(n_threads, [&](const Context& context) {
        atlas_predict(X.rows(), X_new.rows(), view(candidates), charts.view(), params, out, context);
    });
    return nb::make_tuple(positions, spread, truncated, derivatives);
}

nb::tuple linearize(const Table& X, const Sketch& sketch, const Table& x, const AtlasCharts& charts, double count,
                    double softness, double power, double consensus, std::size_t n_first, std::size_t n_most) {
    const Arguments check("atlas_linearize");
    const BlendParams params{count, softness, power, consensus};
    check.equal("the number of rows of X", X.n_rows(), charts.n());
    check.equal("the number of rows of the sketch", sketch.view().n_rows(), X.n_rows());
    check.equal("the number of features of the sketch", sketch.view().n_features(), X.n_features());
    check.equal("the number of rows of x", x.n_rows(), 1);
    check.equal("the number of features of x", x.n_features(), X.n_features());
    check.require(!X.is_sparse() && !x.is_sparse(), "X and x", "dense");
    check.at_least("n_first", static_cast<std::int64_t>(n_first), 1);
    check.at_least("n_most", static_cast<std::int64_t>(n_most), static_cast<std::int64_t>(n_first));
    check.positive("count", params.count);
    check.positive("softness", params.softness);
    const std::size_t d = charts.n_components(), D = X.n_features();
    auto position = make_output<double>({d}), spread = make_output<double>({1});
    auto truncated = make_output<std::uint8_t>({1});
    auto derivative = make_output<double>({d, D});
    const AtlasOutputs out{
        {position.data(), 1, d}, {spread.data(), 1}, {truncated.data(), 1}, {derivative.data(), 1, d * D}};
    run_released(1, [&](const Context&) {
        atlas_linearize(X.rows(), sketch.view(), x.rows(), charts.view(), params, n_first, n_most, out);
    });
    return nb::make_tuple(position, derivative);
}

nb::tuple invert(const Table& X, const Places& Y_new, const Numbers& candidates, const AtlasCharts& charts,
                 double count, double softness, double power, int n_threads) {
    const Arguments check("atlas_invert");
    const BlendParams params{count, softness, power, 0.0};
    check_blend(check, X, candidates, charts, params);
    check.shape("Y_new", Y_new, candidates.shape(0), charts.n_components());
    const std::size_t m = candidates.shape(0), D = X.n_features();
    auto rows = make_output<double>({m, D});
    auto truncated = make_output<std::uint8_t>({m});
    run_released(n_threads, [&](const Context& context) {
        atlas_invert(X.rows(), view(Y_new), view(candidates), charts.view(), params, {rows.data(), m, D},
                     {truncated.data(), m}, context);
    });
    return nb::make_tuple(rows, truncated);
}

}  // namespace

void register_atlas(nb::module_& m) {
    nb::class_<AtlasCharts>(m, "AtlasCharts", "Local linear maps around the points of a map, checked once.")
        .def(nb::init<Places, Numbers, Places, Columns, Real>(), nb::arg("Y").noconvert(),
             nb::arg("indices").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("chart").noconvert(),
             nb::arg("reach").noconvert());
    m.def("atlas_predict", &predict, nb::arg("X"), nb::arg("X_new"), nb::arg("candidates").noconvert(),
          nb::arg("charts"), nb::arg("count"), nb::arg("softness"), nb::arg("power"), nb::arg("consensus"),
          nb::arg("jacobians"), nb::arg("n_threads"),
          "Positions, spreads, whether candidates were too few, and derivatives (m, d, D) if wanted, of new rows.");
    nb::class_<Sketch>(m, "RowSketch", "Coordinates of the rows of a dense table that bound distances to them.")
        .def(nb::init<const Table&, const Real&, const Places&>(), nb::arg("X"), nb::arg("center").noconvert(),
             nb::arg("directions").noconvert());
    m.def("atlas_linearize", &linearize, nb::arg("X"), nb::arg("sketch"), nb::arg("x"), nb::arg("charts"),
          nb::arg("count"), nb::arg("softness"), nb::arg("power"), nb::arg("consensus"), nb::arg("n_first"),
          nb::arg("n_most"), "Position (d) and derivative (d, D) of one row of a dense table.");
    m.def("atlas_invert", &invert, nb::arg("X"), nb::arg("Y_new").noconvert(), nb::arg("candidates").noconvert(),
          nb::arg("charts"), nb::arg("count"), nb::arg("softness"), nb::arg("power"), nb::arg("n_threads"),
          "Rows of the data (m, D) of positions, and whether candidates were too few.");
}

}  // namespace gnomon::bindings
