#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/block_vectors.cpp"
#include "gnomon/block_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "gnomon/simd.hpp"
#include "gnomon/small_eigen.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRows = 512;         // rows of a chunk of the row-wise products
constexpr std::size_t kSummedRows = 4096;  // rows of a chunk of the sums over rows
constexpr std::size_t kFloatRows = 256;    // rows summed in float before they are added in double

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE_FOR(int, add_along);
GNOMON_CHOOSE_FOR(int, add_inner_products);
GNOMON_CHOOSE_FOR(int, add_squared_residuals);
GNOMON_CHOOSE_FOR(int, multiply_rows);
GNOMON_CHOOSE_FOR(int, rotate_rows);
GNOMON_CHOOSE_FOR(int, subtract_along);

/// Calls body with the width as a compile-time constant.
template <class Body>
void with_width(std::size_t width, Body&& body) {
    switch (width) {
        case 8:
            return body(std::integral_constant<int, 8>{});
        case 16:
            return body(std::integral_constant<int, 16>{});
        case 32:
            return body(std::integral_constant<int, 32>{});
        case 64:
            return body(std::integral_constant<int, 64>{});
        default:
            throw std::invalid_argument("width of a block of vectors must be 8, 16, 32 or 64");
    }
}

/// Sums over rows, of `size` numbers: each chunk into a place of its own, then in the order of the chunks.
template <class AddChunk>
std::vector<double> sum_rows(std::size_t n, std::size_t size, const Context& context, AddChunk&& add_chunk) {
    std::vector<double> partial((n + kSummedRows - 1) / kSummedRows * size), sums(size);
    parallel_blocks(n, kSummedRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        add_chunk(begin, end, partial.data() + begin / kSummedRows * size);
    });
    for (std::size_t k = 0; k < partial.size(); ++k) sums[k % size] += partial[k];
    return sums;
}

}  // namespace

void multiply(const CsrView<float>& matrix, Span2<const float> x, Span2<const float> before, Recurrence factors,
              Span2<float> out, const Context& context) {
    with_width(x.cols(), [&](auto width) {
        parallel_blocks(x.rows(), kRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            multiply_rows<width>(matrix, x.data(), before.data(), factors, out.data(), begin, end);
        });
    });
}

std::vector<double> inner_products(Span2<const float> x, Span2<const float> y, const Context& context) {
    std::vector<double> products;
    with_width(x.cols(), [&](auto width) {
        products = sum_rows(x.rows(), width * width, context, [&](std::size_t begin, std::size_t end, double* sums) {
            add_inner_products<width>(x.data(), y.data(), begin, end, sums);
        });
    });
    return products;
}

void rotate_columns(Span2<float> x, const std::vector<double>& rotation, const Context& context) {
    const std::vector<float> factors(rotation.begin(), rotation.end());
    with_width(x.cols(), [&](auto width) {
        parallel_blocks(x.rows(), kRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            rotate_rows<width>(x.data(), factors.data(), begin, end);
        });
    });
}

void remove_direction(Span2<float> x, std::span<const float> t, const Context& context) {
    with_width(x.cols(), [&](auto width) {
        const auto sums = sum_rows(x.rows(), width, context, [&](std::size_t begin, std::size_t end, double* out) {
            add_along<width>(x.data(), t.data(), begin, end, out);
        });
        const std::vector<float> along(sums.begin(), sums.end());
        parallel_blocks(x.rows(), kRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            subtract_along<width>(x.data(), t.data(), along.data(), begin, end);
        });
    });
}

std::vector<double> residual_norms(Span2<const float> x, Span2<const float> y, std::span<const double> values,
                                   const Context& context) {
    const std::vector<float> lambda(values.begin(), values.end());
    std::vector<double> norms;
    with_width(x.cols(), [&](auto width) {
        norms = sum_rows(x.rows(), width, context, [&](std::size_t begin, std::size_t end, double* sums) {
            add_squared_residuals<width>(x.data(), y.data(), lambda.data(), begin, end, sums);
        });
    });
    for (double& norm : norms) norm = std::sqrt(norm);
    return norms;
}

void orthonormalize(Span2<float> x, const Context& context) {
    const std::size_t width = x.cols();
    for (int pass = 0; pass < 2; ++pass) {  // the second makes up for the rounding of the first
        SmallEigen eigen = small_eigen(inner_products(x, x, context), width);
        for (std::size_t j = 0; j < width; ++j) {
            const double factor = 1.0 / std::sqrt(std::max({eigen.values[j], 1e-14 * eigen.values[0], 1e-60}));
            for (std::size_t i = 0; i < width; ++i) eigen.vectors[i * width + j] *= factor;
        }
        rotate_columns(x, eigen.vectors, context);
    }
}

}  // namespace gnomon

#else
#include "gnomon/simd.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

template <int width>
using V = simd::Lanes<float, width>;

template <int width>
GNOMON_INLINE V<width> at(const float* x, std::size_t row) {
    return simd::load_as<V<width> >(x + row * width);
}

/// Adds the lanes of a vector to sums in double.
template <class Vector>
GNOMON_INLINE void add_to(double* sums, const Vector& partial) {
    constexpr std::size_t width = sizeof(Vector) / sizeof(float);
    float lanes[width];
    simd::store(lanes, partial);
    for (std::size_t c = 0; c < width; ++c) sums[c] += static_cast<double>(lanes[c]);
}

template <int width>
GNOMON_KERNEL void multiply_rows(const CsrView<float>& matrix, const float* x, const float* before, Recurrence factors,
                                 float* out, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        V<width> even{}, odd{};  // two sums, because one waits for its own last addition
        std::int64_t e = matrix.offsets[i];
        const std::int64_t last = matrix.offsets[i + 1];
        for (; e + 1 < last; e += 2) {
            even += at<width>(x, static_cast<std::size_t>(matrix.columns[e])) * matrix.values[e];
            odd += at<width>(x, static_cast<std::size_t>(matrix.columns[e + 1])) * matrix.values[e + 1];
        }
        if (e < last) even += at<width>(x, static_cast<std::size_t>(matrix.columns[e])) * matrix.values[e];
        V<width> result = (even + odd) * factors.product + at<width>(x, i) * factors.same;
        if (before != nullptr) result += at<width>(before, i) * factors.previous;
        simd::store(out + i * width, result);
    }
}

template <int width>
GNOMON_KERNEL void add_inner_products(const float* x, const float* y, std::size_t begin, std::size_t end,
                                      double* sums) {
    for (std::size_t first = begin; first < end; first += kFloatRows) {
        const std::size_t last = std::min(end, first + kFloatRows);
        V<width> partial[width] = {};
        for (std::size_t i = first; i < last; ++i) {
            const V<width> row = at<width>(y, i);
            for (int r = 0; r < width; ++r) partial[r] += row * x[i * width + static_cast<std::size_t>(r)];
        }
        for (int r = 0; r < width; ++r) add_to(sums + r * width, partial[r]);
    }
}

template <int width>
GNOMON_KERNEL void rotate_rows(float* x, const float* rotation, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
        V<width> sum{};
        for (std::size_t r = 0; r < width; ++r) sum += at<width>(rotation, r) * x[i * width + r];
        simd::store(x + i * width, sum);
    }
}

template <int width>
GNOMON_KERNEL void add_along(const float* x, const float* t, std::size_t begin, std::size_t end, double* sums) {
    for (std::size_t first = begin; first < end; first += kFloatRows) {
        V<width> partial{};
        for (std::size_t i = first; i < std::min(end, first + kFloatRows); ++i) partial += at<width>(x, i) * t[i];
        add_to(sums, partial);
    }
}

template <int width>
GNOMON_KERNEL void subtract_along(float* x, const float* t, const float* along, std::size_t begin, std::size_t end) {
    const V<width> direction = at<width>(along, 0);
    for (std::size_t i = begin; i < end; ++i) simd::store(x + i * width, at<width>(x, i) - direction * t[i]);
}

template <int width>
GNOMON_KERNEL void add_squared_residuals(const float* x, const float* y, const float* values, std::size_t begin,
                                         std::size_t end, double* sums) {
    const V<width> lambda = at<width>(values, 0);
    for (std::size_t first = begin; first < end; first += kFloatRows) {
        V<width> partial{};
        for (std::size_t i = first; i < std::min(end, first + kFloatRows); ++i) {
            const V<width> difference = at<width>(y, i) - at<width>(x, i) * lambda;
            partial += difference * difference;
        }
        add_to(sums, partial);
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
