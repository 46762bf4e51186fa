// Reconstruction weights of points whose weights are known in closed form, for any number of threads.
#include <vector>

#include "check.hpp"
#include "gnomon/reconstruction.hpp"

using namespace gnomon;

// A point inside a triangle, its corners, and a point that lies on two others.
static const std::vector<double> kPoints{0, 0, 1, 0, -1, 1, -1, -1, 5, 5, 5, 5, 5, 5};

static std::vector<double> weights_of(const std::vector<std::int32_t>& indices, const std::vector<float>& present,
                                      bool non_negative, int n_threads) {
    const std::size_t n = kPoints.size() / 2, k = indices.size() / n;
    std::vector<double> weights(indices.size(), -1.0);
    reconstruction_weights(Span2<const double>(kPoints.data(), n, 2), {indices.data(), n, k}, {present.data(), n, k},
                           {1e-9, non_negative}, {weights.data(), n, k}, {n_threads});
    return weights;
}

int main() {
    const std::vector<std::int32_t> indices{1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2, 5, 6, 0, 4, 6, 0, 4, 5, 0};
    std::vector<float> present(indices.size(), 1.0F);
    present[14] = present[17] = present[20] = 0.0F;  // the last three see each other only
    for (const bool non_negative : {false, true}) {
        const std::vector<double> w = weights_of(indices, present, non_negative, 1);
        CHECK_CLOSE(w[0], 0.5, 1e-7);
        CHECK_CLOSE(w[1], 0.25, 1e-7);
        CHECK_CLOSE(w[2], 0.25, 1e-7);
        for (std::size_t i = 0; i < 7; ++i) CHECK_CLOSE(w[3 * i] + w[3 * i + 1] + w[3 * i + 2], 1.0, 1e-14);
        CHECK(w[12] == 0.5 && w[13] == 0.5 && w[14] == 0.0);
        for (const int n_threads : {2, 3, 5}) CHECK(weights_of(indices, present, non_negative, n_threads) == w);
    }
    const std::vector<double> corner = weights_of(indices, present, true, 1);
    CHECK_CLOSE(corner[3], 1.0, 1e-7);  // the nearest point of the hull of the others is the inner point
    CHECK(corner[4] >= 0.0 && corner[5] >= 0.0);
    return failures != 0;
}
