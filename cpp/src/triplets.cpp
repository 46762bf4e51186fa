#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/triplets.cpp"
#include "gnomon/triplets.hpp"

#include <algorithm>

#include "gnomon/point_lanes.hpp"

// GCC 12 does not see that the components read are those that were filled: both loops run over the same width.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace gnomon {
namespace {

using simd::kLanes;

constexpr std::size_t kRowsPerChunk = 128;
constexpr std::size_t kAhead = 128;     // coefficients fetched so early: they lie anywhere, too far apart for any cache
constexpr std::size_t kTogether = 512;  // owners of lists that are measured at once

std::size_t padded(std::size_t count) { return (count + kLanes - 1) / kLanes * kLanes; }

/// What one worker needs for one row: distances of the others, coefficients, and differences component by component.
/// All are padded to whole vectors; a padding lane holds the point itself.
struct RowScratch {
    std::vector<float> distances, coefficients, away;

    void reserve(std::size_t n_others, std::size_t d) {
        distances.resize(padded(n_others));
        coefficients.resize(padded(n_others));
        away.resize(padded(n_others) * d);
    }
    static std::vector<RowScratch> of_workers(const Context& context, std::size_t n_others, std::size_t d) {
        std::vector<RowScratch> workers(static_cast<std::size_t>(std::max(context.n_threads, 1)));
        for (RowScratch& one : workers) one.reserve(n_others, d);
        return workers;
    }
};

/// Where a point stands in the lists of other points.
struct Incidence {
    const std::int64_t* offsets;
    const std::int32_t* owners;
    const std::uint32_t* places;
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(add_others);
GNOMON_CHOOSE(loss_of_rows);
GNOMON_CHOOSE(own_forces);

}  // namespace

// A counting sort of the flattened lists by point; places of one point stay in ascending order.
TripletForces::TripletForces(const TripletView& triplets)
    : offsets_(triplets.others.rows() + 1),
      owners_(triplets.others.size()),
      places_(triplets.others.size()),
      coefficients_(triplets.others.size()) {
    const std::size_t n = triplets.others.rows(), m = triplets.others.cols();
    const std::int32_t* others = triplets.others.data();
    for (std::size_t e = 0; e < n * m; ++e) ++offsets_[static_cast<std::size_t>(others[e]) + 1];
    for (std::size_t p = 0; p < n; ++p) offsets_[p + 1] += offsets_[p];
    std::vector<std::int64_t> next(offsets_.begin(), offsets_.end() - 1);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t e = i * m; e < (i + 1) * m; ++e) {
            const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(others[e])]++);
            owners_[at] = static_cast<std::int32_t>(i);
            places_[at] = static_cast<std::uint32_t>(e);
        }
    }
}

void TripletForces::gradient(const TripletView& triplets, Span2<const float> Y, TripletParts parts, Span2<float> out,
                             const Context& context) {
    std::vector<RowScratch> own = RowScratch::of_workers(context, triplets.others.cols(), Y.cols());
    parallel_blocks(Y.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        own_forces(triplets, Y, parts, begin, end, coefficients_.data(), out, own[worker]);
    });
    std::vector<RowScratch> others = RowScratch::of_workers(context, kTogether, Y.cols());
    const Incidence incidence{offsets_.data(), owners_.data(), places_.data()};
    parallel_blocks(Y.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        add_others(incidence, coefficients_.data(), Y, begin, end, out, others[worker]);
    });
}

double triplet_loss(const TripletView& triplets, Span2<const float> Y, const Context& context) {
    std::vector<RowScratch> scratch = RowScratch::of_workers(context, triplets.others.cols(), Y.cols());
    const auto loss = [&](std::size_t begin, std::size_t end, std::size_t worker) {
        return loss_of_rows(triplets, Y, begin, end, scratch[worker]);
    };
    return parallel_block_sum(Y.rows(), kRowsPerChunk, context, loss);
}

}  // namespace gnomon

#else
#include "gnomon/point_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;

/// The next sixteen entries of a list of `count`; entries past its end become `filler`.
GNOMON_INLINE const std::int32_t* lanes_of(const std::int32_t* list, std::size_t at, std::size_t count,
                                           std::int32_t filler, std::int32_t* buffer) {
    if (count - at >= kLanes) return list + at;
    for (std::size_t l = 0; l < kLanes; ++l) buffer[l] = at + l < count ? list[at + l] : filler;
    return buffer;
}
GNOMON_INLINE f32 lanes_of(const float* list, std::size_t at, std::size_t count) {
    if (count - at >= kLanes) return simd::load(list + at);
    float buffer[kLanes];
    for (std::size_t l = 0; l < kLanes; ++l) buffer[l] = at + l < count ? list[at + l] : 0.0F;
    return simd::load(buffer);
}

template <int D>
GNOMON_INLINE void measure_in(Span2<const float> Y, std::size_t i, const std::int32_t* others, std::size_t count,
                              bool keep_away, RowScratch& scratch) {
    const int d = static_cast<int>(Y.cols()), width = D > 0 ? D : d;
    const std::size_t pitch = scratch.distances.size();
    f32 here[kHeld<D>], there[kHeld<D>], away[kHeld<D>];
    std::int32_t buffer[kLanes];
    for (int c = 0; c < width; ++c) here[c] = simd::splat(Y.row(i)[c]);
    for (std::size_t e = 0; e < count; e += kLanes) {
        const std::int32_t* index = lanes_of(others, e, count, static_cast<std::int32_t>(i), buffer);
        gather_points<D>(Y.data(), index, d, there);
        simd::store(scratch.distances.data() + e, 1.0F + differences<D>(here, there, d, away));
        if (!keep_away) continue;
        for (int c = 0; c < width; ++c)
            simd::store(scratch.away.data() + static_cast<std::size_t>(c) * pitch + e, away[c]);
    }
}

/// Fills distances (1 + s) and, if wanted, differences from row i to `count` others.
GNOMON_KERNEL void measure(Span2<const float> Y, std::size_t i, const std::int32_t* others, std::size_t count,
                           bool keep_away, RowScratch& scratch) {
    with_components(Y.cols(), [&](auto components) GNOMON_INLINE_LAMBDA {
        measure_in<decltype(components)::value>(Y, i, others, count, keep_away, scratch);
    });
}

/// The distances to both others of sixteen triplets.
struct Sides {
    f32 closer, farther;
};
GNOMON_INLINE Sides sides_of(const float* distances, const std::int32_t* closer, const std::int32_t* farther) {
    float near[kLanes], far[kLanes];
    for (std::size_t l = 0; l < kLanes; ++l) {
        near[l] = distances[closer[l]];
        far[l] = distances[farther[l]];
    }
    return {simd::load(near), simd::load(far)};
}

/// Sums over the triplets of row i the derivatives by the distances, doubled: the force for each unit of difference.
GNOMON_INLINE void weigh(const TripletView& triplets, std::size_t i, TripletParts parts, RowScratch& scratch) {
    const std::size_t n_triplets = triplets.closer.size();
    std::int32_t closer_buffer[kLanes], farther_buffer[kLanes];
    float pulls[kLanes], pushes[kLanes];
    std::fill(scratch.coefficients.begin(), scratch.coefficients.end(), 0.0F);
    for (std::size_t t = 0; t < n_triplets; t += kLanes) {
        const std::int32_t* closer = lanes_of(triplets.closer.data(), t, n_triplets, 0, closer_buffer);
        const std::int32_t* farther = lanes_of(triplets.farther.data(), t, n_triplets, 0, farther_buffer);
        const Sides sides = sides_of(scratch.distances.data(), closer, farther);
        const f32 share = 1.0F / (sides.closer + sides.farther);
        const f32 slope = 2.0F * lanes_of(triplets.weights.row(i), t, n_triplets) * share * share;
        simd::store(pulls, parts.closer * slope * sides.farther);
        simd::store(pushes, -parts.farther * slope * sides.closer);
        for (std::size_t l = 0; l < std::min<std::size_t>(kLanes, n_triplets - t); ++l) {
            scratch.coefficients[static_cast<std::size_t>(closer[l])] += pulls[l];
            scratch.coefficients[static_cast<std::size_t>(farther[l])] += pushes[l];
        }
    }
}

/// total + the coefficients times component c of the differences of `count` others.
GNOMON_INLINE f32 add_weighed(const RowScratch& scratch, std::size_t c, std::size_t count, f32 total) {
    const float* away = scratch.away.data() + c * scratch.distances.size();
    for (std::size_t e = 0; e < count; e += kLanes)
        total += simd::load(scratch.coefficients.data() + e) * simd::load(away + e);
    return total;
}

/// Forces on the owners of the lists [begin, end), and the coefficients that the others gather afterwards.
GNOMON_KERNEL void own_forces(const TripletView& triplets, Span2<const float> Y, TripletParts parts, std::size_t begin,
                              std::size_t end, float* coefficients, Span2<float> out, RowScratch& scratch) {
    const std::size_t m = triplets.others.cols();
    for (std::size_t i = begin; i < end; ++i) {
        measure(Y, i, triplets.others.row(i), m, true, scratch);
        weigh(triplets, i, parts, scratch);
        for (std::size_t c = 0; c < Y.cols(); ++c) out(i, c) = simd::sum(add_weighed(scratch, c, m, f32{}));
        std::copy_n(scratch.coefficients.data(), m, coefficients + i * m);
    }
}

/// Adds to the points [begin, end) what the owners of the lists that hold them exert.
GNOMON_KERNEL void add_others(const Incidence& incidence, const float* coefficients, Span2<const float> Y,
                              std::size_t begin, std::size_t end, Span2<float> out, RowScratch& scratch) {
    const std::size_t d = Y.cols();
    const auto last = static_cast<std::size_t>(incidence.offsets[end]) - 1;
    f32 total[kMaxComponents];
    for (std::size_t p = begin; p < end; ++p) {
        const auto stop = static_cast<std::size_t>(incidence.offsets[p + 1]);
        for (std::size_t c = 0; c < d; ++c) total[c] = f32{};
        for (auto first = static_cast<std::size_t>(incidence.offsets[p]); first < stop; first += kTogether) {
            const std::size_t count = std::min(kTogether, stop - first);
            for (std::size_t e = 0; e < count; e += kLanes) {
                for (std::size_t l = 0; l < kLanes; ++l) {
                    const std::size_t at = first + e + l;
                    __builtin_prefetch(coefficients + incidence.places[std::min(at + kAhead, last)], 0, 2);
                    scratch.coefficients[e + l] = e + l < count ? coefficients[incidence.places[at]] : 0.0F;
                }
            }
            measure(Y, p, incidence.owners + first, count, true, scratch);
            for (std::size_t c = 0; c < d; ++c) total[c] = add_weighed(scratch, c, count, total[c]);
        }
        for (std::size_t c = 0; c < d; ++c) out.row(p)[c] += simd::sum(total[c]);
    }
}

GNOMON_KERNEL double loss_of_rows(const TripletView& triplets, Span2<const float> Y, std::size_t begin, std::size_t end,
                                  RowScratch& scratch) {
    const std::size_t n_triplets = triplets.closer.size();
    std::int32_t closer_buffer[kLanes], farther_buffer[kLanes];
    double total = 0;
    for (std::size_t i = begin; i < end; ++i) {
        measure(Y, i, triplets.others.row(i), triplets.others.cols(), false, scratch);
        f32 row{};
        for (std::size_t t = 0; t < n_triplets; t += kLanes) {
            const Sides sides =
                sides_of(scratch.distances.data(), lanes_of(triplets.closer.data(), t, n_triplets, 0, closer_buffer),
                         lanes_of(triplets.farther.data(), t, n_triplets, 0, farther_buffer));
            row += lanes_of(triplets.weights.row(i), t, n_triplets) * (sides.closer / (sides.closer + sides.farther));
        }
        total += static_cast<double>(simd::sum(row));
    }
    return total;
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
