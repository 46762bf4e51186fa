// Sums of a smooth kernel, or of a law of it, over all pairs of points in one or two dimensions, through a mesh:
// charges are spread with quintic B-splines, convolved with the kernel by Fourier transforms, and the potential and its
// gradient are read back with the same splines.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "gnomon/mesh_convolution.hpp"
#include "gnomon/output_kernels.hpp"
#include "gnomon/own_share.hpp"
#include "gnomon/parallel.hpp"
#include "gnomon/span.hpp"

namespace gnomon {

/// The box of the points of a map; not finite where one of them is not, or lies out of all bounds.
struct MapExtent {
    float low[2] = {0, 0}, high[2] = {0, 0};
    bool finite = false;

    static MapExtent of(Span2<const float> Y, const Context& context);
};

/// Charges of the points: pairs count q_i q_j, or q_i p_j + p_i q_j where there are p; empty for 1.
struct MeshCharges {
    std::span<const float> q, p;
};

class ParticleMesh {
public:
    /// spacing: of the mesh in units of the distance at which the kernel is half of k(0); smaller is more accurate.
    /// law: F = k or F = -log(1 - k); pairs closer than the spacing feel a constant dF/ds of the latter, that at it.
    ParticleMesh(const OutputKernel& kernel, float spacing, PairLaw law = PairLaw::value);

    /// force_i = sum_j -a_ij dF/ds(s_ij) (y_i - y_j); returns sum over i != j of a_ij F(s_ij), a_ij what the charges
    /// make of a pair. Y, force: (n, d), d = 1 or 2. The result depends on these alone: what is kept between calls only
    /// saves time. Points that are not finite give NaN.
    double evaluate(Span2<const float> Y, const MeshCharges& charges, Span2<float> force, const Context& context);

    // The same in steps, for points that lie in several parts, each with an owner: charges are added over the parts,
    // and each owner reads its forces from the potential. A mesh is (rows, columns) of shape_of; where there are
    // charges p, their mesh follows that of q, and both are (2 rows, columns). Points are all in `whole`.

    /// Rows and columns of a mesh of d dimensions; 0 where the extent is not finite.
    std::array<std::size_t, 2> shape_of(const MapExtent& whole, std::size_t d);
    void charges_of(Span2<const float> Y, const MeshCharges& charges, const MapExtent& whole, Span2<float> mesh,
                    const Context& context);
    /// Turns the charges of all points into their potential, in place.
    void convolve(const MapExtent& whole, std::size_t d, Span2<float> mesh, const Context& context);
    /// Forces as of evaluate on some of all points; returns their part of the sum. all: the sums of q and of p over all
    /// points, their number where charges are 1.
    double forces_from(Span2<const float> Y, const MeshCharges& charges, const MapExtent& whole,
                       Span2<const float> potential, std::array<double, 2> all, Span2<float> force,
                       const Context& context);

    float spacing() const { return layout_.spacing; }  ///< of the last evaluation, in units of Y

private:
    struct Layout {
        float spacing = 0;
        float low[2] = {0, 0};
        MeshAxis axis[2];
        // Convolve with k - k(0) instead of k: for a small embedding k hardly varies, and rounding would drown its
        // slope.
        bool shifted = false;
    };

    bool choose_layout(const MapExtent& extent, std::size_t d, Layout& layout) const;
    bool lay_out(const MapExtent& extent, std::size_t d, std::size_t layers = 1);
    MeshKernel mesh_kernel() const { return {kernel_, law_, layout_.spacing, layout_.shifted}; }
    void prepare_kernel(const Context& context);
    void set_kernel(const Context& context);
    void sort_points(Span2<const float> Y, const MeshCharges& charges, const Context& context);
    void spread(const Context& context);
    double read_back(Span2<float> force, const Context& context);
    void write_mesh(Span2<const float> mesh, std::size_t layers);
    void read_mesh(Span2<float> mesh, std::size_t layers);

    OutputKernel kernel_;
    PairLaw law_;
    float relative_spacing_;
    float length_ = 0;  // distance at which the kernel is half of its value at 0
    Layout layout_;
    OwnShares own_shares_;
    OwnShare own_;  // of the layout
    MeshConvolution mesh_;
    bool kernel_ready_ = false;

    // The points sorted by tile of the mesh (by index within a tile), in units of the spacing.
    std::vector<std::uint32_t> tile_, order_, counts_, tile_begin_;
    std::vector<float> x_, y_, q_, p_;  // q_, p_ empty: 1
};

}  // namespace gnomon
