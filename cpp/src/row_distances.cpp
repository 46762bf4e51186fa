#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/row_distances.cpp"
#include "gnomon/row_distances.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "gnomon/wide_lanes.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kTogether = 8;  // rows of B, one in each lane
constexpr std::size_t kRows = 16;     // of A in a chunk

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE(squares_to);

}  // namespace

void row_distances(Span2<const double> A, Span2<const double> B, bool squared, Span2<double> out,
                   const Context& context) {
    const std::size_t m = B.rows(), d = B.cols();
    std::vector<double> packed((m + kTogether - 1) / kTogether * kTogether * d);
    for (std::size_t j = 0; j < m; ++j) {
        double* to = packed.data() + j / kTogether * kTogether * d + j % kTogether;
        for (std::size_t k = 0; k < d; ++k) to[k * kTogether] = B(j, k);
    }
    parallel_blocks(A.rows(), kRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i) {
            double* to = out.row(i);
            squares_to(A.row(i), d, packed.data(), m, to);
            if (squared) continue;
            for (std::size_t j = 0; j < m; ++j) to[j] = std::sqrt(to[j]);
        }
    });
}

}  // namespace gnomon

#else
#include "gnomon/wide_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

/// Squared distances of a row to m rows of B, whose columns lie in groups of kTogether rows.
GNOMON_KERNEL void squares_to(const double* row, std::size_t d, const double* packed, std::size_t m, double* out) {
    for (std::size_t j = 0; j < m; j += kTogether, packed += d * kTogether) {
        f64 sum{};
        for (std::size_t k = 0; k < d; ++k) {
            const f64 step = simd::load_as<f64>(packed + k * kTogether) - row[k];
            sum += step * step;
        }
        if (j + kTogether <= m) {
            simd::store(out + j, sum);
        } else {
            double last[kTogether];
            simd::store(last, sum);
            std::copy_n(last, m - j, out + j);
        }
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
