#include "gnomon/adam.hpp"

#include <cmath>
#include <vector>

namespace gnomon {
namespace {

constexpr std::size_t kRowsPerChunk = 2048;

/// Moves count coordinates; squares: sums of the squared gradient and step.
template <class T>
const auto move_rows = each_level([](T* y, const T* gradient, T* first, T* second, std::size_t count,
                                     const AdamRates<T>& rates, double* squares) GNOMON_INLINE_LAMBDA {
    for (std::size_t i = 0; i < count; ++i) {
        const T g = gradient[i], step = adam_move(rates, -g, first[i], second[i]);
        y[i] += step;
        squares[0] += static_cast<double>(g) * static_cast<double>(g);
        squares[1] += static_cast<double>(step) * static_cast<double>(step);
    }
});

}  // namespace

template <class T>
StepReport adam_step(Span2<T> Y, Span2<const T> gradient, Span2<T> first_moment, Span2<T> second_moment,
                     const AdamParameters& p, std::int64_t iteration, const Context& context) {
    const std::size_t n = Y.rows(), d = Y.cols(), chunks = (n + kRowsPerChunk - 1) / kRowsPerChunk;
    const double correction1 = 1.0 - whole_power(p.decay1, iteration + 1);
    const double correction2 = std::sqrt(1.0 - whole_power(p.decay2, iteration + 1));
    const AdamRates<T> rates{static_cast<T>(p.learning_rate * correction2 / correction1),
                             static_cast<T>(1.0 - p.decay1), static_cast<T>(1.0 - p.decay2),
                             static_cast<T>(p.epsilon * correction2)};
    std::vector<double> squares(2 * chunks);
    parallel_blocks(n, kRowsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        move_rows<T>(Y.row(begin), gradient.row(begin), first_moment.row(begin), second_moment.row(begin),
                     (end - begin) * d, rates, squares.data() + 2 * (begin / kRowsPerChunk));
    });
    StepReport report{0, 0};
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        report.gradient_norm += squares[2 * chunk];
        report.step_norm += squares[2 * chunk + 1];
    }
    return {std::sqrt(report.gradient_norm), std::sqrt(report.step_norm)};
}

template StepReport adam_step(Span2<float>, Span2<const float>, Span2<float>, Span2<float>, const AdamParameters&,
                              std::int64_t, const Context&);
template StepReport adam_step(Span2<double>, Span2<const double>, Span2<double>, Span2<double>, const AdamParameters&,
                              std::int64_t, const Context&);

}  // namespace gnomon
