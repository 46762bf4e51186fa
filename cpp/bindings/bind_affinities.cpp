#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "checks.hpp"
#include "gnomon/affinities.hpp"
#include "gnomon/symmetrize.hpp"

namespace gnomon::bindings {
namespace {

std::tuple<Output<float>, Output<float>> bound_gaussian_weights(const Matrix<const float>& distances,
                                                                float log2_perplexity, int n_threads) {
    auto weights = make_unset<float>({distances.shape(0), distances.shape(1)});
    auto bandwidths = make_unset<float>({distances.shape(0)});
    run_released(n_threads, [&](const Context& context) {
        gaussian_weights(view(distances), log2_perplexity, {weights.data(), distances.shape(0), distances.shape(1)},
                         {bandwidths.data(), bandwidths.size()}, context);
    });
    return std::make_tuple(weights, bandwidths);
}

std::tuple<Output<float>, Output<float>, Output<float>> bound_membership_weights(const Matrix<const float>& distances,
                                                                                 double local_connectivity,
                                                                                 double usual_distance, int n_threads) {
    Arguments("membership_weights").require(local_connectivity >= 0.0, "local_connectivity", ">= 0");
    auto weights = make_unset<float>({distances.shape(0), distances.shape(1)});
    auto nearest = make_unset<float>({distances.shape(0)});
    auto bandwidths = make_unset<float>({distances.shape(0)});
    run_released(n_threads, [&](const Context& context) {
        membership_weights(view(distances), local_connectivity, usual_distance,
                           {weights.data(), distances.shape(0), distances.shape(1)}, {nearest.data(), nearest.size()},
                           {bandwidths.data(), bandwidths.size()}, context);
    });
    return std::make_tuple(weights, nearest, bandwidths);
}

using Symmetric = std::tuple<Output<std::int64_t>, Output<std::int32_t>, Output<float>>;

Symmetric as_arrays(SymmetricMatrix matrix, std::size_t n) {
    const auto size = static_cast<std::size_t>(matrix.offsets[n]);
    return std::make_tuple(hand_over(std::move(matrix.offsets), n + 1), hand_over(std::move(matrix.columns), size),
                           hand_over(std::move(matrix.values), size));
}

Symmetric bound_symmetrize(const Matrix<const std::int32_t>& indices, const Matrix<const float>& weights, bool fuzzy,
                           float parameter, int n_threads) {
    const Arguments check("symmetrize");
    check.shape("weights", weights, indices.shape(0), indices.shape(1));
    check.indices("indices", indices, indices.shape(0));
    const SymmetricRule rule{fuzzy ? SymmetricRule::Kind::fuzzy : SymmetricRule::Kind::sum, parameter};
    const Span2<const float> rows = view(weights);
    SymmetricMatrix joined;
    run_released(n_threads, [&](const Context& context) {
        joined = symmetrize(view(indices), [&](std::size_t i, float*) { return rows.row(i); }, rule, context);
    });
    return as_arrays(std::move(joined), indices.shape(0));
}

std::tuple<Symmetric, Output<float>> bound_gaussian_affinities(const Matrix<const std::int32_t>& indices,
                                                               const Matrix<const float>& distances,
                                                               float log2_perplexity, int n_threads) {
    const Arguments check("gaussian_affinities");
    check.shape("distances", distances, indices.shape(0), indices.shape(1));
    check.indices("indices", indices, indices.shape(0));
    auto bandwidths = make_unset<float>({indices.shape(0)});
    SymmetricMatrix joined;
    run_released(n_threads, [&](const Context& context) {
        const GaussianRows rows(view(distances), log2_perplexity, {bandwidths.data(), bandwidths.size()}, context);
        const double total = static_cast<double>(std::max<std::size_t>(rows.n_weighted(), 1));
        const auto weigh = [&](std::size_t i, float* scratch) {
            rows.weigh(i, scratch);
            return static_cast<const float*>(scratch);
        };
        const SymmetricRule mean{SymmetricRule::Kind::sum, static_cast<float>(0.5 / total)};
        joined = symmetrize(view(indices), weigh, mean, context);
    });
    return std::make_tuple(as_arrays(std::move(joined), indices.shape(0)), bandwidths);
}

}  // namespace

void register_affinities(nb::module_& m) {
    m.def("gaussian_weights", &bound_gaussian_weights, nb::arg("distances").noconvert(), nb::arg("log2_perplexity"),
          nb::arg("n_threads"), "Conditional Gaussian weights (n, k) of a given entropy in bits, and bandwidths (n,).");
    m.def("gaussian_affinities", &bound_gaussian_affinities, nb::arg("indices").noconvert(),
          nb::arg("distances").noconvert(), nb::arg("log2_perplexity"), nb::arg("n_threads"),
          "Symmetric CSR (offsets, columns, values) of Gaussian weights whose sum is 1, and bandwidths (n,).");
    m.def("membership_weights", &bound_membership_weights, nb::arg("distances").noconvert(),
          nb::arg("local_connectivity"), nb::arg("usual_distance"), nb::arg("n_threads"),
          "Fuzzy memberships (n, k), distances to the nearest neighbour (n,) and bandwidths (n,).");
    m.def("symmetrize", &bound_symmetrize, nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("fuzzy"), nb::arg("parameter"), nb::arg("n_threads"),
          "Symmetric CSR (offsets, columns, values) of directed neighbour weights.");
}

}  // namespace gnomon::bindings
