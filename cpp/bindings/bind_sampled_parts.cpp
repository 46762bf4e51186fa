#include <algorithm>

#include "gnomon/row_set.hpp"
#include "gnomon/sampled_descent.hpp"
#include "tables.hpp"

namespace gnomon::bindings {
namespace {

using Words = Vector<std::uint64_t>;
using ConstWords = Vector<const std::uint64_t>;

/// The words of a set of the rows [0, n).
template <class W>
auto rows_of(const Arguments& check, const char* what, const W& words, std::int64_t n) {
    check.at_least("n", n, 1);
    check.at_most("n", static_cast<std::size_t>(n), INT32_MAX);
    const auto size = static_cast<std::size_t>(n);
    check.length(what, words, ConstRowSet::words_of(size));
    if (size % 64 != 0)
        check.require((words.data()[words.shape(0) - 1] >> (size % 64)) == 0, what, "without bits beyond the last row");
    return RowBits(view(words), size);
}

void bind_mark_draws(const SamplingParameters& parameters, std::int64_t epoch, std::int64_t begin, std::int64_t end,
                     std::int64_t n, const Words& marked, int n_threads) {
    const Arguments check("mark_draws");
    const RowSet rows = rows_of(check, "marked", marked, n);
    check.at_least("begin", begin, 0);
    check.at_least("end", end, begin);
    check.at_most("end", static_cast<std::size_t>(end), rows.size());
    run_released(n_threads, [&](const Context&) {
        mark_draws(parameters, epoch, static_cast<std::size_t>(begin), static_cast<std::size_t>(end), rows);
    });
}

Output<float> bind_take_marked(const ConstWords& marked, const Matrix<const float>& values, int n_threads) {
    const Arguments check("take_marked");
    const std::size_t d = values.shape(1);
    const ConstRowSet rows = rows_of(check, "marked", marked, static_cast<std::int64_t>(values.shape(0)));
    const std::size_t count = rows.count();
    auto taken = make_output<float>({count, d});
    run_released(n_threads, [&](const Context&) {
        float* to = taken.data();
        if (count == rows.size())
            std::copy_n(values.data(), count * d, to);
        else
            rows.for_each([&](std::size_t i) { to = std::copy_n(values.data() + i * d, d, to); });
    });
    return taken;
}

/// Demands that the own rows [first, first + own) and those of the halo are known, and that the halo is in order.
void check_known(const Arguments& check, const ConstRowSet& known, std::size_t first, std::size_t own,
                 std::span<const std::int32_t> halo) {
    const std::size_t n = known.size();
    bool all = true, ordered = true;
    for (std::size_t row = first; row < first + own; ++row) all &= known.holds(row);
    std::size_t last = own - 1;  // rows counted from the first one on
    for (const std::int32_t row : halo) {
        const auto i = static_cast<std::size_t>(row), from = i < first ? i + n - first : i - first;
        all &= known.holds(i);
        ordered &= from > last;
        last = from;
    }
    check.require(all, "known", "a set that holds the own rows and those of the halo");
    check.require(ordered, "halo", "the rows after the own ones and then those before them, ascending");
}

void bind_sampled_epoch_of(std::int64_t first, const Graph& edges, const Values& u, const Columns& halo,
                           const OutputKernel& kernel, const SamplingParameters& parameters,
                           const SampledSchedule& schedule, std::int64_t epoch, std::int64_t n, const ConstWords& known,
                           const Matrix<const float>& places, const Matrix<float>& Y, const Matrix<float>& first_moment,
                           const Matrix<float>& second_moment, int n_threads) {
    const Arguments check("sampled_epoch_of");
    const std::size_t own = Y.shape(0), d = Y.shape(1);
    const ConstRowSet rows = rows_of(check, "known", known, n);
    check.components(d);
    check.at_least("epoch", epoch, 0);
    check.at_least("first", first, 0);
    check.at_least("the number of rows", static_cast<std::int64_t>(own), 1);
    check.require(first % 64 == 0, "first", "a multiple of 64");
    check.at_most("the last row", static_cast<std::size_t>(first) + own, rows.size());
    check.equal("the number of rows of edges", edges.n(), own + halo.shape(0));
    check.length("u", u, own);
    check.indices("halo", halo, rows.size());
    check_known(check, rows, static_cast<std::size_t>(first), own, view(halo));
    check.shape("places", places, rows.count(), d);
    check.shape("first_moment", first_moment, own, d);
    check.shape("second_moment", second_moment, own, d);
    run_released(n_threads, [&](const Context& context) {
        sampled_epoch_of({static_cast<std::size_t>(first), edges.view(), view(u), view(halo)}, kernel, parameters,
                         schedule, epoch, rows, view(places), {view(Y), view(first_moment), view(second_moment)},
                         context);
    });
}

}  // namespace

void register_sampled_parts(nb::module_& m) {
    m.def("mark_draws", &bind_mark_draws, nb::arg("parameters"), nb::arg("epoch"), nb::arg("begin"), nb::arg("end"),
          nb::arg("n"), nb::arg("marked").noconvert(), nb::arg("n_threads"),
          "Set the bits of the rows that an epoch draws for the rows [begin, end) of n.");
    m.def("take_marked", &bind_take_marked, nb::arg("marked").noconvert(), nb::arg("values").noconvert(),
          nb::arg("n_threads"), "The rows of values whose bits are set, in ascending order.");
    m.def(
        "sampled_epoch_of", &bind_sampled_epoch_of, nb::arg("first"), nb::arg("edges"), nb::arg("u").noconvert(),
        nb::arg("halo").noconvert(), nb::arg("kernel"), nb::arg("parameters"), nb::arg("schedule"), nb::arg("epoch"),
        nb::arg("n"), nb::arg("known").noconvert(), nb::arg("places").noconvert(), nb::arg("Y").noconvert(),
        nb::arg("first_moment").noconvert(), nb::arg("second_moment").noconvert(), nb::arg("n_threads"),
        "Run one epoch of the rows of n that begin at `first`, into Y; places are those of the rows known from `first` "
        "on, and then of those before it.");
}

}  // namespace gnomon::bindings
