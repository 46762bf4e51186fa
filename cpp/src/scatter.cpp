// The scatter matrix (X - mean)' (X - mean). Columns are packed into panels of 48; a pair of panels is a 48 x 48 tile
// of the result that one thread owns, computed from tiles of 6 columns x 1 vector held in registers (6 fits the
// 16 registers of AVX2 with vectors split in two, and hides the latency of addition with AVX-512).
#include <algorithm>
#include <vector>

#include "gnomon/moments.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kPanel = 48;
constexpr std::size_t kTile = 6;
constexpr std::size_t kDepth = 256;  // rows summed in the type of X before they are added in double
constexpr std::size_t kDepths = 4;   // packed at a time
constexpr std::size_t kPanelsPerTask = 4;

using f64 = double __attribute__((vector_size(64)));

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
    using type = simd::f32;
};
template <>
struct VectorOf<double> {
    using type = f64;
};

/// out[a * stride + l] += sum over rows of left[a] * right[l] for 6 x one vector.
template <class T>
GNOMON_INLINE void multiply_tile(const T* left, const T* right, std::size_t depth, double* out, std::size_t stride,
                                 std::size_t n_left, std::size_t n_right) {
    using V = typename VectorOf<T>::type;
    V sums[kTile] = {};
    for (std::size_t r = 0; r < depth; ++r) {
        const V v = simd::load_as<V>(right + r * kPanel);
        for (std::size_t a = 0; a < kTile; ++a) sums[a] += v * left[r * kPanel + a];
    }
    for (std::size_t a = 0; a < n_left; ++a) {
        for (std::size_t l = 0; l < n_right; ++l) out[a * stride + l] += static_cast<double>(sums[a][l]);
    }
}

/// Adds left' right to the top-left n_left x n_right corner at `out`.
template <class T>
GNOMON_INLINE void multiply_panels_of(const T* left, const T* right, std::size_t depth, double* out, std::size_t stride,
                                      std::size_t n_left, std::size_t n_right) {
    constexpr std::size_t lanes = 64 / sizeof(T);
    for (std::size_t a = 0; a < n_left; a += kTile) {
        for (std::size_t b = 0; b < n_right; b += lanes) {
            multiply_tile(left + a, right + b, depth, out + a * stride + b, stride, std::min(kTile, n_left - a),
                          std::min(lanes, n_right - b));
        }
    }
}
GNOMON_CLONES void multiply_panels(const float* left, const float* right, std::size_t depth, double* out,
                                   std::size_t stride, std::size_t n_left, std::size_t n_right) {
    multiply_panels_of(left, right, depth, out, stride, n_left, n_right);
}
GNOMON_CLONES void multiply_panels(const double* left, const double* right, std::size_t depth, double* out,
                                   std::size_t stride, std::size_t n_left, std::size_t n_right) {
    multiply_panels_of(left, right, depth, out, stride, n_left, n_right);
}

/// Packs scale * (x - mean) of rows [begin, end) as panels (n_panels, kDepth, kPanel); columns beyond D are zero.
template <class T>
GNOMON_INLINE void pack_of(Span2<const T> X, const double* means, double scale, std::size_t begin, std::size_t end,
                           T* packed) {
    const std::size_t width = X.cols();
    for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t first = 0; first < width; first += kPanel) {
            T* to = packed + first * kDepth + (i - begin) * kPanel;
            const std::size_t n = std::min(kPanel, width - first);
            for (std::size_t j = 0; j < n; ++j) {
                to[j] = static_cast<T>((X.row(i)[first + j] - means[first + j]) * scale);
            }
            std::fill(to + n, to + kPanel, T{0});
        }
    }
}
GNOMON_CLONES void pack(Span2<const float> X, const double* means, double scale, std::size_t begin, std::size_t end,
                        float* packed) {
    pack_of(X, means, scale, begin, end, packed);
}
GNOMON_CLONES void pack(Span2<const double> X, const double* means, double scale, std::size_t begin, std::size_t end,
                        double* packed) {
    pack_of(X, means, scale, begin, end, packed);
}

struct Task {
    std::size_t left, right_begin, right_end;  // panels
};

/// The upper triangle of pairs of panels, cut into tasks of similar size.
std::vector<Task> upper_triangle(std::size_t n_panels) {
    std::vector<Task> tasks;
    for (std::size_t left = 0; left < n_panels; ++left) {
        for (std::size_t right = left; right < n_panels; right += kPanelsPerTask) {
            tasks.push_back({left, right, std::min(right + kPanelsPerTask, n_panels)});
        }
    }
    return tasks;
}

template <class T>
void add_scatter_of(Span2<const T> X, std::span<const double> means, double scale, Span2<double> out,
                    const Context& context) {
    const std::size_t n = X.rows(), width = X.cols(), n_panels = (width + kPanel - 1) / kPanel;
    const std::size_t packed_size = n_panels * kPanel * kDepth;
    std::vector<T> packed(packed_size * std::min(kDepths, (n + kDepth - 1) / kDepth));
    const std::vector<Task> tasks = upper_triangle(n_panels);
    for (std::size_t first = 0; first < n; first += kDepth * kDepths) {
        const std::size_t last = std::min(first + kDepth * kDepths, n);
        parallel_blocks(last - first, kDepth, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            pack(X, means.data(), scale, first + begin, first + end, packed.data() + begin / kDepth * packed_size);
        });
        parallel_for(tasks.size(), context, [&](std::size_t t, std::size_t) {
            const Task& task = tasks[t];
            const std::size_t a = task.left * kPanel, n_left = std::min(kPanel, width - a);
            for (std::size_t row = first; row < last; row += kDepth) {
                const T* block = packed.data() + (row - first) / kDepth * packed_size;
                for (std::size_t panel = task.right_begin; panel < task.right_end; ++panel) {
                    const std::size_t b = panel * kPanel;
                    multiply_panels(block + a * kDepth, block + b * kDepth, std::min(kDepth, last - row),
                                    out.data() + a * width + b, width, n_left, std::min(kPanel, width - b));
                }
            }
        });
    }
    for (std::size_t i = 0; i < width; ++i) {
        for (std::size_t j = 0; j < i; ++j) out(i, j) = out(j, i);
    }
}

}  // namespace

void add_scatter(Span2<const float> X, std::span<const double> means, double scale, Span2<double> out,
                 const Context& context) {
    add_scatter_of(X, means, scale, out, context);
}
void add_scatter(Span2<const double> X, std::span<const double> means, double scale, Span2<double> out,
                 const Context& context) {
    add_scatter_of(X, means, scale, out, context);
}

}  // namespace gnomon
