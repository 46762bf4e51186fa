// Convolution of a mesh of one or two dimensions (one row, or many) with a kernel that is even along each axis.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "gnomon/fft.hpp"
#include "gnomon/parallel.hpp"

namespace gnomon {

/// Lengths along an axis: the nodes [0, used) hold data; the padding up to `nodes` keeps the circle from closing.
struct MeshAxis {
    std::size_t used = 1;
    std::size_t nodes = 1;
};

class MeshConvolution {
public:
    /// Allocates for columns along a row and rows, of one mesh or of several, its layers; returns whether the number of
    /// nodes or layers changed, and with it the kernel.
    bool resize(MeshAxis columns, MeshAxis rows, std::size_t layers = 1);

    /// Row r of a mesh. Before convolve: the data, 0 for unused nodes; after: the result.
    float* row(std::size_t r, std::size_t layer = 0) { return work_.get() + layer * layer_size() + r * pitch_; }
    std::size_t pitch() const { return pitch_; }
    std::size_t layer_size() const { return rows_to_set() * pitch_; }
    /// Rows that must be set (0 where unused) before convolve, a multiple of 32.
    std::size_t rows_to_set() const;

    /// Takes the kernel, write_row(r, out) its row at the offset min(r, nodes - r), and divides its transform by that
    /// of the splines used to spread and to read back: (4 + 2 cos) / 6 along each axis, each twice. The data are lost.
    void set_kernel(const std::function<void(std::size_t r, float* out)>& write_row, const Context& context);

    /// Each layer with the kernel.
    void convolve(const Context& context);

private:
    /// Numbers that are not set: what is read has been written, by threads that then touch the memory first.
    class Room {
    public:
        void resize(std::size_t size);
        float* get() const { return numbers_.get(); }

    private:
        std::unique_ptr<float[]> numbers_;
        std::size_t capacity_ = 0;
    };

    /// Room for two transforms, one buffer for each worker.
    ComplexLanes* scratch(std::size_t worker);
    std::size_t half() const;
    void take_room();

    MeshAxis columns_, rows_;
    FftPlan column_plan_, row_plan_;
    std::size_t layers_ = 0, pitch_ = 0, bins_pitch_ = 0;
    // The meshes, (layers, rows to set, pitch), and the transforms of the rows of one; while the kernel is made, those
    // of all its rows.
    Room work_;
    Room spectrum_;  // of the kernel: (tiles of 16 bins, rows, 16)
    std::vector<std::vector<ComplexLanes>> scratch_;
};

}  // namespace gnomon
