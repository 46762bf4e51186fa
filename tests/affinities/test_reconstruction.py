"""Reconstruction weights against scikit-learn, against all supports, and their invariances."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.manifold._locally_linear import barycenter_kneighbors_graph
from sklearn.neighbors import NearestNeighbors
from tests.threads import on_threads

from gnomon.affinities import fuzzy_simplicial_set, reconstruction_weights
from gnomon.neighbors import NeighborGraph

REFERENCE_ROWS = {  # reference_values.json, lle.W
    0: [0.0, 0.0, 0.0, 0.4336107468, -0.1639479758, -0.3701236121, 0.0, 1.100460841],
    5: [-0.3618531738, 0.0, -0.2131415593, 0.0, -1.032064193, 0.0, 0.0, 2.607058926],
}
REFERENCE_EIGENVALUES = [
    0.0,
    0.001478487086,
    0.01893313569,
    0.390554813,
    2.064042901,
    2.861994955,
    6.709221343,
    16.4149176,
]
RULES = ["signed", "non_negative", "membership"]


@pytest.fixture
def cloud():
    return np.random.default_rng(0).normal(size=(200, 6))


def test_agrees_with_stored_reference(neighbor_graph, eight_points):
    found = reconstruction_weights(eight_points, neighbor_graph(eight_points, 4))
    for row, expected in REFERENCE_ROWS.items():
        np.testing.assert_allclose(found.W.toarray()[row], expected, atol=1e-8)
    np.testing.assert_allclose(np.linalg.eigvalsh(found.M.toarray()), REFERENCE_EIGENVALUES, atol=1e-8)


@pytest.mark.parametrize("n_neighbors", [3, 6, 12, 40])
@pytest.mark.parametrize("regularization", [1e-3, 1e-1])
def test_signed_weights_are_those_of_scikit_learn(cloud, neighbor_graph, n_neighbors, regularization):
    # Its neighbours are the nearest ones by itself, so both see the same rows.
    expected = barycenter_kneighbors_graph(NearestNeighbors(n_neighbors=n_neighbors).fit(cloud), n_neighbors)
    if regularization != 1e-3:
        expected = barycenter_kneighbors_graph(
            NearestNeighbors(n_neighbors=n_neighbors).fit(cloud), n_neighbors, reg=regularization
        )
    found = reconstruction_weights(cloud, neighbor_graph(cloud, n_neighbors), regularization=regularization)
    np.testing.assert_allclose(found.W.toarray(), expected.toarray(), atol=1e-8)


def best_on_simplex(Z, regularization):
    """Minimise over the simplex by trying every support: the constrained minimum of one of them is the answer."""
    gram = Z @ Z.T
    gram = gram + regularization * np.trace(gram) * np.eye(len(Z))
    best, least = None, np.inf
    for size in range(1, len(Z) + 1):
        for support in map(list, combinations(range(len(Z)), size)):
            w = np.linalg.solve(gram[np.ix_(support, support)], np.ones(size))
            w /= w.sum()
            value = w @ gram[np.ix_(support, support)] @ w
            if (w >= 0).all() and value < least:
                best, least = np.zeros(len(Z)), value
                best[support] = w
    return best


@pytest.mark.parametrize("n_features", [2, 5])
@pytest.mark.parametrize("regularization", [1e-3, 1e-8])
def test_non_negative_weights_are_the_nearest_point_of_the_hull(neighbor_graph, n_features, regularization):
    X = np.random.default_rng(1).normal(size=(60, n_features))
    graph = neighbor_graph(X, 6)
    found = reconstruction_weights(X, graph, weights="non_negative", regularization=regularization).W.toarray()
    for i in range(60):
        expected = best_on_simplex(X[graph.indices[i]] - X[i], regularization)
        np.testing.assert_allclose(found[i, graph.indices[i]], expected, atol=1e-6)


@pytest.mark.parametrize("n_neighbors", [5, 30])
def test_non_negative_weights_satisfy_the_conditions_of_the_optimum(cloud, neighbor_graph, n_neighbors):
    graph = neighbor_graph(cloud, n_neighbors)
    found = reconstruction_weights(cloud, graph, weights="non_negative").W.toarray()
    assert found.min() >= 0
    for i in range(len(cloud)):
        Z, w = cloud[graph.indices[i]] - cloud[i], found[i, graph.indices[i]]
        gram = Z @ Z.T + 1e-3 * np.square(Z).sum() * np.eye(n_neighbors)
        slopes, multiplier = gram @ w, w @ gram @ w
        np.testing.assert_allclose(slopes[w > 0], multiplier, rtol=1e-9)
        assert (slopes[w == 0] > multiplier * (1 - 1e-9)).all()


def test_an_inner_point_has_the_same_weights_either_way():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])
    graph = NeighborGraph(np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]], np.int32), np.ones((4, 3), np.float32))
    signed = reconstruction_weights(X, graph, regularization=1e-9).W.toarray()
    convex = reconstruction_weights(X, graph, regularization=1e-9, weights="non_negative").W.toarray()
    np.testing.assert_allclose(signed[0], [0, 0.5, 0.25, 0.25], atol=1e-8)
    np.testing.assert_allclose(convex[0], signed[0], atol=1e-12)
    np.testing.assert_allclose(convex[1], [1, 0, 0, 0], atol=1e-8)  # a corner: the nearest point of the hull is row 0


def test_memberships_are_those_of_the_fuzzy_set(cloud, neighbor_graph):
    graph = neighbor_graph(cloud, 10)
    found = reconstruction_weights(cloud, graph, weights="membership").W.toarray()
    memberships = fuzzy_simplicial_set(graph).matrix.toarray().astype(float)
    np.testing.assert_allclose(found, memberships / memberships.sum(1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("weights", RULES)
def test_rows_sum_to_one_and_the_matrices_are_what_they_say(cloud, neighbor_graph, weights):
    found = reconstruction_weights(cloud, neighbor_graph(cloud, 8), weights=weights)
    W, identity = found.W.toarray(), np.eye(200)
    np.testing.assert_allclose(W.sum(axis=1), 1, atol=1e-13)
    np.testing.assert_array_equal(np.diag(W), 0)
    np.testing.assert_allclose(found.V.toarray(), W.T @ W, atol=1e-13)
    np.testing.assert_allclose(found.M.toarray(), (identity - W).T @ (identity - W), atol=1e-13)
    np.testing.assert_array_equal(found.M.toarray(), found.M.toarray().T)
    np.testing.assert_allclose(found.M.toarray().sum(axis=1), 0, atol=1e-12)
    assert found.W.dtype == np.float64
    assert found.W.has_sorted_indices


@pytest.mark.parametrize("weights", RULES[:2])
def test_moving_turning_and_scaling_change_nothing(cloud, neighbor_graph, weights):
    graph = neighbor_graph(cloud, 10)
    turn, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(6, 6)))
    found = reconstruction_weights(cloud, graph, weights=weights).W.toarray()
    moved = reconstruction_weights(1e-150 * (cloud @ turn), graph, weights=weights).W.toarray()
    np.testing.assert_allclose(moved, found, atol=1e-9)
    moved = reconstruction_weights(4.0 * cloud + 7.0, graph, weights=weights).W.toarray()
    np.testing.assert_allclose(moved, found, atol=1e-9)


@pytest.mark.parametrize("weights", RULES[:2])
def test_neighbours_that_all_lie_on_the_row_get_equal_weights(neighbor_graph, weights):
    X = np.repeat(np.random.default_rng(0).normal(size=(5, 3)), 6, axis=0)
    found = reconstruction_weights(X, neighbor_graph(X, 5), weights=weights).W.toarray()
    np.testing.assert_allclose(found, np.kron(np.eye(5), (1 - np.eye(6)) / 5), atol=1e-15)


@pytest.mark.parametrize("weights", RULES)
def test_the_same_bytes_for_any_number_of_threads(neighbor_graph, weights):
    X = np.random.default_rng(5).normal(size=(500, 4))
    graph = neighbor_graph(X, 9)
    found = [on_threads(n, reconstruction_weights)(X, graph, weights=weights).W.data.tobytes() for n in (1, 2, 3, 5)]
    assert len(set(found)) == 1


@pytest.mark.parametrize("weights", RULES[:2])
def test_containers_of_the_same_numbers_give_the_same_weights(cloud, neighbor_graph, weights):
    X = np.where(cloud > 0, cloud, 0).astype(np.float32)
    graph = neighbor_graph(X, 7)
    expected = reconstruction_weights(X.astype(np.float64), graph, weights=weights).W.toarray()
    for table in (X, np.asfortranarray(X), sp.csr_array(X), sp.csr_array(X.astype(np.float64))):
        found = reconstruction_weights(table, graph, weights=weights).W.toarray()
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("weights", RULES[:2])
def test_neighbours_that_do_not_exist_get_no_weight(cloud, neighbor_graph, weights):
    full = neighbor_graph(cloud, 7)
    mask = np.ones(full.indices.shape, dtype=bool)
    mask[::2, 4:] = False
    part = NeighborGraph(full.indices, np.where(mask, full.distances, np.inf).astype(np.float32), mask)
    found = reconstruction_weights(cloud, part, weights=weights).W.toarray()
    few = reconstruction_weights(cloud, neighbor_graph(cloud, 4), weights=weights).W.toarray()
    all_ = reconstruction_weights(cloud, full, weights=weights).W.toarray()
    np.testing.assert_allclose(found[::2], few[::2], atol=1e-12)
    np.testing.assert_array_equal(found[1::2], all_[1::2])


def test_errors_name_the_argument_and_the_rule(cloud, neighbor_graph):
    graph = neighbor_graph(cloud, 5)
    with pytest.raises(ValueError, match=r"reconstruction_weights: weights='convex' must be one of 'signed'"):
        reconstruction_weights(cloud, graph, weights="convex")
    with pytest.raises(ValueError, match=r"X of 100 rows must be of the graph's n_samples=200 rows"):
        reconstruction_weights(cloud[:100], graph)
    with pytest.raises(ValueError, match=r"regularization=-1 must be a number >= 0"):
        reconstruction_weights(cloud, graph, regularization=-1)
    mask = np.ones((200, 5), dtype=bool)
    mask[17] = False
    alone = NeighborGraph(graph.indices, np.where(mask, graph.distances, np.inf).astype(np.float32), mask)
    text = r"graph must be one with a neighbour for each row \(1 rows have none, the first is row 17\)"
    with pytest.raises(ValueError, match=text):
        reconstruction_weights(cloud, alone)
