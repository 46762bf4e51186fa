#include "gnomon/triplets.hpp"

#include <algorithm>

#include "gnomon/point_lanes.hpp"

// GCC 12 does not see that the components read are those that were filled: both loops run over the same width.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"

namespace gnomon {
namespace {

using simd::f32;
using simd::kLanes;

constexpr std::size_t kRowsPerChunk = 128;
constexpr std::size_t kAhead = 128;  // coefficients fetched so early: they lie anywhere, too far apart for any cache

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
};

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
GNOMON_INLINE void measure_in(const TripletView& triplets, Span2<const float> Y, std::size_t i, bool keep_away,
                              RowScratch& scratch) {
    const int d = static_cast<int>(Y.cols());
    const std::size_t m = triplets.others.cols();
    f32 here[kHeld<D>], there[kHeld<D>], away[kHeld<D>];
    std::int32_t buffer[kLanes];
    for (int c = 0; c < d; ++c) here[c] = simd::splat(Y.row(i)[c]);
    for (std::size_t e = 0; e < m; e += kLanes) {
        const std::int32_t* index = lanes_of(triplets.others.row(i), e, m, static_cast<std::int32_t>(i), buffer);
        gather_points<D>(Y.data(), index, d, there);
        simd::store(scratch.distances.data() + e, 1.0F + differences<D>(here, there, d, away));
        if (!keep_away) continue;
        for (int c = 0; c < d; ++c)
            simd::store(scratch.away.data() + static_cast<std::size_t>(c) * scratch.distances.size() + e, away[c]);
    }
}

/// Fills distances (1 + s) and, if wanted, differences from row i to its others.
GNOMON_INLINE void measure(const TripletView& triplets, Span2<const float> Y, std::size_t i, bool keep_away,
                           RowScratch& scratch) {
    with_components(Y.cols(), [&](auto components) GNOMON_INLINE_LAMBDA {
        measure_in<decltype(components)::value>(triplets, Y, i, keep_away, scratch);
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

/// Forces on the owners of the lists [begin, end), and the coefficients that the others gather afterwards.
const auto own_forces =
    each_level([](const TripletView& triplets, Span2<const float> Y, TripletParts parts, std::size_t begin,
                  std::size_t end, float* coefficients, Span2<float> out, RowScratch& scratch) GNOMON_INLINE_LAMBDA {
        const std::size_t m = triplets.others.cols();
        for (std::size_t i = begin; i < end; ++i) {
            measure(triplets, Y, i, true, scratch);
            weigh(triplets, i, parts, scratch);
            for (std::size_t c = 0; c < Y.cols(); ++c) {
                f32 total{};
                for (std::size_t e = 0; e < scratch.distances.size(); e += kLanes)
                    total += simd::load(scratch.coefficients.data() + e) *
                             simd::load(scratch.away.data() + c * scratch.distances.size() + e);
                out(i, c) = simd::sum(total);
            }
            std::copy_n(scratch.coefficients.data(), m, coefficients + i * m);
        }
    });

/// Where a point stands in the lists of other points.
struct Incidence {
    const std::int64_t* offsets;
    const std::int32_t* owners;
    const std::uint32_t* places;
};

/// Adds to the points [begin, end) what the owners of the lists that hold them exert.
const auto add_others = each_level([](const Incidence& incidence, const float* coefficients, Span2<const float> Y,
                                      std::size_t begin, std::size_t end, Span2<float> out) GNOMON_INLINE_LAMBDA {
    const int d = static_cast<int>(Y.cols());
    with_components(Y.cols(), [&](auto components) GNOMON_INLINE_LAMBDA {
        constexpr int D = decltype(components)::value;
        f32 here[kHeld<D>], there[kHeld<D>], away[kHeld<D>], total[kHeld<D>];
        std::int32_t buffer[kLanes];
        float coefficient[kLanes];
        const auto last = static_cast<std::size_t>(incidence.offsets[end]) - 1;
        for (std::size_t p = begin; p < end; ++p) {
            for (int c = 0; c < d; ++c) {
                here[c] = simd::splat(Y.row(p)[c]);
                total[c] = f32{};
            }
            const auto first = static_cast<std::size_t>(incidence.offsets[p]);
            const auto degree = static_cast<std::size_t>(incidence.offsets[p + 1]) - first;
            for (std::size_t e = 0; e < degree; e += kLanes) {
                for (std::size_t l = 0; l < kLanes; ++l) {
                    const std::size_t ahead = std::min(first + e + l + kAhead, last);
                    __builtin_prefetch(coefficients + incidence.places[ahead], 0, 2);
                }
                const std::int32_t* owners =
                    lanes_of(incidence.owners + first, e, degree, static_cast<std::int32_t>(p), buffer);
                for (std::size_t l = 0; l < kLanes; ++l)
                    coefficient[l] = e + l < degree ? coefficients[incidence.places[first + e + l]] : 0.0F;
                gather_points<D>(Y.data(), owners, d, there);
                differences<D>(here, there, d, away);
                for (int c = 0; c < d; ++c) total[c] += simd::load(coefficient) * away[c];
            }
            for (int c = 0; c < d; ++c) out.row(p)[c] += simd::sum(total[c]);
        }
    });
});

const auto loss_of_rows = each_level([](const TripletView& triplets, Span2<const float> Y, std::size_t begin,
                                        std::size_t end, RowScratch& scratch) GNOMON_INLINE_LAMBDA -> double {
    const std::size_t n_triplets = triplets.closer.size();
    std::int32_t closer_buffer[kLanes], farther_buffer[kLanes];
    double total = 0;
    for (std::size_t i = begin; i < end; ++i) {
        measure(triplets, Y, i, false, scratch);
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
});

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
    std::vector<RowScratch> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)));
    for (RowScratch& one : scratch) one.reserve(triplets.others.cols(), Y.cols());
    parallel_blocks(Y.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        own_forces(triplets, Y, parts, begin, end, coefficients_.data(), out, scratch[worker]);
    });
    const Incidence incidence{offsets_.data(), owners_.data(), places_.data()};
    parallel_blocks(Y.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        add_others(incidence, coefficients_.data(), Y, begin, end, out);
    });
}

double triplet_loss(const TripletView& triplets, Span2<const float> Y, const Context& context) {
    std::vector<RowScratch> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)));
    for (RowScratch& one : scratch) one.reserve(triplets.others.cols(), Y.cols());
    std::vector<double> partial((Y.rows() + kRowsPerChunk - 1) / kRowsPerChunk);
    parallel_blocks(Y.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        partial[begin / kRowsPerChunk] = loss_of_rows(triplets, Y, begin, end, scratch[worker]);
    });
    double total = 0;
    for (const double part : partial) total += part;
    return total;
}

}  // namespace gnomon
