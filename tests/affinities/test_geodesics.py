"""Geodesic distances are shortest paths to the last bit, and what cannot be reached is infinitely far."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from sklearn.datasets import make_swiss_roll
from tests.threads import on_threads

from gnomon.affinities import PathGraph, geodesic_distances
from gnomon.exceptions import NeighborsWarning
from gnomon.neighbors import Bridges, as_neighbor_graph, compute_neighbors, find_bridges


def by_scipy(graph, sources=None, bridges=None):
    """Shortest paths of SciPy over the edges of both directions."""
    matrix = PathGraph.of(graph, bridges).matrix.astype(np.float64)
    return dijkstra(matrix, directed=False, indices=sources)


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).normal(size=(300, 12)),
        make_swiss_roll(400, random_state=0)[0],
        np.exp(20 * np.sort(np.random.default_rng(1).random((300, 1)), axis=0)),
        np.stack(np.meshgrid(np.arange(15.0), np.arange(20.0)), axis=-1).reshape(-1, 2),
    ],
    ids=["cloud", "roll", "steps-of-all-sizes", "ties"],
)
def test_lengths_equal_those_of_dijkstra_to_the_last_bit(X):
    graph = compute_neighbors(X, 6)
    np.testing.assert_array_equal(geodesic_distances(graph), by_scipy(graph))


@pytest.mark.parametrize("n_sources", [0, 1, 7, 8, 9, 30])
def test_any_sources_in_any_order_have_the_rows_of_all(n_sources):
    graph = compute_neighbors(np.random.default_rng(0).normal(size=(100, 3)), 5)
    sources = np.random.default_rng(1).integers(0, 100, n_sources)
    found = geodesic_distances(graph, sources=sources)
    np.testing.assert_array_equal(found, geodesic_distances(graph)[sources])


def test_single_precision_is_the_double_one_rounded_once():
    graph = compute_neighbors(np.random.default_rng(0).normal(size=(200, 3)), 5)
    single = geodesic_distances(graph, dtype=np.float32)
    np.testing.assert_array_equal(single, geodesic_distances(graph).astype(np.float32))


def test_paths_along_a_line_are_differences():
    x = (np.arange(200) + np.random.default_rng(0).random(200)).astype(np.float32)
    found = geodesic_distances(compute_neighbors(x[:, None], 3))
    np.testing.assert_allclose(found, np.abs(x[:, None] - x), rtol=1e-6)


def test_a_neighbour_in_one_direction_is_an_edge_of_both():
    graph = as_neighbor_graph([[1], [2], [1]], [[5.0], [1.0], [1.0]])
    np.testing.assert_array_equal(geodesic_distances(graph), [[0, 5, 6], [5, 0, 1], [6, 1, 0]])


def test_where_directions_differ_in_length_the_shorter_counts():
    graph = as_neighbor_graph([[1], [0]], [[5.0], [3.0]])
    np.testing.assert_array_equal(geodesic_distances(graph), [[0, 3], [3, 0]])


def test_edges_of_length_zero_are_edges():
    X = np.repeat([[0.0], [1.0], [3.0]], 4, axis=0)
    graph = compute_neighbors(X, 4)
    found = geodesic_distances(graph, bridges=find_bridges(X, graph))
    np.testing.assert_array_equal(found, np.abs(X - X.T))


def test_what_cannot_be_reached_is_infinitely_far():
    graph = as_neighbor_graph([[1], [0], [3], [2]], [[1.0], [1.0], [2.0], [2.0]])
    far = np.inf
    np.testing.assert_array_equal(
        geodesic_distances(graph), [[0, 1, far, far], [1, 0, far, far], [far, far, 0, 2], [far, far, 2, 0]]
    )
    bridges = Bridges(np.array([1], np.int32), np.array([2], np.int32), np.array([10.0]))
    np.testing.assert_array_equal(geodesic_distances(graph, bridges=bridges)[0], [0, 1, 11, 13])


def test_entries_without_a_neighbour_are_no_edges():
    with pytest.warns(NeighborsWarning, match="2 rows have fewer than 2 neighbours"):
        graph = as_neighbor_graph([[1, -1], [0, 2], [1, -1]], [[1.0, np.inf], [1.0, 4.0], [4.0, np.inf]])
    np.testing.assert_array_equal(geodesic_distances(graph)[0], [0, 1, 5])


def test_a_source_outside_the_graph_starts_at_several_rows():
    graph = compute_neighbors(np.random.default_rng(0).normal(size=(60, 2)), 4)
    between = by_scipy(graph)
    found = PathGraph.of(graph).lengths_from(np.array([[3, 9, 40]]), np.array([[0.5, np.inf, 0.25]]))
    np.testing.assert_allclose(found[0], np.minimum(between[3] + 0.5, between[40] + 0.25), rtol=1e-14)


def test_huge_lengths_are_added_not_lost():
    graph = as_neighbor_graph([[1], [0], [1]], [[2e38], [2e38], [2e38]])
    np.testing.assert_allclose(geodesic_distances(graph)[0], [0, 2e38, 4e38], rtol=1e-7)


def test_the_number_of_threads_does_not_change_a_bit():
    graph = compute_neighbors(np.random.default_rng(0).normal(size=(500, 6)), 7)
    one = on_threads(1, geodesic_distances)(graph).tobytes()
    assert all(on_threads(n, geodesic_distances)(graph).tobytes() == one for n in (2, 3))


def test_the_edges_are_a_symmetric_sorted_matrix():
    matrix = PathGraph.of(compute_neighbors(np.random.default_rng(0).normal(size=(80, 3)), 4)).matrix
    assert (matrix != matrix.T).nnz == 0
    assert sp.csr_array(matrix).has_sorted_indices


def test_wrong_sources_are_refused():
    graph = compute_neighbors(np.random.default_rng(0).normal(size=(20, 3)), 4)
    with pytest.raises(ValueError, match=r"sources must be row numbers in \[0, 20\)"):
        geodesic_distances(graph, sources=[20])
    with pytest.raises(TypeError, match="sources must be one row of integers"):
        geodesic_distances(graph, sources=[0.5])
