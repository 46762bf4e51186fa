#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/edge_spreads.cpp"
#include "gnomon/edge_spreads.hpp"

#include <algorithm>
#include <vector>

#include "gnomon/edge_tiles.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 256;

/// Symmetric matrices of order d are packed as their upper triangle, row by row.
constexpr std::size_t packed(std::size_t d) { return d * (d + 1) / 2; }

/// What one worker needs beside a tile: vectors of sixteen for d components and for a packed matrix with one number
/// more.
struct Scratch {
    explicit Scratch(std::size_t d)
        : pulled(d * simd::kLanes), matrix((packed(d) + 1) * simd::kLanes), total(matrix.size()) {}

    static std::vector<Scratch> of_workers(const Context& context, std::size_t d) {
        return std::vector<Scratch>(static_cast<std::size_t>(std::max(context.n_threads, 1)), Scratch(d));
    }

    void clear() { std::fill(total.begin(), total.end(), 0.0F); }

    std::vector<float> pulled, matrix, total;
};

/// A graph and the map of its points.
struct Edges {
    const OutputKernel& kernel;
    const CsrView<float>& edges;
    Span2<const float> Y;
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(gradient_of_rows);
GNOMON_CHOOSE(moments_of_rows);

/// values[l] = q_l' total q_l / sum for a packed matrix.
void project(const double* total, double sum, const double* frame, std::size_t d, std::size_t width, double* values) {
    for (std::size_t l = 0; l < width; ++l) {
        double form = 0;
        std::size_t p = 0;
        for (std::size_t a = 0; a < d; ++a)
            for (std::size_t b = a; b < d; ++b, ++p)
                form += (a == b ? 1.0 : 2.0) * total[p] * (frame[a * width + l] * frame[b * width + l]);
        values[l] = sum > 0 ? std::max(form, 0.0) / sum : 0.0;
    }
}

/// The slope by M_i, sum_l slope_l q_l q_l', packed, and its inner product with M_i; both over sum_j k.
void slope_by_moment(const double* frame, const double* slopes, const double* values, double sum, std::size_t d,
                     std::size_t width, float* out) {
    const double scale = sum > 0 ? 1 / sum : 0;
    std::size_t p = 0;
    for (std::size_t a = 0; a < d; ++a)
        for (std::size_t b = a; b < d; ++b, ++p) {
            double entry = 0;
            for (std::size_t l = 0; l < width; ++l) entry += slopes[l] * (frame[a * width + l] * frame[b * width + l]);
            out[p] = static_cast<float>(scale * entry);
        }
    double inner = 0;
    for (std::size_t l = 0; l < width; ++l) inner += slopes[l] * values[l];
    out[p] = static_cast<float>(scale * inner);
}

}  // namespace

void edge_spreads(const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y,
                  Span2<const double> frames, const Spreads& spreads, const Context& context) {
    const std::size_t n = Y.rows(), d = Y.cols(), width = spreads.values.cols();
    std::vector<EdgeTile> tiles = EdgeTile::of_workers(context, d);
    std::vector<Scratch> workers = Scratch::of_workers(context, d);
    std::vector<double> memory(n * packed(d));
    const Span2<double> totals{memory.data(), n, packed(d)};
    parallel_blocks(n, kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        moments_of_rows({kernel, edges, Y}, begin, end, tiles[worker], workers[worker], totals, spreads.sums.data());
        for (std::size_t i = begin; i < end; ++i)
            project(totals.row(i), spreads.sums[i], frames.row(i), d, width, spreads.values.row(i));
    });
}

void edge_spread_gradient(const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y,
                          Span2<const double> frames, const Spreads& spreads, Span2<const double> slopes,
                          Span2<float> out, const Context& context) {
    const std::size_t n = Y.rows(), d = Y.cols(), size = packed(d) + 1;
    std::vector<EdgeTile> tiles = EdgeTile::of_workers(context, d);
    std::vector<Scratch> workers = Scratch::of_workers(context, d);
    std::vector<float> memory(n * size);
    parallel_blocks(n, kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i)
            slope_by_moment(frames.row(i), slopes.row(i), spreads.values.row(i), spreads.sums[i], d, slopes.cols(),
                            memory.data() + i * size);
    });
    parallel_blocks(n, kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        gradient_of_rows({kernel, edges, Y}, {memory.data(), n, size}, begin, end, tiles[worker], workers[worker], out);
    });
}

}  // namespace gnomon

#else
#include "gnomon/output_kernels.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;
using simd::kLanes;

/// The p-th sixteen of many numbers.
GNOMON_INLINE f32 lanes(const float* numbers, std::size_t p) { return simd::load(numbers + p * kLanes); }
GNOMON_INLINE void set(float* numbers, std::size_t p, f32 value) { simd::store(numbers + p * kLanes, value); }
GNOMON_INLINE void add(float* numbers, std::size_t p, f32 value) { set(numbers, p, lanes(numbers, p) + value); }

/// The similarities or slopes of sixteen edges in a tile, 0 where an edge has no weight.
GNOMON_INLINE f32 used(const EdgeTile& tile, std::size_t t, const float* values) {
    return simd::select_less(f32{}, lanes(tile.weights, t), lanes(values, t), f32{});
}

/// total += k times the products of the components of sixteen displacements, packed.
template <int D>
GNOMON_INLINE void add_products(f32 k, const float* away, std::size_t given, float* total) {
    const std::size_t d = D > 0 ? D : given;
    std::size_t p = 0;
    for (std::size_t a = 0; a < d; ++a) {
        const f32 scaled = k * lanes(away, a);
        for (std::size_t b = a; b < d; ++b) add(total, p++, scaled * lanes(away, b));
    }
    add(total, p, k);
}

GNOMON_KERNEL void moments_of_rows(const Edges& graph, std::size_t begin, std::size_t end, EdgeTile& tile,
                                   Scratch& scratch, Span2<double> totals, double* sums) {
    const std::size_t d = graph.Y.cols(), size = packed(d);
    float* total = scratch.total.data();
    scratch.clear();
    EdgeWalk walk(graph.edges, graph.Y, begin);
    for (std::size_t i = begin; i < end;) {
        const std::size_t vectors = fill_tile(walk, end, tile);
        evaluate_law(PairLaw::value, graph.kernel, tile.squared, vectors * kLanes, tile.slopes, tile.energies);
        for (std::size_t t = 0; t < vectors; ++t) {
            with_components(d, [&](auto components) GNOMON_INLINE_LAMBDA {
                add_products<decltype(components)::value>(used(tile, t, tile.energies),
                                                          tile.away.data() + t * kLanes * d, d, total);
            });
            if (!tile.ends_row[t]) continue;
            for (std::size_t p = 0; p < size; ++p) totals(i, p) = static_cast<double>(simd::sum(lanes(total, p)));
            sums[i++] = static_cast<double>(simd::sum(lanes(total, size)));
            scratch.clear();
        }
    }
}

/// pulled = B a for a packed matrix B and a displacement in a tile; returns a' B a.
template <int D>
GNOMON_INLINE f32 multiply(const float* matrix, const float* away, std::size_t given, float* pulled) {
    const std::size_t d = D > 0 ? D : given;
    for (std::size_t a = 0; a < d; ++a) set(pulled, a, f32{});
    std::size_t p = 0;
    for (std::size_t a = 0; a < d; ++a) {
        const f32 here = lanes(away, a);
        add(pulled, a, lanes(matrix, p++) * here);
        for (std::size_t b = a + 1; b < d; ++b, ++p) {
            add(pulled, a, lanes(matrix, p) * lanes(away, b));
            add(pulled, b, lanes(matrix, p) * here);
        }
    }
    f32 form{};
    for (std::size_t a = 0; a < d; ++a) form += lanes(pulled, a) * lanes(away, a);
    return form;
}

/// B and c of sixteen edges: those of the point and those at the edges' other ends.
GNOMON_INLINE void gather_slopes(Span2<const float> slopes, std::size_t i, const std::int32_t* columns, float* matrix) {
    const std::size_t size = slopes.cols();
    const float* here = slopes.row(i);
    for (std::size_t l = 0; l < kLanes; ++l) {
        const float* there = slopes.row(static_cast<std::size_t>(columns[l]));
        for (std::size_t p = 0; p < size; ++p) matrix[p * kLanes + l] = here[p] + there[p];
    }
}

GNOMON_KERNEL void gradient_of_rows(const Edges& graph, Span2<const float> slopes, std::size_t begin, std::size_t end,
                                    EdgeTile& tile, Scratch& scratch, Span2<float> out) {
    const std::size_t d = graph.Y.cols(), size = packed(d);
    float *pulled = scratch.pulled.data(), *matrix = scratch.matrix.data(), *total = scratch.total.data();
    scratch.clear();
    EdgeWalk walk(graph.edges, graph.Y, begin);
    for (std::size_t i = begin; i < end;) {
        const std::size_t vectors = fill_tile(walk, end, tile);
        evaluate_law(PairLaw::value, graph.kernel, tile.squared, vectors * kLanes, tile.slopes, tile.energies);
        for (std::size_t t = 0; t < vectors; ++t) {
            const float* away = tile.away.data() + t * kLanes * d;
            gather_slopes(slopes, i, tile.columns + t * kLanes, matrix);
            f32 form{};
            with_components(d, [&](auto components) GNOMON_INLINE_LAMBDA {
                form = multiply<decltype(components)::value>(matrix, away, d, pulled);
            });
            form -= lanes(matrix, size);
            const f32 k = 2.0F * used(tile, t, tile.energies), along = 2.0F * form * used(tile, t, tile.slopes);
            for (std::size_t c = 0; c < d; ++c) add(total, c, k * lanes(pulled, c) + along * lanes(away, c));
            if (!tile.ends_row[t]) continue;
            for (std::size_t c = 0; c < d; ++c) out(i, c) = simd::sum(lanes(total, c));
            ++i;
            scratch.clear();
        }
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
