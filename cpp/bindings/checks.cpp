#include "checks.hpp"

#include <cmath>
#include <stdexcept>

#include "gnomon/index_checks.hpp"

namespace gnomon::bindings {
namespace {

std::string text_of(std::size_t rows, std::size_t columns) {
    return "(" + std::to_string(rows) + ", " + std::to_string(columns) + ")";
}

template <class T>
std::string entry_text(std::span<const T> entries, std::size_t place) {
    return "entry " + std::to_string(place) + " is " + std::to_string(entries[place]);
}

}  // namespace

void Arguments::refuse(std::string_view what, const std::string& rule, const std::string& fact) const {
    std::string text = std::string(function_) + ": " + std::string(what) + " must be " + rule;
    if (!fact.empty()) text += " (" + fact + ")";
    throw std::invalid_argument(text + ".");
}

void Arguments::equal(std::string_view what, std::size_t found, std::size_t expected) const {
    if (found != expected) refuse(what, std::to_string(expected), "found " + std::to_string(found));
}

void Arguments::at_least(std::string_view what, std::int64_t found, std::int64_t low) const {
    if (found < low) refuse(what, "at least " + std::to_string(low), "found " + std::to_string(found));
}

void Arguments::at_most(std::string_view what, std::size_t found, std::size_t high) const {
    if (found > high) refuse(what, "at most " + std::to_string(high), "found " + std::to_string(found));
}

void Arguments::positive(std::string_view what, double found) const {
    if (!(found > 0 && std::isfinite(found))) refuse(what, "a number > 0", "found " + std::to_string(found));
}

void Arguments::components(std::size_t d, std::size_t most) const {
    if (d < 1 || d > most)
        refuse("the number of components", "1 to " + std::to_string(most), "found " + std::to_string(d));
}

Arguments::MaybeFound Arguments::find_entry(std::span<const std::int32_t> entries, std::int32_t low, std::size_t high) {
    const auto place = find_outside(entries, low, static_cast<std::int64_t>(high));
    return place ? MaybeFound({*place, entries[*place]}) : std::nullopt;
}

Arguments::MaybeFound Arguments::find_entry(std::span<const std::int64_t> entries, std::size_t high) {
    const auto place = find_outside(entries, 0, static_cast<std::int64_t>(high));
    return place ? MaybeFound({*place, entries[*place]}) : std::nullopt;
}

void Arguments::within(std::string_view what, MaybeFound outside, std::int64_t low, std::size_t high) const {
    if (outside)
        refuse(what, "in [" + std::to_string(low) + ", " + std::to_string(high) + ")",
               "entry " + std::to_string(outside->place) + " is " + std::to_string(outside->entry));
}

void Arguments::refuse_shape(std::string_view what, std::size_t found_rows, std::size_t found_columns, std::size_t rows,
                             std::size_t columns) const {
    refuse(what, "of shape " + text_of(rows, columns), "found " + text_of(found_rows, found_columns));
}

void Arguments::ascending(std::string_view what, std::span<const std::int32_t> entries, bool strictly) const {
    if (const auto place = find_descent(entries, strictly))
        refuse(what, strictly ? "strictly ascending" : "ascending", entry_text(entries, *place));
}

void Arguments::ascending(std::string_view what, std::span<const std::int64_t> entries, bool strictly) const {
    if (const auto place = find_descent(entries, strictly))
        refuse(what, strictly ? "strictly ascending" : "ascending", entry_text(entries, *place));
}

void Arguments::permutation(std::string_view what, std::span<const std::int32_t> entries, std::size_t n) const {
    equal(std::string("the length of ") + std::string(what), entries.size(), n);
    indices(what, entries, n);
    if (const auto place = find_repeated(entries)) refuse(what, "different numbers", entry_text(entries, *place));
}

void Arguments::not_negative(std::string_view what, std::span<const float> entries) const {
    if (const auto place = find_negative(entries)) refuse(what, ">= 0", entry_text(entries, *place));
}

void Arguments::not_negative(std::string_view what, std::span<const double> entries) const {
    if (const auto place = find_negative(entries)) refuse(what, ">= 0", entry_text(entries, *place));
}

void Arguments::offsets(std::string_view what, std::span<const std::int64_t> entries, std::size_t total) const {
    if (entries.empty() || entries.front() != 0 || entries.back() != static_cast<std::int64_t>(total))
        refuse(what, "from 0 to " + std::to_string(total));
    ascending(what, entries, false);
}

void Arguments::compressed_rows(std::span<const std::int64_t> starts, std::span<const std::int32_t> columns,
                                std::size_t n_values, std::size_t n_columns) const {
    offsets("offsets", starts, columns.size());
    equal("the number of values", n_values, columns.size());
    indices("columns", columns, n_columns);
}

}  // namespace gnomon::bindings
