#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/inner_products.cpp"
#include "gnomon/inner_products.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gnomon/panel_lanes.hpp"
#include "gnomon/wide_lanes.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kRows = 1024;   // that are packed at a time: two panels of them stay in the second cache
constexpr std::size_t kNarrow = 8;    // columns of a product that is not worth panels
constexpr double kThreadsFrom = 1e6;  // products of numbers that are worth waking threads for
constexpr std::size_t kPairs = 16;    // of small matrices that a thread multiplies at a time

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE_FOR(class, add_panels);
GNOMON_CHOOSE(times_narrow);
GNOMON_CHOOSE(transposed_times_narrow);

/// Rows [begin, begin + count) of B as panels of columns, one after the other; columns beyond the last are zero.
template <class T>
void pack(Span2<const T> B, std::size_t begin, std::size_t count, T* packed) {
    for (std::size_t first = 0; first < B.cols(); first += kPanel, packed += count * kPanel) {
        const std::size_t width = std::min(kPanel, B.cols() - first);
        for (std::size_t r = 0; r < count; ++r) {
            const T* row = B.row(begin + r) + first;
            T* to = packed + r * kPanel;
            std::copy(row, row + width, to);
            std::fill(to + width, to + kPanel, T{0});
        }
    }
}

template <class T, class Out>
void inner_products_of(Span2<const T> B, Span2<Out> out, const Context& given) {
    const Context context =
        given.for_work(0.5 * static_cast<double>(B.size()) * static_cast<double>(B.cols()), kThreadsFrom);
    const std::size_t n = B.rows(), width = B.cols(), n_panels = panels_of(width);
    const std::size_t stride = n_panels * kPanel;
    std::vector<T> packed(std::min(n, kRows) * stride);
    if (n == 0) std::fill_n(out.data(), out.size(), Out{0});
    for (std::size_t begin = 0; begin < n; begin += kRows) {
        const std::size_t count = std::min(kRows, n - begin);
        pack(B, begin, count, packed.data());
        parallel_for(n_panels, context, [&](std::size_t p, std::size_t) {
            double sums[kPanel * kPanel];
            for (std::size_t q = p; q < n_panels; ++q) {
                std::fill_n(sums, kPanel * kPanel, 0.0);
                add_panels<T>(packed.data() + p * count * kPanel, packed.data() + q * count * kPanel, count, sums);
                const std::size_t rows = std::min(kPanel, width - p * kPanel);
                const std::size_t columns = std::min(kPanel, width - q * kPanel);
                for (std::size_t i = 0; i < rows; ++i) {
                    Out* to = out.row(p * kPanel + i) + q * kPanel;
                    const double* from = sums + i * kPanel;
                    if (begin == 0) {
                        for (std::size_t j = 0; j < columns; ++j) to[j] = static_cast<Out>(from[j]);
                    } else {
                        for (std::size_t j = 0; j < columns; ++j) to[j] += static_cast<Out>(from[j]);
                    }
                }
                if (q == p || begin + kRows < n) continue;
                for (std::size_t j = 0; j < columns; ++j) {
                    Out* to = out.row(q * kPanel + j) + p * kPanel;
                    for (std::size_t i = 0; i < rows; ++i) to[i] = out(p * kPanel + i, q * kPanel + j);
                }
            }
        });
    }
}

/// Entries (i, j) of a matrix or of its transpose.
struct Side {
    Span2<const double> matrix;
    bool transposed;

    std::size_t rows() const { return transposed ? matrix.cols() : matrix.rows(); }
    std::size_t cols() const { return transposed ? matrix.rows() : matrix.cols(); }
    double operator()(std::size_t i, std::size_t j) const { return transposed ? matrix(j, i) : matrix(i, j); }
};

/// Columns [first, first + kPanel) of rows [begin, begin + count), row by row; columns beyond the last are zero.
void pack_panel(Side side, std::size_t begin, std::size_t count, std::size_t first, double* packed) {
    const std::size_t width = std::min(kPanel, side.cols() - first);
    if (width < kPanel) std::fill_n(packed, count * kPanel, 0.0);
    if (side.transposed) {
        for (std::size_t j = 0; j < width; ++j) {
            const double* from = side.matrix.row(first + j) + begin;
            for (std::size_t r = 0; r < count; ++r) packed[r * kPanel + j] = from[r];
        }
    } else {
        for (std::size_t r = 0; r < count; ++r)
            std::copy_n(side.matrix.row(begin + r) + first, width, packed + r * kPanel);
    }
}

/// The product with a matrix of up to kNarrow columns.
void narrow_product(Side A, Side B, Span2<double> out, const Context& context) {
    const std::size_t inner = B.rows(), width = B.cols();
    std::vector<double> columns(inner * width);  // one after the other
    for (std::size_t c = 0; c < width; ++c) {
        for (std::size_t k = 0; k < inner; ++k) columns[c * inner + k] = B(k, c);
    }
    if (!A.transposed) {
        parallel_blocks(out.rows(), kRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            times_narrow(A.matrix, columns.data(), out, begin, end);
        });
        return;
    }
    const std::size_t n = out.rows(), n_blocks = (inner + kRows - 1) / kRows;
    std::vector<double> sums(n_blocks * n * width, 0.0);
    parallel_blocks(inner, kRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        transposed_times_narrow(A.matrix, columns.data(), width, begin, end, sums.data() + begin / kRows * n * width);
    });
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t c = 0; c < width; ++c) {
            double sum = 0.0;
            for (std::size_t b = 0; b < n_blocks; ++b) sum += sums[(b * width + c) * n + i];
            out(i, c) = sum;
        }
    }
}

/// Matrix i of `count` that lie one below the other.
template <class T>
Span2<T> part(Span2<T> stacked, std::size_t count, std::size_t i) {
    const std::size_t rows = stacked.rows() / count;
    return {stacked.data() + i * rows * stacked.cols(), rows, stacked.cols()};
}

/// The rows of a matrix one after the other, in `turned` if they do not lie so.
const double* rows_of(Side side, std::vector<double>& turned) {
    if (!side.transposed) return side.matrix.data();
    turned.resize(side.matrix.size());
    for (std::size_t i = 0; i < side.rows(); ++i) {
        for (std::size_t j = 0; j < side.cols(); ++j) turned[i * side.cols() + j] = side(i, j);
    }
    return turned.data();
}

}  // namespace

void product(Span2<const double> A, bool transposed_a, Span2<const double> B, bool transposed_b, Span2<double> out,
             const Context& given) {
    const Side left{A, transposed_a}, right{B, transposed_b}, turned{A, !transposed_a};
    const std::size_t inner = left.cols(), width = out.cols(), n_panels = panels_of(width);
    const Context context = given.for_work(static_cast<double>(out.size()) * static_cast<double>(inner), kThreadsFrom);
    if (width <= kNarrow) return narrow_product(left, right, out, context);
    std::fill_n(out.data(), out.size(), 0.0);
    const std::size_t depth = std::min(inner, kRows);
    std::vector<double> packed(n_panels * depth * kPanel);
    std::vector<double> own(static_cast<std::size_t>(context.n_threads) * depth * kPanel);
    for (std::size_t begin = 0; begin < inner; begin += kRows) {
        const std::size_t count = std::min(kRows, inner - begin);
        parallel_for(n_panels, context, [&](std::size_t q, std::size_t) {
            pack_panel(right, begin, count, q * kPanel, packed.data() + q * count * kPanel);
        });
        parallel_blocks(out.rows(), kPanel, context, [&](std::size_t first, std::size_t last, std::size_t worker) {
            double* panel = own.data() + worker * depth * kPanel;
            double sums[kPanel * kPanel];
            pack_panel(turned, begin, count, first, panel);
            for (std::size_t q = 0; q < n_panels; ++q) {
                std::fill_n(sums, kPanel * kPanel, 0.0);
                add_panels<double>(panel, packed.data() + q * count * kPanel, count, sums);
                const std::size_t columns = std::min(kPanel, width - q * kPanel);
                for (std::size_t i = first; i < last; ++i) {
                    double* to = out.row(i) + q * kPanel;
                    for (std::size_t j = 0; j < columns; ++j) to[j] += sums[(i - first) * kPanel + j];
                }
            }
        });
    }
}

void products(std::size_t count, Span2<const double> A, bool transposed_a, Span2<const double> B, bool transposed_b,
              Span2<double> out, const Context& given) {
    if (out.size() == 0) return;
    const std::size_t inner = transposed_a ? A.rows() / count : A.cols();
    const Context context = given.for_work(static_cast<double>(out.size()) * static_cast<double>(inner), kThreadsFrom);
    parallel_blocks(count, kPairs, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<double> turned;
        Context alone = context;
        alone.n_threads = 1;
        for (std::size_t i = begin; i < end; ++i) {
            const Side left{part(A, count, i), transposed_a}, right{part(B, count, i), transposed_b};
            const Span2<double> to = part(out, count, i);
            if (!transposed_b && (to.rows() <= kNarrow || inner <= kNarrow)) {
                std::fill_n(to.data(), to.size(), 0.0);
                transposed_times_narrow(right.matrix, rows_of(left, turned), to.rows(), 0, inner, to.data());
            } else if (!transposed_a && to.cols() <= kNarrow) {
                times_narrow(left.matrix, rows_of({right.matrix, !transposed_b}, turned), to, 0, to.rows());
            } else {
                product(left.matrix, transposed_a, right.matrix, transposed_b, to, alone);
            }
        }
    });
}

void inner_products(Span2<const float> B, Span2<double> out, const Context& context) {
    inner_products_of(B, out, context);
}

void inner_products(Span2<const float> B, Span2<float> out, const Context& context) {
    inner_products_of(B, out, context);
}

void inner_products(Span2<const double> B, Span2<double> out, const Context& context) {
    inner_products_of(B, out, context);
}

}  // namespace gnomon

#else
#include "gnomon/panel_lanes.hpp"
#include "gnomon/wide_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

/// Inner products of kRowsTogether rows with two columns, or with one twice.
template <std::size_t kRowsTogether>
GNOMON_INLINE void multiply_rows(const double* rows, std::size_t d, const double* first, const double* second,
                                 double* products) {
    f64 one[kRowsTogether] = {}, two[kRowsTogether] = {};
    std::size_t k = 0;
    for (; k + 8 <= d; k += 8) {
        const f64 x = simd::load_as<f64>(first + k), y = simd::load_as<f64>(second + k);
        for (std::size_t r = 0; r < kRowsTogether; ++r) {
            const f64 row = simd::load_as<f64>(rows + r * d + k);
            one[r] += row * x;
            two[r] += row * y;
        }
    }
    for (std::size_t r = 0; r < kRowsTogether; ++r) {
        double a = sum_of(one[r]), b = sum_of(two[r]);
        for (std::size_t j = k; j < d; ++j) {
            a += rows[r * d + j] * first[j];
            b += rows[r * d + j] * second[j];
        }
        products[2 * r] = a;
        products[2 * r + 1] = b;
    }
}

/// Rows [begin, end) of out = A B, for columns of B one after the other.
GNOMON_KERNEL void times_narrow(Span2<const double> A, const double* columns, Span2<double> out, std::size_t begin,
                                std::size_t end) {
    constexpr std::size_t kTogether = 2;
    const std::size_t d = A.cols(), width = out.cols();
    double products[2 * kTogether];
    for (std::size_t i = begin; i < end; i += kTogether) {
        const std::size_t n = std::min(kTogether, end - i);
        for (std::size_t c = 0; c < width; c += 2) {
            const double *first = columns + c * d, *second = c + 1 < width ? first + d : first;
            if (n == kTogether) {
                multiply_rows<kTogether>(A.row(i), d, first, second, products);
            } else {
                multiply_rows<1>(A.row(i), d, first, second, products);
            }
            for (std::size_t r = 0; r < n; ++r) {
                out(i + r, c) = products[2 * r];
                if (c + 1 < width) out(i + r, c + 1) = products[2 * r + 1];
            }
        }
    }
}

/// sums (width, d) += B' A over rows [begin, end), for columns of B one after the other; four rows at a time.
GNOMON_KERNEL void transposed_times_narrow(Span2<const double> A, const double* columns, std::size_t width,
                                           std::size_t begin, std::size_t end, double* sums) {
    const std::size_t d = A.cols(), n = A.rows();
    std::size_t i = begin;
    for (; i + 4 <= end; i += 4) {
        const double *a = A.row(i), *b = a + d, *e = b + d, *f = e + d;
        for (std::size_t c = 0; c < width; ++c) {
            const double* y = columns + c * n + i;
            const double w = y[0], x = y[1], v = y[2], u = y[3];
            double* to = sums + c * d;
            std::size_t k = 0;
            for (; k + 8 <= d; k += 8) {
                const f64 low = simd::load_as<f64>(a + k) * w + simd::load_as<f64>(b + k) * x;
                const f64 high = simd::load_as<f64>(e + k) * v + simd::load_as<f64>(f + k) * u;
                simd::store(to + k, simd::load_as<f64>(to + k) + (low + high));
            }
            for (; k < d; ++k) to[k] += (a[k] * w + b[k] * x) + (e[k] * v + f[k] * u);
        }
    }
    for (; i < end; ++i) {
        for (std::size_t c = 0; c < width; ++c) {
            for (std::size_t k = 0; k < d; ++k) sums[c * d + k] += A(i, k) * columns[c * n + i];
        }
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
