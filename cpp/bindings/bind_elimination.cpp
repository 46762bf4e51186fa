#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "checks.hpp"
#include "gnomon/elimination.hpp"

namespace gnomon::bindings {
namespace {

template <class T>
Output<T> array_of(const std::vector<T>& values) {
    auto out = make_output<T>({values.size()});
    std::copy(values.begin(), values.end(), out.data());
    return out;
}

using Plan = std::tuple<Output<std::int32_t>, Output<std::int32_t>, Output<std::int32_t>, Output<std::int64_t>,
                        Output<std::int32_t>, double, double>;

Plan bound_plan_fronts(const Offsets& offsets, const Columns& columns, const Columns& order, double max_entries) {
    const Arguments check("plan_fronts");
    check.at_least("the length of offsets", static_cast<std::int64_t>(offsets.shape(0)), 1);
    check.at_most("the number of rows", offsets.shape(0) - 1, INT32_MAX);
    check.compressed_rows(view(offsets), view(columns), columns.shape(0), offsets.shape(0) - 1);
    check.permutation("order", view(order), offsets.shape(0) - 1);
    FrontPlan plan;
    run_released(1,
                 [&](const Context&) { plan = plan_fronts(view(offsets), view(columns), view(order), max_entries); });
    return {array_of(plan.order),  array_of(plan.starts), array_of(plan.parents), array_of(plan.offsets),
            array_of(plan.places), plan.n_entries,        plan.n_operations};
}

using Block = nb::ndarray<double, nb::ndim<2>, nb::f_contig, nb::device::cpu>;

void bound_add_to_front(const Block& child, const Columns& local, const Block& pivots, const Block& below,
                        const Block& rest) {
    const Arguments check("add_to_front");
    const std::size_t m = child.shape(0), p = pivots.shape(0), q = below.shape(0);
    check.shape("child", child, m, m);
    check.length("local", local, m);
    check.shape("pivots", pivots, p, p);
    check.shape("below", below, q, p);
    check.indices("local", local, p + q);
    check.ascending("local", view(local), true);
    // A child whose rows are all pivots leaves nothing to the rest.
    if (m > 0 && static_cast<std::size_t>(local.data()[m - 1]) >= p) check.shape("rest", rest, q, q);
    const Front front{pivots.data(), below.data(), rest.data(), pivots.shape(0), below.shape(0)};
    run_released(1, [&](const Context&) { add_to_front(child.data(), view(local), front); });
}

}  // namespace

void register_elimination(nb::module_& m) {
    m.def(
        "plan_fronts", &bound_plan_fronts, nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(),
        nb::arg("order").noconvert(), nb::arg("max_entries"),
        "Order, starts, parents, offsets and places of the fronts of a sparse Cholesky factor, its numbers and work.");
    m.def("add_to_front", &bound_add_to_front, nb::arg("child").noconvert(), nb::arg("local").noconvert(),
          nb::arg("pivots").noconvert(), nb::arg("below").noconvert(), nb::arg("rest").noconvert(),
          "Adds what is left of a child front to that of its parent, in place.");
}

}  // namespace gnomon::bindings
