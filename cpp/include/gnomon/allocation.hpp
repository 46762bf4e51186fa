// Memory whose size is only known once it is filled: a bound is set aside, of which the system hands out what is
// written, and the rest is given back. And vectors that begin with a line of the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gnomon {

inline constexpr std::size_t kLineBytes = 64, kPageBytes = std::size_t{1} << 21;

/// Asks the system for large pages, where it gives them to who asks: rows that are read in any order then need a
/// five-hundredth of the entries in the table of pages, and memory that is written first is had in fewer steps.
inline void ask_for_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (bytes < 2 * kPageBytes) return;
    const std::size_t skipped = -reinterpret_cast<std::uintptr_t>(memory) % kPageBytes;
    madvise(static_cast<char*>(memory) + skipped, bytes - skipped, MADV_HUGEPAGE);  // it may refuse
#endif
}

struct FreeAllocation {
    void operator()(void* memory) const noexcept { std::free(memory); }
};

/// Numbers that are not set.
template <class T>
using Allocation = std::unique_ptr<T[], FreeAllocation>;

template <class T>
Allocation<T> allocate(std::size_t most) {
    void* memory = std::malloc(std::max<std::size_t>(most, 1) * sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    ask_for_large_pages(memory, most * sizeof(T));
    return Allocation<T>(static_cast<T*>(memory));
}

/// Keeps the first `size` numbers.
template <class T>
void shrink(Allocation<T>& kept, std::size_t size) {
    void* memory = std::realloc(kept.get(), std::max<std::size_t>(size, 1) * sizeof(T));
    if (memory == nullptr) return;  // what is there stays valid
    static_cast<void>(kept.release());
    kept.reset(static_cast<T*>(memory));
}

/// Gives memory that begins with a line of the cache, since a row of 64 bytes that does not is two lines to fetch; much
/// of it on large pages.
template <class T>
struct LineAllocator {
    using value_type = T;

    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor): as allocators are

    T* allocate(std::size_t n) {
        const std::size_t bytes = n * sizeof(T);
        void* memory = ::operator new(bytes, alignment(bytes));
        ask_for_large_pages(memory, bytes);
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t n) noexcept { ::operator delete(memory, alignment(n * sizeof(T))); }
    friend bool operator==(const LineAllocator&, const LineAllocator&) noexcept { return true; }

private:
    static std::align_val_t alignment(std::size_t bytes) {
        return std::align_val_t{bytes >= 2 * kPageBytes ? kPageBytes : kLineBytes};
    }
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace gnomon
