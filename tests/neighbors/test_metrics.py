"""Cosine, scikit-learn's metrics, sparse rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances

from gnomon.exceptions import DataWarning
from gnomon.neighbors import compute_neighbors, cross_distances, pair_distances, query_neighbors


def table(n_samples=120, n_features=10, dtype=np.float64):
    return np.random.default_rng(0).standard_normal((n_samples, n_features)).astype(dtype)


def sparse_table():
    X = table()
    X[np.abs(X) < 0.6] = 0
    return sp.csr_array(X)


def reference(X, k, metric, **parameters):
    distances = pairwise_distances(X, metric=metric, **parameters)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", ["exact", "approximate"])
def test_cosine_agrees_with_scikit_learn(dtype, method):
    X = table(dtype=dtype)
    graph = compute_neighbors(X, 7, metric="cosine", method=method, target_recall=1.0)
    indices, distances = reference(X.astype(np.float64), 7, "cosine")
    np.testing.assert_array_equal(graph.indices, indices)
    np.testing.assert_allclose(graph.distances, distances, rtol=2e-5)
    assert graph.metric == "cosine"


def test_f12_cosine_of_parallel_rows_is_zero_and_of_opposite_rows_two():
    graph = compute_neighbors(
        np.array([[1.0, 2.0], [3.0, 6.0], [-1.0, -2.0], [1e30, 2e30], [1e-200, 2e-200]]), 4, metric="cosine"
    )
    np.testing.assert_allclose(graph.distances[0], [0, 0, 0, 2], rtol=1e-6, atol=1e-12)
    assert (graph.distances >= 0).all()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_f11_rows_of_zeros_are_at_distance_one_from_all_but_each_other(make):
    X = np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    with pytest.warns(DataWarning, match="compute_neighbors: 2 rows are all zeros"):
        graph = compute_neighbors(make(X), 3, metric="cosine")
    np.testing.assert_array_equal(graph.indices[:, 0], [2, 3, 0, 1])
    np.testing.assert_allclose(graph.distances[1], [0, 1, 1], atol=1e-7)
    np.testing.assert_allclose(graph.distances[0], [1 - 0.5**0.5, 1, 1], rtol=1e-6)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_f11_a_new_row_of_zeros_does_not_change_other_rows(make):
    X, X_new = np.abs(table()), np.abs(table(4))
    without = query_neighbors(make(X), make(X_new[:3]), 5, metric="cosine")
    X_new[3] = 0
    with pytest.warns(DataWarning, match="1 row is all zeros; its cosine distance is 0 to such rows and 1"):
        indices, distances = query_neighbors(make(X), make(X_new), 5, metric="cosine")
    np.testing.assert_array_equal(indices[:3], without[0])
    np.testing.assert_array_equal(distances[:3], without[1])
    np.testing.assert_allclose(distances[3], 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("metric", "parameters"),
    [("canberra", None), ("sqeuclidean", None), ("braycurtis", None), ("minkowski", {"p": 3})],
)
def test_other_metrics_come_from_scikit_learn(metric, parameters):
    X = np.abs(table())  # SciPy and scikit-learn define Bray-Curtis differently for negative numbers
    graph = compute_neighbors(X, 6, metric=metric, metric_params=parameters)
    indices, distances = reference(X, 6, metric, **(parameters or {}))
    np.testing.assert_array_equal(graph.indices, indices)
    np.testing.assert_allclose(graph.distances, distances, rtol=1e-6)
    assert (graph.method, graph.recall) == ("scikit-learn", 1.0)


def test_bray_curtis_distances_of_negative_numbers_are_refused():
    X = table(40)
    match = r"metric='braycurtis' must be used with values >= 0 \(negative values in .* the smallest is -"
    with pytest.raises(ValueError, match=match):
        compute_neighbors(X, 3, metric="braycurtis")
    with pytest.raises(ValueError, match=match):
        query_neighbors(np.abs(X), X, 3, metric="braycurtis")


def test_f68_a_callable_is_a_metric():
    X = table(40)

    def first_coordinate(a, b):
        return abs(a[0] - b[0])

    graph = compute_neighbors(X, 3, metric=first_coordinate)
    np.testing.assert_allclose(graph.distances, reference(X[:, :1], 3, "euclidean")[1], rtol=1e-6)
    assert graph.metric == "first_coordinate"


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "l2"])
def test_f53_sparse_rows_have_the_neighbours_of_dense_rows(metric, monkeypatch):
    X = sparse_table()
    dense = compute_neighbors(X.toarray(), 6, metric=metric)
    monkeypatch.setattr(sp.csr_array, "toarray", None)  # never made dense
    graph = compute_neighbors(X, 6, metric=metric)
    np.testing.assert_array_equal(graph.indices, dense.indices)
    np.testing.assert_allclose(graph.distances, dense.distances, rtol=1e-5)
    assert graph.method == "exact"
    assert graph.metric == dense.metric


def test_f53_unknown_metrics_are_refused_with_the_names_of_the_known():
    with pytest.raises(
        ValueError, match=r"metric='hamburger' must be a callable or one of .*'manhattan'.*'precomputed'"
    ):
        compute_neighbors(table(), 5, metric="hamburger")
    with pytest.raises(ValueError, match=r"one of 'chebyshev', 'cityblock'.* \(for sparse rows\)"):
        compute_neighbors(sparse_table(), 5, metric="canberra")


def test_parameters_of_metrics_without_any_are_refused():
    with pytest.raises(ValueError, match=r"metric_params=\{'p': 3\} must be empty for metric='euclidean'"):
        compute_neighbors(table(), 5, metric_params={"p": 3})


@pytest.mark.parametrize(
    ("metric", "params", "error", "text"),
    [
        ("minkowski", {"p": -1}, ValueError, r"metric_params=\{'p': -1\} must be of a number p > 0"),
        ("minkowski", {"p": "a"}, ValueError, r"metric_params=\{'p': 'a'\} must be of a number p > 0"),
        ("minkowski", {"q": 1}, TypeError, r"metric_params=\{'q': 1\} must be what metric='minkowski' takes \("),
        ("seuclidean", {"V": [1.0]}, ValueError, r"metric_params=\{'V': \[1\.0\]\} must be what metric='seuclidean'"),
    ],
)
def test_parameters_that_a_metric_does_not_take_are_named(metric, params, error, text):
    X = table()
    pairs = np.zeros((len(X), 2), np.int32)
    for measure in (
        lambda: compute_neighbors(X, 5, metric=metric, metric_params=params),
        lambda: cross_distances(X, X[:5], metric=metric, metric_params=params),
        lambda: pair_distances(X, pairs, metric=metric, metric_params=params),
    ):
        with pytest.raises(error, match=text):
            measure()


def test_f10_a_metric_that_is_not_defined_is_refused_with_the_rows():
    X = table()
    X[4] = 1
    with pytest.raises(ValueError, match="metric='correlation' must be defined for all rows"):
        compute_neighbors(X, 5, metric="correlation")


def test_duplicates_never_hide_the_row_itself_among_its_neighbours():
    X = np.repeat(table(5), 20, axis=0)
    graph = compute_neighbors(X, 4, metric="manhattan")
    assert (graph.indices != np.arange(100)[:, None]).all()
    assert all(len(set(row)) == 4 for row in graph.indices.tolist())


def test_queries_take_other_metrics():
    X, X_new = table(), table(5)[::-1]
    indices, distances = query_neighbors(X, X_new, 3, metric="manhattan")
    np.testing.assert_array_equal(indices[:, 0], [4, 3, 2, 1, 0])
    np.testing.assert_array_equal(distances[:, 0], 0)


@pytest.mark.parametrize(
    ("metric", "name", "learned"),
    [
        ("seuclidean", "V", lambda X: X.var(axis=0, ddof=1)),
        ("mahalanobis", "VI", lambda X: np.linalg.inv(np.cov(X.T))),
    ],
)
def test_what_a_metric_takes_from_the_table_is_that_of_the_fitted_one(metric, name, learned):
    X = table() * np.arange(1, 11)
    new, given = X[:9] + 0.1, {name: learned(X)}
    graph, known = (compute_neighbors(X, 5, metric=metric, metric_params=params) for params in (None, given))
    np.testing.assert_array_equal(graph.indices, known.indices)
    places, distances = query_neighbors(X, new, 5, metric=metric)
    np.testing.assert_array_equal(places, query_neighbors(X, new, 5, metric=metric, metric_params=given)[0])
    across = cross_distances(new, X, metric=metric)
    np.testing.assert_allclose(np.sort(across, axis=1)[:, :5], distances, rtol=1e-5)
    np.testing.assert_allclose(pair_distances(X, graph.indices, metric=metric), graph.distances, rtol=1e-5)
    with pytest.raises(ValueError, match=rf"metric='{metric}'.*metric_params={{'{name}'"):
        compute_neighbors(np.column_stack([X, np.ones(len(X))]), 5, metric=metric)


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        ("linf", "chebyshev"),
        ("Infinity", "chebyshev"),
        ("taxicab", "manhattan"),
        ("city-block", "cityblock"),
        ("angular", "cosine"),
        ("pearson", "correlation"),
        ("sorensen", "dice"),
        ("bray_curtis", "braycurtis"),
        ("bray", "braycurtis"),
        ("aitchison", "euclidean"),
        ("Euclidean", "euclidean"),
        ("kulsinski", "jaccard"),
        ("wminkowski", "minkowski"),
        ("spearman", "correlation"),
    ],
)
def test_a_metric_of_another_name_is_refused_with_the_name_that_it_has_here(given, ours):
    with pytest.raises(ValueError, match=rf"metric='{given}' must be .*'yule'\. .*'{ours}'"):
        compute_neighbors(np.eye(6), 2, metric=given)


def test_no_metric_is_named_that_sparse_rows_may_not_have():
    with pytest.raises(ValueError, match=r"metric='czekanowski' must be .*'\. Here it is 'braycurtis'"):
        compute_neighbors(np.eye(6), 2, metric="czekanowski")
    sparse = sp.csr_array(np.eye(6))
    with pytest.raises(ValueError, match=r"metric='mahalanobiss' must be .* \(for sparse rows\)\.$"):
        compute_neighbors(sparse, 2, metric="mahalanobiss")
