// Rows rounded to whole numbers of one byte: their inner products are exact sums of integers, the same on every
// processor, and take a fraction of the time of those of floats. They propose candidates, whose distances are then
// computed from the rows themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gnomon/neighbors_tile.hpp"

namespace gnomon {

inline constexpr std::size_t kRoundedGroup = 4;  ///< coordinates that lie beside each other in a panel

constexpr std::size_t rounded_length(std::size_t d) { return round_up(d, kRoundedGroup); }

/// Whether the processor multiplies bytes as they are; elsewhere they are widened first.
bool multiplies_bytes();

/// Where the whole numbers lie: coordinate j is centre[j] + unit times one of -127, ..., 127.
struct Rounding {
    const float* centre;
    float unit;  ///< 0: every row is the centre
};

/// A row rounded: its square in whole numbers, their sum, and the square of what rounding took away, in units of 1.
struct RoundedRow {
    std::int32_t square, sum;
    float rest;
};

/// Writes the nearest whole numbers of a row, and zeros up to rounded_length(d).
RoundedRow round_row(const float* row, std::size_t d, const Rounding& rounding, std::int8_t* out);

/// Most columns of bytes whose squared distances fit 32 bits, what the products add on the way included.
inline constexpr std::size_t kMostByteColumns = 8192;

/// Columns of tiles: panels of 32 rows, as out[panel][group][row][coordinate in the group].
void pack_rounded_column(const std::int8_t* row, std::size_t d, std::size_t place, std::int8_t* panels);

/// The same of a row of bytes, each 128 less than it is. Returns what the row adds to its distances: the squared
/// distance of row a and column b is exactly rows.set_bytes(a) + pack_byte_column(b) - 2 dots.
std::int32_t pack_byte_column(const std::uint8_t* row, std::size_t d, std::size_t place, std::int8_t* panels);

/// Rows of tiles: panels of 12 rows, each number raised by 128, which one-byte products without a sign need.
class RoundedRows {
public:
    /// Makes room for `count` rows of d coordinates; rows past it, up to a whole panel, may hold anything.
    void resize(std::size_t count, std::size_t d);
    void set(std::size_t place, const std::int8_t* row);
    std::int32_t set_bytes(std::size_t place, const std::uint8_t* row);  ///< as `pack_byte_column`

    /// dots[i * 32 + j] = sum over k of (a[k] + 128) b[k], row a = first + i and b column j of a panel; first % 12 = 0.
    void products(std::size_t first, const std::int8_t* panel, std::int32_t* dots) const;

private:
    std::size_t d_ = 0, length_ = 0;
    Packed<std::uint8_t> bytes_;  // where the processor multiplies bytes
    Packed<std::int16_t> words_;  // elsewhere
};

/// What rows of a tile add to: the square of a column, plus what raising its partner by 128 added to twice the product.
inline std::int32_t column_square(const RoundedRow& row) { return row.square + 256 * row.sum; }

}  // namespace gnomon
