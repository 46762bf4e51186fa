// What a point of a particle mesh reads of its own charge: the kernel at distance 0 as the mesh has it, which hangs on
// where the point lies between the nodes.
#pragma once

#include <array>
#include <vector>

#include "gnomon/output_kernels.hpp"

namespace gnomon {

/// mean + 2 wave (cos 2 pi u + cos 2 pi v) + 4 both cos 2 pi u cos 2 pi v at the offsets u, v from a node; of one
/// dimension mean + 2 wave cos 2 pi u. Higher harmonics are below a hundredth of these.
struct OwnShare {
    float mean = 0, wave = 0, both = 0;
};

/// Finds it for any spacing, by a sum over the nodes around a point.
class OwnShares {
public:
    OwnShares();

    /// d = 1 or 2 dimensions; `shifted`: of k - k(0) instead of k.
    OwnShare at(const OutputKernel& kernel, bool shifted, float spacing, std::size_t d) const;

private:
    // For the harmonics 0 and 1 along an axis, what a node counts at so many nodes from the point's: spread and read
    // with quintic splines, and divided by their transform twice.
    std::array<std::vector<double>, 2> weights_;
};

/// k or k - k(0) along one row of a mesh that closes after `nodes`, a multiple of 16 or with room up to it, at `down`
/// nodes from the origin.
void kernel_row(const OutputKernel& kernel, bool shifted, float spacing, float down, std::size_t nodes, float* row);

}  // namespace gnomon
