// How arrays and the user's Ctrl-C cross between Python and the kernels. Bindings only translate; they compute nothing.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <utility>

#include "gnomon/allocation.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon::bindings {

namespace nb = nanobind;

/// Contiguous row-major arrays in, without copy or conversion.
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
Span2<T> view(const Matrix<T>& a) {
    return {a.data(), a.shape(0), a.shape(1)};
}
template <class T>
std::span<T> view(const Vector<T>& a) {
    return {a.data(), a.shape(0)};
}

using Offsets = Vector<const std::int64_t>;
using Columns = Vector<const std::int32_t>;
using Values = Vector<const float>;
using Indices = Vector<const std::int32_t>;
using IndexRows = Matrix<const std::int32_t>;

/// More elements than any machine holds; sizes beyond it are mistakes, such as negative numbers.
inline constexpr std::size_t kMostElements = std::size_t{1} << 46;

/// A new NumPy array that owns its memory; fill it through data().
template <class T>
using Output = nb::ndarray<nb::numpy, T>;

template <class T>
Output<T> own_memory(std::unique_ptr<T[]> memory, std::initializer_list<std::size_t> shape) {
    T* data = memory.get();
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    static_cast<void>(memory.release());
    return Output<T>(data, shape, owner);
}

inline std::size_t checked_size(std::initializer_list<std::size_t> shape) {
    std::size_t size = 1;
    for (const std::size_t extent : shape) {
        if (__builtin_mul_overflow(size, extent, &size) || size > kMostElements) throw std::bad_alloc();
    }
    return size;
}

/// For a kernel that sets all of it: its threads touch the memory first.
template <class T>
Output<T> make_unset(std::initializer_list<std::size_t> shape) {
    const std::size_t size = checked_size(shape);
    std::unique_ptr<T[]> memory(new T[size]);
    ask_for_large_pages(memory.get(), size * sizeof(T));
    return own_memory(std::move(memory), shape);
}

/// All zero.
template <class T>
Output<T> make_output(std::initializer_list<std::size_t> shape) {
    Output<T> output = make_unset<T>(shape);
    std::fill_n(output.data(), output.size(), T{});
    return output;
}

/// The same of memory that a kernel has filled.
template <class T>
Output<T> hand_over(Allocation<T> memory, std::size_t size) {
    T* data = memory.get();
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    static_cast<void>(memory.release());
    return Output<T>(data, {size}, owner);
}

/// Whether the user pressed Ctrl-C; called by a kernel that runs without the GIL.
inline bool user_interrupted() {
    const nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
}

inline constexpr int kMostThreads = 1 << 16;  // each may need memory of its own

/// Runs kernel(context) without the GIL; a Ctrl-C inside becomes KeyboardInterrupt.
template <class Kernel>
void run_released(int n_threads, Kernel&& kernel) {
    if (n_threads < 1 || n_threads > kMostThreads) throw std::invalid_argument("n_threads must be in [1, 65536].");
    try {
        const nb::gil_scoped_release release;
        std::forward<Kernel>(kernel)(Context{n_threads, &user_interrupted});
    } catch (const Interrupted&) {
        throw nb::python_error();  // PyErr_CheckSignals has set KeyboardInterrupt in this thread
    }
}

}  // namespace gnomon::bindings
