// Whether row numbers may be used as such. Kernels trust their arguments; whoever hands them over asks here first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace gnomon {

/// The place of the first entry outside [low, high), if any.
std::optional<std::size_t> find_outside(std::span<const std::int32_t> entries, std::int64_t low, std::int64_t high);
std::optional<std::size_t> find_outside(std::span<const std::int64_t> entries, std::int64_t low, std::int64_t high);

/// The place of the first entry that is smaller than the one before it, or equal to it if `strictly`; if any.
std::optional<std::size_t> find_descent(std::span<const std::int32_t> entries, bool strictly);
std::optional<std::size_t> find_descent(std::span<const std::int64_t> entries, bool strictly);

/// The place of the first entry that is negative or NaN, if any.
std::optional<std::size_t> find_negative(std::span<const float> entries);
std::optional<std::size_t> find_negative(std::span<const double> entries);

/// The place of the first number that stands there a second time, if any. Entries lie in [0, entries.size()).
std::optional<std::size_t> find_repeated(std::span<const std::int32_t> entries);

}  // namespace gnomon
