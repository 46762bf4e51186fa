#include "gnomon/mesh_convolution.hpp"

#include <algorithm>

namespace gnomon {
namespace {

using simd::f32;
using simd::kLanes;

constexpr std::size_t kRowsPerBatch = 2 * kLanes;  // sixteen rows as real parts, sixteen as imaginary parts

/// A pitch that does not put all rows into the same cache sets.
std::size_t safe_pitch(std::size_t n) {
    const std::size_t pitch = round_up(n, kLanes);
    return pitch % 256 == 0 ? pitch + kLanes : pitch;
}

struct Rows {
    float* mesh;
    std::size_t pitch;
    float *re, *im;
    std::size_t bins_pitch;
};

/// A buffer of complex lanes as floats: element k has its real lanes at 32 k, its imaginary ones at 32 k + 16.
GNOMON_INLINE float* floats(ComplexLanes* x) { return reinterpret_cast<float*>(x); }

/// Real transforms of 32 rows as one batch of 16 complex ones: row l + i * row (l + 16), taken apart by symmetry.
const auto transform_rows = each_level([](const Rows& rows, const FftPlan& plan, std::size_t n_columns, ComplexLanes* x,
                                          ComplexLanes* work) GNOMON_INLINE_LAMBDA {
    const std::size_t n = plan.size(), filled = round_up(n_columns, kLanes);
    for (std::size_t c = 0; c < filled; c += kLanes) {
        transpose_tile(rows.mesh + c, rows.pitch, floats(x + c), 2 * kLanes);
        transpose_tile(rows.mesh + kLanes * rows.pitch + c, rows.pitch, floats(x + c) + kLanes, 2 * kLanes);
    }
    for (std::size_t c = filled; c < n; ++c) x[c] = {f32{}, f32{}};
    const ComplexLanes* f = fft(plan, Direction::forward, x, work);
    for (std::size_t first = 0; first < rows.bins_pitch; first += kLanes) {
        f32 tile[4][kLanes];  // re and im of the rows 0..15, re and im of the rows 16..31
        for (std::size_t k = 0; k < kLanes; ++k) {
            const std::size_t bin = std::min(first + k, n / 2);
            const ComplexLanes a = f[bin], b = f[bin == 0 ? 0 : n - bin];
            tile[0][k] = 0.5F * (a.re + b.re);
            tile[1][k] = 0.5F * (a.im - b.im);
            tile[2][k] = 0.5F * (a.im + b.im);
            tile[3][k] = 0.5F * (b.re - a.re);
        }
        const std::size_t second = kLanes * rows.bins_pitch + first;
        transpose_tile(reinterpret_cast<float*>(tile[0]), kLanes, rows.re + first, rows.bins_pitch);
        transpose_tile(reinterpret_cast<float*>(tile[1]), kLanes, rows.im + first, rows.bins_pitch);
        transpose_tile(reinterpret_cast<float*>(tile[2]), kLanes, rows.re + second, rows.bins_pitch);
        transpose_tile(reinterpret_cast<float*>(tile[3]), kLanes, rows.im + second, rows.bins_pitch);
    }
});

/// The way back for the first n_columns columns.
const auto restore_rows = each_level([](const Rows& rows, const FftPlan& plan, std::size_t n_columns, ComplexLanes* x,
                                        ComplexLanes* work) GNOMON_INLINE_LAMBDA {
    const std::size_t n = plan.size();
    for (std::size_t first = 0; first <= n / 2; first += kLanes) {
        f32 tile[4][kLanes];
        const std::size_t second = kLanes * rows.bins_pitch + first;
        transpose_tile(rows.re + first, rows.bins_pitch, reinterpret_cast<float*>(tile[0]), kLanes);
        transpose_tile(rows.im + first, rows.bins_pitch, reinterpret_cast<float*>(tile[1]), kLanes);
        transpose_tile(rows.re + second, rows.bins_pitch, reinterpret_cast<float*>(tile[2]), kLanes);
        transpose_tile(rows.im + second, rows.bins_pitch, reinterpret_cast<float*>(tile[3]), kLanes);
        for (std::size_t k = 0; k < kLanes && first + k <= n / 2; ++k) {
            const std::size_t bin = first + k;
            if (bin != 0) x[n - bin] = {tile[0][k] + tile[3][k], tile[2][k] - tile[1][k]};
            x[bin] = {tile[0][k] - tile[3][k], tile[1][k] + tile[2][k]};
        }
    }
    ComplexLanes* f = fft(plan, Direction::inverse, x, work);
    for (std::size_t c = 0; c < n_columns; c += kLanes) {
        transpose_tile(floats(f + c), 2 * kLanes, rows.mesh + c, rows.pitch);
        transpose_tile(floats(f + c) + kLanes, 2 * kLanes, rows.mesh + kLanes * rows.pitch + c, rows.pitch);
    }
});

/// Sixteen columns of the transformed rows: transform, multiply by the kernel's transform, transform back.
const auto convolve_columns =
    each_level([](const Rows& rows, const FftPlan& plan, std::size_t n_rows, const float* spectrum, ComplexLanes* x,
                  ComplexLanes* work) GNOMON_INLINE_LAMBDA {
        for (std::size_t r = 0; r < n_rows; ++r) {
            x[r] = {simd::load(rows.re + r * rows.bins_pitch), simd::load(rows.im + r * rows.bins_pitch)};
        }
        for (std::size_t r = n_rows; r < plan.size(); ++r) x[r] = {f32{}, f32{}};
        ComplexLanes* f = fft(plan, Direction::forward, x, work);
        for (std::size_t r = 0; r < plan.size(); ++r) {
            const f32 factor = simd::load(spectrum + r * kLanes);
            f[r] = {factor * f[r].re, factor * f[r].im};
        }
        const ComplexLanes* result = fft(plan, Direction::inverse, f, f == x ? work : x);
        for (std::size_t r = 0; r < n_rows; ++r) {
            simd::store(rows.re + r * rows.bins_pitch, result[r].re);
            simd::store(rows.im + r * rows.bins_pitch, result[r].im);
        }
        // The rest of the last batch of rows holds what rounding left there; unlike the used rows it has not been
        // scaled by the kernel, and would swamp them on the way back, where rows share complex numbers.
        for (std::size_t r = n_rows; r < round_up(n_rows, kRowsPerBatch); ++r) {
            simd::store(rows.re + r * rows.bins_pitch, f32{});
            simd::store(rows.im + r * rows.bins_pitch, f32{});
        }
    });

/// Sixteen columns of the kernel's transform; an even kernel has a real one.
const auto transform_kernel_columns = each_level([](const Rows& rows, const FftPlan& plan, ComplexLanes* x,
                                                    ComplexLanes* work, float* spectrum) GNOMON_INLINE_LAMBDA {
    for (std::size_t r = 0; r < plan.size(); ++r) {
        x[r] = {simd::load(rows.re + r * rows.bins_pitch), simd::load(rows.im + r * rows.bins_pitch)};
    }
    const ComplexLanes* f = fft(plan, Direction::forward, x, work);
    for (std::size_t r = 0; r < plan.size(); ++r) simd::store(spectrum + r * kLanes, f[r].re);
});

/// Squared transform of the spline at bin k of n; an axis of one node has no spline.
double spline_transform_squared(std::size_t k, std::size_t n) {
    if (n == 1) return 1.0;
    const double cosine = root_of_unity(k, n)[0];
    const double transform = (64.0 + cosine * (52.0 + 4.0 * cosine)) / 120.0;  // 66 + 52 cos x + 2 cos 2x
    return transform * transform;
}

}  // namespace

void MeshConvolution::Room::resize(std::size_t size) {
    if (size <= capacity_) return;
    numbers_.reset();
    numbers_.reset(new float[size]);
    capacity_ = size;
}

bool MeshConvolution::resize(MeshAxis columns, MeshAxis rows, std::size_t layers) {
    const bool same =
        work_.get() != nullptr && layers == layers_ && columns.nodes == columns_.nodes && rows.nodes == rows_.nodes;
    layers_ = layers;
    columns_ = columns;
    rows_ = rows;
    if (same) {
        take_room();
        return false;
    }
    row_plan_ = FftPlan(columns.nodes);
    column_plan_ = FftPlan(rows.nodes);
    pitch_ = safe_pitch(columns.nodes);
    bins_pitch_ = safe_pitch(columns.nodes / 2 + 1);
    take_room();
    spectrum_.resize(rows.nodes * bins_pitch_);
    scratch_.clear();
    return true;
}

std::size_t MeshConvolution::rows_to_set() const { return round_up(rows_.used, kRowsPerBatch); }

std::size_t MeshConvolution::half() const { return round_up(std::max(columns_.nodes, rows_.nodes), kLanes); }

ComplexLanes* MeshConvolution::scratch(std::size_t worker) {
    scratch_[worker].resize(2 * half());
    return scratch_[worker].data();
}

void MeshConvolution::take_room() {
    const std::size_t held = layers_ * layer_size() + rows_to_set() * 2 * bins_pitch_;
    work_.resize(std::max(held, 2 * round_up(rows_.nodes, kRowsPerBatch) * bins_pitch_));
}

void MeshConvolution::set_kernel(const std::function<void(std::size_t, float*)>& write_row, const Context& context) {
    const auto n_workers = static_cast<std::size_t>(std::max(context.n_threads, 1));
    scratch_.resize(std::max(scratch_.size(), n_workers));
    std::vector<std::vector<float>> written(n_workers);
    float *re = work_.get(), *im = re + round_up(rows_.nodes, kRowsPerBatch) * bins_pitch_;
    parallel_blocks(rows_.nodes, kRowsPerBatch, context, [&](std::size_t first, std::size_t end, std::size_t worker) {
        written[worker].assign(kRowsPerBatch * pitch_, 0.0F);
        for (std::size_t r = first; r < end; ++r) write_row(r, written[worker].data() + (r - first) * pitch_);
        ComplexLanes* buffer = scratch(worker);
        const Rows rows{written[worker].data(), pitch_, re + first * bins_pitch_, im + first * bins_pitch_,
                        bins_pitch_};
        transform_rows(rows, row_plan_, columns_.nodes, buffer, buffer + half());
    });
    const std::size_t n = rows_.nodes;
    const double size = static_cast<double>(columns_.nodes) * static_cast<double>(n);
    parallel_for(bins_pitch_ / kLanes, context, [&](std::size_t tile, std::size_t worker) {
        ComplexLanes* buffer = scratch(worker);
        const Rows rows{nullptr, 0, re + tile * kLanes, im + tile * kLanes, bins_pitch_};
        float* spectrum = spectrum_.get() + tile * n * kLanes;
        transform_kernel_columns(rows, column_plan_, buffer, buffer + half(), spectrum);
        double across[kLanes];
        for (std::size_t l = 0; l < kLanes; ++l)
            across[l] = spline_transform_squared(tile * kLanes + l, columns_.nodes);
        for (std::size_t r = 0; r < n; ++r) {
            const double down = spline_transform_squared(r, n) * size;
            for (std::size_t l = 0; l < kLanes; ++l) {
                float& value = spectrum[r * kLanes + l];
                value = static_cast<float>(static_cast<double>(value) / (down * across[l]));
            }
        }
    });
}

void MeshConvolution::convolve(const Context& context) {
    scratch_.resize(std::max<std::size_t>(scratch_.size(), static_cast<std::size_t>(std::max(context.n_threads, 1))));
    float *re = row(0, layers_), *im = re + rows_to_set() * bins_pitch_;
    for (std::size_t layer = 0; layer < layers_; ++layer) {
        const auto batch = [&](std::size_t first) {
            return Rows{row(first, layer), pitch_, re + first * bins_pitch_, im + first * bins_pitch_, bins_pitch_};
        };
        parallel_blocks(rows_.used, kRowsPerBatch, context, [&](std::size_t first, std::size_t, std::size_t worker) {
            ComplexLanes* buffer = scratch(worker);
            transform_rows(batch(first), row_plan_, columns_.used, buffer, buffer + half());
        });
        parallel_for((columns_.nodes / 2) / kLanes + 1, context, [&](std::size_t tile, std::size_t worker) {
            ComplexLanes* buffer = scratch(worker);
            const Rows rows{nullptr, 0, re + tile * kLanes, im + tile * kLanes, bins_pitch_};
            convolve_columns(rows, column_plan_, rows_.used, spectrum_.get() + tile * rows_.nodes * kLanes, buffer,
                             buffer + half());
        });
        parallel_blocks(rows_.used, kRowsPerBatch, context, [&](std::size_t first, std::size_t, std::size_t worker) {
            ComplexLanes* buffer = scratch(worker);
            restore_rows(batch(first), row_plan_, columns_.used, buffer, buffer + half());
        });
    }
}

}  // namespace gnomon
