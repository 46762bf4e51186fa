// Memory whose size is only known once it is filled: a bound is set aside, of which the system hands out what is
// written, and the rest is given back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace gnomon {

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

}  // namespace gnomon
