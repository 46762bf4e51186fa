// The only way to run threads. Work is cut into chunks whose number depends on the problem alone, never on the number
// of threads; each chunk writes what it owns, so the result is the same for any number of threads.
#pragma once

#include <cstddef>
#include <exception>
#include <numeric>
#include <type_traits>
#include <vector>

namespace gnomon {

/// How a kernel may run: how many threads it may use, and how to ask whether the user wants it to stop.
struct Context {
    int n_threads = 1;
    bool (*interrupted)() = nullptr;  ///< polled by the calling thread between chunks; null: never

    /// This context, or one without threads for a work that is over before they wake: `least` is worth waking them.
    Context for_work(double work, double least) const {
        Context result = *this;
        if (work < least) result.n_threads = 1;
        return result;
    }
};

/// Thrown by parallel_for in the calling thread after `interrupted` said yes; no chunk is running any more then.
class Interrupted : public std::exception {
public:
    const char* what() const noexcept override { return "interrupted"; }
};

namespace detail {

struct Task {
    void* body;
    void (*call)(void* body, std::size_t chunk, std::size_t worker);
};

void run_chunks(std::size_t n_chunks, const Context& context, Task task);

}  // namespace detail

/// Calls body(chunk, worker) once for each chunk in [0, n_chunks); worker in [0, context.n_threads) names the scratch
/// space a chunk may use. The first exception stops the rest and is rethrown here. A nested call runs serially.
template <class Body>
void parallel_for(std::size_t n_chunks, const Context& context, Body&& body) {
    using Plain = std::remove_reference_t<Body>;
    auto call = [](void* pointer, std::size_t chunk, std::size_t worker) {
        (*static_cast<Plain*>(pointer))(chunk, worker);
    };
    detail::run_chunks(n_chunks, context, {const_cast<void*>(static_cast<const void*>(&body)), call});
}

/// Cuts [0, n) into blocks of fixed size and calls body(begin, end, worker) once for each.
template <class Body>
void parallel_blocks(std::size_t n, std::size_t block, const Context& context, Body&& body) {
    parallel_for((n + block - 1) / block, context, [&](std::size_t chunk, std::size_t worker) {
        const std::size_t begin = chunk * block;
        body(begin, n - begin < block ? n : begin + block, worker);
    });
}

/// Adds up what body(chunk, worker) returns for each chunk, in their order.
template <class Body>
double parallel_sum(std::size_t n_chunks, const Context& context, Body&& body) {
    std::vector<double> parts(n_chunks);
    parallel_for(n_chunks, context, [&](std::size_t chunk, std::size_t worker) { parts[chunk] = body(chunk, worker); });
    return std::accumulate(parts.begin(), parts.end(), 0.0);
}

/// The same of body(begin, end, worker) for blocks of fixed size.
template <class Body>
double parallel_block_sum(std::size_t n, std::size_t block, const Context& context, Body&& body) {
    return parallel_sum((n + block - 1) / block, context, [&](std::size_t chunk, std::size_t worker) {
        const std::size_t begin = chunk * block;
        return body(begin, n - begin < block ? n : begin + block, worker);
    });
}

}  // namespace gnomon
