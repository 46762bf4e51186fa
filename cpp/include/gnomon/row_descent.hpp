// Descent of one point of a map by BFGS steps, each of which lowers the loss.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace gnomon {

/// Scratch space of one worker for points of d components.
struct RowDescent {
    explicit RowDescent(std::size_t components)
        : d(components),
          here(d),
          trial(d),
          gradient(d),
          next(d),
          step(d),
          moved(d),
          change(d),
          applied(d),
          inverse(d * d) {}

    /// Lowers loss(y, gradient) -> double from `here`; returns the loss at the end, where `here` is left. first: length
    /// of the first step in units of the gradient; max_iter steps at most, until one is no longer than tolerance.
    template <class Loss>
    double descend(Loss&& loss, double first, int max_iter, double tolerance) {
        double value = loss(here.data(), gradient.data());
        if (!std::isfinite(value)) return value;
        bool plain = true;
        reset(first);
        for (int iteration = 0; iteration < max_iter; ++iteration) {
            double slope = direction();
            if (!(slope < 0.0)) {
                if (plain) break;
                reset(first), plain = true;
                slope = direction();
            }
            double share = 1.0, found = value;
            bool lower = false;
            for (int halving = 0; halving < 24 && !lower; ++halving, share *= 0.5) {
                bool differs = false;
                for (std::size_t c = 0; c < d; ++c) {
                    trial[c] = static_cast<float>(static_cast<double>(here[c]) + share * step[c]);
                    differs = differs || trial[c] != here[c];
                }
                if (!differs) break;
                found = loss(trial.data(), next.data());
                lower = found <= value + 1e-4 * share * slope && found < value;
            }
            if (!lower) {
                if (plain) break;
                reset(first), plain = true;
                continue;
            }
            const double length = update();
            here = trial, gradient = next, value = found;
            plain = false;
            if (length <= tolerance) break;
        }
        return value;
    }

    std::size_t d;
    std::vector<float> here, trial;
    std::vector<double> gradient, next, step, moved, change, applied, inverse;

private:
    void reset(double first) {
        for (std::size_t k = 0; k < d * d; ++k) inverse[k] = k % (d + 1) == 0 ? first : 0.0;
    }

    /// Sets the step to minus the inverse Hessian times the gradient; returns its slope.
    double direction() {
        double slope = 0.0;
        for (std::size_t a = 0; a < d; ++a) {
            double sum = 0.0;
            for (std::size_t b = 0; b < d; ++b) sum -= inverse[a * d + b] * gradient[b];
            step[a] = sum;
            slope += sum * gradient[a];
        }
        return slope;
    }

    /// Updates the inverse Hessian by the step from `here` to `trial`; returns its length.
    double update() {
        double curvature = 0.0, squared = 0.0;
        for (std::size_t c = 0; c < d; ++c) {
            moved[c] = static_cast<double>(trial[c]) - static_cast<double>(here[c]);
            change[c] = next[c] - gradient[c];
            curvature += moved[c] * change[c];
            squared += moved[c] * moved[c];
        }
        if (!(curvature > 1e-12 * squared)) return std::sqrt(squared);
        double quadratic = 0.0;
        for (std::size_t a = 0; a < d; ++a) {
            double sum = 0.0;
            for (std::size_t b = 0; b < d; ++b) sum += inverse[a * d + b] * change[b];
            applied[a] = sum;
            quadratic += sum * change[a];
        }
        const double factor = (1.0 + quadratic / curvature) / curvature;
        for (std::size_t a = 0; a < d; ++a)
            for (std::size_t b = 0; b < d; ++b)
                inverse[a * d + b] +=
                    factor * moved[a] * moved[b] - (applied[a] * moved[b] + moved[a] * applied[b]) / curvature;
        return std::sqrt(squared);
    }
};

}  // namespace gnomon
