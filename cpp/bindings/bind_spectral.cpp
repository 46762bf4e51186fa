#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "gnomon/block_vectors.hpp"
#include "gnomon/components.hpp"
#include "gnomon/spectral.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

std::tuple<Output<float>, Output<double>, Output<double>, bool, bool, int, int> bound_spectral_vectors(
    const Graph& affinities, std::size_t n_wanted, std::size_t width, float tolerance, double turn, int max_products,
    double seconds, std::uint64_t seed, int n_threads) {
    const Arguments check("spectral_vectors");
    const std::size_t n = affinities.n();
    check.require(std::find(std::begin(kBlockWidths), std::end(kBlockWidths), width) != std::end(kBlockWidths), "width",
                  "8, 16, 32 or 64");
    check.at_least("the number of rows", static_cast<std::int64_t>(n), static_cast<std::int64_t>(4 * width));
    check.at_least("n_wanted", static_cast<std::int64_t>(n_wanted), 1);
    check.at_most("n_wanted", n_wanted, width - 2);
    check.not_negative("affinities", affinities.view().values);
    auto vectors = make_output<float>({n, width});
    auto eigenvalues = make_output<double>({width});
    auto residuals = make_output<double>({width});
    SpectralOutcome outcome;
    run_released(n_threads, [&](const Context& context) {
        outcome = spectral_vectors(affinities.view(), {n_wanted, tolerance, turn, max_products, seconds, seed},
                                   {vectors.data(), n, width}, {eigenvalues.data(), width}, {residuals.data(), width},
                                   context);
    });
    return std::make_tuple(vectors, eigenvalues, residuals, outcome.converged, outcome.out_of_time, outcome.n_products,
                           outcome.n_levels);
}

}  // namespace

void register_spectral(nb::module_& m) {
    m.def("spectral_vectors", &bound_spectral_vectors, nb::arg("affinities"), nb::arg("n_wanted"), nb::arg("width"),
          nb::arg("tolerance"), nb::arg("turn"), nb::arg("max_products"), nb::arg("seconds"), nb::arg("seed"),
          nb::arg("n_threads"),
          "Leading non-trivial eigenvectors (n, width) of D^-1/2 A D^-1/2, eigenvalues, residuals, converged, "
          "out_of_time, products, levels.");
    m.def(
        "graph_components",
        [](const Graph& graph) {
            auto labels = make_output<std::int32_t>({graph.n()});
            run_released(1, [&](const Context&) { graph_components(graph.view(), {labels.data(), graph.n()}); });
            return labels;
        },
        nb::arg("graph"), "Connected component of each node, numbered in the order of their first nodes.");
}

}  // namespace gnomon::bindings
