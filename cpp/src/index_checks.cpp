#include "gnomon/index_checks.hpp"

#include <algorithm>
#include <vector>

#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kBlock = 4096;  // entries looked at before a decision

// The first entry that `wrong` holds for: blocks are judged as a whole, without a branch for each entry.
template <class T, class Any, class Wrong>
std::optional<std::size_t> find_first(std::span<const T> entries, Any&& any, Wrong&& wrong) {
    for (std::size_t begin = 0; begin < entries.size(); begin += kBlock) {
        const std::span<const T> block = entries.subspan(begin, std::min(kBlock, entries.size() - begin));
        if (!any(block)) continue;
        return begin + static_cast<std::size_t>(std::find_if(block.begin(), block.end(), wrong) - block.begin());
    }
    return std::nullopt;
}

// One comparison for both bounds: what lies below `low` becomes huge as an unsigned number.
template <class T, class Bits>
const auto any_outside =
    each_level([](const T* entries, std::size_t n, Bits low, Bits width) GNOMON_INLINE_LAMBDA -> bool {
        Bits found = 0;
        for (std::size_t i = 0; i < n; ++i) found |= static_cast<Bits>(entries[i]) - low >= width;
        return found != 0;
    });
template <class T>
const auto any_negative = each_level([](const T* entries, std::size_t n) GNOMON_INLINE_LAMBDA -> bool {
    std::uint32_t found = 0;
    for (std::size_t i = 0; i < n; ++i) found |= !(entries[i] >= 0);
    return found != 0;
});

template <class T>
std::optional<std::size_t> negative_in(std::span<const T> entries) {
    return find_first(
        entries, [](std::span<const T> block) { return any_negative<T>(block.data(), block.size()); },
        [](T x) { return !(x >= 0); });
}

template <class T>
std::optional<std::size_t> descent_in(std::span<const T> entries, bool strictly) {
    const auto found =
        std::adjacent_find(entries.begin(), entries.end(), [&](T a, T b) { return strictly ? a >= b : a > b; });
    if (found == entries.end()) return std::nullopt;
    return static_cast<std::size_t>(found - entries.begin()) + 1;
}

}  // namespace

std::optional<std::size_t> find_outside(std::span<const std::int32_t> entries, std::int64_t low, std::int64_t high) {
    if (high <= low) return entries.empty() ? std::nullopt : std::optional<std::size_t>(0);
    constexpr std::int64_t kAll = std::int64_t{1} << 32;
    const auto first = static_cast<std::uint32_t>(static_cast<std::int32_t>(low));
    const auto width = static_cast<std::uint32_t>(std::min(high - low, kAll - 1));
    return find_first(
        entries,
        [&](std::span<const std::int32_t> block) {
            return any_outside<std::int32_t, std::uint32_t>(block.data(), block.size(), first, width);
        },
        [&](std::int32_t x) { return x < low || x >= high; });
}

std::optional<std::size_t> find_outside(std::span<const std::int64_t> entries, std::int64_t low, std::int64_t high) {
    if (high <= low) return entries.empty() ? std::nullopt : std::optional<std::size_t>(0);
    const auto first = static_cast<std::uint64_t>(low), width = static_cast<std::uint64_t>(high) - first;
    return find_first(
        entries,
        [&](std::span<const std::int64_t> block) {
            return any_outside<std::int64_t, std::uint64_t>(block.data(), block.size(), first, width);
        },
        [&](std::int64_t x) { return x < low || x >= high; });
}

std::optional<std::size_t> find_descent(std::span<const std::int32_t> entries, bool strictly) {
    return descent_in(entries, strictly);
}
std::optional<std::size_t> find_descent(std::span<const std::int64_t> entries, bool strictly) {
    return descent_in(entries, strictly);
}

std::optional<std::size_t> find_negative(std::span<const float> entries) { return negative_in(entries); }
std::optional<std::size_t> find_negative(std::span<const double> entries) { return negative_in(entries); }

std::optional<std::size_t> find_repeated(std::span<const std::int32_t> entries) {
    std::vector<bool> seen(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto at = static_cast<std::size_t>(entries[i]);
        if (seen[at]) return i;
        seen[at] = true;
    }
    return std::nullopt;
}

}  // namespace gnomon
