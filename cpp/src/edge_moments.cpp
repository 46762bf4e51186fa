#include "gnomon/edge_moments.hpp"

#include <algorithm>
#include <vector>

#include "gnomon/edge_tiles.hpp"

// GCC 12 does not see that the components read are those that were filled: both loops run over the same width.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace gnomon {
namespace {

using simd::f32;
using simd::kLanes;

constexpr std::size_t kRowsPerChunk = 256;

constexpr std::size_t packed(std::size_t d) { return d * (d + 1) / 2; }

/// Vectors of sixteen in memory of any alignment.
struct Lanes {
    explicit Lanes(std::size_t size) : values(size * kLanes) {}

    GNOMON_INLINE f32 operator[](std::size_t p) const { return simd::load(values.data() + p * kLanes); }
    GNOMON_INLINE void set(std::size_t p, f32 value) { simd::store(values.data() + p * kLanes, value); }
    GNOMON_INLINE void add(std::size_t p, f32 value) { set(p, (*this)[p] + value); }
    void clear() { std::fill(values.begin(), values.end(), 0.0F); }

    std::vector<float> values;
};

/// What one worker needs: a tile, and vectors for d components and for a packed matrix with one number more.
struct Scratch {
    explicit Scratch(std::size_t d) : tile(d), pulled(d), matrix(packed(d) + 1), total(packed(d) + 1) {}

    static std::vector<Scratch> of_workers(const Context& context, std::size_t d) {
        return std::vector<Scratch>(static_cast<std::size_t>(std::max(context.n_threads, 1)), Scratch(d));
    }

    EdgeTile tile;
    Lanes pulled, matrix, total;
};

/// The similarities or slopes of sixteen edges in a tile, 0 where an edge has no weight.
GNOMON_INLINE f32 used(const EdgeTile& tile, std::size_t t, const float* values) {
    return simd::select_less(f32{}, simd::load(tile.weights + t * kLanes), simd::load(values + t * kLanes), f32{});
}

GNOMON_CLONES void moments_of_rows(const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y,
                                   std::size_t begin, std::size_t end, Scratch& scratch, Span2<double> totals,
                                   double* sums) {
    with_components(Y.cols(), [&](auto components) GNOMON_INLINE_LAMBDA {
        constexpr int D = decltype(components)::value;
        const std::size_t d = D > 0 ? D : Y.cols(), size = packed(d);
        EdgeTile& tile = scratch.tile;
        Lanes& total = scratch.total;
        total.clear();
        EdgeWalk walk(edges, Y, begin);
        for (std::size_t i = begin; i < end;) {
            const std::size_t vectors = walk.fill<D>(end, tile);
            evaluate_law(PairLaw::value, kernel, tile.squared, vectors * kLanes, tile.slopes, tile.energies);
            for (std::size_t t = 0; t < vectors; ++t) {
                const float* away = tile.away.data() + t * kLanes * d;
                const f32 k = used(tile, t, tile.energies);
                std::size_t p = 0;
                for (std::size_t a = 0; a < d; ++a) {
                    const f32 scaled = k * simd::load(away + a * kLanes);
                    for (std::size_t b = a; b < d; ++b) total.add(p++, scaled * simd::load(away + b * kLanes));
                }
                total.add(size, k);
                if (!tile.ends_row[t]) continue;
                for (p = 0; p < size; ++p) totals(i, p) = static_cast<double>(simd::sum(total[p]));
                sums[i++] = static_cast<double>(simd::sum(total[size]));
                total.clear();
            }
        }
    });
}

/// pulled = B a for a packed matrix B and a displacement in a tile; returns a' B a.
GNOMON_INLINE f32 multiply(const Lanes& matrix, const float* away, std::size_t d, Lanes& pulled) {
    for (std::size_t a = 0; a < d; ++a) pulled.set(a, f32{});
    std::size_t p = 0;
    for (std::size_t a = 0; a < d; ++a) {
        const f32 here = simd::load(away + a * kLanes);
        pulled.add(a, matrix[p++] * here);
        for (std::size_t b = a + 1; b < d; ++b, ++p) {
            pulled.add(a, matrix[p] * simd::load(away + b * kLanes));
            pulled.add(b, matrix[p] * here);
        }
    }
    f32 form{};
    for (std::size_t a = 0; a < d; ++a) form += pulled[a] * simd::load(away + a * kLanes);
    return form;
}

/// B and c of sixteen edges: those of the point and those at the edges' other ends.
GNOMON_INLINE void gather_slopes(Span2<const float> slopes, std::size_t i, const std::int32_t* columns, Lanes& matrix) {
    const std::size_t size = slopes.cols();
    const float* here = slopes.row(i);
    for (std::size_t l = 0; l < kLanes; ++l) {
        const float* there = slopes.row(static_cast<std::size_t>(columns[l]));
        for (std::size_t p = 0; p < size; ++p) matrix.values[p * kLanes + l] = here[p] + there[p];
    }
}

GNOMON_CLONES void gradient_of_rows(const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y,
                                    Span2<const float> slopes, std::size_t begin, std::size_t end, Scratch& scratch,
                                    Span2<float> out) {
    with_components(Y.cols(), [&](auto components) GNOMON_INLINE_LAMBDA {
        constexpr int D = decltype(components)::value;
        const std::size_t d = D > 0 ? D : Y.cols(), size = packed(d);
        EdgeTile& tile = scratch.tile;
        Lanes &pulled = scratch.pulled, &matrix = scratch.matrix, &total = scratch.total;
        total.clear();
        EdgeWalk walk(edges, Y, begin);
        for (std::size_t i = begin; i < end;) {
            const std::size_t vectors = walk.fill<D, true>(end, tile);
            evaluate_law(PairLaw::value, kernel, tile.squared, vectors * kLanes, tile.slopes, tile.energies);
            for (std::size_t t = 0; t < vectors; ++t) {
                const float* away = tile.away.data() + t * kLanes * d;
                gather_slopes(slopes, i, tile.columns + t * kLanes, matrix);
                const f32 form = multiply(matrix, away, d, pulled) - matrix[size];
                const f32 k = 2.0F * used(tile, t, tile.energies), along = 2.0F * form * used(tile, t, tile.slopes);
                for (std::size_t c = 0; c < d; ++c) total.add(c, k * pulled[c] + along * simd::load(away + c * kLanes));
                if (!tile.ends_row[t]) continue;
                for (std::size_t c = 0; c < d; ++c) out(i, c) = simd::sum(total[c]);
                ++i;
                total.clear();
            }
        }
    });
}

}  // namespace

void edge_moments(const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y, Span2<double> totals,
                  std::span<double> sums, const Context& context) {
    std::vector<Scratch> workers = Scratch::of_workers(context, Y.cols());
    parallel_blocks(Y.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        moments_of_rows(kernel, edges, Y, begin, end, workers[worker], totals, sums.data());
    });
}

void edge_moment_gradient(const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y,
                          Span2<const float> slopes, Span2<float> out, const Context& context) {
    std::vector<Scratch> workers = Scratch::of_workers(context, Y.cols());
    parallel_blocks(Y.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        gradient_of_rows(kernel, edges, Y, slopes, begin, end, workers[worker], out);
    });
}

}  // namespace gnomon
