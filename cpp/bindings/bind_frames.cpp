#include "gnomon/frames.hpp"
#include "row_source.hpp"

namespace gnomon::bindings {
namespace {

using Rows = Vector<const std::int64_t>;
using Indices = Matrix<const std::int32_t>;
using Weights = Matrix<const float>;
using Defined = Vector<const std::uint8_t>;

nb::tuple frames_of(const RowSource& X, const Indices& indices, const Weights& weights, const Rows& rows, std::size_t m,
                    bool vectors, double share, int n_threads) {
    const std::size_t n = rows.shape(0), k = indices.shape(1), width = vectors ? m : 0;
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
        tangent_frames(X, {view(indices), view(weights)}, view(rows), share, out, context);
    });
    return nb::make_tuple(values, coefficients, total, dimension, gap);
}

Frames frames_view(const Indices& indices, const Weights& weights, const Rows& rows,
                   const Matrix<const double>& coefficients) {
    return {{view(indices), view(weights)}, view(rows), view(coefficients)};
}

nb::object expanded(const RowSource& X, const Indices& indices, const Weights& weights, const Rows& rows,
                    const Matrix<const double>& coefficients, const Rows& positions, bool single, int n_threads) {
    const std::size_t n = positions.shape(0), m = coefficients.shape(1) / indices.shape(1), D = n_features(X);
    const Frames frames = frames_view(indices, weights, rows, coefficients);
    auto fill = [&](auto out) {
        run_released(n_threads, [&](const Context& context) {
            expand_frames(X, frames, view(positions), Span2(out.data(), n, m * D), context);
        });
        return nb::cast(out);
    };
    return single ? fill(make_output<float>({n, m, D})) : fill(make_output<double>({n, m, D}));
}

nb::tuple importance_of(const RowSource& X, const Indices& indices, const Weights& weights, const Rows& rows,
                        const Matrix<const double>& coefficients, const Matrix<const double>& scales,
                        const Defined& defined, bool mean_only, int n_threads) {
    const std::size_t n = mean_only ? 0 : rows.shape(0), D = n_features(X);
    auto each = make_output<float>({n, D});
    auto mean = make_output<double>({D});
    run_released(n_threads, [&](const Context& context) {
        frame_importance(X, frames_view(indices, weights, rows, coefficients), view(scales), view(defined),
                         {each.data(), n, D}, {mean.data(), D}, context);
    });
    return nb::make_tuple(each, mean);
}

nb::tuple deviation_of(const RowSource& X, const Indices& indices, const Weights& weights, const Rows& rows,
                       const Defined& defined, bool mean_only, int n_threads) {
    const std::size_t n = mean_only ? 0 : rows.shape(0), D = n_features(X);
    auto each = make_output<float>({n, D});
    auto mean = make_output<double>({D});
    run_released(n_threads, [&](const Context& context) {
        local_deviation(X, {{view(indices), view(weights)}, view(rows), {}}, view(defined), {each.data(), n, D},
                        {mean.data(), D}, context);
    });
    return nb::make_tuple(each, mean);
}

}  // namespace

void register_frames(nb::module_& m) {
    m.def(
        "tangent_frames",
        [](const AnyMatrix& X, const Indices& indices, const Weights& weights, const Rows& rows,
           std::size_t n_directions, bool vectors, double share, int n_threads) {
            return frames_of(dense_rows(X), indices, weights, rows, n_directions, vectors, share, n_threads);
        },
        nb::arg("X").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("n_directions"), nb::arg("vectors"), nb::arg("variance_share"),
        nb::arg("n_threads"), "Singular values, coefficients, total variance and two dimensions of the listed rows.");
    m.def(
        "tangent_frames_sparse",
        [](const Offsets& offsets, const Columns& columns, const AnyVector& values, std::size_t n_features,
           const Indices& indices, const Weights& weights, const Rows& rows, std::size_t n_directions, bool vectors,
           double share, int n_threads) {
            return frames_of(sparse_rows(offsets, columns, values, n_features), indices, weights, rows, n_directions,
                             vectors, share, n_threads);
        },
        nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
        nb::arg("n_features"), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("n_directions"), nb::arg("vectors"), nb::arg("variance_share"),
        nb::arg("n_threads"), "tangent_frames of a table in CSR form with sorted columns.");
    m.def(
        "expand_frames",
        [](const AnyMatrix& X, const Indices& indices, const Weights& weights, const Rows& rows,
           const Matrix<const double>& coefficients, const Rows& positions, bool single, int n_threads) {
            return expanded(dense_rows(X), indices, weights, rows, coefficients, positions, single, n_threads);
        },
        nb::arg("X").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("positions").noconvert(),
        nb::arg("single"), nb::arg("n_threads"), "Frames at some positions, (n, m, n_features); float32 if single.");
    m.def(
        "expand_frames_sparse",
        [](const Offsets& offsets, const Columns& columns, const AnyVector& values, std::size_t n_features,
           const Indices& indices, const Weights& weights, const Rows& rows, const Matrix<const double>& coefficients,
           const Rows& positions, bool single, int n_threads) {
            return expanded(sparse_rows(offsets, columns, values, n_features), indices, weights, rows, coefficients,
                            positions, single, n_threads);
        },
        nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
        nb::arg("n_features"), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("positions").noconvert(),
        nb::arg("single"), nb::arg("n_threads"), "expand_frames of a table in CSR form with sorted columns.");
    m.def(
        "frame_importance",
        [](const AnyMatrix& X, const Indices& indices, const Weights& weights, const Rows& rows,
           const Matrix<const double>& coefficients, const Matrix<const double>& scales, const Defined& defined,
           bool mean_only, int n_threads) {
            return importance_of(dense_rows(X), indices, weights, rows, coefficients, scales, defined, mean_only,
                                 n_threads);
        },
        nb::arg("X").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("scales").noconvert(),
        nb::arg("defined").noconvert(), nb::arg("mean_only"), nb::arg("n_threads"),
        "Importance of every feature for each listed row (none if mean_only) and its mean.");
    m.def(
        "frame_importance_sparse",
        [](const Offsets& offsets, const Columns& columns, const AnyVector& values, std::size_t n_features,
           const Indices& indices, const Weights& weights, const Rows& rows, const Matrix<const double>& coefficients,
           const Matrix<const double>& scales, const Defined& defined, bool mean_only, int n_threads) {
            return importance_of(sparse_rows(offsets, columns, values, n_features), indices, weights, rows,
                                 coefficients, scales, defined, mean_only, n_threads);
        },
        nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
        nb::arg("n_features"), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("coefficients").noconvert(), nb::arg("scales").noconvert(),
        nb::arg("defined").noconvert(), nb::arg("mean_only"), nb::arg("n_threads"),
        "frame_importance of a table in CSR form with sorted columns.");
    m.def(
        "local_deviation",
        [](const AnyMatrix& X, const Indices& indices, const Weights& weights, const Rows& rows, const Defined& defined,
           bool mean_only, int n_threads) {
            return deviation_of(dense_rows(X), indices, weights, rows, defined, mean_only, n_threads);
        },
        nb::arg("X").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("defined").noconvert(), nb::arg("mean_only"), nb::arg("n_threads"),
        "Weighted root mean square displacement of every feature for each listed row (none if mean_only), its mean.");
    m.def(
        "local_deviation_sparse",
        [](const Offsets& offsets, const Columns& columns, const AnyVector& values, std::size_t n_features,
           const Indices& indices, const Weights& weights, const Rows& rows, const Defined& defined, bool mean_only,
           int n_threads) {
            return deviation_of(sparse_rows(offsets, columns, values, n_features), indices, weights, rows, defined,
                                mean_only, n_threads);
        },
        nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(), nb::arg("values").noconvert(),
        nb::arg("n_features"), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("defined").noconvert(), nb::arg("mean_only"), nb::arg("n_threads"),
        "local_deviation of a table in CSR form with sorted columns.");
    m.def(
        "frame_overlaps",
        [](const Matrix<const float>& frames, std::size_t n_directions, const Matrix<const std::int32_t>& edges,
           bool nuclear, int n_threads) {
            const std::size_t n = edges.shape(0);
            auto out = make_output<double>({n});
            run_released(n_threads, [&](const Context& context) {
                frame_overlaps(view(frames), n_directions, view(edges), nuclear, {out.data(), n}, context);
            });
            return out;
        },
        nb::arg("frames").noconvert(), nb::arg("n_directions"), nb::arg("edges").noconvert(), nb::arg("nuclear"),
        nb::arg("n_threads"), "Sum of the singular values (nuclear) or of their squares of V_a'V_b for edges (a, b).");
}

}  // namespace gnomon::bindings
