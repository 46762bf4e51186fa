// Every chunk runs exactly once, exceptions and interrupts reach the caller, nested and concurrent regions finish.
#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "gnomon/parallel.hpp"

#if defined(__unix__)
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace gnomon;

static void every_chunk_runs_once() {
    for (const int n_threads : {1, 2, 3, 5, 17}) {
        std::vector<std::atomic<int>> count(1000);
        std::atomic<bool> worker_in_range{true};
        parallel_for(count.size(), {n_threads}, [&](std::size_t chunk, std::size_t worker) {
            ++count[chunk];
            if (worker >= static_cast<std::size_t>(n_threads)) worker_in_range = false;
        });
        CHECK(worker_in_range);
        for (const auto& c : count) CHECK(c == 1);
    }
}

static void blocks_cover_the_range() {
    std::vector<int> seen(103, 0);
    parallel_blocks(seen.size(), 10, {3}, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i) ++seen[i];
    });
    for (const int s : seen) CHECK(s == 1);
}

static void exceptions_reach_the_caller() {
    bool caught = false;
    try {
        parallel_for(100, {2}, [](std::size_t chunk, std::size_t) {
            if (chunk == 42) throw std::runtime_error("chunk 42");
        });
    } catch (const std::runtime_error&) {
        caught = true;
    }
    CHECK(caught);
}

static void an_interrupt_stops_the_region() {
    std::atomic<int> ran{0};
    bool caught = false;
    try {
        parallel_for(100000, {2, [] { return true; }}, [&](std::size_t, std::size_t) {
            ++ran;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
    } catch (const Interrupted&) {
        caught = true;
    }
    CHECK(caught);
    CHECK(ran < 10000);
}

static void nested_and_concurrent_regions_finish() {
    std::atomic<int> total{0};
    auto outer = [&] {
        parallel_for(20, {2}, [&](std::size_t, std::size_t) {
            parallel_for(20, {2}, [&](std::size_t, std::size_t) { ++total; });
        });
    };
    std::thread a(outer), b(outer);
    a.join();
    b.join();
    CHECK(total == 800);
}

static void a_forked_child_has_working_threads() {
#if defined(__unix__) && !defined(__SANITIZE_THREAD__)  // the thread sanitizer refuses threads after a fork
    const pid_t child = fork();
    if (child == 0) {
        std::atomic<int> total{0};
        parallel_for(50, {3}, [&](std::size_t, std::size_t) { ++total; });
        _exit(total == 50 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#endif
}

int main() {
    every_chunk_runs_once();
    blocks_cover_the_range();
    exceptions_reach_the_caller();
    an_interrupt_stops_the_region();
    nested_and_concurrent_regions_finish();
    a_forked_child_has_working_threads();
    return failures != 0;
}
