// A few coordinates of each row of a table, from which its distance to any point is bounded below.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "gnomon/rows.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// Of each row of a dense table its inner products with orthonormal directions and the length of the rest, in single
/// precision: no row is nearer to a point than these coordinates are to those of the point.
class RowSketch {
public:
    static constexpr std::size_t kBlock = 16;  ///< rows that are bounded together

    /// Bounds of the distances from one point to all rows. `scratch` of one worker.
    struct Bounds {
        std::vector<float> squared;  ///< (n_blocks * kBlock), of the rounded coordinates; infinite behind the last row
        std::vector<float> least;    ///< (n_blocks): the smallest of each block
        double rounding = 0;         ///< >= 0: what rounding adds to a distance of coordinates at most
        std::vector<double> coordinates;
        std::vector<float> rounded;

        /// The value of `squared` above which a row is farther away than this squared distance.
        float limit(double squared_distance) const;
    };

    /// center (D) is taken away first; directions (q, D) have orthonormal rows.
    RowSketch(const RowSource& X, std::span<const double> center, Span2<const double> directions);

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_features() const { return center_.size(); }

    /// Bounds the distances from x (D) to all rows.
    void bound(std::span<const double> x, Bounds& out) const;

private:
    void project(std::span<const double> x, std::vector<double>& out) const;

    std::size_t n_rows_, n_directions_;
    std::vector<double> center_, directions_;
    std::vector<float> coordinates_;  // (n_blocks, n_directions + 1, kBlock)
    double largest_ = 0;              // magnitude of a coordinate
};

}  // namespace gnomon
