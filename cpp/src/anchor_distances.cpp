#include "gnomon/anchor_distances.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "gnomon/rounded_tile.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kColumns = 3 * kTileCols;  // rows of the table that meet a tile of anchors while it is at hand
constexpr std::size_t kDepth = 64;               // features summed by themselves: less is lost than in one long sum

template <class T>
const auto center =
    each_level([](const T* row, const T* means, T scale, std::size_t d, float* out) GNOMON_INLINE_LAMBDA {
        for (std::size_t k = 0; k < d; ++k) out[k] = static_cast<float>((row[k] - means[k]) * scale);
    });

const auto add_tile = each_level([](const float* part, float* dots) GNOMON_INLINE_LAMBDA {
    for (std::size_t c = 0; c < kTileRows * kTileCols; ++c) dots[c] += part[c];
});

// Inner products of the rows of two panels, kDepth features after the other.
void products(const float* a, const float* b, std::size_t d, float* dots) {
    alignas(64) float part[kTileRows * kTileCols];
    std::fill_n(dots, kTileRows * kTileCols, 0.0F);
    for (std::size_t k = 0; k < d; k += kDepth) {
        dot_tile(a + k * kTileRows, b + k * kTileCols, std::min(kDepth, d - k), part);
        add_tile(part, dots);
    }
}

// Rounding below zero is cut off.
const auto write_squares = each_level(
    [](const float* dots, float own, const float* norms, std::size_t count, float* out) GNOMON_INLINE_LAMBDA {
        for (std::size_t c = 0; c < count; ++c) {
            const float square = (own + norms[c]) - (dots[c] + dots[c]);
            out[c] = square > 0.0F ? square : 0.0F;
        }
    });

constexpr std::size_t kWholeLanes = 32;
constexpr std::size_t kWhole = 3;  // rows of whole numbers that meet so many others in registers
constexpr std::size_t kWholeColumns = 8 * kWhole;
constexpr std::size_t kWholeDepth = 16384;  // features whose products of bytes fit 32 bits in a sum

// Inner products of three rows with three others, of `stride` between them, over `width` features, at most kWholeDepth.
// Exact, so the order of the sums does not matter.
const auto whole_products = each_level([](const std::int16_t* a, const std::int16_t* b, std::size_t stride,
                                          std::size_t width, std::int32_t* out) GNOMON_INLINE_LAMBDA {
    const std::int16_t *a1 = a + stride, *a2 = a1 + stride, *b1 = b + stride, *b2 = b1 + stride;
    std::int32_t s00 = 0, s01 = 0, s02 = 0, s10 = 0, s11 = 0, s12 = 0, s20 = 0, s21 = 0, s22 = 0;
    width = width / kWholeLanes * kWholeLanes;  // tells the compiler that no lanes are left over
    for (std::size_t f = 0; f < width; ++f) {
        const std::int32_t x = a[f], y = a1[f], w = a2[f], l = b[f], m = b1[f], r = b2[f];
        s00 += x * l, s01 += x * m, s02 += x * r;
        s10 += y * l, s11 += y * m, s12 += y * r;
        s20 += w * l, s21 += w * m, s22 += w * r;
    }
    const std::int32_t sums[] = {s00, s01, s02, s10, s11, s12, s20, s21, s22};
    std::copy(std::begin(sums), std::end(sums), out);
});

const auto widen = each_level([](const std::uint8_t* row, std::size_t d, std::int16_t* out) GNOMON_INLINE_LAMBDA {
    for (std::size_t k = 0; k < d; ++k) out[k] = row[k];
});

// Rows of bytes as numbers that are multiplied, each padded with zeros to `stride`, with their squared norms.
class WholeRows {
public:
    explicit WholeRows(Span2<const std::uint8_t> X) : X_(X), stride_(round_up(X.cols(), kWholeLanes)) {}

    template <class RowAt>
    void take(std::size_t count, const RowAt& row_at) {
        const std::size_t size = round_up(count, kWhole) * stride_;
        memory_.assign(size + kWholeLanes, 0);
        const auto past = reinterpret_cast<std::uintptr_t>(memory_.data()) / sizeof(std::int16_t) % kWholeLanes;
        values_ = memory_.data() + (past == 0 ? 0 : kWholeLanes - past);  // a load across cache lines is two
        norms_.assign(round_up(count, kWhole), 0);
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint8_t* row = X_.row(row_at(i));
            widen(row, X_.cols(), values_ + i * stride_);
            for (std::size_t k = 0; k < X_.cols(); ++k) norms_[i] += std::int64_t{row[k]} * row[k];
        }
    }

    // Inner products of the rows from the i-th on with those of another table from the j-th on.
    void products(std::size_t i, const WholeRows& other, std::size_t j, std::int64_t* out) const {
        std::int32_t part[kWhole * kWhole];
        std::fill_n(out, kWhole * kWhole, 0);
        for (std::size_t k = 0; k < stride_; k += kWholeDepth) {
            whole_products(values_ + i * stride_ + k, other.values_ + j * stride_ + k, stride_,
                           std::min(kWholeDepth, stride_ - k), part);
            for (std::size_t c = 0; c < kWhole * kWhole; ++c) out[c] += part[c];
        }
    }

    std::int64_t norm(std::size_t i) const { return norms_[i]; }

private:
    Span2<const std::uint8_t> X_;
    std::size_t stride_;
    std::vector<std::int16_t> memory_;
    std::int16_t* values_ = nullptr;
    std::vector<std::int64_t> norms_;
};

// Rows of a table, centred, in panels of `Width` with their squared norms.
template <class T>
class Packed {
public:
    Packed(Span2<const T> X, std::span<const double> means, double scale)
        : X_(X), means_(means.begin(), means.end()), scale_(static_cast<T>(scale)) {}

    template <std::size_t Width, class RowAt>
    void pack(std::size_t count, const RowAt& row_at) {
        const std::size_t d = X_.cols();
        centred_.resize(count * d);
        norms_.resize(count);
        panels_.resize(round_up(count, Width) * d);
        for (std::size_t i = 0; i < count; ++i)
            center<T>(X_.row(row_at(i)), means_.data(), scale_, d, centred_.data() + i * d);
        pack_panels<Width>(count, d, [&](std::size_t i) { return centred_.data() + i * d; }, panels_.data());
        for (std::size_t i = 0; i < count; ++i) norms_[i] = norm(centred_.data() + i * d);
    }

    const float* panel(std::size_t first) const { return panels_.data() + first * X_.cols(); }
    const float* norms() const { return norms_.data(); }

private:
    // In the order of products.
    float norm(const float* row) const {
        float sum = 0.0F;
        for (std::size_t first = 0; first < X_.cols(); first += kDepth) {
            float part = 0.0F;
            for (std::size_t k = first; k < std::min(X_.cols(), first + kDepth); ++k) part += row[k] * row[k];
            sum += part;
        }
        return sum;
    }

    Span2<const T> X_;
    std::vector<T> means_;
    T scale_;
    std::vector<float> centred_, norms_;
    PackedRows panels_;
};

template <class T>
void all_squares(Span2<const T> X, std::span<const std::int64_t> anchors, std::span<const double> means, double scale,
                 Span2<float> out, const Context& context) {
    const std::size_t n = X.rows(), d = X.cols(), m = anchors.size();
    Packed<T> rows(X, means, scale);
    rows.template pack<kTileRows>(m, [&](std::size_t i) { return static_cast<std::size_t>(anchors[i]); });
    std::vector<Packed<T>> columns;
    for (int worker = 0; worker < std::max(context.n_threads, 1); ++worker) columns.emplace_back(X, means, scale);
    parallel_blocks(n, kColumns, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        Packed<T>& block = columns[worker];
        block.template pack<kTileCols>(end - begin, [&](std::size_t j) { return begin + j; });
        alignas(64) float dots[kTileRows * kTileCols];
        for (std::size_t i = 0; i < m; i += kTileRows)
            for (std::size_t j = 0; j < end - begin; j += kTileCols) {
                products(rows.panel(i), block.panel(j), d, dots);
                for (std::size_t r = 0; r < std::min(kTileRows, m - i); ++r)
                    write_squares(dots + r * kTileCols, rows.norms()[i + r], block.norms() + j,
                                  std::min(kTileCols, end - begin - j), out.row(i + r) + begin + j);
            }
    });
}

const auto write_whole = each_level([](const std::int32_t* dots, std::int32_t own, const std::int32_t* norms,
                                       std::size_t count, float unit, float* out) GNOMON_INLINE_LAMBDA {
    for (std::size_t c = 0; c < count; ++c) out[c] = unit * static_cast<float>(own + norms[c] - 2 * dots[c]);
});

// The same by products of bytes, which are exact too.
void byte_squares(Span2<const std::uint8_t> X, std::span<const std::int64_t> anchors, float unit, Span2<float> out,
                  const Context& context) {
    constexpr std::size_t kBlock = 2 * kTileCols;
    const std::size_t m = anchors.size(), d = X.cols(), length = rounded_length(d);
    RoundedRows rows;
    rows.resize(m, d);
    std::vector<std::int32_t> squares(m);
    for (std::size_t i = 0; i < m; ++i) squares[i] = rows.set_bytes(i, X.row(static_cast<std::size_t>(anchors[i])));
    parallel_blocks(X.rows(), kBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<std::int8_t> columns(kBlock * length);
        std::int32_t column_squares[kBlock];
        for (std::size_t j = 0; j < end - begin; ++j)
            column_squares[j] = pack_byte_column(X.row(begin + j), d, j, columns.data());
        alignas(64) std::int32_t dots[kTileRows * kTileCols];
        for (std::size_t i = 0; i < m; i += kTileRows)
            for (std::size_t j = 0; j < end - begin; j += kTileCols) {
                rows.products(i, columns.data() + j * length, dots);
                for (std::size_t r = 0; r < std::min(kTileRows, m - i); ++r)
                    write_whole(dots + r * kTileCols, squares[i + r], column_squares + j,
                                std::min(kTileCols, end - begin - j), unit, out.row(i + r) + begin + j);
            }
    });
}

void whole_squares(Span2<const std::uint8_t> X, std::span<const std::int64_t> anchors, double scale, Span2<float> out,
                   const Context& context) {
    const std::size_t n = X.rows(), m = anchors.size();
    const double unit = scale * scale;
    WholeRows rows(X);
    rows.take(m, [&](std::size_t i) { return static_cast<std::size_t>(anchors[i]); });
    std::vector<WholeRows> columns(static_cast<std::size_t>(std::max(context.n_threads, 1)), WholeRows(X));
    parallel_blocks(n, kWholeColumns, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        WholeRows& block = columns[worker];
        block.take(end - begin, [&](std::size_t j) { return begin + j; });
        std::int64_t dots[kWhole * kWhole];
        for (std::size_t i = 0; i < m; i += kWhole)
            for (std::size_t j = 0; j < end - begin; j += kWhole) {
                rows.products(i, block, j, dots);
                for (std::size_t r = 0; r < std::min(kWhole, m - i); ++r)
                    for (std::size_t c = 0; c < std::min(kWhole, end - begin - j); ++c)
                        out(i + r, begin + j + c) =
                            static_cast<float>(unit * static_cast<double>(rows.norm(i + r) + block.norm(j + c) -
                                                                          2 * dots[r * kWhole + c]));
            }
    });
}

}  // namespace

void anchor_squares(Span2<const std::uint8_t> X, std::span<const std::int64_t> anchors, std::span<const double>,
                    double scale, Span2<float> out, const Context& context) {
    if (X.cols() <= kMostByteColumns && multiplies_bytes())
        return byte_squares(X, anchors, static_cast<float>(scale * scale), out, context);
    whole_squares(X, anchors, scale, out, context);
}

void anchor_squares(Span2<const float> X, std::span<const std::int64_t> anchors, std::span<const double> means,
                    double scale, Span2<float> out, const Context& context) {
    all_squares(X, anchors, means, scale, out, context);
}

void anchor_squares(Span2<const double> X, std::span<const std::int64_t> anchors, std::span<const double> means,
                    double scale, Span2<float> out, const Context& context) {
    all_squares(X, anchors, means, scale, out, context);
}

}  // namespace gnomon
