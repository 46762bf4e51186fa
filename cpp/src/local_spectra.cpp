#include "gnomon/local_spectra.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "gnomon/local_gram.hpp"

namespace gnomon {
namespace {

constexpr std::size_t kBatchesPerChunk = 8;
constexpr double kMissing = -1.0;  // eigenvalue of a missing neighbour, below every other of a matrix of trace 1

struct Scratch {
    explicit Scratch(std::size_t n_neighbors)
        : k(n_neighbors), a(k * k * kEigenBatch), v(k * k * kEigenBatch), means(k), traces(kEigenBatch), order(k) {}

    std::size_t k;
    LocalProducts local;
    std::vector<double> products;  // Gram matrix of one row, padded
    std::vector<double> a, v;      // Gram matrices of trace 1 and eigenvectors of a batch
    std::vector<double> means, traces;
    std::vector<std::size_t> order;
};

// Takes the mean of the present neighbours out of a Gram matrix, from both sides.
void centre(std::vector<double>& g, std::size_t stride, const float* present, Scratch& s) {
    double count = 0.0, mean = 0.0;
    for (std::size_t p = 0; p < s.k; ++p) count += present[p] > 0 ? 1.0 : 0.0;
    for (std::size_t p = 0; p < s.k; ++p) {
        double sum = 0.0;
        for (std::size_t q = 0; q < s.k; ++q) sum += g[p * stride + q];  // missing neighbours give zeros
        s.means[p] = sum / count;
        mean += s.means[p] / count;
    }
    for (std::size_t p = 0; p < s.k; ++p)
        for (std::size_t q = 0; q < s.k; ++q) g[p * stride + q] += mean - s.means[p] - s.means[q];
}

void load_lane(const RowSource& X, std::size_t row, const std::int32_t* indices, const float* present, bool centred,
               std::size_t lane, Scratch& s) {
    s.local.compute(X, row, {indices, s.k}, {present, s.k}, s.products);
    const std::size_t stride = s.local.stride();
    if (centred) centre(s.products, stride, present, s);
    double trace = 0.0;
    for (std::size_t p = 0; p < s.k; ++p) trace += present[p] > 0 ? s.products[p * stride + p] : 0.0;
    s.traces[lane] = trace;
    for (std::size_t p = 0; p < s.k; ++p) {
        for (std::size_t q = 0; q < s.k; ++q) {
            const bool valid = present[p] > 0 && present[q] > 0 && trace > 0.0;
            s.a[(p * s.k + q) * kEigenBatch + lane] = valid ? s.products[p * stride + q] / trace : 0.0;
        }
        if (!(present[p] > 0)) s.a[(p * s.k + p) * kEigenBatch + lane] = kMissing;
    }
}

void store_lane(std::size_t lane, const float* present, double* values, double* vectors, Scratch& s) {
    const auto value = [&](std::size_t p) { return s.a[(p * s.k + p) * kEigenBatch + lane]; };
    std::iota(s.order.begin(), s.order.end(), std::size_t{0});
    std::stable_sort(s.order.begin(), s.order.end(), [&](std::size_t p, std::size_t q) { return value(p) > value(q); });
    for (std::size_t l = 0; l < s.k; ++l) {
        values[l] = std::max(value(s.order[l]), 0.0) * s.traces[lane];
        for (std::size_t j = 0; j < s.k; ++j) vectors[j * s.k + l] = s.v[(s.order[l] * s.k + j) * kEigenBatch + lane];
    }
    // Missing neighbours are apart by their eigenvalue, but only up to rounding.
    const auto known = static_cast<std::size_t>(std::count_if(present, present + s.k, [](float x) { return x > 0; }));
    for (std::size_t j = 0, last = known; j < s.k; ++j) {
        if (present[j] > 0) {
            std::fill_n(vectors + j * s.k + known, s.k - known, 0.0);
        } else {
            std::fill_n(vectors + j * s.k, s.k, 0.0);
            vectors[j * s.k + last++] = 1.0;
        }
    }
}

}  // namespace

void local_spectra(const RowSource& X, std::size_t first, Span2<const std::int32_t> indices, Span2<const float> present,
                   bool centred, Span2<double> values, Span2<double> vectors, const Context& context) {
    const std::size_t m = indices.rows(), k = indices.cols();
    std::vector<Scratch> scratch(static_cast<std::size_t>(std::max(context.n_threads, 1)), Scratch(k));
    parallel_blocks(m, kEigenBatch * kBatchesPerChunk, context,
                    [&](std::size_t begin, std::size_t end, std::size_t worker) {
                        Scratch& s = scratch[worker];
                        for (std::size_t i = begin; i < end; i += kEigenBatch) {
                            const std::size_t lanes = std::min(kEigenBatch, end - i);
                            std::fill(s.a.begin(), s.a.end(), 0.0);
                            for (std::size_t l = 0; l < lanes; ++l)
                                load_lane(X, first + i + l, indices.row(i + l), present.row(i + l), centred, l, s);
                            symmetric_eigen(k, s.a.data(), s.v.data());
                            for (std::size_t l = 0; l < lanes; ++l)
                                store_lane(l, present.row(i + l), values.row(i + l), vectors.row(i + l), s);
                        }
                    });
}

}  // namespace gnomon
