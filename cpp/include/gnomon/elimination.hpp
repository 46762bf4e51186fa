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

}  // namespace gnomon
