// Weights of charts by the distances of their points, and what follows from them; shared by both directions of a map.
#pragma once

#include <cstddef>
#include <vector>

#include "gnomon/atlas.hpp"

namespace gnomon::detail {

constexpr double kAgreement = 4.0;  // charts agree within about twice the scale of the map around them

/// The agreement of two predictions a squared distance of z scales apart.
inline double agreement(double z) { return 1 / ((1 + z) * (1 + z)); }

inline double distance2(const double* a, const double* b, std::size_t d) {
    double sum = 0;
    for (std::size_t c = 0; c < d; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

/// The charts that have weight at one place.
struct Blend {
    std::vector<std::size_t> at;  ///< their positions among the candidates
    std::vector<double> weight;   ///< w, the largest factor s^-power brought to 1
    std::vector<double> slope;    ///< S' s^-power / softness
    std::vector<double> pull;     ///< d log rho / d log s
    std::vector<double> logs;     ///< of the squared distances of all candidates
    std::size_t last = 0;         ///< position whose distance is rho where `truncated`
    bool exact = false;           ///< the place is a point: it alone counts
    bool truncated = false;

    /// squared: distances of the candidates; `others`: whether there are points beyond them.
    void weigh(const std::vector<double>& squared, bool others, const BlendParams& params);
};

}  // namespace gnomon::detail
