#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "gnomon/allocation.hpp"
#include "gnomon/jacobians.hpp"
#include "gnomon/map_order.hpp"
#include "gnomon/pooled_block.hpp"
#include "gnomon/simd.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kWidth = kBlockWidth;
constexpr std::size_t kPointsPerChunk = 512;
constexpr std::size_t kLanes = 8;
constexpr std::size_t kAhead = 8;  // positions between a list that is asked for and the one that is written

using f32x8 = float __attribute__((vector_size(32)));
using i32x8 = std::int32_t __attribute__((vector_size(32)));

GNOMON_INLINE bool any(i32x8 mask) {
    using i64x4 = long long __attribute__((vector_size(32)));
    const i64x4 m = reinterpret_cast<i64x4>(mask);
    return (m[0] | m[1] | m[2] | m[3]) != 0;
}

template <class V>
bool all_zero(const V* values, std::size_t n) {
    bool found = true;
    for (std::size_t f = 0; f < n; ++f) found &= values[f] == V{};
    return found;
}

// Lengths of the arrows of one block's features at one point; adds to the sums (kWidth) and to the lower triangle of
// the ellipse (d, d). Whether any length exceeds the bound. Squares are of arrows in a unit of the size of the map, a
// power of two, and those of axes in double, which have the units of map and table: in float both may leave its range.
const auto note_lengths =
    each_level([](const float* axes, const float* deviation, std::size_t d, float unit, float bound, float* length,
                  double* sums, double* ellipse) GNOMON_INLINE_LAMBDA -> bool {
        using f64x8 = double __attribute__((vector_size(64)));
        const f32x8 zero{};
        const float shrink = 1.0F / unit;
        f32x8 square[2] = {};
        i32x8 above{};
        for (std::size_t c = 0; c < d; ++c)
            for (std::size_t v = 0; v < 2; ++v) {
                const f32x8 x = simd::load_as<f32x8>(axes + c * kWidth + v * kLanes) *
                                simd::load_as<f32x8>(deviation + v * kLanes) * shrink;
                square[v] += x * x;
            }
        for (std::size_t v = 0; v < 2; ++v) simd::store(length + v * kLanes, square[v]);
        for (std::size_t f = 0; f < kWidth; ++f) length[f] = __builtin_sqrtf(length[f]) * unit;
        for (std::size_t v = 0; v < 2; ++v) above |= simd::load_as<f32x8>(length + v * kLanes) > zero + bound;
        for (std::size_t f = 0; f < kWidth; ++f) sums[f] += static_cast<double>(length[f]);
        for (std::size_t a = 0; a < d; ++a)
            for (std::size_t b = 0; b <= a; ++b) {
                f64x8 products{};  // what does not vary here moves nothing
                for (std::size_t v = 0; v < 2; ++v) {
                    const f32x8 x = simd::load_as<f32x8>(axes + a * kWidth + v * kLanes);
                    const f32x8 moving = simd::load_as<f32x8>(deviation + v * kLanes) > zero ? x : zero;
                    products += __builtin_convertvector(moving, f64x8) *
                                __builtin_convertvector(simd::load_as<f32x8>(axes + b * kWidth + v * kLanes), f64x8);
                }
                double sum = 0;
                for (std::size_t l = 0; l < kLanes; ++l) sum += products[l];
                ellipse[a * d + b] += sum;
            }
        return any(above);
    });

// The most important features of every point, in descending order while features arrive in ascending order.
class TopLists {
public:
    TopLists(const OrderedHoods& hoods, const EffectOutputs& out)
        : out_(out), hoods_(hoods), bound_(hoods.n), count_(hoods.n) {}

    /// Only longer arrows enter the list of position p.
    float bound(std::size_t p) const { return bound_[p]; }

    void note(std::size_t p, std::int32_t feature, float length, const float* arrow, float scale) {
        const std::size_t n_top = out_.top_features.cols(), d = hoods_.d;
        const auto at = static_cast<std::size_t>(hoods_.row[p]);
        std::size_t place = count_[p];
        if (place < n_top)
            ++count_[p];
        else
            --place;
        for (; place > 0 && length > out_.top_importance(at, place - 1); --place) {
            out_.top_features(at, place) = out_.top_features(at, place - 1);
            out_.top_importance(at, place) = out_.top_importance(at, place - 1);
            std::copy_n(out_.top_arrows.row(at) + (place - 1) * d, d, out_.top_arrows.row(at) + place * d);
        }
        out_.top_features(at, place) = feature;
        out_.top_importance(at, place) = length;
        for (std::size_t c = 0; c < d; ++c) out_.top_arrows(at, place * d + c) = arrow[c * kWidth] * scale;
        if (count_[p] == n_top) bound_[p] = out_.top_importance(at, n_top - 1);
    }

    /// Asks for the list of position p.
    void prefetch(std::size_t p) const {
        if (p >= hoods_.n) return;
        const auto at = static_cast<std::size_t>(hoods_.row[p]);
        __builtin_prefetch(out_.top_features.row(at), 1);
        __builtin_prefetch(out_.top_importance.row(at), 1);
        __builtin_prefetch(out_.top_arrows.row(at), 1);
    }

    /// The remaining places of position p go to features that move nothing, lowest first.
    void fill(std::size_t p) const {
        const std::size_t n_top = out_.top_features.cols();
        const auto at = static_cast<std::size_t>(hoods_.row[p]);
        std::int32_t* features = out_.top_features.row(at);
        std::int32_t next = 0;
        for (std::size_t t = count_[p]; t < n_top; ++t, ++next) {
            while (std::find(features, features + count_[p], next) != features + count_[p]) ++next;
            features[t] = next;
            out_.top_importance(at, t) = 0;
            std::fill_n(out_.top_arrows.row(at) + t * hoods_.d, hoods_.d, 0.0F);
        }
    }

private:
    const EffectOutputs& out_;
    const OrderedHoods& hoods_;
    std::vector<float> bound_;
    std::vector<std::size_t> count_;
};

void write_undefined(std::size_t at, const EffectOutputs& out, Span2<double> ellipses) {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t t = 0; t < out.top_features.cols(); ++t) out.top_features(at, t) = static_cast<std::int32_t>(t);
    std::fill_n(out.top_importance.row(at), out.top_importance.cols(), kNaN);
    std::fill_n(out.top_arrows.row(at), out.top_arrows.cols(), kNaN);
    if (out.importance.size() > 0) std::fill_n(out.importance.row(at), out.importance.cols(), kNaN);
    std::fill_n(ellipses.row(at), ellipses.cols(), std::numeric_limits<double>::quiet_NaN());
}

// The power of two next below the extent of the map.
float unit_of(Span2<const double> places) {
    double extent = 0;
    for (std::size_t c = 0; c < places.cols(); ++c) {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (std::size_t i = 0; i < places.rows(); ++i) {
            low = std::min(low, places(i, c));
            high = std::max(high, places(i, c));
        }
        extent = std::max(extent, high - low);
    }
    if (!(extent > 0) || std::isinf(extent)) return 1.0F;
    return std::ldexp(1.0F, std::clamp(std::ilogb(extent), -120, 120));
}

// Everything known of all points, with the values of the table as T, for one block of features after the other.
template <class T>
class Pooling {
public:
    Pooling(const RowSource& X, const Neighborhoods& given, const OrderedHoods& hoods, const EffectOutputs& out,
            const PooledOutputs& more, float unit, const Context& context)
        : given_(given),
          hoods_(hoods),
          out_(out),
          more_(more),
          context_(context),
          unit_(unit),
          reader_(X, hoods.row),
          tops_(hoods, out),
          n_chunks_((hoods.n + kPointsPerChunk - 1) / kPointsPerChunk),
          stride_((hoods.d + 1) * kWidth),
          values_(hoods.n * kWidth),
          deviation_(hoods.n * kWidth),
          axes_(hoods.n * stride_),
          pooled_(axes_.size()),
          zero_(hoods.n),
          flat_(hoods.n),
          still_(hoods.n),
          stiller_(hoods.n),
          ellipses_(hoods.n * hoods.d * hoods.d),
          sums_(n_chunks_ * kWidth) {}

    void run(std::size_t rounds) {
        begin();
        for (first_ = 0; first_ < reader_.features().size(); first_ += kWidth) {
            size_ = std::min(kWidth, reader_.features().size() - first_);
            narrow_ = reader_.narrow(first_, size_);
            each_point([&](std::size_t p) { read(p); });
            each_defined([&](std::size_t p) { fit(p); });
            for (std::size_t round = 0; round < rounds; ++round) {
                each_defined([&](std::size_t p) { average(p, round == 0, round + 1 == rounds); });
                std::swap(axes_, pooled_);
                std::swap(still_, stiller_);
            }
            parallel_for(more_.tried.size(), context_, [&](std::size_t t, std::size_t) { predict(t); });
            std::fill(sums_.begin(), sums_.end(), 0.0);
            each_defined([&](std::size_t p) { note(p); });
            add_means();
        }
        finish();
    }

private:
    float* axes(std::size_t p) { return axes_.data() + p * stride_; }
    std::size_t length() const { return hoods_.d * kWidth; }  // of the axes alone

    template <class Body>
    void each_point(Body&& body) {
        parallel_blocks(hoods_.n, kPointsPerChunk, context_, [&](std::size_t begin, std::size_t end, std::size_t) {
            for (std::size_t p = begin; p < end; ++p) body(p);
        });
    }
    template <class Body>
    void each_defined(Body&& body) {
        each_point([&](std::size_t p) {
            if (hoods_.defined[p]) body(p);
        });
    }

    void begin() {
        std::fill_n(more_.predicted.data(), more_.predicted.size(), 0.0);
        std::fill(out_.mean_importance.begin(), out_.mean_importance.end(), 0.0);
        std::fill_n(out_.importance.data(), out_.importance.size(), 0.0F);
    }

    void read(std::size_t p) {
        T* values = values_.data() + p * kWidth;
        reader_.read(p, first_, size_, values);
        zero_[p] = all_zero(values, kWidth);
    }

    // Where a point and its neighbours are zero in all features of the block, nothing moves.
    void fit(std::size_t p) {
        float *found = axes(p), *own = found + length();
        if (marked(zero_, p, hoods_.n_fitted)) {
            std::fill_n(found, stride_, 0.0F);
            flat_[p] = still_[p] = 1;
        } else {
            fit_block(values_.data(), narrow_, hoods_, p, found);
            flat_[p] = all_zero(own, kWidth);
            still_[p] = flat_[p] && all_zero(found, length());
        }
        std::copy_n(own, kWidth, deviation_.data() + p * kWidth);
    }

    // The mean of the axes and, with the first, of the deviations; a feature that does not vary about the point itself
    // keeps 0. The last means of a point about which nothing varies are not looked at.
    void average(std::size_t p, bool first, bool last) {
        float* out = pooled_.data() + p * stride_;
        stiller_[p] = (last && flat_[p]) || marked(still_, p, hoods_.n_pooled);
        if (stiller_[p]) {
            std::fill_n(out, length(), 0.0F);
            return;
        }
        const bool both = first && !flat_[p];
        average_block(axes_.data(), stride_, both ? stride_ : length(), hoods_, p, out);
        if (!both) return;
        const float* mean = out + length();
        float* deviation = deviation_.data() + p * kWidth;
        for (std::size_t f = 0; f < kWidth; ++f) deviation[f] = deviation[f] > 0 ? mean[f] : 0.0F;
    }

    // Whether the point at position p and its first neighbours, as many as `counts` says, are all marked.
    bool marked(const std::vector<std::uint8_t>& marks, std::size_t p, const std::vector<std::int32_t>& counts) const {
        const std::int32_t* neighbors = hoods_.neighbors.data() + p * hoods_.k;
        return marks[p] && std::all_of(neighbors, neighbors + counts[p],
                                       [&](std::int32_t q) { return marks[static_cast<std::size_t>(q)] != 0; });
    }

    // Adds what this block says about the point at position p.
    void note(std::size_t p) {
        if (flat_[p]) return;
        const float *arrows = axes(p), *deviation = deviation_.data() + p * kWidth;
        const std::int32_t* features = reader_.features().data() + first_;
        float length[kWidth];
        tops_.prefetch(p + kAhead);
        const bool entering =
            note_lengths(arrows, deviation, hoods_.d, unit_, tops_.bound(p), length,
                         sums_.data() + p / kPointsPerChunk * kWidth, ellipses_.data() + p * hoods_.d * hoods_.d);
        if (out_.importance.size() > 0)
            for (std::size_t f = 0; f < size_; ++f)
                out_.importance(static_cast<std::size_t>(hoods_.row[p]), static_cast<std::size_t>(features[f])) =
                    length[f];
        for (std::size_t f = 0; entering && f < size_; ++f)
            if (length[f] > tops_.bound(p)) tops_.note(p, features[f], length[f], arrows + f, deviation[f]);
    }

    // Adds what this block says about the displacements of the neighbours of one tried row.
    void predict(std::size_t t) {
        const std::size_t k = hoods_.k, d = hoods_.d;
        const auto i = static_cast<std::size_t>(more_.tried[t]), p = static_cast<std::size_t>(hoods_.position[i]);
        const T* origin = values_.data() + p * kWidth;
        for (std::size_t j = 0; j < k; ++j) {
            if (!(given_.weights(i, j) > 0)) continue;
            const std::int32_t q = hoods_.position[static_cast<std::size_t>(given_.indices(i, j))];
            const T* x = values_.data() + static_cast<std::size_t>(q) * kWidth;
            for (std::size_t c = 0; c < d; ++c) {
                const float* axis = axes(p) + c * kWidth;
                double sums[4] = {};
                for (std::size_t f = 0; f < kWidth; ++f)
                    sums[f % 4] +=
                        static_cast<double>(axis[f]) * (static_cast<double>(x[f]) - static_cast<double>(origin[f]));
                more_.predicted(t, j * d + c) += (sums[0] + sums[1]) + (sums[2] + sums[3]);
            }
        }
    }

    void add_means() {
        std::size_t count = 0;
        for (const char yes : hoods_.defined) count += static_cast<std::size_t>(yes);
        for (std::size_t f = 0; f < size_; ++f) {
            double sum = 0;
            for (std::size_t chunk = 0; chunk < n_chunks_; ++chunk) sum += sums_[chunk * kWidth + f];
            out_.mean_importance[static_cast<std::size_t>(reader_.features()[first_ + f])] =
                count > 0 ? sum / static_cast<double>(count) : 0.0;
        }
    }

    void finish() {
        const std::size_t d = hoods_.d;
        each_point([&](std::size_t p) {
            const auto i = static_cast<std::size_t>(hoods_.row[p]);
            if (!hoods_.defined[p]) return write_undefined(i, out_, more_.ellipses);
            tops_.fill(p);
            const double* sums = ellipses_.data() + p * d * d;
            for (std::size_t a = 0; a < d; ++a)
                for (std::size_t b = 0; b < d; ++b)
                    more_.ellipses(i, a * d + b) = sums[std::max(a, b) * d + std::min(a, b)];
        });
    }

    const Neighborhoods& given_;
    const OrderedHoods& hoods_;
    const EffectOutputs& out_;
    const PooledOutputs& more_;
    const Context& context_;
    float unit_;  // of lengths in the map
    BlockReader reader_;
    TopLists tops_;
    std::size_t n_chunks_, first_ = 0, size_ = 0;  // the features of this block
    std::size_t stride_;
    bool narrow_ = false;
    LineVector<T> values_;                       // (n, kWidth), zero in the padding
    LineVector<float> deviation_;                // (n, kWidth): deviations averaged once; 0 where the own is
    LineVector<float> axes_, pooled_;            // (n, d + 1, kWidth): the last are the deviations, root mean squares
    std::vector<std::uint8_t> zero_;             // (n): whether all values of a point are 0
    std::vector<std::uint8_t> flat_;             // (n): whether its own deviations all are
    std::vector<std::uint8_t> still_, stiller_;  // (n): whether its axes, and their means, all are
    std::vector<double> ellipses_;               // (n, d, d): lower triangles
    std::vector<double> sums_;                   // (n_chunks, kWidth): of importances
};

}  // namespace

void pooled_effects(const RowSource& X, const Neighborhoods& hoods, Span2<const double> coefficients,
                    Span2<const double> places, std::size_t rounds, const EffectOutputs& out, const PooledOutputs& more,
                    const Context& context) {
    const OrderedHoods ordered(hoods, coefficients, map_order(places));
    const float unit = unit_of(places);
    if (std::holds_alternative<Span2<const double>>(X) || std::holds_alternative<SparseRows<double>>(X))
        Pooling<double>(X, hoods, ordered, out, more, unit, context).run(rounds);
    else
        Pooling<float>(X, hoods, ordered, out, more, unit, context).run(rounds);
}

}  // namespace gnomon
