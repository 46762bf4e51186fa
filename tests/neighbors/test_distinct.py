"""Neighbours among distinct rows: those of the table that holds each row once."""

import numpy as np
import pytest

from gnomon.neighbors import NeighborGraph, compute_neighbors, distinct_neighbors, find_representatives, widened


@pytest.fixture(scope="module")
def base():
    return np.random.default_rng(0).normal(size=(80, 20))


def _usable(n):
    return np.ones(n, dtype=np.bool_)


@pytest.mark.parametrize("times", [2, 9])
def test_each_row_has_the_neighbors_of_the_table_of_distinct_rows(base, times):
    X = np.repeat(base, times, axis=0)
    stand = find_representatives(X, compute_neighbors(X, 15), _usable(len(X)), seed=0)
    np.testing.assert_array_equal(stand, np.repeat(np.arange(80) * times, times))
    found, once = distinct_neighbors(X, compute_neighbors(X, 15), stand, 12), compute_neighbors(base, 12)
    assert found.mask is None
    np.testing.assert_array_equal(found.indices, np.repeat(times * once.indices, times, axis=0))
    np.testing.assert_allclose(found.distances, np.repeat(once.distances, times, axis=0), rtol=1e-6)


def test_a_graph_of_other_data_keeps_the_neighbors_that_it_has(base):
    X, other = np.repeat(base, 2, axis=0), np.random.default_rng(1).normal(size=(160, 20))
    graph = compute_neighbors(X, 15)
    assert find_representatives(other, graph, _usable(160), seed=0) is None  # whose rows do not repeat
    other = np.repeat(other[:80], 2, axis=0)
    stand = find_representatives(other, graph, _usable(160), seed=0)
    np.testing.assert_array_equal(stand, np.repeat(np.arange(80) * 2, 2))
    assert widened(other, graph, stand, 12) is graph
    found, once = distinct_neighbors(other, graph, stand, 12), compute_neighbors(base, 7)
    assert found.indices.shape == (160, 7)
    np.testing.assert_array_equal(found.indices, np.repeat(2 * once.indices, 2, axis=0))


def test_rows_that_do_not_exist_are_no_neighbors(base):
    graph = compute_neighbors(base, 6)
    mask = np.ones(graph.indices.shape, dtype=np.bool_)
    mask[3, 2:] = mask[5] = False
    indices, distances = graph.indices.copy(), graph.distances.copy()
    indices[3, 2:], distances[3, 2:] = indices[3, 1], np.inf
    indices[5], distances[5] = indices[5, 0], np.inf
    given = NeighborGraph(indices, distances, mask=mask, metric="precomputed")
    found = distinct_neighbors(np.zeros((80, 2)), given, np.arange(80), 6)
    np.testing.assert_array_equal(found.mask, mask)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_array_equal(found.distances, distances)


def test_the_first_usable_row_stands_for_its_set(base):
    X, usable = np.repeat(base, 3, axis=0), np.arange(240) % 3 > 0
    stand = find_representatives(X, compute_neighbors(X, 20), usable, seed=0)
    np.testing.assert_array_equal(stand, np.repeat(np.arange(80) * 3 + 1, 3))


def test_few_neighbors_are_enough_where_the_table_can_be_asked(base):
    X = np.repeat(base, 2, axis=0) + 1e-4 * np.random.default_rng(2).normal(size=(160, 20))
    stand = find_representatives(X, compute_neighbors(X, 3), _usable(160), seed=0)
    np.testing.assert_array_equal(stand, np.repeat(np.arange(80) * 2, 2))


def test_of_independent_rows_no_more_neighbors_are_searched_for(base, monkeypatch):
    monkeypatch.setattr("gnomon.neighbors.distinct.find_repeats", None)
    assert find_representatives(base, compute_neighbors(base, 15), _usable(80), seed=0) is None
    assert find_representatives(base, compute_neighbors(base, 30), _usable(80), seed=0) is None
