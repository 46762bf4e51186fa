#include "gnomon/edge_spreads.hpp"

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

/// Symmetric matrices of order d are packed as their upper triangle, row by row.
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

const auto moments_of_rows =
    each_level([](const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y, std::size_t begin,
                  std::size_t end, Scratch& scratch, Span2<double> totals, double* sums) GNOMON_INLINE_LAMBDA {
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
    });

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

const auto gradient_of_rows = each_level([](const OutputKernel& kernel, const CsrView<float>& edges,
                                            Span2<const float> Y, Span2<const float> slopes, std::size_t begin,
                                            std::size_t end, Scratch& scratch, Span2<float> out) GNOMON_INLINE_LAMBDA {
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
});

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
    std::vector<Scratch> workers = Scratch::of_workers(context, d);
    std::vector<double> memory(n * packed(d));
    const Span2<double> totals{memory.data(), n, packed(d)};
    parallel_blocks(n, kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        moments_of_rows(kernel, edges, Y, begin, end, workers[worker], totals, spreads.sums.data());
        for (std::size_t i = begin; i < end; ++i)
            project(totals.row(i), spreads.sums[i], frames.row(i), d, width, spreads.values.row(i));
    });
}

void edge_spread_gradient(const OutputKernel& kernel, const CsrView<float>& edges, Span2<const float> Y,
                          Span2<const double> frames, const Spreads& spreads, Span2<const double> slopes,
                          Span2<float> out, const Context& context) {
    const std::size_t n = Y.rows(), d = Y.cols(), size = packed(d) + 1;
    std::vector<Scratch> workers = Scratch::of_workers(context, d);
    std::vector<float> memory(n * size);
    parallel_blocks(n, kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i)
            slope_by_moment(frames.row(i), slopes.row(i), spreads.values.row(i), spreads.sums[i], d, slopes.cols(),
                            memory.data() + i * size);
    });
    parallel_blocks(n, kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        gradient_of_rows(kernel, edges, Y, {memory.data(), n, size}, begin, end, workers[worker], out);
    });
}

}  // namespace gnomon
