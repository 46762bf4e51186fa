"""Distance matrices and neighbours found elsewhere."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import pairwise_distances

from gnomon.exceptions import DataWarning, NeighborsWarning
from gnomon.neighbors import compute_neighbors


def matrix(n=60):
    return pairwise_distances(np.random.default_rng(0).standard_normal((n, 4)))


def precomputed(X, k=5):
    return compute_neighbors(X, k, metric="precomputed")


def test_a_distance_matrix_gives_the_neighbours_of_the_rows():
    X = np.random.default_rng(1).standard_normal((700, 3))
    graph, expected = precomputed(pairwise_distances(X), 6), compute_neighbors(X, 6)
    np.testing.assert_array_equal(graph.indices, expected.indices)
    np.testing.assert_allclose(graph.distances, expected.distances, rtol=1e-5)
    assert (graph.metric, graph.method, graph.recall, graph.mask) == ("precomputed", "precomputed", 1.0, None)


def test_sparse_and_dense_forms_agree():
    X = matrix()
    dense = precomputed(X)
    for form in (sp.csr_array(X), sp.csr_matrix(X), sp.coo_array(X)):
        graph = precomputed(form)
        np.testing.assert_array_equal(graph.indices, dense.indices)
        np.testing.assert_array_equal(graph.distances, dense.distances)


def test_ties_are_broken_by_index():
    X = 1.0 - np.eye(6)
    np.testing.assert_array_equal(precomputed(X, 2).indices, [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1]])


def test_the_diagonal_is_ignored():
    X = matrix()
    expected = precomputed(X)
    np.fill_diagonal(X, np.random.default_rng(0).uniform(-3, 3, len(X)))
    for given in (X, sp.csr_array(np.abs(X))):
        with pytest.warns(DataWarning, match="the diagonal of the distances is not 0 for 60 of 60 rows"):
            np.testing.assert_array_equal(precomputed(given).indices, expected.indices)
    np.fill_diagonal(X, np.inf)  # no distance, and so no warning
    np.testing.assert_array_equal(precomputed(X).indices, expected.indices)


def test_rounding_is_forgiven_and_real_faults_are_not():
    X = matrix()
    expected = precomputed(X)
    noisy = X * (1 + 1e-7 * np.random.default_rng(0).standard_normal(X.shape))
    np.testing.assert_array_equal(precomputed(noisy).indices, expected.indices)
    X[3, 4] = X[4, 3] = -1e-7
    assert precomputed(X).distances[3, 0] == 0
    X[3, 4] = X[4, 3] = -1
    with pytest.raises(ValueError, match=r"distances must be >= 0 \(the smallest is -1\)"):
        precomputed(X)
    X[3, 4] = 1
    X[4, 3] = 1.5
    with pytest.raises(ValueError, match=r"symmetric \(the largest gap is 0.5, at row [34] and column [34]\)"):
        precomputed(X)
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match="are NaN"):
        precomputed(X)
    with pytest.raises(ValueError, match=r"shape \(60, 59\) must be square"):
        precomputed(X[:, :59])


def test_rows_with_fewer_distances_are_masked():
    X = sp.csr_array(np.array([[0, 1, 2, 3], [1, 0, 0, 0], [2, 0, 0, 0], [3, 0, 0, 0]], dtype=float))
    X.eliminate_zeros()
    with pytest.warns(NeighborsWarning, match=r"3 rows have fewer than 2 neighbours .*first: 1, 2, 3"):
        graph = precomputed(X, 2)
    np.testing.assert_array_equal(graph.indices, [[1, 2], [0, 0], [0, 0], [0, 0]])
    np.testing.assert_array_equal(graph.mask, [[True, True], [True, False], [True, False], [True, False]])
    np.testing.assert_array_equal(graph.distances[1], [1, np.inf])


def test_infinite_distances_are_no_neighbours():
    X = np.array([[0, 1, np.inf], [1, 0, np.inf], [np.inf, np.inf, 0]])
    with pytest.warns(NeighborsWarning, match="3 rows"):
        graph = precomputed(X, 2)
    np.testing.assert_array_equal(graph.mask, [[True, False], [True, False], [False, False]])
    assert (graph.indices != np.arange(3)[:, None]).all()


def test_a_stored_zero_is_a_distance():
    X = sp.csr_array(([0.0, 2.0, 0.0, 5.0, 2.0, 5.0], ([0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1])), shape=(3, 3))
    np.testing.assert_array_equal(precomputed(X, 2).distances, [[0, 2], [0, 5], [2, 5]])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_distances_that_are_all_zero_are_told(form):
    zeros = sp.coo_array((np.zeros(30), ([*range(6)] * 5, [(i + 1 + i // 6) % 6 for i in range(30)])), shape=(6, 6))
    given = np.zeros((6, 6)) if form is np.asarray else sp.csr_array(zeros)
    with pytest.warns(DataWarning, match="all distances are 0: the rows do not differ"):
        compute_neighbors(given, 2, metric="precomputed")
