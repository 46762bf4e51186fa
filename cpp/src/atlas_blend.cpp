#include "atlas_blend.hpp"

#include <algorithm>
#include <cmath>

#include "gnomon/elementary.hpp"

namespace gnomon::detail {
namespace {

constexpr double kSamePlace = 1e-24;  // of the next squared distance: the blend there differs by less than rounding
constexpr double kLeast = 1e-300;

// 0 below 0, 1 above 1, with two continuous derivatives.
double step(double t) {
    if (t <= 0) return 0;
    if (t >= 1) return 1;
    return t * t * t * (10 + t * (6 * t - 15));
}

double step_slope(double t) {
    if (t <= 0 || t >= 1) return 0;
    return 30 * t * t * (1 - t) * (1 - t);
}

double occupied(const std::vector<double>& logs, double log_rho, double softness) {
    double sum = 0;
    for (const double l : logs) sum += step((log_rho - l) / softness);
    return sum;
}

}  // namespace

void Blend::weigh(const std::vector<double>& squared, bool others, const BlendParams& params) {
    at.clear(), weight.clear(), slope.clear(), pull.clear();
    const std::size_t n = squared.size();
    std::size_t nearest = 0;
    last = 0;
    for (std::size_t j = 1; j < n; ++j) {
        if (squared[j] < squared[nearest]) nearest = j;
        if (squared[j] > squared[last]) last = j;
    }
    double second = squared[last];
    for (std::size_t j = 0; j < n; ++j)
        if (j != nearest) second = std::min(second, squared[j]);
    exact = params.power >= 1 && (n == 1 || squared[nearest] <= kSamePlace * second) && second > 0;
    if (n == 1) exact = true;
    logs.resize(n);
    for (std::size_t j = 0; j < n; ++j) logs[j] = exact_log(std::max(squared[j], kLeast));
    const double farthest = exact_log(std::max(squared[last], kLeast));
    double log_rho = farthest;
    truncated = others && occupied(logs, farthest, params.softness) < params.count;
    if (!truncated) {
        double low = exact_log(std::max(squared[nearest], kLeast)), high = farthest + params.softness;
        for (int round = 0; round < 200 && low < high; ++round) {
            const double middle = 0.5 * (low + high);
            if (middle <= low || middle >= high) break;
            (occupied(logs, middle, params.softness) < params.count ? low : high) = middle;
        }
        log_rho = high;
    }
    const double s0 = std::max(squared[nearest], kLeast);
    double total = 0;
    for (std::size_t j = 0; j < n; ++j) {
        const double s = std::max(squared[j], kLeast);
        const double t = (log_rho - exact_log(s)) / params.softness;
        if (!(t > 0)) continue;
        const double factor = params.power > 0 ? exact_pow(s0 / s, params.power) : 1.0;
        at.push_back(j);
        weight.push_back(step(t) * factor);
        slope.push_back(step_slope(t) / params.softness * factor);
        pull.push_back(step_slope(t));
        total += step_slope(t);
    }
    for (double& p : pull) p = truncated || !(total > 0) ? 0 : p / total;
    if (exact) truncated = false;
    if (at.empty() || exact) {  // all candidates at one distance and others beyond: the nearest stands for them
        at.assign(1, nearest);
        weight.assign(1, 1.0);
        slope.assign(1, 0.0);
        pull.assign(1, 0.0);
    }
}

}  // namespace gnomon::detail
