#include <nanobind/stl/tuple.h>

#include <tuple>

#include "checks.hpp"
#include "gnomon/affinities.hpp"
#include "gnomon/symmetrize.hpp"

namespace gnomon::bindings {
namespace {

std::tuple<Output<float>, Output<float>> bound_gaussian_weights(const Matrix<const float>& distances,
                                                                float log2_perplexity, int n_threads) {
    auto weights = make_output<float>({distances.shape(0), distances.shape(1)});
    auto bandwidths = make_output<float>({distances.shape(0)});
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
    auto weights = make_output<float>({distances.shape(0), distances.shape(1)});
    auto nearest = make_output<float>({distances.shape(0)});
    auto bandwidths = make_output<float>({distances.shape(0)});
    run_released(n_threads, [&](const Context& context) {
        membership_weights(view(distances), local_connectivity, usual_distance,
                           {weights.data(), distances.shape(0), distances.shape(1)}, {nearest.data(), nearest.size()},
                           {bandwidths.data(), bandwidths.size()}, context);
    });
    return std::make_tuple(weights, nearest, bandwidths);
}

std::tuple<Output<std::int64_t>, Output<std::int32_t>, Output<float>> bound_symmetrize(
    const Matrix<const std::int32_t>& indices, const Matrix<const float>& weights, bool fuzzy, float parameter,
    int n_threads) {
    const Arguments check("symmetrize");
    check.shape("weights", weights, indices.shape(0), indices.shape(1));
    check.indices("indices", indices, indices.shape(0));
    const SymmetricRule rule{fuzzy ? SymmetricRule::Kind::fuzzy : SymmetricRule::Kind::sum, parameter};
    std::unique_ptr<Symmetrizer> symmetrizer;
    auto offsets = make_output<std::int64_t>({indices.shape(0) + 1});
    run_released(n_threads, [&](const Context& context) {
        symmetrizer = std::make_unique<Symmetrizer>(view(indices), view(weights), context);
        symmetrizer->count(rule, {offsets.data(), offsets.size()}, context);
    });
    const auto n_entries = static_cast<std::size_t>(offsets.data()[indices.shape(0)]);
    auto columns = make_output<std::int32_t>({n_entries});
    auto values = make_output<float>({n_entries});
    run_released(n_threads, [&](const Context& context) {
        symmetrizer->fill(rule, {offsets.data(), offsets.size()}, {columns.data(), n_entries},
                          {values.data(), n_entries}, context);
        symmetrizer.reset();
    });
    return std::make_tuple(offsets, columns, values);
}

}  // namespace

void register_affinities(nb::module_& m) {
    m.def("gaussian_weights", &bound_gaussian_weights, nb::arg("distances").noconvert(), nb::arg("log2_perplexity"),
          nb::arg("n_threads"), "Conditional Gaussian weights (n, k) of a given entropy in bits, and bandwidths (n,).");
    m.def("membership_weights", &bound_membership_weights, nb::arg("distances").noconvert(),
          nb::arg("local_connectivity"), nb::arg("usual_distance"), nb::arg("n_threads"),
          "Fuzzy memberships (n, k), distances to the nearest neighbour (n,) and bandwidths (n,).");
    m.def("symmetrize", &bound_symmetrize, nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("fuzzy"), nb::arg("parameter"), nb::arg("n_threads"),
          "Symmetric CSR (offsets, columns, values) of directed neighbour weights.");
}

}  // namespace gnomon::bindings
