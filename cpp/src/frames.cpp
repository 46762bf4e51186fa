#include "gnomon/frames.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gnomon {
namespace {

constexpr std::size_t kBatchesPerChunk = 32;
constexpr double kRankSquare = 1e-12;  // squared share of the largest singular value below which a direction is lost

// Number of directions before the largest drop from one singular value to the next, among those that exist.
std::size_t largest_gap(const LocalSpectra& spectra, std::size_t lane, std::size_t rank) {
    std::size_t best = rank;
    double drop = 0;
    for (std::size_t r = 0; r + 1 < rank; ++r) {
        const double gap = std::sqrt(spectra.square(lane, r)) - std::sqrt(spectra.square(lane, r + 1));
        if (gap > drop) best = r + 1, drop = gap;
    }
    return best;
}

void write_frame(const LocalSpectra& spectra, std::size_t lane, std::size_t at, std::size_t k, double share,
                 const FrameOutputs& out) {
    const std::size_t m = out.values.cols();
    std::fill_n(out.values.row(at), m, 0.0);
    std::fill_n(out.coefficients.row(at), out.coefficients.cols(), 0.0);
    out.total[at] = 0;
    out.dimension[at] = out.gap[at] = 0;
    if (!spectra.defined(lane)) return;
    const std::size_t rank = spectra.rank(lane, kRankSquare);
    for (std::size_t r = 0; r < std::min(m, rank); ++r) {
        const double value = std::sqrt(spectra.square(lane, r));
        out.values(at, r) = value;
        if (out.coefficients.cols() == 0) continue;
        for (std::size_t j = 0; j < k; ++j)
            out.coefficients(at, j * m + r) = spectra.root(lane, j) * spectra.left(lane, r, j) / value;
    }
    out.total[at] = spectra.total(lane);
    out.dimension[at] = static_cast<std::int32_t>(spectra.leading(lane, share));
    out.gap[at] = static_cast<std::int32_t>(largest_gap(spectra, lane, rank));
}

}  // namespace

void tangent_frames(const RowSource& X, const Neighborhoods& neighborhoods, std::span<const std::int64_t> rows,
                    double variance_share, const FrameOutputs& out, const Context& context) {
    const std::size_t k = neighborhoods.indices.cols();
    std::vector<LocalSpectra> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)), LocalSpectra(k));
    parallel_blocks(rows.size(), kBatchesPerChunk * kEigenBatch, context,
                    [&](std::size_t begin, std::size_t end, std::size_t worker) {
                        for (std::size_t first = begin; first < end; first += kEigenBatch) {
                            const std::size_t size = std::min(kEigenBatch, end - first);
                            scratch[worker].solve(X, neighborhoods, rows.subspan(first, size));
                            for (std::size_t lane = 0; lane < size; ++lane)
                                write_frame(scratch[worker], lane, first + lane, k, variance_share, out);
                        }
                    });
}

}  // namespace gnomon
