#include "gnomon/anchor_distances.hpp"

#include <algorithm>
#include <vector>

#include "gnomon/neighbors_tile.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kColumns = 3 * kTileCols;  // rows of the table that meet a tile of anchors while it is at hand
constexpr std::size_t kDepth = 64;               // features summed by themselves: less is lost than in one long sum

template <class T>
GNOMON_INLINE void center_row(const T* row, const T* means, T scale, std::size_t d, float* out) {
    for (std::size_t k = 0; k < d; ++k) out[k] = static_cast<float>((row[k] - means[k]) * scale);
}
// Templates are not cloned, so each type has its own function.
GNOMON_CLONES void center(const float* row, const float* means, float scale, std::size_t d, float* out) {
    center_row(row, means, scale, d, out);
}
GNOMON_CLONES void center(const double* row, const double* means, double scale, std::size_t d, float* out) {
    center_row(row, means, scale, d, out);
}

GNOMON_CLONES void add_tile(const float* part, float* dots) {
    for (std::size_t c = 0; c < kTileRows * kTileCols; ++c) dots[c] += part[c];
}

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
GNOMON_CLONES void write_squares(const float* dots, float own, const float* norms, std::size_t count, float* out) {
    for (std::size_t c = 0; c < count; ++c) {
        const float square = (own + norms[c]) - (dots[c] + dots[c]);
        out[c] = square > 0.0F ? square : 0.0F;
    }
}

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
            center(X_.row(row_at(i)), means_.data(), scale_, d, centred_.data() + i * d);
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

}  // namespace

void anchor_squares(Span2<const float> X, std::span<const std::int64_t> anchors, std::span<const double> means,
                    double scale, Span2<float> out, const Context& context) {
    all_squares(X, anchors, means, scale, out, context);
}

void anchor_squares(Span2<const double> X, std::span<const std::int64_t> anchors, std::span<const double> means,
                    double scale, Span2<float> out, const Context& context) {
    all_squares(X, anchors, means, scale, out, context);
}

}  // namespace gnomon
