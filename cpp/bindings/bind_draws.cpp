#include "arrays.hpp"
#include "gnomon/draws.hpp"

namespace gnomon::bindings {
namespace {

template <auto fill>
Output<double> bound_fill(std::uint64_t seed, std::uint64_t stream, std::size_t n_rows, std::size_t n_columns,
                          int n_threads) {
    auto out = make_output<double>({n_rows, n_columns});
    run_released(n_threads,
                 [&](const Context& context) { fill(seed, stream, {out.data(), n_rows, n_columns}, context); });
    return out;
}

}  // namespace

void register_draws(nb::module_& m) {
    m.def("uniform_matrix", &bound_fill<fill_uniform>, nb::arg("seed"), nb::arg("stream"), nb::arg("n_rows"),
          nb::arg("n_columns"), nb::arg("n_threads"), "Numbers uniform in [0, 1); row i depends on (seed, stream, i).");
    m.def("normal_matrix", &bound_fill<fill_normal>, nb::arg("seed"), nb::arg("stream"), nb::arg("n_rows"),
          nb::arg("n_columns"), nb::arg("n_threads"), "Standard normal numbers; row i depends on (seed, stream, i).");
}

}  // namespace gnomon::bindings
