#include "pair_metric_tile.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <type_traits>

#include "gnomon/neighbors_tile.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kPiece = 64;  // columns summed by themselves: long sums of float32 lose less

// Vectors as wide as the registers of an instruction set, as for dot_tile.
template <class T, std::size_t Bytes>
struct Register {
    using Type __attribute__((vector_size(Bytes))) = T;
};

template <class V>
GNOMON_INLINE V magnitude(V x) {
    using Mask = decltype(x < x);
    using Word = std::remove_reference_t<decltype(Mask{}[0])>;
    return reinterpret_cast<V>(reinterpret_cast<Mask>(x) & (Mask{} + std::numeric_limits<Word>::max()));
}

struct Manhattan {
    template <class V>
    GNOMON_INLINE static V add(V sum, V x, V y, V) {
        return sum + magnitude(x - y);
    }
    template <class V>
    GNOMON_INLINE static V join(V total, V sum) {
        return total + sum;
    }
};

struct Chebyshev {
    template <class V>
    GNOMON_INLINE static V add(V sum, V x, V y, V) {
        return join(sum, magnitude(x - y));
    }
    template <class V>
    GNOMON_INLINE static V join(V total, V sum) {
        return total < sum ? sum : total;
    }
};

struct Wrapped : Manhattan {
    template <class V>
    GNOMON_INLINE static V add(V sum, V x, V y, V period) {
        const V one_way = magnitude(x - y), other_way = period - one_way;
        const V shorter = other_way < one_way ? other_way : one_way;
        return sum + shorter * shorter;
    }
};

struct Hamming : Manhattan {
    template <class V>
    GNOMON_INLINE static V add(V sum, V x, V y, V) {
        using Mask = decltype(x != y);
        return sum + reinterpret_cast<V>((x != y) & reinterpret_cast<Mask>(V{} + 1));
    }
};

template <class Kernel, class T, std::size_t Bytes, std::size_t Rows>
GNOMON_INLINE void tile_part(const T* a, std::size_t n_rows, const T* b, const T* parameters, std::size_t d,
                             T* values) {
    using V = typename Register<T, Bytes>::Type;
    constexpr std::size_t lanes = Bytes / sizeof(T);
    for (std::size_t begin = 0; begin < d; begin += kPiece) {
        V left[Rows] = {}, right[Rows] = {};
        const std::size_t end = std::min(d, begin + kPiece);
        for (std::size_t k = begin; k < end; ++k) {
            V column0, column1;
            std::memcpy(&column0, b + k * kTileCols, Bytes);
            std::memcpy(&column1, b + k * kTileCols + lanes, Bytes);
            const V parameter = (std::is_same_v<Kernel, Wrapped> ? parameters[k] : T{}) - V{};
#pragma GCC unroll 12
            for (std::size_t i = 0; i < Rows; ++i) {
                const V row = a[k * n_rows + i] - V{};
                left[i] = Kernel::add(left[i], row, column0, parameter);
                right[i] = Kernel::add(right[i], row, column1, parameter);
            }
        }
#pragma GCC unroll 12
        for (std::size_t i = 0; i < Rows; ++i) {
            T* row = values + i * kTileCols;
            if (begin > 0) {
                V total0, total1;
                std::memcpy(&total0, row, Bytes);
                std::memcpy(&total1, row + lanes, Bytes);
                left[i] = Kernel::join(total0, left[i]);
                right[i] = Kernel::join(total1, right[i]);
            }
            std::memcpy(row, &left[i], Bytes);
            std::memcpy(row + lanes, &right[i], Bytes);
        }
    }
}

template <class Kernel, class T, std::size_t Bytes, std::size_t Rows>
GNOMON_INLINE void tile_of(const T* a, std::size_t n_rows, const T* b, const T* parameters, std::size_t d, T* values) {
    for (std::size_t j = 0; j < kTileCols; j += 2 * Bytes / sizeof(T)) {
        if (n_rows == 1) {
            tile_part<Kernel, T, Bytes, 1>(a, 1, b + j, parameters, d, values + j);
        } else {
            for (std::size_t i = 0; i < kTileRows; i += Rows) {
                tile_part<Kernel, T, Bytes, Rows>(a + i, n_rows, b + j, parameters, d, values + i * kTileCols + j);
            }
        }
    }
}

template <class T, std::size_t Bytes, std::size_t Rows>
GNOMON_INLINE void any_tile(PairMetric metric, const T* a, std::size_t n_rows, const T* b, const T* parameters,
                            std::size_t d, T* values) {
    assert(n_rows == 1 || n_rows == kTileRows);
    switch (metric) {
        case PairMetric::manhattan:
        case PairMetric::ruzicka:
            return tile_of<Manhattan, T, Bytes, Rows>(a, n_rows, b, parameters, d, values);
        case PairMetric::chebyshev:
            return tile_of<Chebyshev, T, Bytes, Rows>(a, n_rows, b, parameters, d, values);
        case PairMetric::wrapped:
            return tile_of<Wrapped, T, Bytes, Rows>(a, n_rows, b, parameters, d, values);
        case PairMetric::hamming:
        case PairMetric::rogers_tanimoto:
            return tile_of<Hamming, T, Bytes, Rows>(a, n_rows, b, parameters, d, values);
        default:
            assert(false);
    }
}

#if defined(GNOMON_USE_LEVELS)
template <class T>
void base_tile(PairMetric metric, const T* a, std::size_t n_rows, const T* b, const T* parameters, std::size_t d,
               T* values) {
    any_tile<T, 16, 4>(metric, a, n_rows, b, parameters, d, values);
}
template <class T>
GNOMON_AT_V3 void v3_tile(PairMetric metric, const T* a, std::size_t n_rows, const T* b, const T* parameters,
                          std::size_t d, T* values) {
    any_tile<T, 32, 4>(metric, a, n_rows, b, parameters, d, values);
}
template <class T>
GNOMON_AT_V4 void v4_tile(PairMetric metric, const T* a, std::size_t n_rows, const T* b, const T* parameters,
                          std::size_t d, T* values) {
    any_tile<T, 64, 6>(metric, a, n_rows, b, parameters, d, values);
}
template <class T>
const auto best_tile = choose_level(base_tile<T>, v3_tile<T>, v4_tile<T>);
#else
template <class T>
void best_tile(PairMetric metric, const T* a, std::size_t n_rows, const T* b, const T* parameters, std::size_t d,
               T* values) {
#if defined(__AVX512F__)
    any_tile<T, 64, 6>(metric, a, n_rows, b, parameters, d, values);
#elif defined(__AVX2__)
    any_tile<T, 32, 4>(metric, a, n_rows, b, parameters, d, values);
#else
    any_tile<T, 16, 4>(metric, a, n_rows, b, parameters, d, values);
#endif
}
#endif

// Adds up the d columns of n packed rows, in ascending order.
template <class T>
void sum_rows(const T* packed, std::size_t n, std::size_t d, double* sums) {
    std::fill_n(sums, n, 0.0);
    for (std::size_t k = 0; k < d; ++k)
        for (std::size_t i = 0; i < n; ++i) sums[i] += static_cast<double>(packed[k * n + i]);
}

// Turns sums of differences x into 2 x / (s + x), where s is the sum of all values of both rows: their larger values
// sum to (s + x) / 2, their smaller ones to (s - x) / 2.
template <class T>
void share_apart(const T* a, std::size_t n_rows, const T* b, std::size_t d, T* values) {
    double rows[kTileRows], columns[kTileCols];
    sum_rows(a, n_rows, d, rows);
    sum_rows(b, kTileCols, d, columns);
    for (std::size_t i = 0; i < n_rows; ++i)
        for (std::size_t j = 0; j < kTileCols; ++j) {
            T& value = values[i * kTileCols + j];
            const auto apart = static_cast<double>(value);
            value = apart > 0.0 ? static_cast<T>(2.0 * apart / (rows[i] + columns[j] + apart)) : T{};
        }
}

template <class T>
void numbers_tile(PairMetric metric, const T* a, std::size_t n_rows, const T* b, const T* parameters, std::size_t d,
                  T* values) {
    best_tile<T>(metric, a, n_rows, b, parameters, d, values);
    if (metric == PairMetric::ruzicka) share_apart(a, n_rows, b, d, values);
}

// A distance is weight * apart / (either + with_common * common + with_apart * apart) of the sizes of sets.
struct SetLaw {
    std::uint64_t weight, with_common, with_apart;
};

constexpr SetLaw set_law(PairMetric metric) {
    if (metric == PairMetric::dice) return {1, 1, 0};
    return metric == PairMetric::sokal_sneath ? SetLaw{2, 0, 1} : SetLaw{1, 0, 0};
}

const auto bits_tile = each_level([](const SetLaw* law, const std::uint64_t* a, std::size_t n_rows,
                                     const std::uint64_t* b, std::size_t d, double* values) GNOMON_INLINE_LAMBDA {
    std::uint64_t sizes[kTileCols] = {};
    for (std::size_t k = 0; k < d; ++k) {
        for (std::size_t j = 0; j < kTileCols; ++j)
            sizes[j] += static_cast<std::uint64_t>(__builtin_popcountll(b[k * kTileCols + j]));
    }
    for (std::size_t i = 0; i < n_rows; ++i) {
        std::uint64_t common[kTileCols] = {}, size = 0;
        for (std::size_t k = 0; k < d; ++k) {
            const std::uint64_t row = a[k * n_rows + i];
            size += static_cast<std::uint64_t>(__builtin_popcountll(row));
            for (std::size_t j = 0; j < kTileCols; ++j)
                common[j] += static_cast<std::uint64_t>(__builtin_popcountll(row & b[k * kTileCols + j]));
        }
        for (std::size_t j = 0; j < kTileCols; ++j) {
            const std::uint64_t either = size + sizes[j] - common[j];
            const std::uint64_t apart = either - common[j];
            const std::uint64_t whole = either + law->with_common * common[j] + law->with_apart * apart;
            values[i * kTileCols + j] =
                either == 0 ? 0.0 : static_cast<double>(law->weight * apart) / static_cast<double>(whole);
        }
    }
});

}  // namespace

void metric_tile(PairMetric metric, const float* a, std::size_t n_rows, const float* b, const float* parameters,
                 std::size_t d, float* values) {
    numbers_tile<float>(metric, a, n_rows, b, parameters, d, values);
}

void metric_tile(PairMetric metric, const double* a, std::size_t n_rows, const double* b, const double* parameters,
                 std::size_t d, double* values) {
    numbers_tile<double>(metric, a, n_rows, b, parameters, d, values);
}

void metric_tile(PairMetric metric, const std::uint64_t* a, std::size_t n_rows, const std::uint64_t* b,
                 const std::uint64_t*, std::size_t d, double* values) {
    const SetLaw law = set_law(metric);
    bits_tile(&law, a, n_rows, b, d, values);
}

}  // namespace gnomon
