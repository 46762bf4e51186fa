// What a point of a particle mesh reads of its own charge: the kernel at distance 0 as the mesh has it, which hangs on
// where the point lies between the nodes.
#pragma once

#include <array>
#include <vector>

#include "gnomon/output_kernels.hpp"
#include "gnomon/pair_laws.hpp"

namespace gnomon {

/// What a mesh sums over pairs: k, or a singular law F = -log(1 - k), a straight line in the squared distance below the
/// one that the mesh resolves.
struct MeshKernel {
    OutputKernel kernel;
    PairLaw law = PairLaw::value;
    float spacing = 0;
    bool shifted = false;  // less its value at 0

    /// What `shifted` takes off.
    double at_zero() const;
    /// Along one row of a mesh that closes after `nodes`, a multiple of 16 or with room up to it, at `down` nodes from
    /// the origin.
    void row(float down, std::size_t nodes, float* row) const;
};

/// mean + 2 wave (cos 2 pi u + cos 2 pi v) + 4 both cos 2 pi u cos 2 pi v at the offsets u, v from a node; of one
/// dimension mean + 2 wave cos 2 pi u. Higher harmonics are below a hundredth of these.
struct OwnShare {
    float mean = 0, wave = 0, both = 0;
};

/// Finds it for any spacing, by a sum over the nodes around a point.
class OwnShares {
public:
    OwnShares();

    /// d = 1 or 2 dimensions.
    OwnShare at(const MeshKernel& kernel, std::size_t d) const;

private:
    // For the harmonics 0 and 1 along an axis, what a node counts at so many nodes from the point's: spread and read
    // with quintic splines, and divided by their transform twice.
    std::array<std::vector<double>, 2> weights_;
};

}  // namespace gnomon
