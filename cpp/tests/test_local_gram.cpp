// Inner products of displacements are the same for bytes, floats and sparse rows, block by block; a point's singular
// values and vectors do not depend on the points solved with it.
#include <random>
#include <vector>

#include "check.hpp"
#include "gnomon/local_gram.hpp"

using namespace gnomon;

static void products_agree_for_all_tables_and_widths() {
    constexpr std::size_t kRows = 9, kNeighbors = 7;
    std::mt19937 rng(0);
    for (const std::size_t width : {1U, 5U, 127U, 128U, 129U, 511U, 512U, 513U, 1030U}) {
        std::vector<std::uint8_t> bytes(kRows * width);
        for (auto& x : bytes) x = static_cast<std::uint8_t>(rng() % 256);
        const std::vector<float> floats(bytes.begin(), bytes.end());
        std::vector<std::int64_t> offsets{0};
        std::vector<std::int32_t> columns;
        for (std::size_t i = 0; i < kRows; ++i) {
            for (std::size_t f = 0; f < width; ++f) columns.push_back(static_cast<std::int32_t>(f));
            offsets.push_back(static_cast<std::int64_t>(columns.size()));
        }
        const std::vector<std::int32_t> neighbors{1, 2, 3, 4, 5, 6, 7};
        const std::vector<float> weights{1, 1, 0, 2, 1, 1, 1};  // the third takes no part
        const RowSource sources[] = {Span2<const std::uint8_t>(bytes.data(), kRows, width),
                                     Span2<const float>(floats.data(), kRows, width),
                                     SparseRows<float>{{offsets, columns, floats}, width}};
        for (const RowSource& source : sources) {
            LocalProducts local;
            std::vector<double> found;
            local.compute(source, 0, neighbors, weights, found);
            CHECK(local.stride() == 9);
            for (std::size_t p = 0; p < kNeighbors; ++p)
                for (std::size_t q = 0; q < kNeighbors; ++q) {
                    double expected = 0;
                    for (std::size_t f = 0; f < width; ++f)
                        expected += (double{floats[(p + 1) * width + f]} - double{floats[f]}) *
                                    (double{floats[(q + 1) * width + f]} - double{floats[f]});
                    CHECK(found[p * 9 + q] == (p == 2 || q == 2 ? 0.0 : expected));
                }
        }
    }
}

static void a_point_does_not_depend_on_those_beside_it() {
    constexpr std::size_t kRows = 40, kFeatures = 6, kNeighbors = 5;
    std::mt19937 rng(1);
    std::normal_distribution<double> normal;
    std::vector<double> x(kRows * kFeatures);
    for (double& value : x) value = normal(rng);
    std::vector<std::int32_t> indices;
    for (std::size_t i = 0; i < kRows; ++i)
        for (std::size_t j = 1; j <= kNeighbors; ++j) indices.push_back(static_cast<std::int32_t>((i + j * j) % kRows));
    const std::vector<float> weights(indices.size(), 1.0F);
    const RowSource X = Span2<const double>(x.data(), kRows, kFeatures);
    const Neighborhoods hoods{{indices.data(), kRows, kNeighbors}, {weights.data(), kRows, kNeighbors}};
    LocalSpectra together(kNeighbors), alone(kNeighbors);
    const std::vector<std::int64_t> rows{3, 17, 8, 30};
    together.solve(X, hoods, rows);
    for (std::size_t lane = 0; lane < rows.size(); ++lane) {
        alone.solve(X, hoods, {&rows[lane], 1});
        CHECK(together.defined(lane) && alone.defined(0));
        CHECK(together.leading(lane, 0.9) == alone.leading(0, 0.9));
        for (std::size_t r = 0; r < kNeighbors; ++r) {
            CHECK(together.square(lane, r) == alone.square(0, r));
            CHECK(r == 0 || together.square(lane, r) <= together.square(lane, r - 1));
            for (std::size_t j = 0; j < kNeighbors; ++j) CHECK(together.left(lane, r, j) == alone.left(0, r, j));
        }
    }
}

int main() {
    products_agree_for_all_tables_and_widths();
    a_point_does_not_depend_on_those_beside_it();
    return failures != 0;
}
