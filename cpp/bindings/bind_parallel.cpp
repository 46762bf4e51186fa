#include <chrono>
#include <thread>

#include "checks.hpp"

namespace gnomon::bindings {

void register_parallel(nb::module_& m) {
    m.def(
        "wait",
        [](int n_threads, int n_chunks, double seconds) {
            const Arguments check("wait");
            check.at_least("n_chunks", n_chunks, 0);
            check.require(seconds >= 0 && seconds < 3600, "seconds", "in [0, 3600)");
            run_released(n_threads, [&](const Context& context) {
                parallel_for(static_cast<std::size_t>(n_chunks), context, [&](std::size_t, std::size_t) {
                    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
                });
            });
        },
        nb::arg("n_threads"), nb::arg("n_chunks"), nb::arg("seconds"),
        "Run n_chunks chunks that each wait; shows that Ctrl-C and fork are safe inside a parallel region.");
}

}  // namespace gnomon::bindings
