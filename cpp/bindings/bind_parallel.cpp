#include <chrono>
#include <thread>

#include "arrays.hpp"

namespace gnomon::bindings {

void register_parallel(nb::module_& m) {
    m.def(
        "wait",
        [](int n_threads, int n_chunks, double seconds) {
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
