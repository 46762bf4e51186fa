#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "checks.hpp"
#include "gnomon/elimination.hpp"
#include "gnomon/front_factor.hpp"

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

template <class T>
std::vector<T> copy_of(const Vector<const T>& a) {
    return {a.data(), a.data() + a.shape(0)};
}

using Doubles = Vector<const double>;

/// A factor by fronts that were planned; keeps copies of what it is given.
class SparseFactor {
public:
    SparseFactor(const Columns& starts, const Columns& parents, const Offsets& offsets, const Columns& places,
                 const Offsets& ranges, const Columns& rows, const Columns& columns, const Doubles& values,
                 double shift)
        : fronts_(checked(starts, parents, offsets, places)),
          factor_(fronts_, checked_entries(ranges, rows, columns, values), shift) {
        check_entries(ranges, rows, columns);
    }

    std::size_t advance(double n_operations, int n_threads) {
        check_.require(!failed_, "the factor", "one whose pivots were positive");
        run_released(n_threads, [&](const Context& context) {
            failed_ = true;  // nor can it go on where it is interrupted
            failed_ = !factor_.advance(n_operations, context);
        });
        return failed_ ? 0 : factor_.n_eliminated();
    }

    void solve(const Matrix<double>& X, int n_threads) const {
        check_.equal("the number of rows of X", X.shape(0), factor_.n_rows());
        check_.require(!failed_ && factor_.n_eliminated() == factor_.n_rows(), "the factor", "whole");
        run_released(n_threads, [&](const Context& context) { factor_.solve(view(X), context); });
    }

private:
    Fronts checked(const Columns& starts, const Columns& parents, const Offsets& offsets, const Columns& places) const {
        const std::size_t count = parents.shape(0);
        check_.length("starts", starts, count + 1);
        check_.length("offsets", offsets, count + 1);
        check_.require(starts.data()[0] == 0, "starts", "numbers that begin with 0");
        check_.ascending("starts", view(starts), true);
        check_.offsets("offsets", view(offsets), places.shape(0));
        Fronts fronts{copy_of(starts), copy_of(parents), copy_of(offsets), copy_of(places)};
        for (std::size_t f = 0; f < count; ++f) check_front(fronts, f);
        return fronts;
    }

    void check_front(const Fronts& fronts, std::size_t f) const {
        const auto later = fronts.below(f);
        const auto parent = static_cast<std::size_t>(fronts.parents[f]);
        check_.ascending("places", later, true);
        check_.indices("places", later, static_cast<std::size_t>(fronts.starts.back()), fronts.starts[f + 1]);
        if (later.empty()) {
            check_.require(fronts.parents[f] == -1, "parents", "-1 where a front leaves nothing");
            return;
        }
        check_.indices("parents", {&fronts.parents[f], 1}, fronts.count(), static_cast<std::int32_t>(f) + 1);
        check_.require(later.front() >= fronts.starts[parent], "places", "those of their parent");
        const auto above = fronts.below(parent);
        const auto passed_on = std::lower_bound(later.begin(), later.end(), fronts.starts[parent + 1]);
        check_.require(std::includes(above.begin(), above.end(), passed_on, later.end()), "places",
                       "those of their parent");
    }

    FrontEntries checked_entries(const Offsets& ranges, const Columns& rows, const Columns& columns,
                                 const Doubles& values) const {
        check_.length("ranges", ranges, fronts_.count() + 1);
        check_.length("columns", columns, rows.shape(0));
        check_.length("values", values, rows.shape(0));
        check_.offsets("ranges", view(ranges), rows.shape(0));
        return {copy_of(ranges), copy_of(rows), copy_of(columns), copy_of(values)};
    }

    void check_entries(const Offsets& ranges, const Columns& rows, const Columns& columns) const {
        for (std::size_t f = 0; f < fronts_.count(); ++f) {
            const auto begin = static_cast<std::size_t>(ranges.data()[f]);
            const std::size_t size = static_cast<std::size_t>(ranges.data()[f + 1]) - begin;
            check_.indices("rows", view(rows).subspan(begin, size), fronts_.n_pivots(f) + fronts_.below(f).size());
            check_.indices("columns", view(columns).subspan(begin, size), fronts_.n_pivots(f));
        }
    }

    Arguments check_{"SparseFactor"};
    Fronts fronts_;
    FrontFactor factor_;
    bool failed_ = false;
};

}  // namespace

void register_elimination(nb::module_& m) {
    m.def(
        "plan_fronts", &bound_plan_fronts, nb::arg("offsets").noconvert(), nb::arg("columns").noconvert(),
        nb::arg("order").noconvert(), nb::arg("max_entries"),
        "Order, starts, parents, offsets and places of the fronts of a sparse Cholesky factor, its numbers and work.");
    nb::class_<SparseFactor>(m, "SparseFactor", "The Cholesky factor of a sparse symmetric matrix, made step by step.")
        .def(nb::init<const Columns&, const Columns&, const Offsets&, const Columns&, const Offsets&, const Columns&,
                      const Columns&, const Doubles&, double>(),
             nb::arg("starts").noconvert(), nb::arg("parents").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("places").noconvert(), nb::arg("ranges").noconvert(), nb::arg("rows").noconvert(),
             nb::arg("columns").noconvert(), nb::arg("values").noconvert(), nb::arg("shift"))
        .def("advance", &SparseFactor::advance, nb::arg("n_operations"), nb::arg("n_threads"),
             "Goes on for so many operations; the rows that are eliminated, 0 if a pivot is not positive.")
        .def("solve", &SparseFactor::solve, nb::arg("X").noconvert(), nb::arg("n_threads"),
             "Turns B, in the order of elimination, into the solution, in place.");
}

}  // namespace gnomon::bindings
