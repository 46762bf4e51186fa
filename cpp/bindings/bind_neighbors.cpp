#include <nanobind/stl/pair.h>

#include <memory>
#include <utility>

#include "checks.hpp"
#include "gnomon/neighbors.hpp"
#include "gnomon/neighbors_distances.hpp"

namespace gnomon::bindings {
namespace {

using Floats = Matrix<const float>;
using Bytes = Matrix<const std::uint8_t>;
using Doubles = Vector<const double>;
using Found = std::pair<Output<std::int32_t>, Output<float>>;

Span2<std::int32_t> view2(Output<std::int32_t>& a) { return {a.data(), a.shape(0), a.shape(1)}; }
Span2<float> view2(Output<float>& a) { return {a.data(), a.shape(0), a.shape(1)}; }

void check_neighbors(const Arguments& check, std::size_t k) {
    check.at_least("k", static_cast<std::int64_t>(k), 1);
    check.at_most("k", k, kMostNeighbors);
}

/// Rows that are searched: at least one, of at least one coordinate.
template <class T>
void check_base(const Arguments& check, const Matrix<const T>& base, std::size_t k) {
    check.at_least("the number of rows", static_cast<std::int64_t>(base.shape(0)), 1);
    check.at_most("the number of rows", base.shape(0), INT32_MAX);
    check.at_least("the number of columns", static_cast<std::int64_t>(base.shape(1)), 1);
    check_neighbors(check, k);
}

/// Groups of n rows: each row in one of them.
void check_cells(const Arguments& check, const Indices& order, const Offsets& offsets, std::size_t n) {
    check.permutation("order", view(order), n);
    check.offsets("offsets", view(offsets), n);
}

void check_bytes(const Arguments& check, const Bytes& rows) {
    check.at_most("the number of columns of bytes", rows.shape(1), kMostByteColumns);
}

// Keeps the arrays alive that the kernels' objects look at.
class AllPairsSearch {
public:
    AllPairsSearch(Floats points, std::size_t k, int n_threads, std::size_t split)
        : points_(std::move(points)), n_(points_.shape(0)), k_(k), n_threads_(n_threads) {
        begin(points_, split);
    }
    AllPairsSearch(Bytes points, std::size_t k, int n_threads, std::size_t split)
        : bytes_(std::move(points)), n_(bytes_.shape(0)), k_(k), n_threads_(n_threads) {
        check_bytes(Arguments("AllPairs"), bytes_);
        begin(bytes_, split);
    }
    std::size_t n_rounds() const { return search_->n_rounds(); }
    void run_round(std::size_t round) {
        Arguments("AllPairs.run_round").at_most("round + 1", round + 1, n_rounds());
        run_released(n_threads_, [&](const Context& context) { search_->run_round(round, context); });
    }
    Found finish() {
        auto indices = make_output<std::int32_t>({n_, k_});
        auto cutoffs = make_output<float>({n_});
        run_released(n_threads_,
                     [&](const Context& context) { search_->finish(view2(indices), {cutoffs.data(), n_}, context); });
        return {std::move(indices), std::move(cutoffs)};
    }

private:
    template <class T>
    void begin(const Matrix<const T>& points, std::size_t split) {
        const Arguments check("AllPairs");
        check_base(check, points, k_);
        check.at_most("k + 1", k_ + 1, n_);
        check.at_most("split + 1", split + 1, n_);
        run_released(n_threads_, [&](const Context& context) {
            search_ = std::make_unique<AllPairs>(view(points), k_, split, context);
        });
    }

    Floats points_;
    Bytes bytes_;
    std::size_t n_, k_;
    int n_threads_;
    std::unique_ptr<AllPairs> search_;
};

class CellJoinSearch {
public:
    CellJoinSearch(Floats points, IndexRows probes, Indices order, Offsets offsets, int n_threads, bool rounded)
        : points_(std::move(points)),
          probes_(std::move(probes)),
          order_(std::move(order)),
          offsets_(std::move(offsets)),
          n_threads_(n_threads) {
        const Arguments check("CellJoin");
        check_base(check, points_, 1);
        check_cells(check, order_, offsets_, points_.shape(0));
        check_probes(check, probes_, points_.shape(0));
        if (rounded) check.at_most("the number of columns of points", points_.shape(1), std::size_t{1} << 16);
        run_released(n_threads, [&](const Context& context) {
            search_ = std::make_unique<CellJoin>(view(points_), view(probes_), Cells{view(order_), view(offsets_)},
                                                 rounded ? CellRows::rounded : CellRows::whole, context);
        });
    }
    void run(std::size_t first, std::size_t last, std::size_t n_probes, const Matrix<std::int32_t>& indices) const {
        const Arguments check("CellJoin.run");
        check.at_most("last", last, n_cells());
        check.at_most("first", first, last);
        check.at_most("n_probes", n_probes, probes_.shape(1));
        check.equal("the number of rows of indices", indices.shape(0), points_.shape(0));
        check_neighbors(check, indices.shape(1));
        run_released(n_threads_,
                     [&](const Context& context) { search_->run(first, last, n_probes, view(indices), context); });
    }
    Output<std::int32_t> find(const Floats& queries, const IndexRows& probes, const Indices& order,
                              const Offsets& offsets, std::size_t k, int n_threads) const {
        const Arguments check("CellJoin.find");
        check.equal("the number of columns of queries", queries.shape(1), points_.shape(1));
        check_cells(check, order, offsets, queries.shape(0));
        check_probes(check, probes, queries.shape(0));
        check_neighbors(check, k);
        auto indices = make_output<std::int32_t>({queries.shape(0), k});
        const CellQueries asked{view(queries), view(probes), Cells{view(order), view(offsets)}, probes.shape(1)};
        run_released(n_threads, [&](const Context& context) { search_->find(asked, view2(indices), context); });
        return indices;
    }

private:
    std::size_t n_cells() const { return offsets_.shape(0) - 1; }
    void check_probes(const Arguments& check, const IndexRows& probes, std::size_t n) const {
        check.equal("the number of rows of probes", probes.shape(0), n);
        check.indices("probes", probes, n_cells());
    }

    Floats points_;
    IndexRows probes_;
    Indices order_;
    Offsets offsets_;
    int n_threads_;
    std::unique_ptr<CellJoin> search_;
};

template <class T>
void register_rank(nb::module_& m) {
    using Data = Matrix<const T>;
    m.def(
        "rank_candidates",
        [](const Data& x, const Data& queries, const IndexRows& candidates, const Indices& order, double scale,
           std::size_t k, int n_threads, bool squared, std::size_t lead) -> Found {
            const Arguments check("rank_candidates");
            check_base(check, x, k);
            check.equal("the number of columns of queries", queries.shape(1), x.shape(1));
            check.equal("the number of rows of candidates", candidates.shape(0), queries.shape(0));
            check.at_most("k", k, candidates.shape(1));
            check.at_most("lead", lead, k);
            check.indices("candidates", candidates, x.shape(0), -1);
            check.permutation("order", view(order), queries.shape(0));
            auto indices = make_output<std::int32_t>({queries.shape(0), k});
            auto distances = make_output<float>({queries.shape(0), k});
            run_released(n_threads, [&](const Context& context) {
                rank_candidates(view(x), view(queries), view(candidates), view(order), scale, squared,
                                lead > 0 ? lead : k, view2(indices), view2(distances), context);
            });
            return {std::move(indices), std::move(distances)};
        },
        nb::arg("x").noconvert(), nb::arg("queries").noconvert(), nb::arg("candidates").noconvert(),
        nb::arg("order").noconvert(), nb::arg("scale"), nb::arg("k"), nb::arg("n_threads"), nb::arg("squared") = false,
        nb::arg("lead") = 0,
        "Return the k nearest of each query's candidates and their distances, or scaled squares of these.");
}

template <class T>
void register_pairs(nb::module_& m) {
    using Data = Matrix<const T>;
    m.def(
        "pair_distances",
        [](const Data& x, const IndexRows& others, double scale, int n_threads) {
            const Arguments check("pair_distances");
            check_base(check, x, 1);
            check.equal("the number of rows of others", others.shape(0), x.shape(0));
            check.indices("others", others, x.shape(0));
            auto out = make_output<float>({others.shape(0), others.shape(1)});
            run_released(n_threads, [&](const Context& context) {
                pair_distances(view(x), view(others), scale, view2(out), context);
            });
            return out;
        },
        nb::arg("x").noconvert(), nb::arg("others").noconvert(), nb::arg("scale"), nb::arg("n_threads"),
        "Return the distances from each row to a few others, in their order.");
}

/// The k nearest rows of a base: search(indices, cutoffs, context) looks for them.
template <class T, class Asked, class Search>
Found find_nearest(const Arguments& check, const Matrix<const T>& base, const Matrix<const Asked>& queries,
                   std::size_t k, int n_threads, Search&& search) {
    check_base(check, base, k);
    check.equal("the number of columns of queries", queries.shape(1), base.shape(1));
    auto indices = make_output<std::int32_t>({queries.shape(0), k});
    auto cutoffs = make_output<float>({queries.shape(0)});
    run_released(n_threads, [&](const Context& context) {
        search(view2(indices), std::span<float>{cutoffs.data(), queries.shape(0)}, context);
    });
    return {std::move(indices), std::move(cutoffs)};
}

template <class T>
void register_nearest_centered(nb::module_& m) {
    using Data = Matrix<const T>;
    m.def(
        "nearest_centered_rows",
        [](const Data& base, const Doubles& mean, double scale, const Floats& queries, std::size_t k,
           int n_threads) -> Found {
            const Arguments check("nearest_centered_rows");
            check.length("mean", mean, base.shape(1));
            return find_nearest(check, base, queries, k, n_threads,
                                [&](Span2<std::int32_t> indices, std::span<float> cutoffs, const Context& context) {
                                    nearest_centered_rows(view(base), view(mean), scale, view(queries), indices,
                                                          cutoffs, context);
                                });
        },
        nb::arg("base").noconvert(), nb::arg("mean").noconvert(), nb::arg("scale"), nb::arg("queries").noconvert(),
        nb::arg("k"), nb::arg("n_threads"),
        "nearest_rows of (base - mean) * scale as float32, of which no copy is made.");
}

template <class T>
void register_distances(nb::module_& m) {
    using Data = Matrix<const T>;
    m.def(
        "center_rows",
        [](const Data& x, const Doubles& mean, double scale, int n_threads) {
            Arguments("center_rows").length("mean", mean, x.shape(1));
            auto out = make_unset<float>({x.shape(0), x.shape(1)});
            run_released(n_threads,
                         [&](const Context& context) { center_rows(view(x), view(mean), scale, view2(out), context); });
            return out;
        },
        nb::arg("x").noconvert(), nb::arg("mean").noconvert(), nb::arg("scale"), nb::arg("n_threads"),
        "Return (x - mean) * scale as float32.");
    m.def(
        "project_rows",
        [](const Data& x, const Doubles& mean, double scale, const Floats& basis, int n_threads) {
            const Arguments check("project_rows");
            check.length("mean", mean, x.shape(1));
            check.equal("the number of columns of basis", basis.shape(1), x.shape(1));
            auto out = make_output<float>({x.shape(0), basis.shape(0)});
            run_released(n_threads, [&](const Context& context) {
                project_rows(view(x), view(mean), scale, view(basis), view2(out), context);
            });
            return out;
        },
        nb::arg("x").noconvert(), nb::arg("mean").noconvert(), nb::arg("scale"), nb::arg("basis").noconvert(),
        nb::arg("n_threads"), "Return (x - mean) * scale in the coordinates given by the rows of basis.");
    m.def(
        "scan_rows",
        [](const Data& x, const Data& queries, const Indices& self, double scale, std::size_t k, int n_threads,
           bool squared) -> Found {
            const Arguments check("scan_rows");
            check_base(check, x, k);
            check.equal("the number of columns of queries", queries.shape(1), x.shape(1));
            check.length("self", self, queries.shape(0));
            auto indices = make_output<std::int32_t>({queries.shape(0), k});
            auto distances = make_output<float>({queries.shape(0), k});
            run_released(n_threads, [&](const Context& context) {
                scan_rows(view(x), view(queries), view(self), scale, squared, view2(indices), view2(distances),
                          context);
            });
            return {std::move(indices), std::move(distances)};
        },
        nb::arg("x").noconvert(), nb::arg("queries").noconvert(), nb::arg("self").noconvert(), nb::arg("scale"),
        nb::arg("k"), nb::arg("n_threads"), nb::arg("squared") = false,
        "Return the k nearest rows of x for each query, except row self[i], by accurate distances, or scaled squares.");
}

}  // namespace

void register_neighbors(nb::module_& m) {
    nb::class_<AllPairsSearch>(m, "AllPairs", "The k nearest of all other rows, or of those across a split, in rounds.")
        .def(nb::init<Floats, std::size_t, int, std::size_t>(), nb::arg("points").noconvert(), nb::arg("k"),
             nb::arg("n_threads"), nb::arg("split") = 0)
        .def(nb::init<Bytes, std::size_t, int, std::size_t>(), nb::arg("points").noconvert(), nb::arg("k"),
             nb::arg("n_threads"), nb::arg("split") = 0)
        .def_prop_ro("n_rounds", &AllPairsSearch::n_rounds, "How many rounds there are to run.")
        .def("run_round", &AllPairsSearch::run_round, nb::arg("round"), "Run one round.")
        .def("finish", &AllPairsSearch::finish, "Return indices (n, k) and the largest squared distance of each row.");
    nb::class_<CellJoinSearch>(m, "CellJoin",
                               "Neighbours of every row in the cells that it probes; of rows rounded, candidates.")
        .def(nb::init<Floats, IndexRows, Indices, Offsets, int, bool>(), nb::arg("points").noconvert(),
             nb::arg("probes").noconvert(), nb::arg("order").noconvert(), nb::arg("offsets").noconvert(),
             nb::arg("n_threads"), nb::arg("rounded") = false)
        .def("run", &CellJoinSearch::run, nb::arg("first"), nb::arg("last"), nb::arg("n_probes"),
             nb::arg("indices").noconvert(),
             "Look from each row into the first n_probes of its cells; fill the rows of indices that the cells [first, "
             "last) own.")
        .def("find", &CellJoinSearch::find, nb::arg("queries").noconvert(), nb::arg("probes").noconvert(),
             nb::arg("order").noconvert(), nb::arg("offsets").noconvert(), nb::arg("k"), nb::arg("n_threads"),
             "Return the k nearest members of the cells that other rows probe, (m, k), -1 where there are fewer.");
    m.def(
        "nearest_rows",
        [](const Floats& base, const Floats& queries, std::size_t k, int n_threads) -> Found {
            return find_nearest(Arguments("nearest_rows"), base, queries, k, n_threads,
                                [&](Span2<std::int32_t> indices, std::span<float> cutoffs, const Context& context) {
                                    nearest_rows(view(base), view(queries), indices, cutoffs, context);
                                });
        },
        nb::arg("base").noconvert(), nb::arg("queries").noconvert(), nb::arg("k"), nb::arg("n_threads"),
        "Return the k nearest rows of base for each query and the largest squared distance of each.");
    m.def(
        "nearest_byte_rows",
        [](const Bytes& base, const Bytes& queries, std::size_t k, int n_threads) -> Found {
            const Arguments check("nearest_byte_rows");
            check_bytes(check, base);
            return find_nearest(check, base, queries, k, n_threads,
                                [&](Span2<std::int32_t> indices, std::span<float> cutoffs, const Context& context) {
                                    nearest_byte_rows(view(base), view(queries), indices, cutoffs, context);
                                });
        },
        nb::arg("base").noconvert(), nb::arg("queries").noconvert(), nb::arg("k"), nb::arg("n_threads"),
        "nearest_rows of rows of bytes, by exact distances.");
    register_nearest_centered<float>(m);
    register_nearest_centered<double>(m);
    register_nearest_centered<std::uint8_t>(m);
    register_distances<float>(m);
    register_distances<double>(m);
    register_rank<float>(m);
    register_rank<double>(m);
    register_rank<std::uint8_t>(m);
    register_pairs<float>(m);
    register_pairs<double>(m);
    register_pairs<std::uint8_t>(m);
}

}  // namespace gnomon::bindings
