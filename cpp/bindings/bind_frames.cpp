#include "gnomon/frames.hpp"
#include "hoods.hpp"

namespace gnomon::bindings {
namespace {

using Coefficients = Matrix<const double>;
using Defined = Vector<const std::uint8_t>;

/// Returns the number of directions of frames held as coefficients.
std::size_t check_frames(const Arguments& check, const Hoods& hoods, const Coefficients& coefficients) {
    const std::size_t k = hoods.n_neighbors();
    check.at_least("the number of neighbours", static_cast<std::int64_t>(k), 1);
    const std::size_t width = coefficients.shape(1) / k;
    check.shape("coefficients", coefficients, hoods.n_listed(), k * width);
    return width;
}

nb::tuple tangents(const Table& X, const IndexRows& indices, const Weights& weights, const Rows& rows,
                   std::size_t n_directions, bool vectors, double share, int n_threads) {
    const Arguments check("tangent_frames");
    const Hoods hoods(check, X, indices, weights, rows);
    check.at_most("n_directions", n_directions, indices.shape(1));
    const std::size_t n = rows.shape(0), k = indices.shape(1), m = n_directions, width = vectors ? m : 0;
    auto values = make_output<double>({n, m});
    auto coefficients = make_output<double>({n, k, width});
    auto total = make_output<double>({n});
    auto dimension = make_output<std::int32_t>({n}), gap = make_output<std::int32_t>({n});
    const FrameOutputs out{{values.data(), n, m},
                           {coefficients.data(), n, k * width},
                           {total.data(), n},
                           {dimension.data(), n},
                           {gap.data(), n}};
    run_released(n_threads, [&](const Context& context) {
        tangent_frames(X.rows(), hoods.neighborhoods(), hoods.rows(), share, out, context);
    });
    return nb::make_tuple(values, coefficients, total, dimension, gap);
}

nb::object expand(const Table& X, const IndexRows& indices, const Weights& weights, const Rows& rows,
                  const Coefficients& coefficients, const Rows& positions, bool single, int n_threads) {
    const Arguments check("expand_frames");
    const Hoods hoods(check, X, indices, weights, rows);
    const std::size_t n = positions.shape(0), m = check_frames(check, hoods, coefficients), D = X.n_features();
    check.indices("positions", positions, rows.shape(0));
    const Frames frames{hoods.neighborhoods(), hoods.rows(), view(coefficients)};
    auto fill = [&](auto out) {
        run_released(n_threads, [&](const Context& context) {
            expand_frames(X.rows(), frames, view(positions), Span2(out.data(), n, m * D), context);
        });
        return nb::cast(out);
    };
    return single ? fill(make_unset<float>({n, m, D})) : fill(make_unset<double>({n, m, D}));
}

nb::tuple importance(const Table& X, const IndexRows& indices, const Weights& weights, const Rows& rows,
                     const Coefficients& coefficients, const Coefficients& scales, const Defined& defined,
                     bool mean_only, int n_threads) {
    const Arguments check("frame_importance");
    const Hoods hoods(check, X, indices, weights, rows);
    check.shape("scales", scales, rows.shape(0), check_frames(check, hoods, coefficients));
    check.length("defined", defined, rows.shape(0));
    const std::size_t n = mean_only ? 0 : rows.shape(0), D = X.n_features();
    auto each = make_output<float>({n, D});
    auto mean = make_output<double>({D});
    const Frames frames{hoods.neighborhoods(), hoods.rows(), view(coefficients)};
    run_released(n_threads, [&](const Context& context) {
        frame_importance(X.rows(), frames, view(scales), view(defined), {each.data(), n, D}, {mean.data(), D}, context);
    });
    return nb::make_tuple(each, mean);
}

nb::tuple deviation(const Table& X, const IndexRows& indices, const Weights& weights, const Rows& rows,
                    const Defined& defined, bool mean_only, int n_threads) {
    const Arguments check("local_deviation");
    const Hoods hoods(check, X, indices, weights, rows);
    check.length("defined", defined, rows.shape(0));
    const std::size_t n = mean_only ? 0 : rows.shape(0), D = X.n_features();
    auto each = make_output<float>({n, D});
    auto mean = make_output<double>({D});
    run_released(n_threads, [&](const Context& context) {
        local_deviation(X.rows(), {hoods.neighborhoods(), hoods.rows(), {}}, view(defined), {each.data(), n, D},
                        {mean.data(), D}, context);
    });
    return nb::make_tuple(each, mean);
}

Output<double> overlaps(const Matrix<const float>& frames, std::size_t n_directions, const IndexRows& edges,
                        bool nuclear, int n_threads) {
    const Arguments check("frame_overlaps");
    check.at_least("n_directions", static_cast<std::int64_t>(n_directions), 1);
    check.require(frames.shape(1) % n_directions == 0, "the number of columns of frames", "a multiple of n_directions");
    const std::size_t n = edges.shape(0);
    check.shape("edges", edges, n, 2);
    check.indices("edges", edges, frames.shape(0));
    auto out = make_output<double>({n});
    run_released(n_threads, [&](const Context& context) {
        frame_overlaps(view(frames), n_directions, view(edges), nuclear, {out.data(), n}, context);
    });
    return out;
}

}  // namespace

void register_frames(nb::module_& m) {
    m.def("tangent_frames", &tangents, nb::arg("X"), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("rows").noconvert(), nb::arg("n_directions"), nb::arg("vectors"), nb::arg("variance_share"),
          nb::arg("n_threads"), "Singular values, coefficients, total variance and two dimensions of the listed rows.");
    m.def("expand_frames", &expand, nb::arg("X"), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("rows").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("positions").noconvert(),
          nb::arg("single"), nb::arg("n_threads"), "Frames at some positions, (n, m, n_features); float32 if single.");
    m.def("frame_importance", &importance, nb::arg("X"), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("rows").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("scales").noconvert(),
          nb::arg("defined").noconvert(), nb::arg("mean_only"), nb::arg("n_threads"),
          "Importance of every feature for each listed row (none if mean_only) and its mean.");
    m.def("local_deviation", &deviation, nb::arg("X"), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("rows").noconvert(), nb::arg("defined").noconvert(), nb::arg("mean_only"), nb::arg("n_threads"),
          "Weighted root mean square displacement of every feature for each listed row (none if mean_only), its mean.");
    m.def("frame_overlaps", &overlaps, nb::arg("frames").noconvert(), nb::arg("n_directions"),
          nb::arg("edges").noconvert(), nb::arg("nuclear"), nb::arg("n_threads"),
          "Sum of the singular values (nuclear) or of their squares of V_a'V_b for edges (a, b).");
}

}  // namespace gnomon::bindings
