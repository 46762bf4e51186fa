// Maps laid out in parts: epochs of a part against those of the whole, draws that are marked, meshes that are added up.
#include <algorithm>
#include <array>
#include <random>
#include <span>
#include <vector>

#include "check.hpp"
#include "gnomon/particle_mesh.hpp"
#include "gnomon/random.hpp"
#include "gnomon/sampled_descent.hpp"

using namespace gnomon;

namespace {

constexpr std::size_t kRows = 1345, kDegree = 9;

std::vector<float> points(std::size_t n, std::size_t d) {
    std::mt19937 rng(5);
    std::normal_distribution<float> normal(0.0F, 4.0F);
    std::vector<float> y(n * d);
    for (float& value : y) value = normal(rng);
    return y;
}

struct Edges {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> columns;
    std::vector<float> values;

    CsrView<float> view() const { return {offsets, columns, values}; }
};

Edges random_edges() {
    Edges edges;
    for (std::size_t i = 0; i < kRows; ++i) {
        for (std::size_t k = 0; k < i % (2 * kDegree); ++k) {
            edges.columns.push_back(static_cast<std::int32_t>(draw(1, 2, i, k) % kRows));
            edges.values.push_back(0.1F + unit_float(draw(1, 3, i, k)));
        }
        edges.offsets.push_back(static_cast<std::int64_t>(edges.columns.size()));
    }
    return edges;
}

/// The edges of the rows [first, last), by places in a halo, to which the rows of their ends are added.
Edges edges_of(const Edges& all, std::size_t first, std::size_t last, std::vector<std::int32_t>& halo) {
    const auto begin = all.columns.begin() + all.offsets[first], end = all.columns.begin() + all.offsets[last];
    const auto own = [&](std::int32_t c) { return c >= static_cast<int>(first) && c < static_cast<int>(last); };
    std::copy_if(begin, end, std::back_inserter(halo), [&](std::int32_t c) { return !own(c); });
    std::sort(halo.begin(), halo.end());
    halo.erase(std::unique(halo.begin(), halo.end()), halo.end());
    std::rotate(halo.begin(), std::lower_bound(halo.begin(), halo.end(), static_cast<int>(first)), halo.end());
    Edges part;
    for (std::size_t i = first; i < last; ++i) part.offsets.push_back(all.offsets[i + 1] - all.offsets[first]);
    for (std::size_t h = 0; h < halo.size(); ++h) part.offsets.push_back(part.offsets.back());
    for (auto c = begin; c != end; ++c) {
        const auto place = std::find(halo.begin(), halo.end(), *c) - halo.begin();
        part.columns.push_back(static_cast<std::int32_t>(own(*c) ? *c - static_cast<int>(first)
                                                                 : static_cast<long>(last - first) + place));
    }
    part.values.assign(all.values.begin() + all.offsets[first], all.values.begin() + all.offsets[last]);
    return part;
}

void epochs_of_parts_have_the_bytes_of_the_whole() {
    const Edges edges = random_edges();
    const std::vector<float> u(kRows, 1.5F);
    const OutputKernel kernel = output_kernel("umap", 1.577F, 0.895F);
    for (const std::size_t d : {1, 2, 3, 5}) {
        for (const bool isotropic : {false, true}) {
            SamplingParameters sampling;
            sampling.seed = 3;
            sampling.n_draws = d == 5 ? 40 : 16;
            const SampledSchedule schedule{1.0F, 9, isotropic};
            std::vector<float> whole = points(kRows, d), first(kRows * d), second(kRows * d);
            std::vector<float> y = whole, m = first, s = second;
            const Span2<float> W{whole.data(), kRows, d}, F{first.data(), kRows, d}, S{second.data(), kRows, d};
            for (std::int64_t t = 0; t < 3; ++t) {
                sampled_epochs(edges.view(), {u, {}}, kernel, sampling, schedule, t, t + 1, {W, F, S}, {}, {2});
                const std::vector<float> before = y;
                for (const auto& range : {std::pair<std::size_t, std::size_t>{0, 128}, {128, 1280}, {1280, kRows}}) {
                    const std::size_t begin = range.first, end = range.second;
                    std::vector<std::int32_t> halo;
                    for (std::size_t i = 0; t == 1 && i < kRows; ++i)  // in one epoch all rows are known
                        if (i < begin || i >= end) halo.push_back(static_cast<std::int32_t>(i));
                    const Edges part = edges_of(edges, begin, end, halo);
                    std::vector<std::uint64_t> words(RowSet::words_of(kRows));
                    const RowSet known(words, kRows);
                    mark_draws(sampling, t, begin, end, known);
                    for (const std::int32_t row : halo) known.add(static_cast<std::size_t>(row));
                    for (std::size_t i = begin; i < end; ++i) known.add(i);
                    std::vector<float> places, those_before;
                    known.for_each([&](std::size_t i) {
                        std::vector<float>& to = i < begin ? those_before : places;
                        to.insert(to.end(), before.begin() + i * d, before.begin() + (i + 1) * d);
                    });
                    places.insert(places.end(), those_before.begin(), those_before.end());
                    const std::size_t own = end - begin;
                    const auto rows = [&](std::vector<float>& of) {
                        return Span2<float>{of.data() + begin * d, own, d};
                    };
                    sampled_epoch_of({begin, part.view(), std::span(u).subspan(begin, own), halo}, kernel, sampling,
                                     schedule, t, ConstRowSet(words, kRows), {places.data(), known.count(), d},
                                     {rows(y), rows(m), rows(s)}, {3});
                }
                CHECK(y == whole);
                CHECK(m == first);
                CHECK(s == second);
            }
        }
    }
}

void rows_that_are_not_known_are_missed() {
    const Edges none{std::vector<std::int64_t>(65, 0), {}, {}};
    const std::vector<float> u(64, 1.0F);
    std::vector<std::uint64_t> words(4);
    words[0] = ~std::uint64_t{0};
    std::vector<float> y = points(64, 2), places = y, m(128), s(128);
    bool refused = false;
    try {
        sampled_epoch_of({0, none.view(), u, {}}, {}, {}, {}, 0, ConstRowSet(words, 256), {places.data(), 64, 2},
                         {{y.data(), 64, 2}, {m.data(), 64, 2}, {s.data(), 64, 2}}, {});
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    CHECK(refused);
}

void meshes_of_parts_add_up_to_that_of_all() {
    std::vector<float> q(kRows), p(kRows);
    for (std::size_t i = 0; i < kRows; ++i) {
        q[i] = 0.5F + unit_float(draw(1, 4, i, 0));
        p[i] = 0.5F + unit_float(draw(1, 5, i, 0));
    }
    const auto some = [](const std::vector<float>& all, std::size_t begin, std::size_t end) {
        return std::span<const float>{all}.subspan(begin, end - begin);
    };
    for (const std::size_t d : {1, 2}) {
        for (const float scale : {1.0F, 0.01F}) {  // the small one is convolved with k - k(0)
            for (const std::size_t kinds : {0, 1, 2}) {
                const auto law = kinds == 2 ? PairLaw::log_deficit : PairLaw::value;
                std::vector<float> y = points(kRows, d);
                for (float& value : y) value *= scale;
                const Span2<const float> Y{y.data(), kRows, d};
                const auto charges = [&](std::size_t begin, std::size_t end) {
                    return MeshCharges{kinds > 0 ? some(q, begin, end) : std::span<const float>{},
                                       kinds > 1 ? some(p, begin, end) : std::span<const float>{}};
                };
                std::vector<float> force(y.size()), found(y.size());
                ParticleMesh whole({}, 0.5F, law), parted({}, 0.5F, law);
                const double energy = whole.evaluate(Y, charges(0, kRows), {force.data(), kRows, d}, {2});
                const MapExtent extent = MapExtent::of(Y, {});
                const auto [rows, columns] = parted.shape_of(extent, d);
                const std::size_t of_all = kinds > 1 ? 2 * rows : rows;
                std::vector<float> total(of_all * columns), mesh(of_all * columns);
                std::array<double, 2> all{kinds > 0 ? 0.0 : static_cast<double>(kRows), 0.0};
                for (std::size_t i = 0; i < kRows && kinds > 0; ++i) {
                    all[0] += static_cast<double>(q[i]);
                    all[1] += kinds > 1 ? static_cast<double>(p[i]) : 0.0;
                }
                const std::size_t cut[] = {0, 400, 401, kRows};
                const auto part = [&](std::size_t i) {
                    return Span2<const float>{y.data() + cut[i] * d, cut[i + 1] - cut[i], d};
                };
                for (std::size_t i = 0; i < 3; ++i) {
                    parted.charges_of(part(i), charges(cut[i], cut[i + 1]), extent, {mesh.data(), of_all, columns}, {});
                    for (std::size_t k = 0; k < total.size(); ++k) total[k] += mesh[k];
                }
                parted.convolve(extent, d, {total.data(), of_all, columns}, {2});
                double sum = 0, error = 0, norm = 0;
                for (std::size_t i = 0; i < 3; ++i)
                    sum += parted.forces_from(part(i), charges(cut[i], cut[i + 1]), extent,
                                              {total.data(), of_all, columns}, all,
                                              {found.data() + cut[i] * d, cut[i + 1] - cut[i], d}, {});
                for (std::size_t i = 0; i < y.size(); ++i) {
                    error = std::max(error, std::fabs(static_cast<double>(found[i] - force[i])));
                    norm = std::max(norm, std::fabs(static_cast<double>(force[i])));
                }
                CHECK_CLOSE(sum / energy, 1, 1e-6);
                CHECK(error < 1e-4 * norm);
            }
        }
    }
}

}  // namespace

int main() {
    epochs_of_parts_have_the_bytes_of_the_whole();
    rows_that_are_not_known_are_missed();
    meshes_of_parts_add_up_to_that_of_all();
    return failures != 0;
}
