#include <utility>

#include "checks.hpp"
#include "gnomon/random_others.hpp"
#include "gnomon/triplets.hpp"

namespace gnomon::bindings {
namespace {

using Floats = Matrix<const float>;

Output<std::int32_t> bind_random_others(std::uint64_t seed, std::uint64_t stream, const IndexRows& excluded,
                                        std::size_t count, int n_threads) {
    const Arguments check("random_others");
    const std::size_t n = excluded.shape(0);
    check.at_most("the number of rows of excluded", n, INT32_MAX);
    check.at_most("count", count, n);
    if (count + 1 + excluded.shape(1) > n)
        check.refuse("count", "at most the points that are left", "too few points to draw from");
    check.indices("excluded", excluded, n);
    auto out = make_output<std::int32_t>({n, count});
    run_released(n_threads, [&](const Context& context) {
        random_others(seed, stream, view(excluded), {out.data(), n, count}, context);
    });
    return out;
}

Output<std::int32_t> bind_random_others_within(std::uint64_t seed, std::uint64_t stream, const IndexRows& excluded,
                                               const Floats& Y, float radius, int tries, const IndexRows& otherwise,
                                               int n_threads) {
    const Arguments check("random_others_within");
    const std::size_t n = Y.shape(0), count = otherwise.shape(1);
    check.at_most("the number of rows of Y", n, INT32_MAX);
    check.at_least("tries", tries, 0);
    check.at_most("tries", static_cast<std::size_t>(tries), 1000);
    check.shape("excluded", excluded, n, excluded.shape(1));
    check.shape("otherwise", otherwise, n, count);
    check.indices("excluded", excluded, n);
    check.indices("otherwise", otherwise, n);
    auto out = make_output<std::int32_t>({n, count});
    run_released(n_threads, [&](const Context& context) {
        const Vicinity vicinity{view(Y), radius, tries, view(otherwise)};
        random_others_within(seed, stream, view(excluded), vicinity, {out.data(), n, count}, context);
    });
    return out;
}

/// Keeps the arrays alive that the kernel looks at.
class Triplets {
public:
    Triplets(IndexRows others, Indices closer, Indices farther, Floats weights)
        : others_(std::move(others)),
          closer_(std::move(closer)),
          farther_(std::move(farther)),
          weights_(std::move(weights)),
          forces_(checked()) {}

    Output<float> gradient(const Floats& Y, float closer, float farther, int n_threads) {
        check_points(Y);
        auto out = make_output<float>({Y.shape(0), Y.shape(1)});
        run_released(n_threads, [&](const Context& context) {
            forces_.gradient(triplets(), view(Y), {closer, farther}, {out.data(), Y.shape(0), Y.shape(1)}, context);
        });
        return out;
    }

    double loss(const Floats& Y, int n_threads) const {
        check_points(Y);
        double total = 0;
        run_released(n_threads, [&](const Context& context) { total = triplet_loss(triplets(), view(Y), context); });
        return total;
    }

private:
    TripletView checked() const {
        const Arguments check("Triplets");
        const std::size_t n = others_.shape(0);
        check.at_most("the number of others in all", others_.size(), INT32_MAX);
        check.indices("others", others_, n);
        check.length("farther", farther_, closer_.shape(0));
        check.indices("closer", closer_, others_.shape(1));
        check.indices("farther", farther_, others_.shape(1));
        check.shape("weights", weights_, n, closer_.shape(0));
        return triplets();
    }
    void check_points(const Floats& Y) const {
        const Arguments check("Triplets");
        check.equal("the number of rows of Y", Y.shape(0), others_.shape(0));
        check.components(Y.shape(1));
    }
    TripletView triplets() const { return {view(others_), view(closer_), view(farther_), view(weights_)}; }

    IndexRows others_;
    Indices closer_, farther_;
    Floats weights_;
    TripletForces forces_;
};

}  // namespace

void register_triplets(nb::module_& m) {
    m.def("random_others", &bind_random_others, nb::arg("seed"), nb::arg("stream"), nb::arg("excluded").noconvert(),
          nb::arg("count"), nb::arg("n_threads"),
          "Distinct random points (n, count) for every row, neither itself nor excluded.");
    m.def("random_others_within", &bind_random_others_within, nb::arg("seed"), nb::arg("stream"),
          nb::arg("excluded").noconvert(), nb::arg("Y").noconvert(), nb::arg("radius"), nb::arg("tries"),
          nb::arg("otherwise").noconvert(), nb::arg("n_threads"),
          "Random points within a radius in Y; where as many draws as tries find none, those given otherwise.");
    nb::class_<Triplets>(m, "Triplets",
                         "Triplets (i, j, k) of which the first two should be nearer than the outer two.")
        .def(nb::init<IndexRows, Indices, Indices, Floats>(), nb::arg("others").noconvert(),
             nb::arg("closer").noconvert(), nb::arg("farther").noconvert(), nb::arg("weights").noconvert())
        .def("gradient", &Triplets::gradient, nb::arg("Y").noconvert(), nb::arg("closer"), nb::arg("farther"),
             nb::arg("n_threads"), "closer * (gradient by the distances ij) + farther * (that by the distances ik).")
        .def("loss", &Triplets::loss, nb::arg("Y").noconvert(), nb::arg("n_threads"),
             "sum_t w_t D_ij / (D_ij + D_ik), D = 1 + squared distance.");
}

}  // namespace gnomon::bindings
