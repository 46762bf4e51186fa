// Jacobians of all points for a few features at a time, and their means over neighbours: the inner loops of
// pooled_effects. Points are numbered by their position in an order in which neighbours are near each other.
#pragma once

#include <cstdint>
#include <vector>

#include "gnomon/local_gram.hpp"
#include "gnomon/rows.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// The neighbours of every point and the coefficients of its Jacobian, all by position.
struct OrderedHoods {
    OrderedHoods(const Neighborhoods& hoods, Span2<const double> coefficients, const std::vector<std::int32_t>& rows);

    std::size_t n, k, d;
    std::vector<std::int32_t> row;        ///< (n): of the table, at each position
    std::vector<std::int32_t> position;   ///< (n): of each row of the table
    std::vector<std::int32_t> neighbors;  ///< (n, k): those that are averaged over first, then others of weight > 0
    std::vector<std::int32_t> n_fitted;   ///< (n): neighbours of weight > 0
    std::vector<std::int32_t> n_pooled;   ///< (n): those of them whose Jacobian is defined
    double unit;                          ///< a power of two that coefficients are multiples of
    std::vector<float> shares;            ///< (n, k): weights divided by their sum
    std::vector<float> coefficients;      ///< (n, k, d): in this unit, at most 1
    std::vector<char> defined;            ///< (n)
};

/// Reads columns of a table, a block of them at a time in ascending order.
class BlockReader {
public:
    BlockReader(const RowSource& X, const std::vector<std::int32_t>& rows);

    /// Features that differ between some rows, ascending: the others move nothing.
    const std::vector<std::int32_t>& features() const { return features_; }

    /// Whether squares of displacements of `size` features, from the first-th on, keep their precision in float.
    bool narrow(std::size_t first, std::size_t size) const;

    /// Writes `size` (at most 16) of the features, from the first-th on, of the row at position p, and zeros up to 16.
    template <class T>
    void read(std::size_t p, std::size_t first, std::size_t size, T* out);

private:
    template <class V, class T>
    void read_from(const Span2<const V>& rows, std::size_t p, std::size_t first, std::size_t size, T* out);
    template <class V, class T>
    void read_from(const SparseRows<V>& rows, std::size_t p, std::size_t first, std::size_t size, T* out);

    const RowSource& X_;
    const std::vector<std::int32_t>& rows_;
    std::vector<std::int32_t> features_;
    std::vector<double> ranges_;        // of each of these features
    std::vector<std::int32_t> slots_;   // of every feature among features_; for sparse rows only
    std::vector<std::size_t> cursors_;  // entries of each row read so far; for sparse rows only
};

inline constexpr std::size_t kBlockWidth = 16;  ///< features taken together: a row of floats is a cache line

/// Fits the columns of the Jacobian at position p and the deviations, (d + 1, 16), from values (n, 16). Sums are formed
/// in double, or in float where they are `narrow`.
void fit_block(const float* values, bool narrow, const OrderedHoods& hoods, std::size_t p, float* out);
void fit_block(const double* values, bool narrow, const OrderedHoods& hoods, std::size_t p, float* out);

/// Writes the mean of the first `length` of `values` (n, stride), both multiples of 16, over the point at position p
/// and those of its neighbours that are defined.
void average_block(const float* values, std::size_t stride, std::size_t length, const OrderedHoods& hoods,
                   std::size_t p, float* out);

}  // namespace gnomon
