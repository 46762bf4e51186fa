// The neighbourhood of a row as its Gram matrix: inner products of the displacements of its neighbours, and the
// singular values and vectors of the weighted displacements, without the displacements themselves being kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gnomon/batched_eigen.hpp"
#include "gnomon/rows.hpp"

namespace gnomon {

/// The neighbours of every point, both of shape (n, k). Weights are >= 0; a neighbour of weight 0 takes no part.
struct Neighborhoods {
    Span2<const std::int32_t> indices;
    Span2<const float> weights;
};

/// Inner products of x_j - x_i over the neighbours j of one row i at a time. Displacements are formed in blocks of
/// columns: exact 16-bit integers for bytes, double for all else. Neighbours of weight zero give zeros. Scratch space
/// of one worker.
class LocalProducts {
public:
    /// Writes the products of row i as (stride, stride); stride() is the number of neighbours rounded up.
    void compute(const RowSource& source, std::size_t i, std::span<const std::int32_t> neighbors,
                 std::span<const float> weights, std::vector<double>& out);
    std::size_t stride() const { return stride_; }

    /// Asks for the rows that compute() will read.
    static void prefetch(const RowSource& source, std::size_t i, std::span<const std::int32_t> neighbors);

private:
    template <class T>
    void dense(const Span2<const T>& rows, std::size_t i, std::span<const std::int32_t> neighbors,
               std::span<const float> weights, std::vector<double>& out);

    std::size_t stride_ = 0;
    Displacements sparse_;
    std::vector<double> blocks_, lanes_;
    std::vector<std::int16_t> differences_;
};

/// Whether at least two neighbours differ from the point and from each other, by the products (n, n) of displacements.
bool has_two_distinct(const double* products, std::size_t n);

/// Weighted singular values of the neighbourhoods of kEigenBatch points, one in each lane: those of Om^1/2 Z, where the
/// rows of Z are the displacements and the diagonal of Om the weights divided by their sum.
class LocalSpectra {
public:
    explicit LocalSpectra(std::size_t n_neighbors);

    /// Fills the lanes with the points of `rows` (at most kEigenBatch) and diagonalises.
    void solve(const RowSource& X, const Neighborhoods& hoods, std::span<const std::int64_t> rows);

    /// Whether at least two neighbours of this lane's point differ from the point and from each other.
    bool defined(std::size_t lane) const { return defined_[lane] != 0; }
    /// The r-th largest squared singular value, not negative.
    double square(std::size_t lane, std::size_t r) const;
    /// Entry j of its unit left singular vector.
    double left(std::size_t lane, std::size_t r, std::size_t j) const {
        return v_[(order_[lane * k_ + r] * k_ + j) * kEigenBatch + lane];
    }
    /// Square root of the share of the weight that neighbour j has.
    double root(std::size_t lane, std::size_t j) const { return roots_[lane * k_ + j]; }
    /// Sum of the squared singular values.
    double total(std::size_t lane) const;
    /// Smallest number of leading directions that hold at least `share` of the total.
    std::size_t leading(std::size_t lane, double share) const;
    /// Number of directions whose square exceeds `share` times the largest.
    std::size_t rank(std::size_t lane, double share) const;

private:
    void load(const RowSource& X, const Neighborhoods& hoods, std::size_t i, std::size_t lane);
    void sort(std::size_t lane);

    std::size_t k_;
    LocalProducts products_;
    std::vector<double> gram_, a_, v_, roots_;
    std::vector<std::size_t> order_;
    std::vector<char> defined_;
};

}  // namespace gnomon
