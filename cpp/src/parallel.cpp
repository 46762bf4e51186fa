#include "gnomon/parallel.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#define GNOMON_HAS_FORK 1
#endif

namespace gnomon::detail {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPollInterval = std::chrono::milliseconds(50);
constexpr int kSpins = 4000;  // about 20 microseconds: longer than the gap between two regions of one iteration

thread_local bool inside_region = false;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

struct Job {
    Job(std::size_t chunks, Task body, std::size_t helpers) : n_chunks(chunks), task(body), openings(helpers) {}

    const std::size_t n_chunks;
    const Task task;
    std::atomic<std::size_t> next{0};
    std::atomic<std::size_t> openings;   // helpers that may still join
    std::atomic<std::size_t> joined{0};  // helpers that have joined, which numbers their scratch space
    std::atomic<std::size_t> active{0};  // helpers inside the job now
    std::mutex mutex;
    std::exception_ptr error;

    void stop() { next.store(n_chunks); }

    void fail(std::exception_ptr cause) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::move(cause);
        stop();
    }

    template <class BetweenChunks>
    void work(std::size_t worker, BetweenChunks&& between) {
        inside_region = true;
        try {
            while (true) {
                const std::size_t chunk = next.fetch_add(1);
                if (chunk >= n_chunks) break;
                task.call(task.body, chunk, worker);
                between();
            }
        } catch (...) {
            fail(std::current_exception());
        }
        inside_region = false;
    }
};

class Pool {
public:
    void run(std::size_t n_chunks, const Context& context, Task task) {
        const std::size_t helpers = std::min<std::size_t>(context.n_threads, n_chunks) - 1;
        auto job = std::make_shared<Job>(n_chunks, task, helpers);
        if (helpers > 0) submit(job, helpers);
        Clock::time_point polled = Clock::now();
        job->work(0, [&] {
            if (context.interrupted == nullptr) return;
            const Clock::time_point now = Clock::now();
            if (now - polled < kPollInterval) return;
            polled = now;
            if (context.interrupted()) throw Interrupted();
        });
        if (helpers > 0) retire(job);
        if (job->error) std::rethrow_exception(job->error);
    }

private:
    void submit(const std::shared_ptr<Job>& job, std::size_t helpers) {
        std::size_t coming = 0;  // helpers that see the job without being woken
        {
            const std::lock_guard lock(mutex_);
            while (n_threads_ < helpers) {
                try {
                    std::thread([this] { serve(); }).detach();  // lives as long as the process
                } catch (const std::system_error&) {
                    break;  // no more threads to be had: those that exist do the work
                }
                ++n_threads_;
                ++coming;
            }
            jobs_.push_back(job);
            submitted_.fetch_add(1);
        }
        // No more are woken than can help: a region of two threads costs the same after one of twenty.
        for (coming += spinning_.load(); coming < helpers; ++coming) wake_.notify_one();
    }

    void retire(const std::shared_ptr<Job>& job) {
        {
            const std::lock_guard lock(mutex_);
            jobs_.remove(job);  // nobody joins from here on: joining needs the mutex and the list
        }
        for (int spin = 0; job->active.load() != 0; ++spin) {
            if (spin < kSpins)
                relax();
            else
                std::this_thread::yield();
        }
    }

    void serve() {
        int spin = 0;  // since the last job: a thread that others forestall goes to sleep
        while (true) {
            std::size_t seen = submitted_.load();
            if (auto [job, worker] = join(); job) {
                job->work(worker, [] {});
                job->active.fetch_sub(1);
                spin = 0;
                continue;
            }
            spinning_.fetch_add(1);
            for (; spin < kSpins && submitted_.load() == seen; ++spin) relax();
            spinning_.fetch_sub(1);
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return submitted_.load() != seen; });
        }
    }

    std::pair<std::shared_ptr<Job>, std::size_t> join() {
        const std::lock_guard lock(mutex_);
        for (const auto& job : jobs_) {
            if (job->openings.load() == 0 || job->next.load() >= job->n_chunks) continue;
            job->openings.fetch_sub(1);
            job->active.fetch_add(1);
            return {job, job->joined.fetch_add(1) + 1};
        }
        return {nullptr, 0};
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    std::list<std::shared_ptr<Job>> jobs_;
    std::size_t n_threads_ = 0;
    std::atomic<std::size_t> submitted_{0};
    std::atomic<std::size_t> spinning_{0};  // threads that wait awake
};

// The pool is never destroyed: its threads may still be waiting while the process exits. A forked child has none of
// them, so it starts with a new pool. Both are arranged when the library is loaded: done later, by the first region, a
// fork in another thread could come in between.
std::atomic<Pool*> current_pool{nullptr};

struct Startup {
    Startup() {
        current_pool.store(new Pool);
#ifdef GNOMON_HAS_FORK
        pthread_atfork(nullptr, nullptr, [] {
            current_pool.store(new Pool);
            inside_region = false;
        });
#endif
    }
};
const Startup startup;

}  // namespace

void run_chunks(std::size_t n_chunks, const Context& context, Task task) {
    if (n_chunks == 0) return;
    if (inside_region) {
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) task.call(task.body, chunk, 0);
        return;
    }
    current_pool.load()->run(n_chunks, {std::max(context.n_threads, 1), context.interrupted}, task);
}

}  // namespace gnomon::detail
