// Trees over points: boxes hold their points, groups part them, stand-ins have their moments, sums have the stated
// error. The hash it prints is the same for every instruction set (GNOMON_ARCH): compare builds with it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "check.hpp"
#include "gnomon/pair_sums.hpp"
#include "gnomon/random.hpp"
#include "gnomon/tree.hpp"

using namespace gnomon;

namespace {

std::vector<float> clusters(std::size_t n, std::size_t d) {
    std::vector<float> y(n * d);
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t cluster = draw(1, 0, i, 0) % 9;
        for (std::size_t c = 0; c < d; ++c) {
            y[i * d + c] = 40.0F * unit_float(draw(1, 1, cluster, c)) + 3.0F * unit_float(draw(1, 2, i, c)) +
                           3.0F * unit_float(draw(1, 3, i, c));
        }
    }
    for (std::size_t i = 0; i < n / 8; ++i) std::copy_n(y.begin(), d, y.begin() + static_cast<std::ptrdiff_t>(i * d));
    return y;
}

void boxes_hold_their_points(std::size_t n, std::size_t d) {
    const std::vector<float> y = clusters(n, d);
    PointTree tree;
    CHECK(tree.build({y.data(), n, d}, {3}));
    const auto& nodes = tree.nodes();
    for (const PointTree::Node& node : nodes) {
        for (std::uint32_t i = node.begin; i < node.end; ++i) {
            const PointTree::Point& point = tree.points()[i];
            for (std::size_t c = 0; c < d; ++c) {
                CHECK(point.at[c] == y[point.index * d + c]);
                CHECK(node.low[c] <= point.at[c] && point.at[c] <= node.high[c]);
            }
        }
        if (node.child == 0) {
            CHECK(node.end - node.begin <= PointTree::kLeaf);
            continue;
        }
        const PointTree::Node &left = nodes[node.child], &right = nodes[node.child + 1];
        CHECK(left.begin == node.begin && left.end == right.begin && right.end == node.end);
        CHECK(left.begin < left.end && right.begin < right.end);
    }
    std::uint32_t next = 0;
    for (const std::uint32_t group : tree.groups()) {
        CHECK(nodes[group].begin == next);
        CHECK(nodes[group].end - nodes[group].begin <= PointTree::kGroup);
        next = nodes[group].end;
    }
    CHECK(next == n);
}

/// Sums over the entries [0, n): of the weight w, weight * y_a, weight * y_a * y_b.
double moment(const float* entries, std::size_t n, std::size_t d, std::size_t w, int a = -1, int b = -1) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const float* entry = entries + i * (d + 2);
        sum += static_cast<double>(entry[d + w]) * (a < 0 ? 1 : entry[a]) * (b < 0 ? 1 : entry[b]);
    }
    return sum;
}

void stand_ins_have_the_moments_of_the_points(std::size_t d) {
    const std::size_t n = 1500;
    const std::vector<float> y = clusters(n, d);
    std::vector<float> u(n), ones(n, 1.0F);
    for (std::size_t i = 0; i < n; ++i) u[i] = unit_float(draw(1, 4, i, 0)) - 0.3F;
    PointTree tree;
    CHECK(tree.build({y.data(), n, d}, {2}));
    tree.summarize(u, ones, {2});
    for (std::size_t number = 0; number < tree.nodes().size(); ++number) {
        const PointTree::Node& node = tree.nodes()[number];
        const float* points = tree.entries() + node.begin * (d + 2);
        const float* corners = tree.stand_ins() + number * (d + 1) * (d + 2);
        const std::size_t count = node.end - node.begin;
        const double tolerance = 3e-6 * static_cast<double>(count);
        for (std::size_t w = 0; w < 2; ++w) {
            CHECK_CLOSE(moment(corners, d + 1, d, w), moment(points, count, d, w), tolerance);
            for (int a = 0; a < static_cast<int>(d); ++a) {
                CHECK_CLOSE(moment(corners, d + 1, d, w, a), moment(points, count, d, w, a), 50 * tolerance);
            }
        }
        bool equal = true;  // shares of the second weight, all ones: the stand-ins' covariance is that of the points
        for (std::size_t k = 1; k <= d; ++k) equal = equal && corners[k * (d + 2) + d + 1] == corners[d + 1];
        CHECK(equal);
        for (int a = 0; a < static_cast<int>(d); ++a) {
            for (int b = 0; b <= a; ++b) {
                CHECK_CLOSE(moment(corners, d + 1, d, 1, a, b), moment(points, count, d, 1, a, b), 2500 * tolerance);
            }
        }
    }
}

double relative_error(const std::vector<float>& found, const std::vector<float>& expected) {
    double error = 0, norm = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        error += std::pow(static_cast<double>(found[i] - expected[i]), 2);
        norm += std::pow(static_cast<double>(expected[i]), 2);
    }
    return std::sqrt(error / norm);
}

void sums_have_the_stated_error(std::size_t d) {
    const std::size_t n = 3000;
    const std::vector<float> y = clusters(n, d);
    const Span2<const float> Y{y.data(), n, d};
    std::vector<float> exact(y.size()), found(y.size());
    const Span2<float> E{exact.data(), n, d}, F{found.data(), n, d};
    const double z = pair_sums(PairLaw::value, {}, Y, {}, {}, true, E, {2});
    for (const auto& [theta, error] : {std::pair{0.0F, 5e-6}, {0.8F, 4e-3}}) {
        Tree tree(theta);
        CHECK_CLOSE(tree.evaluate(PairLaw::value, Y, {}, {}, {}, true, F, {2}) / z, 1, error / 4);
        CHECK(relative_error(found, exact) < error);
    }
}

void far_points_are_refused() {
    std::vector<float> y = clusters(100, 2), force(200);
    y[7] = std::numeric_limits<float>::infinity();
    Tree tree(0.8F);
    CHECK(std::isnan(tree.evaluate(PairLaw::value, {y.data(), 100, 2}, {}, {}, {}, true, {force.data(), 100, 2}, {2})));
    for (const float x : force) CHECK(std::isnan(x));
}

std::uint64_t everything(int n_threads) {
    const std::size_t n = 2345;
    std::uint64_t hash = 0;
    const auto add = [&](const auto& x) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &x, sizeof x);
        hash = mix64(hash ^ bits);
    };
    std::vector<float> u(n), v(n);
    for (std::size_t i = 0; i < n; ++i) {
        u[i] = unit_float(draw(1, 5, i, 0));
        v[i] = unit_float(draw(1, 6, i, 0));
    }
    for (const OutputKernel kernel : {output_kernel("cauchy", 1, 1), output_kernel("umap", 1.577F, 0.895F)}) {
        for (const PairLaw law : {PairLaw::value, PairLaw::log_deficit}) {
            for (const std::size_t d : {1, 2, 3}) {
                const std::vector<float> y = clusters(n, d);
                std::vector<float> force(y.size());
                Tree tree(0.7F);
                add(tree.evaluate(law, {y.data(), n, d}, u, v, kernel, true, {force.data(), n, d}, {n_threads}));
                for (const float x : force) add(x);
            }
        }
    }
    return hash;
}

}  // namespace

int main() {
    for (const std::size_t d : {1, 2, 3}) {
        for (const std::size_t n : {1, 2, 16, 17, 129, 3000}) boxes_hold_their_points(n, d);
        stand_ins_have_the_moments_of_the_points(d);
        sums_have_the_stated_error(d);
    }
    far_points_are_refused();
    const std::uint64_t once = everything(1);
    for (const int n_threads : {2, 3, 5}) CHECK(everything(n_threads) == once);
    std::printf("tree %016llx\n", static_cast<unsigned long long>(once));
    return failures != 0;
}
