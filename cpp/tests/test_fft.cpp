// Transforms against the defining sum, there and back, and real convolutions through the mesh.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "check.hpp"
#include "gnomon/fft.hpp"
#include "gnomon/mesh_convolution.hpp"

using namespace gnomon;

static void roots_of_unity_are_exact() {
    for (const std::size_t n : {1, 2, 3, 5, 8, 12, 45, 1000, 4096}) {
        for (std::size_t k = 0; k < n; ++k) {
            const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
            const auto [re, im] = root_of_unity(k, n);
            CHECK_CLOSE(re, std::cos(angle), 1e-15);
            CHECK_CLOSE(im, std::sin(angle), 1e-15);
        }
    }
}

static void fast_lengths_are_the_next_products() {
    CHECK(fast_length(1) == 1);
    CHECK(fast_length(7) == 8);
    CHECK(fast_length(11) == 12);
    CHECK(fast_length(900) == 900);
    CHECK(fast_length(901) == 960);
}

static void transforms_equal_the_defining_sum() {
    std::mt19937 rng(1);
    std::normal_distribution<float> normal;
    for (const std::size_t n :
         {1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 20, 25, 30, 48, 60, 75, 96, 100, 125, 180, 240}) {
        const FftPlan plan(n);
        std::vector<ComplexLanes> input(n), x(n), work(n);
        for (auto& value : input)
            for (int l = 0; l < simd::kLanes; ++l) {
                value.re[l] = normal(rng);
                value.im[l] = normal(rng);
            }
        x = input;
        ComplexLanes* result = fft(plan, Direction::forward, x.data(), work.data());
        double worst = 0;
        for (std::size_t k = 0; k < n; ++k) {
            for (const int l : {0, 3, 15}) {
                std::complex<double> sum = 0;
                for (std::size_t j = 0; j < n; ++j) {
                    const auto [re, im] = root_of_unity(j * k, n);
                    sum += std::complex<double>(input[j].re[l], input[j].im[l]) * std::complex<double>(re, -im);
                }
                worst = std::max(worst, std::abs(sum - std::complex<double>(result[k].re[l], result[k].im[l])));
            }
        }
        CHECK_CLOSE(worst, 0, 1e-6 * static_cast<double>(n));
        ComplexLanes* back = fft(plan, Direction::inverse, result, result == x.data() ? work.data() : x.data());
        worst = 0;
        for (std::size_t j = 0; j < n; ++j)
            for (int l = 0; l < simd::kLanes; ++l)
                worst = std::max(
                    worst, std::fabs(static_cast<double>(back[j].re[l] / static_cast<float>(n) - input[j].re[l])));
        CHECK_CLOSE(worst, 0, 3e-6);
    }
}

static void tiles_are_transposed() {
    float from[16 * 20], to[16 * 18];
    for (int i = 0; i < 16 * 20; ++i) from[i] = static_cast<float>(i);
    transpose_tile(from, 20, to, 18);
    for (int r = 0; r < 16; ++r)
        for (int c = 0; c < 16; ++c) CHECK(to[c * 18 + r] == from[r * 20 + c]);
}

/// A convolution with a Gaussian at the nodes; the splines' transform is divided out by convolving charges that were
/// spread with the spline's values at the nodes, (1, 26, 66, 26, 1) / 120 along each axis, twice.
static void meshes_are_convolved() {
    for (const MeshAxis rows : {MeshAxis{1, 1}, MeshAxis{19, 60}, MeshAxis{35, 96}}) {
        const MeshAxis columns{23, 72};
        const auto gauss = [&](double dx, double dy) { return std::exp(-(dx * dx + dy * dy) / 30); };
        MeshConvolution mesh;
        CHECK(mesh.resize(columns, rows));
        CHECK(!mesh.resize(columns, rows));
        const auto write_row = [&](std::size_t r, float* out) {
            for (std::size_t c = 0; c < columns.nodes; ++c)
                out[c] = static_cast<float>(gauss(static_cast<double>(std::min(c, columns.nodes - c)),
                                                  static_cast<double>(std::min(r, rows.nodes - r))));
        };
        mesh.set_kernel(write_row, {2});
        CHECK(
            !mesh.resize({columns.used - 2, columns.nodes}, rows));  // the kernel stays: it depends on the nodes alone
        for (std::size_t r = 0; r < mesh.rows_to_set(); ++r) std::fill_n(mesh.row(r), mesh.pitch(), 0.0F);
        const double once[5] = {1.0 / 120, 26.0 / 120, 66.0 / 120, 26.0 / 120, 1.0 / 120};
        double spread[9] = {};
        for (int a = 0; a < 5; ++a)
            for (int b = 0; b < 5; ++b) spread[a + b] += once[a] * once[b];
        const int row = rows.used == 1 ? 0 : 7;
        for (int dr = rows.used == 1 ? 0 : -4; dr <= (rows.used == 1 ? 0 : 4); ++dr)
            for (int dc = -4; dc <= 4; ++dc)
                mesh.row(static_cast<std::size_t>(row + dr))[9 + dc] =
                    static_cast<float>((rows.used == 1 ? 1.0 : spread[dr + 4]) * spread[dc + 4]);
        mesh.convolve({3});
        double worst = 0;
        for (std::size_t r = 0; r < rows.used; ++r)
            for (std::size_t c = 0; c + 2 < columns.used; ++c)
                worst = std::max(worst, std::fabs(static_cast<double>(mesh.row(r)[c]) -
                                                  gauss(static_cast<double>(c) - 9, static_cast<double>(r) - row)));
        CHECK_CLOSE(worst, 0, 2e-5);
    }
}

int main() {
    roots_of_unity_are_exact();
    fast_lengths_are_the_next_products();
    transforms_equal_the_defining_sum();
    tiles_are_transposed();
    meshes_are_convolved();
    return failures != 0;
}
