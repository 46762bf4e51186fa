#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "gnomon/edge_sums.hpp"
#include "gnomon/info_nce.hpp"
#include "gnomon/ordered_graph.hpp"
#include "gnomon/pair_sums.hpp"
#include "gnomon/particle_mesh.hpp"
#include "gnomon/sampled_forces.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

using Points = Matrix<const float>;
using ForceAndEnergy = std::pair<Output<float>, double>;
using TwoForces = std::pair<Output<float>, Output<float>>;

Output<float> bind_edge_sums(const Graph& edges, const Points& Y, const OutputKernel& kernel, const std::string& law,
                             float scale, const Points& base, float base_scale, int n_threads,
                             std::optional<std::int64_t> n_rows) {
    const Arguments check("edge_sums");
    check_points(check, edges, Y);
    check.at_least("n_rows", n_rows.value_or(0), 0);
    const std::size_t rows = n_rows ? static_cast<std::size_t>(*n_rows) : Y.shape(0);
    check.at_most("n_rows", rows, Y.shape(0));
    check.shape_if_any("base", base, rows, Y.shape(1));
    auto out = make_unset<float>({rows, Y.shape(1)});
    run_released(n_threads, [&](const Context& context) {
        edge_sums(pair_law(law), kernel, edges.view(), view(Y), scale, view(base), base_scale,
                  {out.data(), rows, Y.shape(1)}, context);
    });
    return out;
}

Output<float> bind_cauchy_sums(const OrderedGraph& edges, const Points& Y, float scale, const Points& base,
                               float base_scale, int n_threads) {
    const Arguments check("OrderedGraph.cauchy_sums");
    check.shape("Y", Y, edges.n(), 2);
    check.shape_if_any("base", base, edges.n(), 2);
    auto out = make_unset<float>({edges.n(), 2});
    run_released(n_threads, [&](const Context& context) {
        edges.cauchy_sums(view(Y), scale, view(base), base_scale, {out.data(), edges.n(), 2}, context);
    });
    return out;
}

Output<float> bind_edge_degrees(const Offsets& offsets, const Values& values, int n_threads) {
    const Arguments check("edge_degrees");
    check.at_least("the length of offsets", static_cast<std::int64_t>(offsets.shape(0)), 1);
    check.offsets("offsets", view(offsets), values.shape(0));
    auto degrees = make_unset<float>({offsets.shape(0) - 1});
    run_released(n_threads, [&](const Context& context) {
        edge_degrees(view(offsets), view(values), {degrees.data(), degrees.size()}, context);
    });
    return degrees;
}

double bind_edge_energy(const Graph& edges, const Points& Y, const OutputKernel& kernel, const std::string& law,
                        int n_threads) {
    check_points(Arguments("edge_energy"), edges, Y);
    double energy = 0;
    run_released(n_threads, [&](const Context& context) {
        energy = edge_energy(pair_law(law), kernel, edges.view(), view(Y), context);
    });
    return energy;
}

ForceAndEnergy bind_pair_sums(const std::string& law, const Points& Y, const Values& u, const Values& v,
                              const OutputKernel& kernel, int n_threads, bool with_energy) {
    const Arguments check("pair_sums");
    check.components(Y.shape(1));
    check.length_if_any("u", u, Y.shape(0));
    check.length("v", v, u.shape(0));
    auto force = make_output<float>({Y.shape(0), Y.shape(1)});
    double energy = 0;
    run_released(n_threads, [&](const Context& context) {
        energy = pair_sums(pair_law(law), kernel, view(Y), view(u), view(v), with_energy,
                           {force.data(), Y.shape(0), Y.shape(1)}, context);
    });
    return {force, energy};
}

Output<double> bind_row_sums(const Points& Y, const Values& v, const OutputKernel& kernel, int n_threads) {
    const Arguments check("row_sums");
    check.components(Y.shape(1));
    check.length_if_any("v", v, Y.shape(0));
    auto sums = make_output<double>({Y.shape(0)});
    run_released(n_threads, [&](const Context& context) {
        row_sums(kernel, view(Y), view(v), {sums.data(), Y.shape(0)}, context);
    });
    return sums;
}

ForceAndEnergy bind_target_sums(const Points& Y, const Points& target, const OutputKernel& kernel, bool centred,
                                const Points& weights, const Values& factors, int n_threads) {
    const Arguments check("target_sums");
    const std::size_t n = Y.shape(0);
    check.components(Y.shape(1));
    check.shape("target", target, n, n);
    check.shape_if_any("weights", weights, n, n);
    check.length_if_any("factors", factors, n);
    check.require(weights.shape(0) == 0 || factors.shape(0) == 0, "weights", "empty where factors are given");
    auto force = make_output<float>({Y.shape(0), Y.shape(1)});
    double energy = 0;
    run_released(n_threads, [&](const Context& context) {
        energy = target_sums(kernel, view(Y), view(target), {view(weights), view(factors)}, centred,
                             {force.data(), Y.shape(0), Y.shape(1)}, context);
    });
    return {force, energy};
}

/// Charges of n points, by q alone or with p as well.
MeshCharges charges_in(const Arguments& check, const Values& charges, const std::optional<Values>& others,
                       std::size_t n) {
    check.length_if_any("charges", charges, n);
    if (!others) return {view(charges), {}};
    check.length("charges", charges, n);
    check.length("others", *others, n);
    return {view(charges), view(*others)};
}

ForceAndEnergy bind_evaluate(ParticleMesh& mesh, const Points& Y, const Values& charges, int n_threads,
                             const std::optional<Values>& others) {
    const Arguments check("ParticleMesh.evaluate");
    check.at_least("the number of rows of Y", static_cast<std::int64_t>(Y.shape(0)), 1);
    check.at_most("the number of rows of Y", Y.shape(0), INT32_MAX);
    check.components(Y.shape(1), 2);
    const MeshCharges both = charges_in(check, charges, others, Y.shape(0));
    auto force = make_unset<float>({Y.shape(0), Y.shape(1)});
    double energy = 0;
    run_released(n_threads, [&](const Context& context) {
        energy = mesh.evaluate(view(Y), both, {force.data(), Y.shape(0), Y.shape(1)}, context);
    });
    return {force, energy};
}

/// The box of a whole map, (2, d): lows and highs.
MapExtent extent_in(const Arguments& check, const Points& box) {
    check.require(box.shape(0) == 2, "extent", "lows and highs, of two rows");
    check.components(box.shape(1), 2);
    MapExtent extent;
    extent.finite = true;
    for (std::size_t c = 0; c < box.shape(1); ++c) {
        extent.low[c] = box.data()[c];
        extent.high[c] = box.data()[box.shape(1) + c];
        check.require(std::fabs(extent.low[c]) < 1e18F && std::fabs(extent.high[c]) < 1e18F, "extent", "finite");
        check.require(extent.low[c] <= extent.high[c], "extent", "lows and highs");
    }
    return extent;
}

std::array<std::size_t, 2> shape_in(const Arguments& check, ParticleMesh& mesh, const MapExtent& extent,
                                    std::size_t d) {
    const std::array<std::size_t, 2> shape = mesh.shape_of(extent, d);
    check.require(shape[0] != 0, "extent", "one that a mesh can cover");
    return shape;
}

/// Refuses points outside of the extent, which would be spread beyond the mesh.
void check_inside(const Arguments& check, const Points& Y, const MapExtent& extent, std::size_t d) {
    check.at_least("the number of rows of Y", static_cast<std::int64_t>(Y.shape(0)), 1);
    check.at_most("the number of rows of Y", Y.shape(0), INT32_MAX);
    check.equal("the number of columns of Y", Y.shape(1), d);
    const MapExtent own = MapExtent::of(view(Y), Context{});
    bool inside = own.finite;
    for (std::size_t c = 0; c < d; ++c) inside &= extent.low[c] <= own.low[c] && own.high[c] <= extent.high[c];
    check.require(inside, "Y", "within the extent");
}

Output<float> bind_charges(ParticleMesh& mesh, const Points& Y, const Points& box, const Values& charges, int n_threads,
                           const std::optional<Values>& others) {
    const Arguments check("ParticleMesh.charges");
    const MapExtent extent = extent_in(check, box);
    check_inside(check, Y, extent, box.shape(1));
    const MeshCharges both = charges_in(check, charges, others, Y.shape(0));
    const auto [rows, columns] = shape_in(check, mesh, extent, box.shape(1));
    const std::size_t of_all = others ? 2 * rows : rows;
    auto found = make_output<float>({of_all, columns});
    const Span2<float> out{found.data(), of_all, columns};
    run_released(n_threads, [&](const Context& context) { mesh.charges_of(view(Y), both, extent, out, context); });
    return found;
}

Output<float> bind_potential(ParticleMesh& mesh, const Points& charges, const Points& box, int n_threads) {
    const Arguments check("ParticleMesh.potential");
    const MapExtent extent = extent_in(check, box);
    const auto [rows, columns] = shape_in(check, mesh, extent, box.shape(1));
    const std::size_t of_all = charges.shape(0) == rows ? rows : 2 * rows;
    check.shape("charges", charges, of_all, columns);
    auto potential = make_output<float>({of_all, columns});
    std::copy_n(charges.data(), of_all * columns, potential.data());
    const Span2<float> out{potential.data(), of_all, columns};
    run_released(n_threads, [&](const Context& context) { mesh.convolve(extent, box.shape(1), out, context); });
    return potential;
}

ForceAndEnergy bind_forces(ParticleMesh& mesh, const Points& Y, const Points& box, const Points& potential,
                           std::pair<double, double> totals, const Values& charges, int n_threads,
                           const std::optional<Values>& others) {
    const Arguments check("ParticleMesh.forces");
    const MapExtent extent = extent_in(check, box);
    check_inside(check, Y, extent, box.shape(1));
    const MeshCharges both = charges_in(check, charges, others, Y.shape(0));
    const auto [rows, columns] = shape_in(check, mesh, extent, box.shape(1));
    check.shape("potential", potential, others ? 2 * rows : rows, columns);
    auto force = make_output<float>({Y.shape(0), Y.shape(1)});
    double energy = 0;
    run_released(n_threads, [&](const Context& context) {
        energy = mesh.forces_from(view(Y), both, extent, view(potential), {totals.first, totals.second},
                                  {force.data(), Y.shape(0), Y.shape(1)}, context);
    });
    return {force, energy};
}

TwoForces bind_sampled_forces(const Graph& edges, const Values& u, const Values& v, const OutputKernel& kernel,
                              const SamplingParameters& parameters, std::int64_t epoch, const Points& Y, int n_threads,
                              const std::optional<Values>& zoom) {
    const Arguments check("sampled_forces");
    const std::size_t n = Y.shape(0), d = Y.shape(1);
    check_points(check, edges, Y);
    check.length("u", u, n);
    check.length_if_any("v", v, n);
    const std::span<const float> zooms = zoom ? view(*zoom) : std::span<const float>{};
    if (zoom) check.length("zoom", *zoom, n);
    auto attraction = make_output<float>({n, d}), repulsion = make_output<float>({n, d});
    run_released(n_threads, [&](const Context& context) {
        sampled_forces(edges.view(), {view(u), view(v), zooms}, kernel, parameters, epoch, view(Y),
                       {attraction.data(), n, d}, {repulsion.data(), n, d}, context);
    });
    return {attraction, repulsion};
}

std::tuple<Output<float>, Output<float>, double> bind_info_nce(const Graph& edges, const Points& Y,
                                                               const OutputKernel& kernel,
                                                               const Vector<const std::int64_t>& shifts,
                                                               const Values& charges, int n_threads) {
    const Arguments check("info_nce");
    const std::size_t n = Y.shape(0), d = Y.shape(1);
    check_points(check, edges, Y);
    check.at_least("the number of points", static_cast<std::int64_t>(n), 1);
    check.length_if_any("charges", charges, n);
    auto attraction = make_output<float>({n, d}), repulsion = make_output<float>({n, d});
    double loss = 0;
    run_released(n_threads, [&](const Context& context) {
        loss = info_nce(edges.view(), kernel, view(shifts), view(charges), view(Y), {attraction.data(), n, d},
                        {repulsion.data(), n, d}, context);
    });
    return {attraction, repulsion, loss};
}

}  // namespace

void register_objectives(nb::module_& m) {
    m.attr("max_components") = kMaxComponents;
    nb::class_<OutputKernel>(m, "OutputKernel",
                             "A similarity of two points of the embedding, known to the kernels by name.")
        .def(
            "__init__",
            [](OutputKernel* self, const std::string& name, float a, float b, float scale) {
                const Arguments check("OutputKernel");
                check.positive("a", static_cast<double>(a));
                check.positive("b", static_cast<double>(b));
                check.positive("scale", static_cast<double>(scale));
                new (self) OutputKernel(output_kernel(name, a, b, scale));
            },
            nb::arg("name"), nb::arg("a") = 1.0F, nb::arg("b") = 1.0F, nb::arg("scale") = 1.0F);
    m.def("edge_sums", &bind_edge_sums, nb::arg("edges"), nb::arg("Y").noconvert(), nb::arg("kernel"), nb::arg("law"),
          nb::arg("scale"), nb::arg("base").noconvert(), nb::arg("base_scale"), nb::arg("n_threads"),
          nb::arg("n_rows") = nb::none(),
          "scale * sum_j A_ij dF/ds (y_i - y_j) + base_scale * base of the first n_rows points, or of all; a base "
          "without "
          "rows counts as 0.");
    nb::class_<OrderedGraph>(m, "OrderedGraph", "Edges in the order of the points of a map in the plane.")
        .def_prop_ro_static(
            "most_edges", [](nb::handle) { return OrderedGraph::kMostEdges; }, "Of a point.")
        .def(
            "__init__",
            [](OrderedGraph* self, const Graph& edges, const Points& Y, int n_threads) {
                const Arguments check("OrderedGraph");
                check_points(check, edges, Y);
                check.equal("the number of columns of Y", Y.shape(1), 2);
                check.at_most("the number of edges of a point", OrderedGraph::longest_row(edges.view()),
                              OrderedGraph::kMostEdges);
                run_released(n_threads,
                             [&](const Context& context) { new (self) OrderedGraph(edges.view(), view(Y), context); });
            },
            nb::arg("edges"), nb::arg("Y").noconvert(), nb::arg("n_threads"), nb::keep_alive<1, 2>())
        .def(
            "cauchy_sums", &bind_cauchy_sums, nb::arg("Y").noconvert(), nb::arg("scale"), nb::arg("base").noconvert(),
            nb::arg("base_scale"), nb::arg("n_threads"),
            "edge_sums of the graph by the law log and the Cauchy kernel, the same bits; for points that lie as in the "
            "map it is faster.");
    m.def("edge_degrees", &bind_edge_degrees, nb::arg("offsets").noconvert(), nb::arg("values").noconvert(),
          nb::arg("n_threads"), "Sums of the rows of a CSR matrix.");
    m.def("edge_energy", &bind_edge_energy, nb::arg("edges"), nb::arg("Y").noconvert(), nb::arg("kernel"),
          nb::arg("law"), nb::arg("n_threads"), "sum_ij A_ij F(k_ij).");
    m.def("pair_sums", &bind_pair_sums, nb::arg("law"), nb::arg("Y").noconvert(), nb::arg("u").noconvert(),
          nb::arg("v").noconvert(), nb::arg("kernel"), nb::arg("n_threads"), nb::arg("with_energy") = true,
          "(sum_j w_ij dF/ds (y_i - y_j), sum_ij w_ij F(k_ij)) over all pairs i != j, w_ij = u_i v_j + v_i u_j, or 1 "
          "where u and v are empty; without energy the second is 0.");
    m.def("row_sums", &bind_row_sums, nb::arg("Y").noconvert(), nb::arg("v").noconvert(), nb::arg("kernel"),
          nb::arg("n_threads"), "sum_{j != i} v_j k_ij for each i; an empty v counts as 1.");
    m.def("target_sums", &bind_target_sums, nb::arg("Y").noconvert(), nb::arg("target").noconvert(), nb::arg("kernel"),
          nb::arg("centred"), nb::arg("weights").noconvert(), nb::arg("factors").noconvert(), nb::arg("n_threads"),
          "(sum_j 2 w_ij r_ij k'_ij (y_i - y_j), sum_ij w_ij r_ij^2) with r = K - T over i != j, or r = H (K - T) H "
          "for a symmetric target whose rows sum to zero; w_ij = weights_ij or factors_i factors_j, 1 if both are "
          "empty.");
    nb::class_<ParticleMesh>(m, "ParticleMesh",
                             "Sums of a smooth kernel over all pairs of points in 1 or 2 dimensions.")
        .def(
            "__init__",
            [](ParticleMesh* self, const OutputKernel& kernel, float spacing, const std::string& law) {
                Arguments("ParticleMesh").positive("spacing", static_cast<double>(spacing));
                new (self) ParticleMesh(kernel, spacing, pair_law(law));
            },
            nb::arg("kernel"), nb::arg("spacing"), nb::arg("law") = "value")
        .def("evaluate", &bind_evaluate, nb::arg("Y").noconvert(), nb::arg("charges").noconvert(), nb::arg("n_threads"),
             nb::arg("others").noconvert() = nb::none(),
             "(sum_j -a_ij F'(s_ij) (y_i - y_j), sum_{i != j} a_ij F(s_ij)), F = k or -log(1 - k) by the law, a_ij = "
             "q_i q_j of charges q, q_i p_j + p_i q_j with others p; empty charges count as 1.")
        .def("charges", &bind_charges, nb::arg("Y").noconvert(), nb::arg("extent").noconvert(),
             nb::arg("charges").noconvert(), nb::arg("n_threads"), nb::arg("others").noconvert() = nb::none(),
             "What some points, all within the extent of a whole map, (2, d), add to the charges on its mesh; with "
             "others, their mesh follows, and both have twice the rows.")
        .def("potential", &bind_potential, nb::arg("charges").noconvert(), nb::arg("extent").noconvert(),
             nb::arg("n_threads"), "The potential of the charges of all points, on one mesh or on both.")
        .def(
            "forces", &bind_forces, nb::arg("Y").noconvert(), nb::arg("extent").noconvert(),
            nb::arg("potential").noconvert(), nb::arg("totals"), nb::arg("charges").noconvert(), nb::arg("n_threads"),
            nb::arg("others").noconvert() = nb::none(),
            "What `evaluate` of all points finds for some of them: their forces and their part of the sum. totals: the "
            "sums over all points of charges, their number where these are 1, and of others.")
        .def_prop_ro("spacing", &ParticleMesh::spacing, "Spacing of the mesh in the last evaluation, in units of Y.");
    nb::class_<SamplingParameters>(m, "SamplingParameters", "How the repulsion of an epoch is sampled.")
        .def(
            "__init__",
            [](SamplingParameters* self, std::uint64_t seed, float edge_scale, float repulsion, int n_draws,
               float force_limit) {
                Arguments("SamplingParameters").at_least("n_draws", n_draws, 0);
                new (self) SamplingParameters{seed, edge_scale, repulsion, n_draws, force_limit};
            },
            nb::arg("seed"), nb::arg("edge_scale"), nb::arg("repulsion"), nb::arg("n_draws"), nb::arg("force_limit"))
        .def_ro("n_draws", &SamplingParameters::n_draws, "Points drawn for each point.")
        .def_ro("edge_scale", &SamplingParameters::edge_scale, "Factor on the forces of an epoch.")
        .def("__getstate__",
             [](const SamplingParameters& p) {
                 return std::tuple(p.seed, p.edge_scale, p.repulsion, p.n_draws, p.force_limit);
             })
        .def("__setstate__",
             [](SamplingParameters& p, const std::tuple<std::uint64_t, float, float, int, float>& state) {
                 Arguments("SamplingParameters").at_least("n_draws", std::get<3>(state), 0);
                 new (&p) SamplingParameters{std::get<0>(state), std::get<1>(state), std::get<2>(state),
                                             std::get<3>(state), std::get<4>(state)};
             });
    m.def("sampled_forces", &bind_sampled_forces, nb::arg("edges"), nb::arg("u").noconvert(), nb::arg("v").noconvert(),
          nb::arg("kernel"), nb::arg("parameters"), nb::arg("epoch"), nb::arg("Y").noconvert(), nb::arg("n_threads"),
          nb::arg("zoom").noconvert() = nb::none(),
          "(attraction, repulsion) of one sampled epoch; u weighs points, v the points drawn (empty: 1); with a zoom z "
          "y_i - y_j counts z_i z_j times.");
    m.def("info_nce", &bind_info_nce, nb::arg("edges"), nb::arg("Y").noconvert(), nb::arg("kernel"),
          nb::arg("shifts").noconvert(), nb::arg("charges").noconvert(), nb::arg("n_threads"),
          "(attraction, repulsion, loss) of sum_ij a_ij [-log k_ij + log(k_ij + sum_r v_(i + r) k(y_i, y_(i + r) mod "
          "n))]; empty charges v count as 1.");
}

}  // namespace gnomon::bindings
