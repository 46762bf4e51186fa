"""Weights of edges: closed forms, the stored values of ALE and VLE, and what does not change them."""

import numpy as np
import pytest

from gnomon.affinities import divide_by_density, edge_weights, heat_affinities, neighbor_edges
from gnomon.neighbors import Bridges, NeighborGraph, compute_neighbors

ROW, COLUMN = np.indices((8, 3))
X8 = np.sin(1 + 1.7 * ROW + 0.9 * COLUMN + 0.31 * ROW * COLUMN)


@pytest.fixture(scope="module")
def graph8():
    return compute_neighbors(X8, 3)


def rows_with_an_outlier(n=60):
    X = np.random.default_rng(0).normal(size=(n, 2))
    return np.concatenate([X, [[30.0, 30.0]]])


def test_weights_of_adapted_eigenmaps_are_the_stored_ones(graph8):
    W = heat_affinities(graph8, weights="adapted").matrix.toarray()
    row = [0, 0, 0, 0.4218913125, 0.1954489311, 0, 0.1595011782, 0.3048831453]
    np.testing.assert_allclose(W[0], row, rtol=1e-6)


def test_the_neighbor_number_cancels_in_the_weights_of_adapted_eigenmaps(graph8):
    """exp(-D^2 / t) with D = d / sqrt(A_i A_j) and A = sqrt(sum d^2) / t, as the paper has it."""
    t, d = 3, graph8.distances.astype(float)
    A = np.sqrt((d**2).sum(axis=1)) / t
    stored = [0.8143761491, 0.7872802725, 0.8795679203, 0.7072815734, 0.686842345, 0.7379230362, 1.051418468]
    np.testing.assert_allclose(A[:7], stored, rtol=1e-6)
    W = heat_affinities(graph8, weights="adapted").matrix
    for i in range(8):
        for j, length in zip(graph8.indices[i], d[i], strict=True):
            assert W[i, j] == pytest.approx(np.exp(-(length**2 / (A[i] * A[j])) / t), rel=1e-5)


def test_variable_numbers_of_neighbors_are_the_stored_ones(graph8):
    rule = edge_weights(graph8, weights="heat", min_neighbors=2)
    assert rule.kept(graph8.distances).tolist() == [2, 2, 2, 3, 3, 3, 2, 3]


def test_the_least_number_of_neighbors_keeps_outliers_in_the_graph():
    graph = compute_neighbors(rows_with_an_outlier(), 8)
    rule = edge_weights(graph, weights="heat", min_neighbors=2)
    assert rule.kept(graph.distances)[-1] == 2
    assert rule.kept(graph.distances).max() == 8
    assert np.floor(8 * rule.mean_spread / np.sqrt((graph.distances[-1].astype(float) ** 2).mean())) == 0
    assert np.diff(heat_affinities(graph, min_neighbors=2).matrix.indptr).min() >= 2


def test_three_points_have_their_closed_form():
    graph = compute_neighbors(np.array([[0.0], [1.0], [3.0]]), 1)
    sigma = (1 + 1 + 2) / 3  # mean distance to the nearest
    heat = heat_affinities(graph)
    expected = np.array([[0, np.exp(-1 / sigma**2), 0], [0, 0, np.exp(-4 / sigma**2)], [0, 0, 0]])
    np.testing.assert_allclose(heat.matrix.toarray(), expected + expected.T, rtol=1e-6)
    np.testing.assert_allclose(heat.bandwidths, sigma, rtol=1e-6)
    tuned = heat_affinities(graph, weights="self_tuning").matrix.toarray()
    np.testing.assert_allclose(tuned[[0, 1], [1, 2]], [np.exp(-1), np.exp(-4 / 2)], rtol=1e-6)
    binary = heat_affinities(graph, weights="binary").matrix.toarray()
    np.testing.assert_array_equal(binary, [[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_self_tuning_takes_the_seventh_neighbor():
    graph = compute_neighbors(rows_with_an_outlier(), 10)
    np.testing.assert_allclose(heat_affinities(graph, weights="self_tuning").bandwidths[:60], graph.distances[:60, 6])


@pytest.mark.parametrize("weights", ["binary", "heat", "self_tuning", "adapted"])
def test_weights_are_symmetric_to_the_bit_and_do_not_change_with_the_unit(weights):
    X = np.random.default_rng(1).normal(size=(300, 4))
    matrix = heat_affinities(compute_neighbors(X, 7), weights=weights).matrix
    assert (matrix != matrix.T).nnz == 0
    assert matrix.dtype == np.float32
    assert matrix.diagonal().max() == 0
    assert 0 < matrix.data.min() <= matrix.data.max() <= 1
    scaled = heat_affinities(compute_neighbors(1e-3 * X, 7), weights=weights).matrix
    np.testing.assert_array_equal(scaled.indices, matrix.indices)
    np.testing.assert_allclose(scaled.data, matrix.data, rtol=2e-5)


def test_a_given_sigma_does_change_with_the_unit(graph8):
    half = heat_affinities(graph8, sigma=0.5).matrix.data
    np.testing.assert_allclose(heat_affinities(graph8, sigma=1.0).matrix.data ** 4, half, rtol=1e-4)


def test_edges_join_both_directions_and_keep_lengths_of_zero():
    graph = NeighborGraph(np.array([[1], [2], [1]], np.int32), np.array([[0], [2], [2]], np.float32))
    edges = neighbor_edges(graph)
    assert edges.nnz == 4
    np.testing.assert_array_equal(edges.toarray(), [[0, 0, 0], [0, 0, 2], [0, 2, 0]])
    assert heat_affinities(graph).matrix[0, 1] == 1


def test_no_edge_is_lost_to_rounding():
    graph = compute_neighbors(rows_with_an_outlier(), 3)
    matrix = heat_affinities(graph, sigma=1e-3).matrix
    assert matrix.nnz == neighbor_edges(graph).nnz
    assert matrix.data.min() == np.float32(1e-20)


def test_bridges_are_weighed_by_their_length():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    bridge = Bridges(np.array([1], np.int32), np.array([2], np.int32), np.array([9.0]))
    matrix = heat_affinities(compute_neighbors(X, 1), sigma=5.0, bridges=bridge).matrix
    assert matrix[1, 2] == matrix[2, 1] == pytest.approx(np.exp(-81 / 25), rel=1e-6)
    assert matrix[0, 1] == pytest.approx(np.exp(-1 / 25), rel=1e-6)


def test_new_rows_get_the_weights_that_fitted_rows_have_in_one_direction(digits):
    graph = compute_neighbors(digits[0][:200], 5)
    for weights in ("binary", "heat", "self_tuning", "adapted"):
        matrix = heat_affinities(graph, weights=weights).matrix
        rule = edge_weights(graph, weights=weights)
        row = rule.of_new_rows(graph.indices, graph.distances)
        expected = matrix[np.arange(200).repeat(5), graph.indices.ravel()].reshape(200, 5)
        np.testing.assert_allclose(row, expected, rtol=1e-5)


def test_division_by_density_is_coifman_and_lafons(graph8):
    affinities = heat_affinities(graph8)
    A = affinities.matrix.toarray().astype(float)
    q = A.sum(axis=1)
    for alpha in (0.0, 0.5, 1.0):
        divided, factors = divide_by_density(affinities, alpha)
        np.testing.assert_allclose(divided.matrix.toarray(), A / np.outer(q, q) ** alpha, rtol=1e-6)
        np.testing.assert_allclose(factors, q**-alpha)


def test_a_sigma_without_heat_is_refused(graph8):
    with pytest.raises(ValueError, match=r"heat_affinities: sigma=1\.0 must be None with weights='binary'"):
        heat_affinities(graph8, weights="binary", sigma=1.0)
    with pytest.raises(ValueError, match=r"weights='magic' must be one of 'binary', "):
        heat_affinities(graph8, weights="magic")
