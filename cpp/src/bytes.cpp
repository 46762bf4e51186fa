#include "gnomon/bytes.hpp"

#include <atomic>
#include <cstddef>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kBlockValues = std::size_t{1} << 18;

// Whether all values are whole numbers from 0 to 255. They are clamped before the cast, which only numbers in its range
// may pass; NaN becomes 0.
template <class T>
const auto cast_values = each_level([](const T* values, std::size_t n, std::uint8_t* out) GNOMON_INLINE_LAMBDA {
    std::int32_t different = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const T x = values[i];
        const T inside = x > T{0} ? (x < T{255} ? x : T{255}) : T{0};
        const auto whole = static_cast<std::int32_t>(inside);
        out[i] = static_cast<std::uint8_t>(whole);
        different |= static_cast<std::int32_t>(!(static_cast<T>(whole) == x));
    }
    return different == 0;
});

template <class T>
bool cast_table(Span2<const T> X, Span2<std::uint8_t> out, const Context& context) {
    std::atomic<bool> whole{true};
    parallel_blocks(X.size(), kBlockValues, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        if (!whole.load(std::memory_order_relaxed)) return;
        if (!cast_values<T>(X.data() + begin, end - begin, out.data() + begin))
            whole.store(false, std::memory_order_relaxed);
    });
    return whole;
}

}  // namespace

bool to_bytes(Span2<const float> X, Span2<std::uint8_t> out, const Context& context) {
    return cast_table(X, out, context);
}
bool to_bytes(Span2<const double> X, Span2<std::uint8_t> out, const Context& context) {
    return cast_table(X, out, context);
}

}  // namespace gnomon
