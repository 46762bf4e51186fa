// Numbers in ascending order by their digits: a radix sort, which is stable.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace gnomon {

template <class T>
using SortKey = std::conditional_t<std::is_same_v<T, double>, std::uint64_t, std::uint32_t>;

/// Unsigned numbers in the order of floats or doubles. Adding zero makes the two zeros one number.
template <class T>
SortKey<T> sort_key(T x) {
    using Key = SortKey<T>;
    constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
    const Key bits = std::bit_cast<Key>(x + T{0});
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

/// Sorts items by their unsigned `key`, equal ones as they stood; keeps its memory from one call to the next.
template <class Item>
class RadixSort {
public:
    void sort(std::vector<Item>& items) {
        if (items.empty()) return;
        count_digits(items);
        spare_.resize(items.size());
        for (std::size_t pass = 0; pass < kPasses; ++pass) {
            auto& counts = counts_[pass];
            if (counts[digit(items.front().key, pass)] == items.size()) continue;  // the same in all
            std::uint32_t begin = 0;
            for (auto& count : counts) begin += std::exchange(count, begin);
            for (const auto& item : items) spare_[counts[digit(item.key, pass)]++] = item;
            items.swap(spare_);
        }
    }

private:
    using Key = decltype(Item::key);
    static constexpr int kDigitBits = 11;
    static constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
    static constexpr std::size_t kPasses = (8 * sizeof(Key) + kDigitBits - 1) / kDigitBits;

    static std::size_t digit(Key key, std::size_t pass) {
        return static_cast<std::size_t>(key >> (kDigitBits * pass)) & (kDigits - 1);
    }
    void count_digits(const std::vector<Item>& items) {
        counts_.assign(kPasses, {});
        for (const auto& item : items)
            for (std::size_t pass = 0; pass < kPasses; ++pass) ++counts_[pass][digit(item.key, pass)];
    }

    std::vector<Item> spare_;
    std::vector<std::array<std::uint32_t, kDigits>> counts_;  // of items, for each pass
};

}  // namespace gnomon
