#ifndef GNOMON_LEVEL
#define GNOMON_FILE "src/front_factor.cpp"
#include "gnomon/front_factor.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "gnomon/panel_lanes.hpp"
#include "gnomon/wide_lanes.hpp"

namespace gnomon {
namespace {

constexpr double kThreadsFrom = 1e6;  // multiplications that are worth waking threads for
constexpr int kVectorsTogether = 2;   // of right-hand sides whose sums stay in registers
constexpr std::size_t kLanes = 8;     // right-hand sides in a vector
constexpr std::size_t kAcross = 64;   // right-hand sides for which the factor is read once

/// A front of the factor, its rows in panels.
struct PanelledFront {
    const double* panels;
    std::size_t n_rows, n_pivots;

    std::size_t n_panels() const { return panels_of(n_rows); }
    const double* panel(std::size_t i) const { return panels + i * n_pivots * kPanel; }
};

}  // namespace
}  // namespace gnomon

#include "gnomon/each_level.hpp"

namespace gnomon {
namespace {

GNOMON_CHOOSE_FOR(class, add_panels);
GNOMON_CHOOSE(factor_corner);
GNOMON_CHOOSE(solve_block);
GNOMON_CHOOSE_FOR(int, solve_forward);
GNOMON_CHOOSE_FOR(int, solve_backward);

std::unique_ptr<double[]> zeros(std::size_t count) { return std::make_unique<double[]>(count); }

}  // namespace

std::size_t Fronts::row_of(std::size_t f, std::int32_t place) const {
    if (place < starts[f + 1]) return static_cast<std::size_t>(place - starts[f]);
    const auto later = below(f);
    return n_pivots(f) + static_cast<std::size_t>(std::lower_bound(later.begin(), later.end(), place) - later.begin());
}

FrontFactor::FrontFactor(Fronts fronts, FrontEntries entries, double shift)
    : fronts_(std::move(fronts)),
      entries_(std::move(entries)),
      shift_(shift),
      children_(fronts_.count()),
      factors_(fronts_.count()),
      rests_(fronts_.count()) {
    for (std::size_t f = 0; f < fronts_.count(); ++f) {
        if (fronts_.parents[f] >= 0) children_[static_cast<std::size_t>(fronts_.parents[f])].push_back(f);
    }
}

FrontFactor::~FrontFactor() = default;

bool FrontFactor::advance(double n_operations, const Context& context) {
    for (double done = 0.0; front_ < fronts_.count() && done < n_operations;) {
        if (column_ == 0) assemble();
        const auto before = static_cast<double>(column_), height = static_cast<double>(rows(front_));
        if (!eliminate_block(context)) return false;
        done += (static_cast<double>(column_) - before) * (before + 1.0) * height;
        if (column_ < fronts_.n_pivots(front_)) continue;
        pass_on(context);
        const auto left = static_cast<double>(fronts_.below(front_).size());
        done += static_cast<double>(column_) * left * left;
        ++front_;
        column_ = 0;
    }
    return true;
}

/// Puts the front together: the entries of its columns and what its children left.
void FrontFactor::assemble() {
    const std::size_t f = front_, p = fronts_.n_pivots(f), q = fronts_.below(f).size();
    factors_[f] = zeros(panels_of(p + q) * p * kPanel);
    if (q > 0) rests_[f] = zeros(q * q);
    double *factor = factors_[f].get(), *rest = rests_[f].get();
    const auto at = [&](std::size_t i, std::size_t k) -> double& {
        return factor[(i / kPanel * p + k) * kPanel + i % kPanel];
    };
    for (auto e = static_cast<std::size_t>(entries_.ranges[f]); e < static_cast<std::size_t>(entries_.ranges[f + 1]);
         ++e)
        at(static_cast<std::size_t>(entries_.rows[e]), static_cast<std::size_t>(entries_.columns[e])) =
            entries_.values[e];
    for (std::size_t k = 0; k < p; ++k) at(k, k) += shift_;
    std::vector<std::size_t> local;
    for (const std::size_t child : children_[f]) {
        const auto places = fronts_.below(child);
        const std::size_t m = places.size();
        local.resize(m);
        for (std::size_t j = 0; j < m; ++j) local[j] = fronts_.row_of(f, places[j]);
        for (std::size_t j = 0; j < m; ++j) {
            const double* from = rests_[child].get() + j * m;
            if (local[j] < p) {
                for (std::size_t i = j; i < m; ++i) at(local[i], local[j]) += from[i];
            } else {
                double* to = rest + (local[j] - p) * q;
                for (std::size_t i = j; i < m; ++i) to[local[i] - p] += from[i];
            }
        }
        rests_[child].reset();
    }
}

/// Finds the next columns of the factor, up to 32 of them, from those before.
bool FrontFactor::eliminate_block(const Context& given) {
    const std::size_t p = fronts_.n_pivots(front_), first = column_, width = std::min(kPanel, p - first);
    const std::size_t corner = first / kPanel, n_panels = panels_of(rows(front_));
    double* factor = factors_[front_].get();
    const auto panel = [&](std::size_t i) { return factor + i * p * kPanel; };
    double reciprocals[kPanel], sums[kPanel * kPanel] = {};
    add_panels<double>(panel(corner), panel(corner), first, sums);
    if (!factor_corner(panel(corner) + first * kPanel, sums, width, reciprocals)) return false;
    const double n_products = static_cast<double>(n_panels - corner) * kPanel * kPanel * static_cast<double>(first);
    const Context context = given.for_work(n_products, kThreadsFrom);
    parallel_for(n_panels - corner - 1, context, [&](std::size_t chunk, std::size_t) {
        double* own = panel(corner + 1 + chunk);
        double products[kPanel * kPanel] = {};
        if (first > 0) add_panels<double>(panel(corner), own, first, products);
        solve_block(panel(corner) + first * kPanel, reciprocals, products, width, own + first * kPanel);
    });
    column_ += width;
    return true;
}

/// Takes what the front eliminated off what it leaves to its parent.
void FrontFactor::pass_on(const Context& given) {
    const std::size_t p = fronts_.n_pivots(front_), q = fronts_.below(front_).size();
    if (q == 0) return;
    const std::size_t begin = p / kPanel, end = panels_of(p + q);
    const double* factor = factors_[front_].get();
    double* rest = rests_[front_].get();
    const double n_products = static_cast<double>(q) * static_cast<double>(q) * static_cast<double>(p);
    const Context context = given.for_work(n_products, kThreadsFrom);
    parallel_for(end - begin, context, [&](std::size_t chunk, std::size_t) {
        const std::size_t b = end - 1 - chunk;  // of the panels from this one on: the longest work comes last
        double sums[kPanel * kPanel];
        for (std::size_t i = b; i < end; ++i) {
            std::fill_n(sums, kPanel * kPanel, 0.0);
            add_panels<double>(factor + b * p * kPanel, factor + i * p * kPanel, p, sums);
            const std::size_t low = std::max(i * kPanel, p), high = std::min((i + 1) * kPanel, p + q);
            for (std::size_t column = std::max(b * kPanel, p); column < std::min((b + 1) * kPanel, p + q); ++column) {
                double* to = rest + (column - p) * q;
                const double* from = sums + column % kPanel * kPanel;
                for (std::size_t row = low; row < high; ++row) to[row - p] -= from[row % kPanel];
            }
        }
    });
}

void FrontFactor::solve(Span2<double> X, const Context& given) const {
    const std::size_t n = X.rows(), width = X.cols();
    const bool narrow = width <= kLanes;
    constexpr std::size_t step = kVectorsTogether * kLanes;
    const std::size_t across = narrow ? kLanes : std::min(kAcross, (width + step - 1) / step * step);
    std::size_t most = 0;
    double n_entries = 0.0;
    for (std::size_t f = 0; f < fronts_.count(); ++f) {
        most = std::max(most, panels_of(rows(f)) * kPanel);
        n_entries += static_cast<double>(rows(f) * fronts_.n_pivots(f));
    }
    const Context context = given.for_work(n_entries * static_cast<double>(width), kThreadsFrom);
    parallel_blocks(width, across, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::vector<double> all(n * across, 0.0), own(most * across);
        for (std::size_t i = 0; i < n; ++i) std::copy(X.row(i) + begin, X.row(i) + end, all.data() + i * across);
        const auto gather = [&](std::size_t f) {
            const std::size_t p = fronts_.n_pivots(f);
            double* to = std::copy_n(all.data() + fronts_.begin(f) * across, p * across, own.data());
            for (const std::int32_t place : fronts_.below(f))
                to = std::copy_n(all.data() + static_cast<std::size_t>(place) * across, across, to);
            std::fill(to, own.data() + panels_of(rows(f)) * kPanel * across, 0.0);
            return PanelledFront{factors_[f].get(), rows(f), p};
        };
        for (std::size_t f = 0; f < fronts_.count(); ++f) {
            const PanelledFront front = gather(f);
            narrow ? solve_forward<1>(front, own.data(), across)
                   : solve_forward<kVectorsTogether>(front, own.data(), across);
            const double* from = own.data();
            std::copy_n(from, front.n_pivots * across, all.data() + fronts_.begin(f) * across);
            from += front.n_pivots * across;
            for (const std::int32_t place : fronts_.below(f)) {
                std::copy_n(from, across, all.data() + static_cast<std::size_t>(place) * across);
                from += across;
            }
        }
        for (std::size_t f = fronts_.count(); f-- > 0;) {
            const PanelledFront front = gather(f);
            narrow ? solve_backward<1>(front, own.data(), across)
                   : solve_backward<kVectorsTogether>(front, own.data(), across);
            std::copy_n(own.data(), front.n_pivots * across, all.data() + fronts_.begin(f) * across);
        }
        for (std::size_t i = 0; i < n; ++i) std::copy_n(all.data() + i * across, end - begin, X.row(i) + begin);
    });
}

}  // namespace gnomon

#else
#include "gnomon/panel_lanes.hpp"
#include "gnomon/wide_lanes.hpp"

namespace gnomon::GNOMON_LEVEL {
namespace {

constexpr std::size_t kVectors = kPanel / 8;  // of a column of a panel
// Rows of the factor whose sums with two vectors of right-hand sides stay in registers.
#if GNOMON_VECTOR_BYTES == 64 || defined(__aarch64__)
constexpr std::size_t kRowsTogether = 8;
#else
constexpr std::size_t kRowsTogether = 4;
#endif

/// Takes the sums of column c off a column of a panel, and what the columns before it say: entry (c, t) of the factor
/// lies at corner[t * kPanel + c].
GNOMON_INLINE void reduce_column(const double* corner, const double* sums, std::size_t c, const double* panel,
                                 f64* column) {
    for (std::size_t v = 0; v < kVectors; ++v) {
        column[v] = simd::load_as<f64>(panel + c * kPanel + v * 8) - simd::load_as<f64>(sums + c * kPanel + v * 8);
    }
    for (std::size_t t = 0; t < c; ++t) {
        const double factor = corner[t * kPanel + c];
        for (std::size_t v = 0; v < kVectors; ++v) {
            column[v] -= simd::load_as<f64>(panel + t * kPanel + v * 8) * factor;
        }
    }
}

/// Factors `width` columns of the panel that holds their pivots, the first rows; writes what divides by these.
GNOMON_KERNEL bool factor_corner(double* panel, const double* sums, std::size_t width, double* reciprocals) {
    for (std::size_t c = 0; c < width; ++c) {
        f64 column[kVectors];
        reduce_column(panel, sums, c, panel, column);
        double* own = panel + c * kPanel;
        for (std::size_t v = 0; v < kVectors; ++v) simd::store(own + v * 8, column[v]);
        if (!(own[c] > 0.0)) return false;
        const double root = __builtin_sqrt(own[c]);
        reciprocals[c] = 1.0 / root;
        for (std::size_t r = 0; r < c; ++r) own[r] = 0.0;
        for (std::size_t r = c; r < kPanel; ++r) own[r] *= reciprocals[c];
        own[c] = root;
    }
    return true;
}

/// The same columns of another panel.
GNOMON_KERNEL void solve_block(const double* corner, const double* reciprocals, const double* sums, std::size_t width,
                               double* panel) {
    for (std::size_t c = 0; c < width; ++c) {
        f64 column[kVectors];
        reduce_column(corner, sums, c, panel, column);
        for (std::size_t v = 0; v < kVectors; ++v) simd::store(panel + c * kPanel + v * 8, column[v] * reciprocals[c]);
    }
}

/// Row `to` -= factor * row `from`, of some vectors of right-hand sides.
template <std::size_t Vectors>
GNOMON_INLINE void reduce_row(double factor, const double* from, double* to) {
    for (std::size_t v = 0; v < Vectors; ++v) {
        simd::store(to + v * 8, simd::load_as<f64>(to + v * 8) - simd::load_as<f64>(from + v * 8) * factor);
    }
}

template <std::size_t Vectors>
GNOMON_INLINE void divide_row(double pivot, double* row) {
    for (std::size_t v = 0; v < Vectors; ++v) simd::store(row + v * 8, simd::load_as<f64>(row + v * 8) / pivot);
}

/// Takes `depth` columns of the rows of a panel, times the rows that are solved, off kRowsTogether rows.
template <std::size_t Vectors>
GNOMON_INLINE void reduce_rows(const double* panel, std::size_t depth, const double* solved, double* rows,
                               std::size_t across) {
    f64 sums[kRowsTogether][Vectors] = {};
    for (std::size_t k = 0; k < depth; ++k) {
        for (std::size_t v = 0; v < Vectors; ++v) {
            const f64 x = simd::load_as<f64>(solved + k * across + v * 8);
            for (std::size_t r = 0; r < kRowsTogether; ++r) sums[r][v] += x * panel[k * kPanel + r];
        }
    }
    for (std::size_t r = 0; r < kRowsTogether; ++r) {
        for (std::size_t v = 0; v < Vectors; ++v) {
            double* to = rows + r * across + v * 8;
            simd::store(to, simd::load_as<f64>(to) - sums[r][v]);
        }
    }
}

/// L Y = B over one front: pivots' rows become Y, what lies below loses what they say.
template <int Vectors>
GNOMON_KERNEL void solve_forward(const PanelledFront& front, double* own, std::size_t across) {
    const std::size_t p = front.n_pivots;
    for (std::size_t i = 0; i < front.n_panels(); ++i) {
        const std::size_t first = i * kPanel, count = std::min(kPanel, front.n_rows - first);
        const double* panel = front.panel(i);
        double* rows = own + first * across;
        for (std::size_t k = 0; k < std::min(first, p); k += kDepth) {
            const std::size_t depth = std::min(kDepth, std::min(first, p) - k);
            for (std::size_t c = 0; c < across; c += Vectors * 8) {
                for (std::size_t r = 0; r < count; r += kRowsTogether) {
                    reduce_rows<Vectors>(panel + k * kPanel + r, depth, own + k * across + c, rows + r * across + c,
                                         across);
                }
            }
        }
        if (first >= p) continue;
        const std::size_t width = std::min(kPanel, p - first);
        for (std::size_t c = 0; c < across; c += Vectors * 8) {
            for (std::size_t t = 0; t < width; ++t) {
                const double* column = panel + (first + t) * kPanel;
                divide_row<Vectors>(column[t], rows + t * across + c);
                for (std::size_t r = t + 1; r < count; ++r)
                    reduce_row<Vectors>(column[r], rows + t * across + c, rows + r * across + c);
            }
        }
    }
}

/// Takes some columns of the factor, times the rows of panels [begin, end), off as many rows of pivots.
template <std::size_t Vectors, std::size_t Columns>
GNOMON_INLINE void reduce_pivots(const PanelledFront& front, std::size_t k, std::size_t begin, std::size_t end,
                                 double* own, std::size_t across) {
    f64 sums[Columns][Vectors] = {};
    for (std::size_t i = begin; i < end; ++i) {
        const double *panel = front.panel(i) + k * kPanel, *rows = own + i * kPanel * across;
        const std::size_t count = std::min(kPanel, front.n_rows - i * kPanel);
        for (std::size_t r = 0; r < count; ++r) {
            for (std::size_t v = 0; v < Vectors; ++v) {
                const f64 x = simd::load_as<f64>(rows + r * across + v * 8);
                for (std::size_t c = 0; c < Columns; ++c) sums[c][v] += x * panel[c * kPanel + r];
            }
        }
    }
    for (std::size_t c = 0; c < Columns; ++c) {
        for (std::size_t v = 0; v < Vectors; ++v) {
            double* to = own + (k + c) * across + v * 8;
            simd::store(to, simd::load_as<f64>(to) - sums[c][v]);
        }
    }
}

/// L' X = Y over one front, whose later rows are known.
template <int Vectors>
GNOMON_KERNEL void solve_backward(const PanelledFront& front, double* own, std::size_t across) {
    constexpr std::size_t kTogether = kDepth / kPanel;
    const std::size_t p = front.n_pivots;
    for (std::size_t block = (p + kPanel - 1) / kPanel; block-- > 0;) {
        const std::size_t first = block * kPanel, width = std::min(kPanel, p - first);
        for (std::size_t i = block + 1; i < front.n_panels(); i += kTogether) {
            const std::size_t end = std::min(i + kTogether, front.n_panels());
            for (std::size_t c = 0; c < across; c += Vectors * 8) {
                std::size_t k = first;
                for (; k + kRowsTogether <= first + width; k += kRowsTogether)
                    reduce_pivots<Vectors, kRowsTogether>(front, k, i, end, own + c, across);
                for (; k < first + width; ++k) reduce_pivots<Vectors, 1>(front, k, i, end, own + c, across);
            }
        }
        const double* panel = front.panel(block) + first * kPanel;
        const std::size_t count = std::min(kPanel, front.n_rows - first);
        for (std::size_t c = 0; c < across; c += Vectors * 8) {
            double* rows = own + first * across + c;
            for (std::size_t t = width; t-- > 0;) {
                const double* column = panel + t * kPanel;
                for (std::size_t r = t + 1; r < count; ++r)
                    reduce_row<Vectors>(column[r], rows + r * across, rows + t * across);
                divide_row<Vectors>(column[t], rows + t * across);
            }
        }
    }
}

}  // namespace
}  // namespace gnomon::GNOMON_LEVEL

#endif
