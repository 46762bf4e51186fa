// Cholesky factors of sparse symmetric matrices by dense fronts, the same bits on every processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Which places are eliminated in which front, as in FrontPlan (elimination.hpp).
struct Fronts {
    std::vector<std::int32_t> starts, parents;
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> places;

    std::size_t count() const { return parents.size(); }
    std::size_t begin(std::size_t f) const { return static_cast<std::size_t>(starts[f]); }
    std::size_t n_pivots(std::size_t f) const { return static_cast<std::size_t>(starts[f + 1] - starts[f]); }
    /// The later places that front f touches.
    std::span<const std::int32_t> below(std::size_t f) const {
        return {places.data() + offsets[f], static_cast<std::size_t>(offsets[f + 1] - offsets[f])};
    }
    /// The row of a later place in front f: of its pivots first, then of what lies below; `count` rows if it has none.
    std::size_t row_of(std::size_t f, std::int32_t place) const;
};

/// The lower triangle of a matrix whose row p is eliminated in place p, by the front that eliminates its column:
/// entries ranges[f] to ranges[f + 1] belong to front f, and have the rows and columns of the front.
struct FrontEntries {
    std::vector<std::int64_t> ranges;
    std::vector<std::int32_t> rows, columns;
    std::vector<double> values;
};

/// L L' = matrix + shift I, made step by step.
class FrontFactor {
public:
    FrontFactor(Fronts fronts, FrontEntries entries, double shift);
    FrontFactor(const FrontFactor&) = delete;
    FrontFactor& operator=(const FrontFactor&) = delete;
    ~FrontFactor();

    /// Goes on with about `n_operations` multiplications and additions; false if a pivot is not positive.
    bool advance(double n_operations, const Context& context);

    std::size_t n_rows() const { return static_cast<std::size_t>(fronts_.starts.back()); }
    /// Places that are eliminated; the factor is whole when these are all.
    std::size_t n_eliminated() const { return fronts_.begin(front_) + column_; }

    /// X (n, any): in order of places, B becomes the X of L L' X = B. The factor must be whole.
    void solve(Span2<double> X, const Context& context) const;

private:
    std::size_t rows(std::size_t f) const { return fronts_.n_pivots(f) + fronts_.below(f).size(); }
    void assemble();
    bool eliminate_block(const Context& context);
    void pass_on(const Context& context);

    Fronts fronts_;
    FrontEntries entries_;
    double shift_;
    std::vector<std::vector<std::size_t>> children_;
    /// Of each front its rows of the factor, 32 side by side: entry (i, k) lies at [(i / 32 * p + k) * 32 + i % 32].
    std::vector<std::unique_ptr<double[]>> factors_;
    std::vector<std::unique_ptr<double[]>>
        rests_;                           ///< (q, q) what is left for the parent, column-major, below the diagonal
    std::size_t front_ = 0, column_ = 0;  ///< the front at work, and its columns that are done
};

}  // namespace gnomon
