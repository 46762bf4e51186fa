#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/neighbors_distances.cpp"
#include "gnomon/neighbors_distances.hpp"

#include <cassert>
#include <cmath>

#include "gnomon/neighbors_tile.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kGroup = 4;  // rows whose distances to one query are summed at the same time

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE_FOR(class, candidate_keys);

template <class T>
const auto center_row =
    each_level([](const T* x, const double* mean, double scale, std::size_t d, float* out) GNOMON_INLINE_LAMBDA {
        for (std::size_t k = 0; k < d; ++k) out[k] = static_cast<float>((static_cast<double>(x[k]) - mean[k]) * scale);
    });

float root_of(float square, double scale) { return static_cast<float>(std::sqrt(static_cast<double>(square)) / scale); }

// Turns the k smallest keys into a row of the result. Roots of different squares may round to one distance, so ties are
// put in order of index after the root.
// The first `lead` are those that would be kept if only so many were asked for.
void write_row(std::span<std::uint64_t> keys, double scale, bool squared, std::size_t lead,
               std::span<std::int32_t> indices, float* distances) {
    const std::size_t k = indices.size(), kept = std::min(k, keys.size());
    const auto middle = keys.begin() + static_cast<std::ptrdiff_t>(std::min(lead, kept));
    const auto end = keys.begin() + static_cast<std::ptrdiff_t>(kept);
    std::partial_sort(keys.begin(), end, keys.end());
    for (std::size_t j = 0; j < kept && !squared; ++j)
        keys[j] = make_key(root_of(key_distance(keys[j]), scale), key_index(keys[j]));
    if (!squared) {
        std::sort(keys.begin(), middle);
        std::sort(middle, end);
    }
    for (std::size_t j = 0; j < k; ++j) {
        indices[j] = j < kept ? key_index(keys[j]) : -1;
        distances[j] = j < kept ? key_distance(keys[j]) : std::numeric_limits<float>::infinity();
    }
}

}  // namespace

template <class T>
void center_rows(Span2<const T> x, std::span<const double> mean, double scale, Span2<float> out,
                 const Context& context) {
    parallel_blocks(x.rows(), 256, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i) center_row<T>(x.row(i), mean.data(), scale, x.cols(), out.row(i));
    });
}

template <class T>
void project_rows(Span2<const T> x, std::span<const double> mean, double scale, Span2<const float> basis,
                  Span2<float> out, const Context& context) {
    const std::size_t d = x.cols(), d_out = basis.rows();
    assert(basis.cols() == d && out.cols() == d_out && out.rows() == x.rows());
    PackedRows panels;
    panels.resize(round_up(d_out, kTileCols) * d);
    pack_panels<kTileCols>(d_out, d, [&](std::size_t c) { return basis.row(c); }, panels.data());
    parallel_blocks(x.rows(), 8 * kTileRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<float> centered((end - begin) * d);
        PackedRows rows;
        rows.resize(round_up(end - begin, kTileRows) * d);
        for (std::size_t i = begin; i < end; ++i) {
            center_row<T>(x.row(i), mean.data(), scale, d, centered.data() + (i - begin) * d);
        }
        pack_panels<kTileRows>(end - begin, d, [&](std::size_t i) { return centered.data() + i * d; }, rows.data());
        alignas(64) float dots[kTileRows * kTileCols];
        for (std::size_t c = 0; c < d_out; c += kTileCols) {
            const std::size_t width = std::min(kTileCols, d_out - c);
            for (std::size_t i = begin; i < end; i += kTileRows) {
                dot_tile(rows.data() + (i - begin) * d, panels.data() + c * d, d, dots);
                for (std::size_t r = 0; r < kTileRows && i + r < end; ++r) {
                    std::copy_n(dots + r * kTileCols, width, out.row(i + r) + c);
                }
            }
        }
    });
}

template <class T>
void rank_candidates(Span2<const T> x, Span2<const T> queries, Span2<const std::int32_t> candidates,
                     std::span<const std::int32_t> order, double scale, bool squared, std::size_t lead,
                     Span2<std::int32_t> indices, Span2<float> distances, const Context& context) {
    assert(candidates.rows() == queries.rows() && order.size() == queries.rows());
    parallel_blocks(queries.rows(), 64, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<std::uint64_t> keys(candidates.cols());
        for (std::size_t place = begin; place < end; ++place) {
            const auto i = static_cast<std::size_t>(order[place]);
            const std::int32_t* row = candidates.row(i);
            const auto count = static_cast<std::size_t>(std::find(row, row + candidates.cols(), -1) - row);
            candidate_keys<T>(x, queries.row(i), row, count, scale, keys.data());
            write_row({keys.data(), count}, scale, squared, lead, {indices.row(i), indices.cols()}, distances.row(i));
        }
    });
}

template <class T>
void pair_distances(Span2<const T> x, Span2<const std::int32_t> others, double scale, Span2<float> distances,
                    const Context& context) {
    parallel_blocks(others.rows(), 64, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<std::uint64_t> keys(others.cols());
        for (std::size_t i = begin; i < end; ++i) {
            candidate_keys<T>(x, x.row(i), others.row(i), keys.size(), scale, keys.data());
            for (std::size_t j = 0; j < keys.size(); ++j) distances(i, j) = root_of(key_distance(keys[j]), scale);
        }
    });
}

template <class T>
void scan_rows(Span2<const T> x, Span2<const T> queries, std::span<const std::int32_t> self, double scale, bool squared,
               Span2<std::int32_t> indices, Span2<float> distances, const Context& context) {
    constexpr std::size_t base_block = 2048, strip = 32, query_block = 64;
    const std::size_t k = indices.cols(), n_bases = (x.rows() + base_block - 1) / base_block;
    std::vector<NearestKeys> nearest(static_cast<std::size_t>(context.n_threads), NearestKeys(k));
    std::vector<std::uint64_t> keys(query_block * n_bases * k);
    std::vector<std::size_t> counts(query_block * n_bases);
    for (std::size_t query0 = 0; query0 < queries.rows(); query0 += query_block) {
        const std::size_t n_queries = std::min(query_block, queries.rows() - query0);
        parallel_for(n_bases, context, [&](std::size_t block, std::size_t worker) {
            NearestKeys& found = nearest[worker];
            found.reset(n_queries);
            std::int32_t ids[strip];
            std::uint64_t strip_keys[strip];
            const std::size_t end = std::min(x.rows(), (block + 1) * base_block);
            for (std::size_t j = block * base_block; j < end; j += strip) {
                const std::size_t count = std::min(strip, end - j);
                for (std::size_t r = 0; r < count; ++r) ids[r] = static_cast<std::int32_t>(j + r);
                for (std::size_t q = 0; q < n_queries; ++q) {
                    candidate_keys<T>(x, queries.row(query0 + q), ids, count, scale, strip_keys);
                    for (std::size_t r = 0; r < count; ++r) {
                        if (ids[r] != self[query0 + q]) found.offer(q, key_distance(strip_keys[r]), ids[r]);
                    }
                }
            }
            for (std::size_t q = 0; q < n_queries; ++q) {
                counts[q * n_bases + block] = found.finish(q, keys.data() + (q * n_bases + block) * k);
            }
        });
        std::vector<std::uint64_t> merged;
        for (std::size_t q = 0; q < n_queries; ++q) {
            merged.clear();
            for (std::size_t place = q * n_bases; place < (q + 1) * n_bases; ++place) {
                merged.insert(merged.end(), keys.data() + place * k, keys.data() + place * k + counts[place]);
            }
            write_row(merged, scale, squared, k, {indices.row(query0 + q), k}, distances.row(query0 + q));
        }
    }
}

#define GNOMON_INSTANTIATE_RANK(T)                                                                               \
    template void center_rows(Span2<const T>, std::span<const double>, double, Span2<float>, const Context&);    \
    template void rank_candidates(Span2<const T>, Span2<const T>, Span2<const std::int32_t>,                     \
                                  std::span<const std::int32_t>, double, bool, std::size_t, Span2<std::int32_t>, \
                                  Span2<float>, const Context&);                                                 \
    template void pair_distances(Span2<const T>, Span2<const std::int32_t>, double, Span2<float>, const Context&);
#define GNOMON_INSTANTIATE(T)                                                                                     \
    template void project_rows(Span2<const T>, std::span<const double>, double, Span2<const float>, Span2<float>, \
                               const Context&);                                                                   \
    GNOMON_INSTANTIATE_RANK(T)                                                                                    \
    template void scan_rows(Span2<const T>, Span2<const T>, std::span<const std::int32_t>, double, bool,          \
                            Span2<std::int32_t>, Span2<float>, const Context&);
GNOMON_INSTANTIATE(float)
GNOMON_INSTANTIATE(double)
GNOMON_INSTANTIATE_RANK(std::uint8_t)
#undef GNOMON_INSTANTIATE_RANK
#undef GNOMON_INSTANTIATE

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

using simd::f32;

using f64 = simd::Lanes<double>;

GNOMON_INLINE f32 scaled_difference(const float* x, const float* y, float scale) {
    return simd::load(x) * scale - simd::load(y) * scale;
}
GNOMON_INLINE f32 scaled_difference(const double* x, const double* y, double scale) {
    const f64 difference = simd::load_as<f64>(x) * scale - simd::load_as<f64>(y) * scale;
    return simd::narrowed<f32>(difference);
}

// Squared distances from x to four rows. Lane l sums the coordinates l, l + 16, ... in ascending order, so that the
// result depends on the pair alone; coordinates past the end count as equal.
template <class T>
GNOMON_INLINE void squared_distances(const T* x, const T* const* rows, std::size_t d, T scale, float* out) {
    f32 sums[kGroup] = {};
    const std::size_t whole = d / simd::kLanes * simd::kLanes;
    for (std::size_t k = 0; k < whole; k += simd::kLanes) {
#pragma GCC unroll 4
        for (std::size_t r = 0; r < kGroup; ++r) {
            const f32 difference = scaled_difference(x + k, rows[r] + k, scale);
            sums[r] += difference * difference;
        }
    }
    if (whole < d) {
        T x_rest[simd::kLanes] = {}, rest[simd::kLanes] = {};
        std::memcpy(x_rest, x + whole, (d - whole) * sizeof(T));
        for (std::size_t r = 0; r < kGroup; ++r) {
            std::memcpy(rest, rows[r] + whole, (d - whole) * sizeof(T));
            const f32 difference = scaled_difference(x_rest, rest, scale);
            sums[r] += difference * difference;
        }
    }
    for (std::size_t r = 0; r < kGroup; ++r) out[r] = simd::sum(sums[r]);
}

// The same of bytes: sums of whole numbers, exact below 2^24 in either type. A square fits 16 bits without sign.
GNOMON_INLINE void add_squares(const std::uint8_t* x, const std::uint8_t* row, simd::i32& sum) {
    std::int32_t squares[simd::kLanes];
    for (std::size_t l = 0; l < simd::kLanes; ++l) {
        const auto difference = static_cast<std::int16_t>(x[l] - row[l]);
        squares[l] = static_cast<std::uint16_t>(difference * difference);
    }
    sum += simd::load(squares);
}
GNOMON_INLINE void squared_distances(const std::uint8_t* x, const std::uint8_t* const* rows, std::size_t d,
                                     std::uint8_t, float* out) {
    simd::i32 sums[kGroup] = {};
    const std::size_t whole = d / simd::kLanes * simd::kLanes;
    for (std::size_t k = 0; k < whole; k += simd::kLanes) {
#pragma GCC unroll 4
        for (std::size_t r = 0; r < kGroup; ++r) add_squares(x + k, rows[r] + k, sums[r]);
    }
    if (whole < d) {
        std::uint8_t x_rest[simd::kLanes] = {}, rest[simd::kLanes] = {};
        std::memcpy(x_rest, x + whole, d - whole);
#pragma GCC unroll 4
        for (std::size_t r = 0; r < kGroup; ++r) {
            std::memcpy(rest, rows[r] + whole, d - whole);
            add_squares(x_rest, rest, sums[r]);
        }
    }
#pragma GCC unroll 4
    for (std::size_t r = 0; r < kGroup; ++r) out[r] = simd::sum(simd::to_float(sums[r]));
}

template <class T>
GNOMON_KERNEL void candidate_keys(Span2<const T> x, const T* query, const std::int32_t* candidates, std::size_t count,
                                  double scale, std::uint64_t* keys) {
    const T* rows[kGroup];
    float distances[kGroup];
    for (std::size_t j = 0; j < count; j += kGroup) {
        for (std::size_t r = 0; r < kGroup; ++r) rows[r] = x.row(candidates[std::min(j + r, count - 1)]);
        squared_distances(query, rows, x.cols(), static_cast<T>(scale), distances);
        for (std::size_t r = 0; r < kGroup && j + r < count; ++r)
            keys[j + r] = make_key(distances[r], candidates[j + r]);
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
