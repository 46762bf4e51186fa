// Forces of triplets against plain loops, and random points: equal in every bit for 1, 2, 3 and 5 threads. The hash it
// prints is the same for every instruction set: compare builds with it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "check.hpp"
#include "gnomon/random.hpp"
#include "gnomon/random_others.hpp"
#include "gnomon/triplets.hpp"

using namespace gnomon;

namespace {

constexpr std::size_t kPoints = 700, kOthers = 21, kTriplets = 37;

struct Sample {
    std::vector<std::int32_t> others, closer, farther;
    std::vector<float> weights, y;
    std::size_t d;

    explicit Sample(std::size_t n_components) : others(kPoints * kOthers), d(n_components) {
        random_others(1, 2, {nullptr, kPoints, 0}, {others.data(), kPoints, kOthers}, {1});
        for (std::size_t t = 0; t < kTriplets; ++t) {
            closer.push_back(static_cast<std::int32_t>(draw(1, 3, t) % 10));
            farther.push_back(static_cast<std::int32_t>(10 + draw(1, 4, t) % (kOthers - 10)));
        }
        for (std::size_t k = 0; k < kPoints * kTriplets; ++k) weights.push_back(unit_float(draw(1, 5, k)));
        for (std::size_t k = 0; k < kPoints * d; ++k) y.push_back(8.0F * unit_float(draw(1, 6, k)));
    }
    TripletView view() const {
        return {{others.data(), kPoints, kOthers}, closer, farther, {weights.data(), kPoints, kTriplets}};
    }
    Span2<const float> points() const { return {y.data(), kPoints, d}; }

    double distance(std::size_t i, std::size_t j) const {
        double sum = 1;
        for (std::size_t c = 0; c < d; ++c) sum += std::pow(static_cast<double>(y[i * d + c] - y[j * d + c]), 2);
        return sum;
    }
};

/// Adds coefficient * (y_i - y_j) to i and its opposite to j.
void pull(const Sample& sample, std::size_t i, std::size_t j, double coefficient, std::vector<double>& gradient) {
    for (std::size_t c = 0; c < sample.d; ++c) {
        const double step = coefficient * static_cast<double>(sample.y[i * sample.d + c] - sample.y[j * sample.d + c]);
        gradient[i * sample.d + c] += step;
        gradient[j * sample.d + c] -= step;
    }
}

double plain(const Sample& sample, std::vector<double>& gradient) {
    double loss = 0;
    for (std::size_t i = 0; i < kPoints; ++i) {
        for (std::size_t t = 0; t < kTriplets; ++t) {
            const auto j = static_cast<std::size_t>(sample.others[i * kOthers + sample.closer[t]]);
            const auto k = static_cast<std::size_t>(sample.others[i * kOthers + sample.farther[t]]);
            const double w = sample.weights[i * kTriplets + t], near = sample.distance(i, j),
                         far = sample.distance(i, k);
            loss += w * near / (near + far);
            pull(sample, i, j, 2 * w * far / (near + far) / (near + far), gradient);
            pull(sample, i, k, -2 * w * near / (near + far) / (near + far), gradient);
        }
    }
    return loss;
}

void forces_equal_plain_loops() {
    for (const std::size_t d : {1, 2, 3, 6}) {
        const Sample sample(d);
        std::vector<double> expected(kPoints * d);
        const double loss = plain(sample, expected);
        CHECK_CLOSE(triplet_loss(sample.view(), sample.points(), {2}) / loss, 1, 1e-6);
        std::vector<float> found(kPoints * d);
        TripletForces(sample.view()).gradient(sample.view(), sample.points(), {}, {found.data(), kPoints, d}, {2});
        double largest = 0;
        for (const double x : expected) largest = std::max(largest, std::fabs(x));
        for (std::size_t k = 0; k < found.size(); ++k) CHECK_CLOSE(found[k] / largest, expected[k] / largest, 1e-5);
    }
}

std::uint64_t everything(int n_threads) {
    const Context context{n_threads};
    std::uint64_t hash = 0;
    const auto add = [&](const std::vector<float>& data) {
        for (const float x : data) {
            std::uint32_t bits;
            std::memcpy(&bits, &x, sizeof bits);
            hash = mix64(hash ^ bits);
        }
    };
    for (const std::size_t d : {1, 2, 3, 6}) {
        const Sample sample(d);
        TripletForces forces(sample.view());
        std::vector<float> out(kPoints * d);
        for (const TripletParts parts : {TripletParts{1, 1}, TripletParts{-1, 0}, TripletParts{0, -1}}) {
            forces.gradient(sample.view(), sample.points(), parts, {out.data(), kPoints, d}, context);
            add(out);
        }
        add({static_cast<float>(triplet_loss(sample.view(), sample.points(), context))});
    }
    std::vector<std::int32_t> drawn(kPoints * 400);
    for (const std::size_t count : {20, 400}) {
        random_others(7, 8, {nullptr, kPoints, 0}, {drawn.data(), kPoints, count}, context);
        for (std::size_t k = 0; k < kPoints * count; ++k) hash = mix64(hash ^ static_cast<std::uint64_t>(drawn[k]));
    }
    const Sample sample(2);
    random_others_within(7, 9, {nullptr, kPoints, 0}, {sample.points(), 1.0F, 30, {drawn.data(), kPoints, 20}},
                         {drawn.data() + kPoints * 20, kPoints, 20}, context);
    for (std::size_t k = 0; k < kPoints * 40; ++k) hash = mix64(hash ^ static_cast<std::uint64_t>(drawn[k]));
    return hash;
}

void points_within_a_radius_or_those_given_otherwise() {
    constexpr std::size_t kWanted = 5;
    const Sample sample(2);
    const std::vector<std::int32_t> otherwise(kPoints * kWanted, 3);
    for (const float radius : {0.0F, 1.5F, 100.0F}) {
        std::vector<std::int32_t> drawn(kPoints * kWanted);
        random_others_within(7, 9, {sample.others.data(), kPoints, kOthers},
                             {sample.points(), radius, 200, {otherwise.data(), kPoints, kWanted}},
                             {drawn.data(), kPoints, kWanted}, {2});
        for (std::size_t i = 0; i < kPoints; ++i) {
            std::set<std::int32_t> found;
            for (std::size_t k = 0; k < kWanted; ++k) {
                const std::int32_t j = drawn[i * kWanted + k];
                if (j == 3) continue;
                CHECK(found.insert(j).second && static_cast<std::size_t>(j) != i);
                CHECK(sample.distance(i, static_cast<std::size_t>(j)) <=
                      1.0 + 1.0001 * static_cast<double>(radius) * static_cast<double>(radius));
                for (std::size_t e = 0; e < kOthers; ++e) CHECK(j != sample.others[i * kOthers + e]);
            }
            CHECK(radius > 0.0F ? found.size() + 1 >= kWanted : found.empty());
        }
    }
}

void all_points_but_one_can_be_drawn() {
    constexpr std::size_t n = 9;
    std::vector<std::int32_t> excluded(n), drawn(n * (n - 2));
    for (std::size_t i = 0; i < n; ++i) excluded[i] = static_cast<std::int32_t>((i + 1) % n);
    random_others(1, 1, {excluded.data(), n, 1}, {drawn.data(), n, n - 2}, {1});
    for (std::size_t i = 0; i < n; ++i) {
        std::set<std::int32_t> seen(drawn.begin() + static_cast<std::ptrdiff_t>(i * (n - 2)),
                                    drawn.begin() + static_cast<std::ptrdiff_t>((i + 1) * (n - 2)));
        CHECK(seen.size() == n - 2);
        CHECK(!seen.count(static_cast<std::int32_t>(i)) && !seen.count(excluded[i]));
    }
}

}  // namespace

int main() {
    forces_equal_plain_loops();
    all_points_but_one_can_be_drawn();
    points_within_a_radius_or_those_given_otherwise();
    const std::uint64_t once = everything(1);
    for (const int n_threads : {2, 3, 5}) CHECK(everything(n_threads) == once);
    std::printf("triplets %016llx\n", static_cast<unsigned long long>(once));
    return failures != 0;
}
