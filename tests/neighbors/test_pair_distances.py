"""Distances of given pairs agree with SciPy's, whatever the metric and the form of the table."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from gnomon.neighbors import compute_neighbors, pair_distances


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 7))
    X[rng.random(X.shape) < 0.3] = 0.0
    others = np.array([rng.permutation(np.delete(np.arange(60), i))[:9] for i in range(60)], dtype=np.int32)
    return X, others


def expected(X, others, metric):
    return np.take_along_axis(cdist(X, X, metric), others.astype(np.intp), axis=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "l2", "cosine", "manhattan", "chebyshev", "canberra"])
def test_distances_equal_those_of_scipy(metric, dtype, table):
    X, others = table[0].astype(dtype), table[1]
    found = pair_distances(X, others, metric=metric, n_threads=2)
    names = {"manhattan": "cityblock", "l2": "euclidean"}
    np.testing.assert_allclose(found, expected(X, others, names.get(metric, metric)), rtol=1e-5, atol=1e-6)
    assert found.dtype == np.float32


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_sparse_rows_have_the_distances_of_dense_ones(metric, table):
    X, others = table
    found = pair_distances(sp.csr_array(X), others, metric=metric)
    np.testing.assert_allclose(found, pair_distances(X, others, metric=metric), rtol=1e-4, atol=1e-6)


def test_a_callable_and_its_parameters_are_used(table):
    X, others = table

    def weighted(a, b, factor):
        return factor * np.abs(a - b).max()

    found = pair_distances(X, others, metric=weighted, metric_params={"factor": 3.0})
    np.testing.assert_allclose(found, 3.0 * expected(X, others, "chebyshev"), rtol=1e-6)


def test_precomputed_distances_are_looked_up_and_what_is_not_stored_is_far(table):
    X, others = table
    D = cdist(X, X)
    D[0, others[0, 0]] = 0.0
    rows, columns = np.nonzero(~np.eye(60, dtype=bool))
    stored = sp.csr_array((D[rows, columns], (rows, columns)), shape=(60, 60))
    wanted = np.take_along_axis(D, others.astype(np.intp), axis=1).astype(np.float32)
    np.testing.assert_array_equal(pair_distances(D, others, metric="precomputed"), wanted)
    np.testing.assert_array_equal(pair_distances(stored, others, metric="precomputed"), wanted)
    hidden = sp.csr_array(stored.multiply(stored > 2.0))
    found = pair_distances(hidden, others, metric="precomputed")
    np.testing.assert_array_equal(np.isinf(found), wanted <= 2.0)


def test_distances_are_those_of_the_neighbour_search():
    X = np.random.default_rng(1).normal(size=(300, 20)).astype(np.float32) + 100
    graph = compute_neighbors(X, 12)
    np.testing.assert_array_equal(pair_distances(X, graph.indices), graph.distances)


def test_no_others_and_wrong_others(table):
    X, others = table
    assert pair_distances(X, others[:, :0]).shape == (60, 0)
    with pytest.raises(ValueError, match=r"others must be row numbers in \[0, 60\)"):
        pair_distances(X, others + 30)
    with pytest.raises(ValueError, match=r"others of shape \(59, 9\) must be of 60 rows"):
        pair_distances(X, others[1:])
