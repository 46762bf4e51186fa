#include "gnomon/embedding_frames.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 256;
constexpr int kMaxSweeps = 30;
constexpr double kOrthogonal = 1e-14;  // columns with a smaller cosine are not turned any more
constexpr double kFullRank = 1e-6;     // smallest singular value over the largest

/// A matrix held by its columns, which one-sided Jacobi rotations make orthogonal: J V = U S.
struct Polar {
    Polar(std::size_t rows, std::size_t columns) : d(rows), image(rows * columns), turn(columns * columns) {}

    std::size_t d;
    std::vector<double> image, turn;  // (columns, d): J V; (columns, columns): V, both by columns

    /// Turns columns p and q until they are orthogonal; returns whether they were not.
    bool rotate(std::size_t p, std::size_t q, std::size_t rank) {
        double *x = image.data() + p * d, *y = image.data() + q * d;
        double xx = 0, yy = 0, xy = 0;
        for (std::size_t c = 0; c < d; ++c) {
            xx += x[c] * x[c];
            yy += y[c] * y[c];
            xy += x[c] * y[c];
        }
        if (!(std::abs(xy) > kOrthogonal * std::sqrt(xx) * std::sqrt(yy))) return false;
        const double tau = (yy - xx) / (2 * xy);
        const double t = (tau < 0 ? -1 : 1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
        const double cosine = 1 / std::sqrt(1 + t * t), sine = cosine * t;
        const auto turn_pair = [&](double* a, double* b, std::size_t size) {
            for (std::size_t c = 0; c < size; ++c) {
                const double first = a[c], second = b[c];
                a[c] = cosine * first - sine * second;
                b[c] = sine * first + cosine * second;
            }
        };
        turn_pair(x, y, d);
        turn_pair(turn.data() + p * rank, turn.data() + q * rank, rank);
        return true;
    }

    /// Writes U V' for the `rank` columns of `image` to frame (d, width), row-major; leaves it alone without full rank.
    void factor(std::size_t rank, std::size_t width, double* frame) {
        std::fill_n(turn.data(), rank * rank, 0.0);
        for (std::size_t l = 0; l < rank; ++l) turn[l * rank + l] = 1;
        bool turned = true;
        for (int sweep = 0; turned && sweep < kMaxSweeps; ++sweep) {
            turned = false;
            for (std::size_t p = 0; p + 1 < rank; ++p)
                for (std::size_t q = p + 1; q < rank; ++q) turned = rotate(p, q, rank) || turned;
        }
        double smallest = INFINITY, largest = 0;
        for (std::size_t l = 0; l < rank; ++l) {
            double* column = image.data() + l * d;
            double squares = 0;
            for (std::size_t c = 0; c < d; ++c) squares += column[c] * column[c];
            const double length = std::sqrt(squares);
            smallest = std::min(smallest, length);
            largest = std::max(largest, length);
            if (length > 0)
                for (std::size_t c = 0; c < d; ++c) column[c] /= length;
        }
        if (!(smallest > kFullRank * largest)) return;
        for (std::size_t c = 0; c < d; ++c)
            for (std::size_t m = 0; m < rank; ++m) {
                double sum = 0;
                for (std::size_t l = 0; l < rank; ++l) sum += image[l * d + c] * turn[l * rank + m];
                frame[c * width + m] = sum;
            }
    }
};

}  // namespace

void embedding_frames(Span2<const float> Y, Span2<const std::int32_t> indices, Span2<const float> coefficients,
                      std::span<const std::int32_t> ranks, Span2<double> frames, const Context& context) {
    const std::size_t d = Y.cols(), k = indices.cols(), width = frames.cols() / d;
    std::vector<Polar> workers(static_cast<std::size_t>(std::max(context.n_threads, 1)), Polar(d, width));
    parallel_blocks(Y.rows(), kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t worker) {
        Polar& polar = workers[worker];
        for (std::size_t i = begin; i < end; ++i) {
            const auto rank = static_cast<std::size_t>(ranks[i]);
            std::fill_n(polar.image.data(), rank * d, 0.0);
            std::fill_n(frames.row(i), d * width, 0.0);
            for (std::size_t j = 0; j < k; ++j) {
                const float* there = Y.row(static_cast<std::size_t>(indices(i, j)));
                const float* of_neighbor = coefficients.row(i) + j * width;
                for (std::size_t l = 0; l < rank; ++l)
                    for (std::size_t c = 0; c < d; ++c)
                        polar.image[l * d + c] += static_cast<double>(of_neighbor[l]) *
                                                  (static_cast<double>(there[c]) - static_cast<double>(Y(i, c)));
            }
            if (rank > 0) polar.factor(rank, width, frames.row(i));
        }
    });
}

}  // namespace gnomon
