#include <nanobind/stl/tuple.h>

#include "gnomon/atlas.hpp"
#include "row_source.hpp"

namespace gnomon::bindings {
namespace {

using Real = Vector<const double>;
using Places = Matrix<const double>;
using Numbers = Matrix<const std::int32_t>;

/// A table as one array (rows) or as offsets, columns, values and the number of features (CSR).
RowSource source(const nb::tuple& table) {
    if (table.size() == 1) return dense_rows(nb::cast<AnyMatrix>(table[0], false));
    return sparse_rows(nb::cast<Offsets>(table[0], false), nb::cast<Columns>(table[1], false),
                       nb::cast<AnyVector>(table[2], false), nb::cast<std::size_t>(table[3]));
}

Charts charts_of(const Places& Y, const Numbers& indices, const Places& coefficients, const Columns& chart,
                 const Real& reach) {
    return {view(Y), view(indices), view(coefficients), view(chart), view(reach)};
}

nb::tuple predict(const nb::tuple& X, const nb::tuple& X_new, const Numbers& candidates, const Places& Y,
                  const Numbers& indices, const Places& coefficients, const Columns& chart, const Real& reach,
                  double count, double softness, double power, double consensus, bool jacobians, int n_threads) {
    const RowSource table = source(X), fresh = source(X_new);
    const std::size_t m = candidates.shape(0), d = Y.shape(1), D = n_features(table);
    auto positions = make_output<double>({m, d}), spread = make_output<double>({m});
    auto truncated = make_output<std::uint8_t>({m});
    auto derivatives = make_output<double>({jacobians ? m : 0, d, D});
    const AtlasOutputs out{{positions.data(), m, d},
                           {spread.data(), m},
                           {truncated.data(), m},
                           {derivatives.data(), jacobians ? m : 0, d * D}};
    const Charts charts = charts_of(Y, indices, coefficients, chart, reach);
    const BlendParams params{count, softness, power, consensus};
    run_released(n_threads, [&](const Context& context) {
        atlas_predict(table, fresh, view(candidates), charts, params, out, context);
    });
    return nb::make_tuple(positions, spread, truncated, derivatives);
}

nb::tuple invert(const nb::tuple& X, const Places& Y_new, const Numbers& candidates, const Places& Y,
                 const Numbers& indices, const Places& coefficients, const Columns& chart, const Real& reach,
                 double count, double softness, double power, int n_threads) {
    const RowSource table = source(X);
    const std::size_t m = candidates.shape(0), D = n_features(table);
    auto rows = make_output<double>({m, D});
    auto truncated = make_output<std::uint8_t>({m});
    const Charts charts = charts_of(Y, indices, coefficients, chart, reach);
    const BlendParams params{count, softness, power, 0.0};
    run_released(n_threads, [&](const Context& context) {
        atlas_invert(table, view(Y_new), view(candidates), charts, params, {rows.data(), m, D}, {truncated.data(), m},
                     context);
    });
    return nb::make_tuple(rows, truncated);
}

}  // namespace

void register_atlas(nb::module_& m) {
    m.def("atlas_predict", &predict, nb::arg("X"), nb::arg("X_new"), nb::arg("candidates").noconvert(),
          nb::arg("Y").noconvert(), nb::arg("indices").noconvert(), nb::arg("coefficients").noconvert(),
          nb::arg("chart").noconvert(), nb::arg("reach").noconvert(), nb::arg("count"), nb::arg("softness"),
          nb::arg("power"), nb::arg("consensus"), nb::arg("jacobians"), nb::arg("n_threads"),
          "Positions, spreads, whether candidates were too few, and derivatives (m, d, D) if wanted, of new rows.");
    m.def("atlas_invert", &invert, nb::arg("X"), nb::arg("Y_new").noconvert(), nb::arg("candidates").noconvert(),
          nb::arg("Y").noconvert(), nb::arg("indices").noconvert(), nb::arg("coefficients").noconvert(),
          nb::arg("chart").noconvert(), nb::arg("reach").noconvert(), nb::arg("count"), nb::arg("softness"),
          nb::arg("power"), nb::arg("n_threads"),
          "Rows of the data (m, D) of positions, and whether candidates were too few.");
}

}  // namespace gnomon::bindings
