"""Every metric that is searched here, dense and sparse: distances as SciPy and scikit-learn define them."""

import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.metrics.pairwise import haversine_distances
from tests.threads import on_threads

import gnomon as gn
from gnomon.exceptions import DataWarning, GnomonWarning
from gnomon.neighbors import (
    NATIVE_METRICS,
    RowSearch,
    as_sets,
    cell_plans,
    cells,
    choose_landmarks,
    compute_neighbors,
    cross_distances,
    distance_matrix,
    find_bridges,
    metric_name,
    native_metric,
    pair_distances,
    query_neighbors,
)
from gnomon.neighbors.euclidean import Points
from gnomon.neighbors.sparse_rows import SparseRows

PERIODS = [5.0, None, 3.0, np.inf, 7.0, 5.0, 5.0, 5.0]
PARAMETERS = {"periodic": {"period": PERIODS}}
OF_SETS = ["jaccard", "dice", "sokalsneath", "rogerstanimoto"]
NAMES = sorted(set(NATIVE_METRICS.values()))
FORMS = [np.asarray, sp.csr_array]
BOTH = pytest.mark.parametrize("form", FORMS, ids=["dense", "sparse"])
ALL = pytest.mark.parametrize("metric", NAMES)


def table(metric, n=150, seed=0, dtype=np.float64):
    """Return rows that a metric is defined for, some values of them 0."""
    rng = np.random.default_rng(seed)
    if metric == "haversine":
        return np.column_stack([rng.uniform(-1.5, 1.5, n), rng.uniform(-3.0, 3.0, n)]).astype(dtype)
    if metric == "hamming":
        return rng.integers(0, 4, (n, 8)).astype(dtype)
    X = 4.0 * rng.normal(size=(n, 8))
    X[rng.random(X.shape) < 0.4] = 0.0
    X[:, 0] = np.abs(X[:, 0]) + 0.5
    if metric in OF_SETS:
        return np.concatenate([X != 0.0, rng.random((n, 100)) < 0.3], axis=1).astype(dtype)
    return (np.abs(X) if metric in ("hellinger", "ruzicka") else X).astype(dtype)


def reference(A, B, metric):
    """Return all distances by definition."""
    A, B = A.astype(np.float64), B.astype(np.float64)
    if metric == "haversine":
        return haversine_distances(A, B)
    if metric == "hellinger":
        p, q = (np.sqrt(X / X.sum(axis=1, keepdims=True)) for X in (A, B))
        return np.sqrt(np.maximum(1.0 - p @ q.T, 0.0))
    if metric == "periodic":
        period = np.array([np.inf if p is None else p for p in PERIODS])
        gaps = np.abs(A[:, None] - B[None])
        wrapped = np.where(np.isfinite(period), np.mod(gaps, np.where(np.isfinite(period), period, 1.0)), gaps)
        return np.sqrt((np.minimum(wrapped, period - wrapped) ** 2).sum(axis=2))
    if metric == "ruzicka":
        pairs = A[:, None], B[None]
        return 1.0 - np.minimum(*pairs).sum(axis=2) / np.maximum(np.maximum(*pairs).sum(axis=2), 1e-300)
    if metric in OF_SETS:
        A, B = A != 0.0, B != 0.0
    return cdist(A, B, {"manhattan": "cityblock"}.get(metric, metric))


def asked(metric):
    return {"metric": metric, "metric_params": PARAMETERS.get(metric)}


@ALL
@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_and_neighbours_are_those_of_the_definition(metric, form, dtype):
    X = table(metric, dtype=dtype)
    D = reference(X, X, metric)
    graph = compute_neighbors(form(X), 9, method="exact", **asked(metric))
    assert (graph.method, graph.recall) == ("exact", 1.0)
    others = D + np.diag(np.full(len(D), np.inf))
    nearest = np.sort(others, axis=1)[:, :9]
    close = {"rtol": 2e-5, "atol": 1e-5}
    np.testing.assert_allclose(graph.distances, nearest, **close)
    np.testing.assert_allclose(np.take_along_axis(others, graph.indices.astype(np.intp), 1), nearest, **close)
    np.testing.assert_allclose(cross_distances(form(X[:20]), form(X), **asked(metric)), D[:20], **close)
    matrix, unit = distance_matrix(form(X), **asked(metric))
    np.testing.assert_allclose(unit * matrix, D, **close)
    np.testing.assert_array_equal(pair_distances(form(X), graph.indices, **asked(metric)), graph.distances)


@ALL
@BOTH
def test_new_rows_find_what_old_ones_do_and_themselves(metric, form):
    X = table(metric)
    indices, distances = query_neighbors(form(X), form(X[:30]), 8, **asked(metric))
    np.testing.assert_allclose(distances, np.sort(reference(X[:30], X, metric), axis=1)[:, :8], rtol=2e-5, atol=1e-5)
    assert (distances[:, 0] == 0.0).all()
    one = query_neighbors(form(X), form(X[7:8]), 8, **asked(metric))
    np.testing.assert_array_equal(one[0][0], indices[7])
    np.testing.assert_array_equal(one[1][0], distances[7])


@ALL
def test_sparse_rows_and_dense_ones_may_ask_each_other(metric):
    X = table(metric)
    dense = query_neighbors(X, X[:9], 5, **asked(metric))[1]
    for rows, new in ((X, sp.csr_array(X[:9])), (sp.csr_array(X), X[:9])):
        np.testing.assert_allclose(query_neighbors(rows, new, 5, **asked(metric))[1], dense, rtol=1e-5, atol=1e-6)
        found = cross_distances(new, rows, **asked(metric))
        np.testing.assert_allclose(found, reference(X[:9], X, metric), rtol=1e-5, atol=1e-6)


@ALL
@BOTH
@pytest.mark.parametrize("method", ["exact", "approximate"])
def test_results_do_not_depend_on_the_number_of_threads(metric, form, method):
    X = form(table(metric, 350))

    def search(n_threads):
        graph = on_threads(n_threads, compute_neighbors)(X, 5, method=method, target_recall=0.8, **asked(metric))
        cross = on_threads(n_threads, cross_distances)(X[:20], X, **asked(metric))
        return graph.indices.tobytes(), graph.distances.tobytes(), cross.tobytes()

    assert search(1) == search(2) == search(3)


@ALL
@BOTH
def test_all_cells_and_all_candidates_give_the_exact_neighbours(metric, form, monkeypatch):
    X = form(table(metric, 250))
    exact = compute_neighbors(X, 6, method="exact", **asked(metric))
    everything = cells.Plan(n_probes=cells.n_cells(250), n_candidates=249)
    monkeypatch.setattr(cell_plans, "_cheapest", lambda *_: everything)
    monkeypatch.setattr(cell_plans.Effort, "affords", lambda *_: True)
    monkeypatch.setattr(cells, "pays", lambda *_: True)
    found = compute_neighbors(X, 6, method="approximate", target_recall=0.1, **asked(metric))
    assert found.method == "cells"
    np.testing.assert_array_equal(found.distances, exact.distances)
    np.testing.assert_array_equal(found.indices, exact.indices)
    search = RowSearch.of(X, 6, method="approximate", target_recall=0.1, **asked(metric))
    assert search.method == "cells"
    np.testing.assert_array_equal(
        search.find(X[:50])[1][:, 1:], query_neighbors(X, X[:50], 6, **asked(metric))[1][:, 1:]
    )


def test_sparse_rows_are_all_compared_where_a_search_of_some_would_have_to_be_planned_first():
    draw = np.random.default_rng(0)
    few = SparseRows("euclidean", _of_so_many(draw, 400), np.empty(0), 1.0, lambda rows: rows)
    many = SparseRows("euclidean", _of_so_many(draw, 40_000), np.empty(0), 1.0, lambda rows: rows)
    assert not cell_plans.pays(few, 400, 15)
    assert cell_plans.pays(many, 2000, 15)
    assert cell_plans.pays(Points.of(np.zeros((400, 3))), 400, 15)  # which are their own proxy


def _of_so_many(draw, n_rows):
    """Return rows of which any two share all three columns that they store."""
    return sp.csr_array(draw.random((n_rows, 3)))


@pytest.mark.parametrize(
    "metric", ["manhattan", "chebyshev", "periodic", "correlation", "hellinger", "ruzicka", *OF_SETS]
)
@BOTH
def test_approximate_searches_keep_their_recall(metric, form):
    rng = np.random.default_rng(1)
    few = table(metric, 40, seed=2)
    X = few[rng.integers(0, 40, 1600)]
    if metric in OF_SETS:
        X = np.where(rng.random(X.shape) < 0.04, 1.0 - X, X)
    else:
        X = np.where(X == 0.0, 0.0, np.abs(X + 0.5 * rng.normal(size=X.shape)))
    exact = compute_neighbors(form(X), 10, method="exact", **asked(metric))
    found = compute_neighbors(form(X), 10, method="approximate", **asked(metric))
    assert found.recall + 2 * found.recall_error >= 0.98
    assert (found.distances <= exact.distances[:, -1:]).mean() >= 0.975
    search = RowSearch.of(form(X), 10, method="approximate", **asked(metric))
    lengths = search.find(form(X[:200]))[1]
    assert (lengths <= query_neighbors(form(X), form(X[:200]), 10, **asked(metric))[1][:, -1:]).mean() >= 0.96


@ALL
@BOTH
def test_more_neighbours_that_are_kept_begin_with_those_asked_for(metric, form):
    X = form(table(metric))
    wide = compute_neighbors(X, 5, keep=11, **asked(metric))
    assert wide.n_neighbors == 11
    np.testing.assert_array_equal(wide.indices[:, :5], compute_neighbors(X, 5, **asked(metric)).indices)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        *(("manhattan", "l1"), ("manhattan", "cityblock"), ("chebyshev", "linfinity"), ("euclidean", "l2")),
        *(("rogerstanimoto", "sokalmichener"), ("ruzicka", "tanimoto")),
    ],
)
def test_other_names_are_the_same_metric(name, other):
    X = table(name)
    one, two = compute_neighbors(X, 5, metric=name), compute_neighbors(X, 5, metric=other)
    np.testing.assert_array_equal(one.distances, two.distances)
    assert two.metric == name


@pytest.mark.parametrize("factor", [1e-30, 1e-12, 1e30])
@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "periodic", "euclidean"])
@BOTH
def test_units_far_from_one_lose_nothing_and_order_stays(metric, factor, form):
    X = table(metric)
    params = None if metric != "periodic" else {"period": 5.0}
    scaled = params and {"period": 5.0 * factor}
    plain = compute_neighbors(form(X), 6, metric=metric, metric_params=params)
    other = compute_neighbors(form(X * factor), 6, metric=metric, metric_params=scaled)
    np.testing.assert_allclose(other.distances / factor, plain.distances, rtol=1e-5)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "periodic"])
def test_sparse_rows_that_are_nearly_equal_lose_no_digits(metric):
    X = np.zeros((30, 8))
    X[:, :4] = 1e6 * np.random.default_rng(0).normal(size=4)
    X[:, 5] = 1e-3 * 2.0 ** np.arange(30)
    params = {"period": 1e12} if metric == "periodic" else None
    graph = compute_neighbors(sp.csr_array(X), 1, metric=metric, metric_params=params)
    np.testing.assert_allclose(graph.distances[1:, 0], np.diff(X[:, 5]), rtol=1e-6)


def test_the_shorter_way_round_is_taken_and_whole_turns_do_not_count():
    X = np.array([[1.0, 0.0], [359.0, 0.0], [361.0, 3.0], [-719.0, 4.0]])
    D = cross_distances(X, X, metric="periodic", metric_params={"period": [360.0, None]})
    np.testing.assert_allclose(D[0], [0.0, 2.0, 3.0, 4.0], atol=1e-12)
    np.testing.assert_allclose(D[1], [2.0, 0.0, np.sqrt(13.0), np.sqrt(20.0)], atol=1e-12)


def test_without_periods_it_is_the_euclidean_distance():
    X = table("euclidean")
    plain = compute_neighbors(X, 6)
    none = compute_neighbors(X, 6, metric="periodic", metric_params={"period": [None] * 8})
    np.testing.assert_array_equal(none.indices, plain.indices)
    np.testing.assert_allclose(none.distances, plain.distances, rtol=1e-6)


def test_a_graph_carries_the_period_in_its_name_and_the_name_is_a_metric():
    X = table("periodic")
    graph = compute_neighbors(X, 5, **asked("periodic"))
    assert graph.metric == "periodic(5, inf, 3, inf, 7, 5, 5, 5)"
    np.testing.assert_array_equal(compute_neighbors(X, 5, metric=graph.metric).distances, graph.distances)
    assert metric_name("periodic", {"period": 0.1}) == "periodic(0.10000000000000001)"
    assert metric_name(metric_name("periodic", {"period": 0.1})) == "periodic(0.10000000000000001)"
    assert metric_name("minkowski", {"p": 3}) is None
    assert metric_name("canberra") == "canberra"


@pytest.mark.parametrize("metric", ["cosine", "hellinger"])
@BOTH
def test_rows_of_zeros_are_at_one_from_all_but_each_other(metric, form):
    X = np.abs(table(metric, 20))
    X[[3, 5]] = 0.0
    with pytest.warns(DataWarning, match=f"2 rows are all zeros; their {metric} distance is 0 to each other and 1"):
        graph = compute_neighbors(form(X), 19, metric=metric)
    np.testing.assert_allclose(graph.distances[3], [0.0] + [1.0] * 18, atol=1e-6)
    assert graph.indices[3, 0] == 5


@pytest.mark.parametrize("metric", ["jaccard", "dice", "sokalsneath", "ruzicka"])
@BOTH
def test_empty_sets_are_equal_and_far_from_all_others(metric, form):
    X = table(metric, 20)
    X[[3, 5]] = 0.0
    graph = compute_neighbors(form(X), 19, metric=metric)
    np.testing.assert_array_equal(graph.distances[3], [0.0] + [1.0] * 18)


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "hamming", "periodic"])
@BOTH
def test_rows_of_zeros_are_rows_like_others_elsewhere(metric, form):
    X = table(metric, 20)
    X[[3, 5]] = 0.0
    D = cross_distances(form(X), form(X), **asked(metric))
    np.testing.assert_allclose(D, reference(X, X, metric), rtol=1e-6, atol=1e-12)
    assert D[3, 5] == 0.0


@pytest.mark.parametrize("metric", OF_SETS)
@BOTH
def test_values_that_are_no_truth_values_count_as_true_and_are_told(metric, form):
    X = table(metric, 30)
    plain = compute_neighbors(form(X), 5, metric=metric)
    at = np.flatnonzero(X[2])[:3]
    X[2, at] = 2.5
    told = (
        f"metric={metric!r} compares sets: 3 values other than 0 and 1 (3 columns, first: {at[0]}, {at[1]}, {at[2]}, "
    )
    told += 'counted from 0) are taken as 1; metric="ruzicka" compares'
    with pytest.warns(DataWarning, match=re.escape(told)):
        found = compute_neighbors(form(X), 5, metric=metric)
    np.testing.assert_array_equal(found.distances, plain.distances)


@BOTH
def test_distances_of_sets_are_those_of_their_sizes_rounded_once(form):
    X = table("jaccard", 60)
    common, sizes = X @ X.T, X.sum(axis=1)
    apart = sizes[:, None] + sizes - 2 * common
    expected = {
        "jaccard": apart / (common + apart),
        "dice": apart / (sizes[:, None] + sizes),
        "sokalsneath": 2 * apart / (common + 2 * apart),
        "rogerstanimoto": 2 * apart / (X.shape[1] + apart),
    }
    for metric, D in expected.items():
        graph = compute_neighbors(form(X), 59, metric=metric)
        order = np.argsort(np.where(np.eye(60) > 0, np.inf, D), kind="stable")
        np.testing.assert_array_equal(graph.indices, order[:, :-1])
        np.testing.assert_array_equal(graph.distances, np.take_along_axis(D, order[:, :-1], axis=1).astype(np.float32))


@BOTH
def test_of_zeros_and_ones_ruzicka_is_jaccard_and_of_amounts_a_function_of_bray_curtis(form):
    X = table("jaccard", 40)
    for k in (1, 39):
        one, two = (compute_neighbors(form(X), k, metric=metric) for metric in ("jaccard", "tanimoto"))
        np.testing.assert_array_equal(one.indices, two.indices)
        np.testing.assert_array_equal(one.distances, two.distances)
    X = np.random.default_rng(5).poisson(1.0, (40, 130)).astype(np.float32)
    curtis = cdist(X, X, "braycurtis")
    np.testing.assert_allclose(
        cross_distances(form(X), form(X), metric="ruzicka"), 2 * curtis / (1 + curtis), atol=1e-7
    )
    scaled = cross_distances(form(X * 2.0**60), form(X * 2.0**60), metric="ruzicka")
    np.testing.assert_array_equal(scaled, cross_distances(form(X), form(X), metric="ruzicka"))


@BOTH
def test_ruzicka_refuses_what_is_no_amount_and_amounts_that_overflow(form):
    X = table("ruzicka", 20)
    X[7, 2] = -1.5
    with pytest.raises(
        ValueError, match=r"metric='ruzicka' must be used with values >= 0 \(.* 1 rows, first: 7; .*-1\.5"
    ):
        compute_neighbors(form(X), 5, metric="ruzicka")
    X[7, 2] = 1e31
    with pytest.raises(ValueError, match=r"with values up to 1e\+30 \(the largest is 1e\+31\)\. Divide all"):
        compute_neighbors(form(X), 5, metric="ruzicka")


def test_numbers_taken_as_one_are_told_once_in_a_call():
    X = np.random.default_rng(0).poisson(1.0, (60, 40)).astype(float)
    for metric in ("jaccard", "yule"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            gn.UMAP(metric=metric, n_neighbors=5, max_iter=5).fit(X)
        told = [str(one.message).partition(": ")[2] for one in caught]
        assert told == [
            f"metric={metric!r} compares sets: {(X > 1).sum()} values other than 0 and 1 (40 columns, first: 0, 1, 2, "
            '3, 4, counted from 0) are taken as 1; metric="ruzicka" compares amounts'
        ]


@BOTH
def test_a_metric_of_sets_reads_a_table_as_zeros_and_ones(form):
    X = np.array([[0.0, 1.0, 2.5], [1.0, 0.0, 3.0]])
    for metric in (*OF_SETS, "yule", "russellrao", "sokalmichener"):
        read = as_sets(form(X), metric)
        assert (read.toarray() if sp.issparse(read) else read).tolist() == [[0, 1, 1], [1, 0, 1]]
        plain = form(X[:, :2])
        assert as_sets(plain, metric) is plain
    for metric in ("euclidean", "hamming", "ruzicka", "precomputed"):
        assert as_sets(X, metric) is X


@BOTH
def test_what_a_metric_is_not_defined_for_is_refused(form):
    X = table("hellinger")
    X[4, 1] = -0.5
    with pytest.raises(
        ValueError, match=r"metric='hellinger' must be used with values >= 0 \(.* 1 rows, first: 4; .*-0\.5"
    ):
        compute_neighbors(form(X), 5, metric="hellinger")
    X[4] = 2.0
    with pytest.raises(ValueError, match=r"metric='correlation' must be defined for all rows \(.* 1 rows, first: 4\)"):
        compute_neighbors(form(X), 5, metric="correlation")
    with pytest.raises(ValueError, match=r"metric='haversine' must be used with two columns \(found 8\)"):
        compute_neighbors(form(X), 5, metric="haversine")


@pytest.mark.parametrize(
    ("params", "text"),
    [
        (None, r"metric_params=\{\} must be a mapping of 'period' alone for metric='periodic'\. Pass"),
        ({"period": 1.0, "p": 2}, "must be a mapping of 'period' alone"),
        ({"period": 0.0}, r"period=0\.0 must be a positive number or one for each column, inf or None"),
        ({"period": [1.0, -2.0]}, r"period=\[1\.0, -2\.0\] must be a positive number"),
        ({"period": []}, r"period=\[\] must be a positive number"),
        ({"period": "day"}, r"period='day' must be a number or one for each column"),
        ({"period": [1.0, 2.0]}, r"period must be one number or one for each column \(2 periods, 8 columns\)"),
    ],
)
def test_wrong_periods_are_refused(params, text):
    with pytest.raises(ValueError, match=f"compute_neighbors: .*{text}"):
        compute_neighbors(table("periodic"), 5, metric="periodic", metric_params=params)


@pytest.mark.parametrize("metric", [name for name in NAMES if name != "periodic"])
def test_parameters_of_a_metric_without_are_refused(metric):
    with pytest.raises(ValueError, match=rf"metric_params=\{{'w': 1\}} must be empty for metric='{metric}'"):
        compute_neighbors(table(metric), 5, metric=metric, metric_params={"w": 1})


@ALL
@BOTH
def test_landmarks_and_bridges_are_measured_in_the_metric(metric, form):
    X = table(metric, 60)
    D = reference(X, X, metric)
    chosen = choose_landmarks(form(X), 10, **asked(metric))
    np.testing.assert_allclose(chosen.distances, D[:, chosen.indices].min(axis=1), rtol=1e-5, atol=1e-6)
    graph = compute_neighbors(form(X), 1, **asked(metric))
    bridges = find_bridges(form(X), graph, **asked(metric))
    np.testing.assert_allclose(bridges.distances, D[bridges.sources, bridges.targets], rtol=2e-5, atol=1e-6)


ESTIMATORS = {
    "umap": gn.UMAP(n_neighbors=8, max_iter=10, random_state=0),
    "tsne": gn.TSNE(perplexity=5, max_iter=10, random_state=0),
    "isomap": gn.Isomap(n_neighbors=8),
    "mds": gn.MDS(max_iter=10, random_state=0),
}


@ALL
@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_map_place_and_are_stored_in_every_metric(metric, name, tmp_path):
    X, new = table(metric, 80), table(metric, 5, seed=9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GnomonWarning)
        fitted = clone(ESTIMATORS[name]).set_params(**asked(metric)).fit(X)
        placed = fitted.transform(new)
        assert np.isfinite(fitted.embedding_).all()
        assert np.isfinite(placed).all()
        found = gn.map(X, method=name, **asked(metric), **({"max_iter": 5} if name != "isomap" else {}))
        found.save(tmp_path / "found.gnomon")
        again = gn.load(tmp_path / "found.gnomon")
        assert again.metric == found.metric == metric_name(metric, PARAMETERS.get(metric))
        np.testing.assert_array_equal(again.neighbors().distances, found.neighbors().distances)
        np.testing.assert_array_equal(again.place(new), found.place(new))
        assert 0.0 <= found.evaluate().trustworthiness <= 1.0


@pytest.mark.parametrize("method", ["exact", "approximate"])
def test_amounts_of_zero_and_one_are_compared_as_bits(method):
    X = (np.random.default_rng(0).random((300, 130)) < 0.2).astype(float)
    told, sets, sparse = (
        compute_neighbors(X, 8, metric="tanimoto", method=method),
        compute_neighbors(X, 8, metric="jaccard", method=method),
        compute_neighbors(sp.csr_array(X), 8, metric="ruzicka", method="exact"),
    )
    assert told.metric == "ruzicka"
    np.testing.assert_array_equal(told.indices, sets.indices)
    np.testing.assert_array_equal(told.distances, sets.distances)
    np.testing.assert_allclose(told.distances, sparse.distances, atol=1e-6 if method == "exact" else 0.1)
    ruzicka = native_metric("tanimoto")
    assert ruzicka.for_table(X) is not ruzicka
    X[-1, -1] = 2.0
    assert ruzicka.for_table(X) is ruzicka
    assert not np.array_equal(compute_neighbors(X, 8, metric="ruzicka").distances[-1], told.distances[-1])
