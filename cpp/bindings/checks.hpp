// What a binding asks of its arguments before a kernel sees them. Kernels trust shapes and row numbers: an entry out of
// range would be read from anywhere in memory, so every door looks, whoever calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "arrays.hpp"
#include "gnomon/output_kernels.hpp"

namespace gnomon::bindings {

inline constexpr std::size_t kMostNeighbors = 1U << 24;  // a search keeps some multiple of them for each row

/// The checks of one function; each refuses with a ValueError that names the function, the argument, what was found and
/// the rule.
class Arguments {
public:
    explicit constexpr Arguments(std::string_view function) : function_(function) {}

    [[noreturn]] void refuse(std::string_view what, const std::string& rule, const std::string& fact = {}) const;

    void require(bool holds, std::string_view what, const char* rule) const {
        if (!holds) refuse(what, rule);
    }
    void equal(std::string_view what, std::size_t found, std::size_t expected) const;
    void at_least(std::string_view what, std::int64_t found, std::int64_t low) const;
    void at_most(std::string_view what, std::size_t found, std::size_t high) const;
    void positive(std::string_view what, double found) const;

    /// A vector of n entries.
    template <class T>
    void length(std::string_view what, const Vector<T>& a, std::size_t n) const {
        equal("the length of " + std::string(what), a.shape(0), n);
    }
    /// A vector of n entries, or without any.
    template <class T>
    void length_if_any(std::string_view what, const Vector<T>& a, std::size_t n) const {
        if (a.shape(0) != 0) length(what, a, n);
    }
    /// A matrix of shape (rows, columns).
    template <class A>
    void shape(std::string_view what, const A& a, std::size_t rows, std::size_t columns) const {
        if (a.shape(0) != rows || a.shape(1) != columns) refuse_shape(what, a.shape(0), a.shape(1), rows, columns);
    }
    /// A matrix of shape (rows, columns), or without rows.
    template <class A>
    void shape_if_any(std::string_view what, const A& a, std::size_t rows, std::size_t columns) const {
        if (a.shape(0) != 0) shape(what, a, rows, columns);
    }

    /// Places of rows, components of a map: 1 to kMaxComponents, or to `most`.
    void components(std::size_t d, std::size_t most = kMaxComponents) const;

    /// Row numbers in [low, high).
    void indices(std::string_view what, std::span<const std::int32_t> entries, std::size_t high,
                 std::int32_t low = 0) const {
        within(what, find_entry(entries, low, high), low, high);
    }
    void indices(std::string_view what, std::span<const std::int64_t> entries, std::size_t high) const {
        within(what, find_entry(entries, high), 0, high);
    }
    template <class T>
    void indices(std::string_view what, const Vector<const T>& a, std::size_t high) const {
        indices(what, view(a), high);
    }
    void indices(std::string_view what, const Matrix<const std::int32_t>& a, std::size_t high,
                 std::int32_t low = 0) const {
        indices(what, std::span(a.data(), a.size()), high, low);
    }

    void ascending(std::string_view what, std::span<const std::int32_t> entries, bool strictly) const;
    void ascending(std::string_view what, std::span<const std::int64_t> entries, bool strictly) const;
    /// Each of the numbers 0 to n - 1 once.
    void permutation(std::string_view what, std::span<const std::int32_t> entries, std::size_t n) const;
    void not_negative(std::string_view what, std::span<const float> entries) const;
    void not_negative(std::string_view what, std::span<const double> entries) const;

    /// Offsets of groups, ascending from 0 to `total`.
    void offsets(std::string_view what, std::span<const std::int64_t> entries, std::size_t total) const;
    /// A matrix in compressed rows, with column numbers in [0, n_columns).
    void compressed_rows(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
                         std::size_t n_values, std::size_t n_columns) const;

private:
    struct Found {
        std::size_t place;
        std::int64_t entry;
    };
    using MaybeFound = std::optional<Found>;

    static MaybeFound find_entry(std::span<const std::int32_t> entries, std::int32_t low, std::size_t high);
    static MaybeFound find_entry(std::span<const std::int64_t> entries, std::size_t high);
    void within(std::string_view what, MaybeFound outside, std::int64_t low, std::size_t high) const;
    [[noreturn]] void refuse_shape(std::string_view what, std::size_t found_rows, std::size_t found_columns,
                                   std::size_t rows, std::size_t columns) const;

    std::string_view function_;
};

}  // namespace gnomon::bindings
