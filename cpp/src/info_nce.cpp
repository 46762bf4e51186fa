#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/info_nce.cpp"
#include "gnomon/info_nce.hpp"

#include <algorithm>
#include <vector>

#include "gnomon/edge_tiles.hpp"
#include "gnomon/point_planes.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 256;

/// Numbers of the points 0, ..., n - 1, 0, 1, ...: a shifted tile is read in one piece.
class Circle {
public:
    Circle(std::size_t n, std::size_t width)
        : n_(n), pitch_(whole_vectors(2 * n + simd::kLanes)), values_(width * pitch_) {}

    void set(std::size_t c, std::size_t i, float value) {
        for (std::size_t at = i; at < pitch_; at += n_) values_[c * pitch_ + at] = value;
    }
    const float* at(std::size_t c, std::size_t i) const { return values_.data() + c * pitch_ + i; }

private:
    std::size_t n_, pitch_;
    std::vector<float> values_;
};

struct Contrast {
    const CsrView<float>& edges;
    const OutputKernel& kernel;
    Span2<const float> Y;
    std::vector<std::size_t> shifts;  // in [0, n)
    Circle points;                    // (d) rows
    Circle charges;                   // v_i
    Circle noise;                     // S_i
    Circle share;                     // c_i = sum_j a_ij / (k_ij + S_i)
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(attraction_of_tile);
GNOMON_CHOOSE(noise_of_rows);
GNOMON_CHOOSE(repel_rows);
GNOMON_CHOOSE(shares_of_rows);

Contrast prepare(const CsrView<float>& edges, const OutputKernel& kernel, std::span<const std::int64_t> shifts,
                 Span2<const float> Y, std::span<const float> charges) {
    const std::size_t n = Y.rows();
    Contrast job{edges, kernel, Y, {}, Circle(n, Y.cols()), Circle(n, 1), Circle(n, 1), Circle(n, 1)};
    const auto size = static_cast<std::int64_t>(n);
    for (const std::int64_t shift : shifts)
        job.shifts.push_back(static_cast<std::size_t>((shift % size + size) % size));
    for (std::size_t c = 0; c < Y.cols(); ++c)
        for (std::size_t i = 0; i < n; ++i) job.points.set(c, i, Y(i, c));
    for (std::size_t i = 0; i < n; ++i) job.charges.set(0, i, charges.empty() ? 1.0F : charges[i]);
    return job;
}

}  // namespace

double info_nce(const CsrView<float>& edges, const OutputKernel& kernel, std::span<const std::int64_t> shifts,
                std::span<const float> charges, Span2<const float> Y, Span2<float> attraction, Span2<float> repulsion,
                const Context& context) {
    check_law(PairLaw::log, kernel);
    const std::size_t n = Y.rows(), d = Y.cols();
    Contrast job = prepare(edges, kernel, shifts, Y, charges);
    std::vector<EdgeTile> tiles = EdgeTile::of_workers(context, d);
    const auto share_of_rows = [&](std::size_t begin, std::size_t end, std::size_t worker) {
        float found[kRowsPerChunk];
        noise_of_rows(job, begin, whole_vectors(end - begin), found);
        for (std::size_t i = begin; i < end; ++i) job.noise.set(0, i, found[i - begin]);
        const double loss = shares_of_rows(job, begin, end, tiles[worker], found);
        for (std::size_t i = begin; i < end; ++i) job.share.set(0, i, found[i - begin]);
        return loss;
    };
    const double loss = parallel_block_sum(n, kRowsPerChunk, context, share_of_rows);
    parallel_blocks(n, kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        EdgeTile& tile = tiles[worker];
        sum_edges(
            EdgeWalk(edges, Y, begin), end, 1.0F, {}, tile,
            [&](std::size_t i, std::size_t vectors) { attraction_of_tile(job, i, vectors, tile); },
            [&](std::size_t i, std::size_t count, const float* sums) {
                std::copy_n(sums, count * d, attraction.row(i));
            });
        const std::size_t count = whole_vectors(end - begin);
        std::vector<float> total(d * count);
        repel_rows(job, begin, count, total.data());
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t c = 0; c < d; ++c) repulsion(i, c) = total[c * count + i - begin];
    });
    return loss;
}

}  // namespace gnomon

#else
#include "gnomon/point_planes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;
using simd::kLanes;

/// Squared distances of the points [begin, begin + count) from those `shift` further on.
GNOMON_INLINE void shifted_distances(const Contrast& job, std::size_t begin, std::size_t count, std::size_t shift,
                                     float* squared) {
    for (std::size_t c = 0; c < job.Y.cols(); ++c) {
        const float *here = job.points.at(c, begin), *there = job.points.at(c, begin + shift);
        for (std::size_t k = 0; k < count; k += kLanes) {
            const f32 away = simd::load(here + k) - simd::load(there + k);
            const f32 before = c == 0 ? f32{} : simd::load(squared + k);
            simd::store(squared + k, before + away * away);
        }
    }
}

/// sums[k] = S_(begin + k).
GNOMON_KERNEL void noise_of_rows(const Contrast& job, std::size_t begin, std::size_t count, float* sums) {
    alignas(64) float squared[kRowsPerChunk], slopes[kRowsPerChunk], values[kRowsPerChunk];
    std::fill_n(sums, count, 0.0F);
    for (const std::size_t shift : job.shifts) {
        shifted_distances(job, begin, count, shift, squared);
        evaluate_law(PairLaw::value, job.kernel, squared, count, slopes, values);
        const float* charges = job.charges.at(0, begin + shift);
        for (std::size_t k = 0; k < count; k += kLanes)
            simd::store(sums + k, simd::load(sums + k) + simd::load(charges + k) * simd::load(values + k));
    }
}

/// Sets shares[i - begin] = c_i for the rows [begin, end) and returns their part of the loss.
GNOMON_KERNEL double shares_of_rows(const Contrast& job, std::size_t begin, std::size_t end, EdgeTile& tile,
                                    float* shares) {
    double loss = 0;
    EdgeWalk walk(job.edges, job.Y, begin);
    f32 share{}, row{};
    for (std::size_t i = begin; i < end;) {
        const std::size_t vectors = fill_tile(walk, end, tile);
        evaluate_law(PairLaw::value, job.kernel, tile.squared, vectors * kLanes, tile.slopes, tile.energies);
        for (std::size_t t = 0; t < vectors; ++t) {
            const f32 k = simd::load(tile.energies + t * kLanes), weight = simd::load(tile.weights + t * kLanes);
            const f32 noise = simd::splat(*job.noise.at(0, i));
            share += weight / (k + noise);
            row += weight * simd::log1p(noise / k);
            if (!tile.ends_row[t]) continue;
            shares[i++ - begin] = simd::sum(share);
            loss += static_cast<double>(simd::sum(row));
            share = row = f32{};
        }
    }
    return loss;
}

/// Sets slopes of a tile whose first row is i, for which attraction_i is
/// -2 sum_j a_ij pull_ij [ S_i / (k_ij + S_i) + S_j / (k_ij + S_j) ] (y_i - y_j); weights are in the slopes.
GNOMON_KERNEL void attraction_of_tile(const Contrast& job, std::size_t i, std::size_t vectors, EdgeTile& tile) {
    evaluate_law(PairLaw::value, job.kernel, tile.squared, vectors * kLanes, tile.slopes, tile.energies);
    for (std::size_t t = 0; t < vectors; ++t) {
        const std::size_t at = t * kLanes;
        float of_others[kLanes];
        for (std::size_t l = 0; l < kLanes; ++l)
            of_others[l] = *job.noise.at(0, static_cast<std::size_t>(tile.columns[at + l]));
        const f32 k = simd::load(tile.energies + at), others = simd::load(of_others);
        const f32 noise = simd::splat(*job.noise.at(0, i));
        const f32 wanted = noise / (k + noise) + others / (k + others);
        const f32 pull = 2.0F * simd::load(tile.weights + at) * simd::load(tile.slopes + at) / k;
        simd::store(tile.slopes + at, pull * wanted);
        simd::store(tile.weights + at, simd::splat(1.0F));
        if (tile.ends_row[t]) ++i;
    }
}

/// Adds to total, (d, count), what the pairs of [begin, begin + count) with the points `shift` further on push: the
/// share of the anchor times the charge of the noise.
GNOMON_INLINE void push_shifted(const Contrast& job, std::size_t begin, std::size_t count, std::size_t shift,
                                const float* shares, const float* charges, float* total) {
    alignas(64) float squared[kRowsPerChunk], slopes[kRowsPerChunk];
    shifted_distances(job, begin, count, shift, squared);
    evaluate_law(PairLaw::value, job.kernel, squared, count, slopes, nullptr);
    for (std::size_t c = 0; c < job.Y.cols(); ++c, total += count) {
        const float *here = job.points.at(c, begin), *there = job.points.at(c, begin + shift);
        for (std::size_t k = 0; k < count; k += kLanes) {
            const f32 coefficient = -2.0F * (simd::load(shares + k) * simd::load(charges + k)) * simd::load(slopes + k);
            const f32 away = simd::load(here + k) - simd::load(there + k);
            simd::store(total + k, simd::load(total + k) + coefficient * away);
        }
    }
}

/// total[c, k] = the repulsion on the point begin + k: as an anchor of its noise, and as noise of other anchors.
GNOMON_KERNEL void repel_rows(const Contrast& job, std::size_t begin, std::size_t count, float* total) {
    const std::size_t n = job.Y.rows();
    std::fill_n(total, job.Y.cols() * count, 0.0F);
    for (const std::size_t shift : job.shifts) {
        push_shifted(job, begin, count, shift, job.share.at(0, begin), job.charges.at(0, begin + shift), total);
        push_shifted(job, begin, count, n - shift, job.share.at(0, begin + n - shift), job.charges.at(0, begin), total);
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
