#include "gnomon/spectral.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "gnomon/allocation.hpp"
#include "gnomon/block_vectors.hpp"
#include "gnomon/coarsening.hpp"
#include "gnomon/random.hpp"
#include "gnomon/small_eigen.hpp"

namespace gnomon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRows = 1024;     // of a chunk
constexpr std::size_t kCoarsest = 300;  // graphs this small are not made smaller
constexpr std::size_t kMaxLevels = 14;
constexpr std::size_t kScattered = 1 << 17;  // rows of vectors from which on no near cache holds those of a product
constexpr double kWorthwhile = 0.8;          // coarsening stops where it keeps a larger share of the nodes
constexpr std::uint64_t kStream = 103;
constexpr int kDegree = 20;
constexpr int kFirstDegree = 8;  // prolonged vectors are rough, and rough errors are damped soon
constexpr int kCoarsestProducts = 1000, kPassingProducts = 60;
constexpr double kRounding = 5e-6;  // residuals in float do not fall further
constexpr double kDampedAtLeast = 0.2;
constexpr double kArcoshOfGain = 4.0940;  // arcosh 30
// How much one vector may grow beside another before they are parted again: what rounding mixes in, 1e-7, then stays
// small.
constexpr double kMaxGrowth = 1e4;

/// The symmetric matrix M = D^-1/2 A D^-1/2 of one level and its trivial eigenvector, sqrt(degree) at unit length.
struct Level {
    Level(CsrMatrix affinities, const Context& context) : matrix(std::move(affinities)) {
        const std::size_t n = matrix.rows();
        roots.resize(n);
        trivial.resize(n);
        parallel_blocks(n, kRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            for (std::size_t i = begin; i < end; ++i) {
                double degree = 0.0;
                for (std::int64_t e = matrix.offsets[i]; e < matrix.offsets[i + 1]; ++e) degree += matrix.values[e];
                roots[i] = static_cast<float>(std::sqrt(degree));
            }
        });
        parallel_blocks(n, kRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            for (std::size_t i = begin; i < end; ++i) {
                for (std::int64_t e = matrix.offsets[i]; e < matrix.offsets[i + 1]; ++e) {
                    const float scale = roots[i] * roots[matrix.columns[e]];
                    matrix.values[e] = scale > 0.0F ? matrix.values[e] / scale : 0.0F;
                }
            }
        });
        double total = 0.0;
        for (const float root : roots) total += static_cast<double>(root) * root;
        const double norm = std::sqrt(std::max(total, 1e-300));
        parallel_blocks(n, kRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
            for (std::size_t i = begin; i < end; ++i) trivial[i] = static_cast<float>(roots[i] / norm);
        });
    }

    CsrMatrix matrix;
    std::vector<float> roots;
    std::vector<float> trivial;
};

/// Rounds of Rayleigh-Ritz and Chebyshev filtering on one level.
class Iteration {
public:
    Iteration(const Level& level, std::size_t width, const Context& context)
        : level_(level), context_(context), n_(level.roots.size()), width_(width), y_(n_ * width), z_(n_ * width) {}

    struct Limits {
        std::size_t n_wanted;
        double tolerance;
        double turn;
        int max_products;
        int first_degree, degree;
        Clock::time_point deadline;
    };

    SpectralOutcome run(Span2<float> x, const Limits& limits) {
        SpectralOutcome outcome;
        while (true) {
            rayleigh_ritz(x);
            if (!before_.empty()) outcome.turn = turned(x, limits.n_wanted);
            outcome.converged = worst_residual(limits.n_wanted) < limits.tolerance || outcome.turn < limits.turn;
            ++outcome.n_products;
            if (outcome.converged || outcome.n_products >= limits.max_products) break;
            outcome.out_of_time = Clock::now() > limits.deadline;
            if (outcome.out_of_time) break;
            const int degree = before_.empty() ? limits.first_degree : limits.degree;
            if (limits.turn > 0.0) before_.assign(x.data(), x.data() + x.size());
            outcome.n_products += filter(x, limits.n_wanted, degree);
        }
        return outcome;
    }

    std::vector<double> eigenvalues, residuals;

private:
    Span2<float> y() { return {y_.data(), n_, width_}; }
    Span2<float> z() { return {z_.data(), n_, width_}; }

    /// Turns x to the best approximations of eigenvectors that its span holds.
    void rayleigh_ritz(Span2<float> x) {
        remove_direction(x, level_.trivial, context_);
        orthonormalize(x, context_);
        multiply(level_.matrix.view(), x, {}, {1.0F, 0.0F, 0.0F}, y(), context_);
        std::vector<double> projected = inner_products(x, y(), context_);
        for (std::size_t i = 0; i < width_; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                double& upper = projected[j * width_ + i];
                upper = 0.5 * (upper + projected[i * width_ + j]);
            }
        }
        const SmallEigen ritz = small_eigen(projected, width_);
        rotate_columns(x, ritz.vectors, context_);
        rotate_columns(y(), ritz.vectors, context_);
        eigenvalues = ritz.values;
        residuals = residual_norms(x, y(), eigenvalues, context_);
    }

    /// Sine of the largest angle between the spans of the first columns before a filter and after it.
    double turned(Span2<float> x, std::size_t n_wanted) const {
        const std::vector<double> products = inner_products({before_.data(), n_, width_}, x, context_);
        std::vector<double> squares(n_wanted * n_wanted);  // of the cosines: C C', C the products of the first columns
        for (std::size_t i = 0; i < n_wanted; ++i) {
            for (std::size_t j = 0; j < n_wanted; ++j) {
                for (std::size_t c = 0; c < n_wanted; ++c) {
                    squares[i * n_wanted + j] += products[i * width_ + c] * products[j * width_ + c];
                }
            }
        }
        return std::sqrt(std::max(0.0, 1.0 - small_eigen(squares, n_wanted).values.back()));
    }

    double worst_residual(std::size_t n_wanted) const {
        const double gap = std::max(1.0 - eigenvalues[n_wanted - 1], 0.0);
        double worst = 0.0;
        for (std::size_t j = 0; j < n_wanted; ++j) {
            if (residuals[j] > kRounding) worst = std::max(worst, residuals[j] / std::max(gap, kRounding));
        }
        return worst;
    }

    /// x <- T_degree((M - centre) / half) x, scaled to stay of order 1 at the eigenvalue 1: grows what lies above `cut`
    /// against what lies in [-1, cut]. Returns the degree, which is less than `max_degree` where the first vector would
    /// outgrow the others.
    int filter(Span2<float> x, std::size_t n_wanted, int max_degree) {
        const double cut = damped_up_to(n_wanted, max_degree);
        const double centre = (cut - 1.0) / 2.0, half = (cut + 1.0) / 2.0;
        const int degree = std::min(max_degree, steps_of_growth((eigenvalues[0] - centre) / half, max_degree));
        const int between = steps_of_growth((1.0 - centre) / half, max_degree);
        const double first = half / (1.0 - centre);
        double sigma = first;
        Span2<float> previous = x, present = y(), next = z();
        multiply(level_.matrix.view(), previous, {}, factors(sigma / half, -centre * sigma / half, 0.0), present,
                 context_);
        for (int k = 2; k <= degree; ++k) {
            if (k % between == 0) {  // the trivial vector, present by rounding alone, grows fastest
                remove_direction(previous, level_.trivial, context_);
                remove_direction(present, level_.trivial, context_);
            }
            const double scale = 1.0 / (2.0 / first - sigma);
            const Recurrence step = factors(2.0 * scale / half, -2.0 * centre * scale / half, -sigma * scale);
            multiply(level_.matrix.view(), present, previous, step, next, context_);
            std::swap(previous, present);
            std::swap(present, next);
            sigma = scale;
        }
        if (present.data() != x.data()) std::copy(present.data(), present.data() + present.size(), x.data());
        return degree;
    }

    /// The last Ritz value; less where the wanted vectors would then gain less than a factor of 30. Eigenvalues that
    /// crowd at 1 cannot be parted by so low a degree, but the rough error of prolonged vectors can be damped.
    double damped_up_to(std::size_t n_wanted, int degree) const {
        const double angle = kArcoshOfGain / degree, z = 1.0 + 0.5 * angle * angle;
        const double gaining = (2.0 * eigenvalues[n_wanted - 1] + 1.0 - z) / (1.0 + z);
        return std::max(std::min(eigenvalues[width_ - 1], gaining), kDampedAtLeast);
    }

    /// The number of steps, from 2 to `most`, in which T_k(z) grows to kMaxGrowth.
    static int steps_of_growth(double z, int most) {
        const double factor = z > 1.0 ? z + std::sqrt(z * z - 1.0) : 1.0;
        int steps = 2;
        for (double growth = factor * factor * factor; growth < kMaxGrowth && steps < most; growth *= factor) ++steps;
        return steps;
    }

    static Recurrence factors(double product, double same, double previous) {
        return {static_cast<float>(product), static_cast<float>(same), static_cast<float>(previous)};
    }

    const Level& level_;
    const Context& context_;
    std::size_t n_, width_;
    LineVector<float> y_, z_;
    std::vector<float> before_;
};

std::vector<Coarsening> coarse_graphs(const CsrView<float>& affinities, std::size_t width, const Context& context) {
    std::vector<Coarsening> chain;
    CsrView<float> graph = affinities;
    while (graph.rows() > kCoarsest && chain.size() + 1 < kMaxLevels) {
        Coarsening next = coarsen(graph, context);
        const auto n = static_cast<double>(next.graph.rows());
        if (n > kWorthwhile * static_cast<double>(graph.rows()) || next.graph.rows() < 8 * width) break;
        chain.push_back(std::move(next));
        graph = chain.back().graph.view();
    }
    return chain;
}

/// Values of the coarse vectors at the nodes of the fine graph; the trivial vector becomes the trivial vector.
LineVector<float> prolong(const LineVector<float>& x, std::size_t width, const Level& coarse, const Level& fine,
                          const std::vector<std::int32_t>& aggregate, const Context& context) {
    LineVector<float> result(fine.roots.size() * width);
    parallel_blocks(fine.roots.size(), kRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto a = static_cast<std::size_t>(aggregate[i]);
            const float scale = coarse.roots[a] > 0.0F ? fine.roots[i] / coarse.roots[a] : 0.0F;
            for (std::size_t j = 0; j < width; ++j) result[i * width + j] = x[a * width + j] * scale;
        }
    });
    return result;
}

/// The node of each row of the vectors on the finest level.
std::vector<std::int32_t> order_of_nodes(std::size_t n, const std::vector<Coarsening>& chain) {
    if (n >= kScattered && !chain.empty()) return nested_order(chain);
    std::vector<std::int32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

std::vector<std::int32_t> gathered(const std::vector<std::int32_t>& values, const std::vector<std::int32_t>& places) {
    std::vector<std::int32_t> result(places.size());
    std::transform(places.begin(), places.end(), result.begin(), [&](std::int32_t place) { return values[place]; });
    return result;
}

}  // namespace

SpectralOutcome spectral_vectors(const CsrView<float>& affinities, const SpectralOptions& options, Span2<float> vectors,
                                 std::span<double> eigenvalues, std::span<double> residuals, const Context& context) {
    const std::size_t width = vectors.cols();
    const auto deadline =
        options.seconds < 1e9
            ? Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds))
            : Clock::time_point::max();
    std::vector<Coarsening> chain = coarse_graphs(affinities, width, context);
    const std::vector<std::int32_t> order = order_of_nodes(affinities.rows(), chain);
    std::vector<Level> levels;
    levels.reserve(chain.size() + 1);
    levels.emplace_back(reordered(affinities, order, context), context);
    for (Coarsening& step : chain) levels.emplace_back(std::move(step.graph), context);
    if (!chain.empty()) chain.front().aggregate = gathered(chain.front().aggregate, order);

    LineVector<float> x(levels.back().roots.size() * width);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = unit_float(draw(options.seed, kStream, k)) - 0.5F;
    SpectralOutcome outcome;
    for (std::size_t l = levels.size(); l-- > 0;) {
        const bool coarsest = l + 1 == levels.size(), finest = l == 0;
        if (!coarsest) x = prolong(x, width, levels[l + 1], levels[l], chain[l].aggregate, context);
        Iteration iteration(levels[l], width, context);
        // The coarsest graph starts from nothing; those between only pass on what the finest one will correct.
        const int products = finest ? options.max_products : coarsest ? kCoarsestProducts : kPassingProducts;
        const int degree = coarsest ? 2 * kDegree : kDegree,
                  first = options.turn > 0.0 && finest ? kFirstDegree : degree;
        const double turn = coarsest ? 0.0 : options.turn;
        outcome = iteration.run({x.data(), levels[l].roots.size(), width},
                                {options.n_wanted, options.tolerance, turn, products, first, degree, deadline});
        if (finest) {
            std::copy(iteration.eigenvalues.begin(), iteration.eigenvalues.end(), eigenvalues.begin());
            std::copy(iteration.residuals.begin(), iteration.residuals.end(), residuals.begin());
        }
    }
    parallel_blocks(order.size(), kRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t t = begin; t < end; ++t)
            std::copy_n(&x[t * width], width, vectors.row(static_cast<std::size_t>(order[t])));
    });
    outcome.n_levels = static_cast<int>(levels.size());
    return outcome;
}

}  // namespace gnomon
