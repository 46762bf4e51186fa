// The structure of a sparse Cholesky factor: which rows are eliminated together, and where what is left of them goes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gnomon {

/// A plan for elimination by fronts: dense blocks of rows that are eliminated together, children before parents.
/// "Place" numbers a row by when it is eliminated.
struct FrontPlan {
    std::vector<std::int32_t> order;    ///< (n) the row in each place
    std::vector<std::int32_t> starts;   ///< (n_fronts + 1) places [starts[f], starts[f + 1]) are eliminated in front f
    std::vector<std::int32_t> parents;  ///< (n_fronts) the front that takes up the rest of this one, -1 for a root
    std::vector<std::int64_t> offsets;  ///< (n_fronts + 1) into places
    std::vector<std::int32_t> places;   ///< later places that front f touches, ascending
    double n_entries = 0.0;             ///< numbers in the factor, and in the largest stack of what is left
    double n_operations = 0.0;          ///< multiplications and additions of the elimination
};

/// Plans the elimination of a symmetric matrix.
///
/// offsets (n + 1), columns (nnz): its pattern, both triangles; the diagonal may be missing.
/// order (n): the order of elimination; rows whose order does not matter are moved so that fronts lie together.
/// If the factor has more than max_entries entries the plan is empty and n_entries says so.
FrontPlan plan_fronts(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
                      std::span<const std::int32_t> order, double max_entries);

/// The parts of a front of p pivots and q later places, column-major, lower triangles.
struct Front {
    double* pivots;  ///< (p, p)
    double* below;   ///< (q, p)
    double* rest;    ///< (q, q)
    std::size_t n_pivots, n_below;
};

/// Adds what is left of a child, the lower triangle of a column-major matrix (m, m), to the front of its parent;
/// local (m): ascending rows of the parent's front. The parent's rest may be missing if the child touches none of it.
void add_to_front(const double* child, std::span<const std::int32_t> local, const Front& front);

}  // namespace gnomon
