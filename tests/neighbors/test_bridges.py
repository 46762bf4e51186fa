"""Bridges are the minimum spanning tree of the components, whatever the metric and the form of the table."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from tests.threads import on_threads

from gnomon._run import running
from gnomon.exceptions import NeighborsWarning
from gnomon.neighbors import compute_neighbors, find_bridges, graph_components, join_components


def spanning_tree(distances, labels):
    """Kruskal over all pairs of rows in different components, ties by row numbers."""
    low, high = np.triu_indices(len(labels), 1)
    apart = labels[low] != labels[high]
    low, high = low[apart], high[apart]
    group, edges = labels.astype(int).copy(), []
    for place in np.lexsort((high, low, distances[low, high])):
        i, j = int(low[place]), int(high[place])
        if np.isfinite(distances[i, j]) and group[i] != group[j]:
            group[group == group[j]] = group[i]
            edges.append((i, j))
    return edges


def pairs_of(bridges):
    return list(zip(bridges.sources.tolist(), bridges.targets.tolist(), strict=True))


@pytest.fixture
def islands():
    """Clusters of very different sizes, one larger than what is searched together, in no order."""
    rng = np.random.default_rng(3)
    sizes = [90, 70, 40, *rng.integers(4, 9, size=14)]
    X = np.concatenate([rng.normal(size=(s, 5)) + 30 * rng.normal(size=5) for s in sizes])
    return X[rng.permutation(len(X))]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_bridges_are_the_minimum_spanning_tree_of_the_components(metric, dtype, islands):
    X = islands.astype(dtype)
    graph = compute_neighbors(X, 3, metric=metric)
    labels = graph_components(graph)
    bridges = find_bridges(X, graph, metric=metric)
    distances = cdist(X, X, {"manhattan": "cityblock"}.get(metric, metric))
    assert labels.max() >= 10
    assert sorted(pairs_of(bridges)) == sorted(spanning_tree(distances, labels))
    np.testing.assert_allclose(bridges.distances, distances[bridges.sources, bridges.targets], rtol=1e-5)
    assert (np.diff(bridges.distances) >= 0).all()
    assert bridges.sources.dtype == bridges.targets.dtype == np.int32


def test_ties_are_decided_by_row_numbers():
    grid = np.stack(np.meshgrid(np.arange(5), np.arange(6)), axis=-1).reshape(-1, 2) * 10.0
    X = (grid[:, None] + np.array([[0, 0], [0, 1], [1, 0], [1, 1]])).reshape(-1, 2)
    X = X[np.random.default_rng(0).permutation(len(X))]
    graph = compute_neighbors(X, 2)
    bridges = find_bridges(X, graph)
    assert len(bridges) == 29
    assert sorted(pairs_of(bridges)) == sorted(spanning_tree(cdist(X, X), graph_components(graph)))


def test_copies_of_a_row_are_a_component_of_their_own():
    X = np.repeat(np.array([[0.0], [1.0], [5.0]]), [7, 9, 100], axis=0)
    graph = compute_neighbors(X, 4)
    labels = graph_components(graph)
    assert pairs_of(find_bridges(X, graph))[-1] == (7, 16)
    assert sorted(pairs_of(find_bridges(X, graph))) == sorted(spanning_tree(cdist(X, X), labels))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_given_distances_have_the_bridges_of_their_rows(form, islands):
    distances = cdist(islands, islands)
    graph = compute_neighbors(form(distances), 3, metric="precomputed")
    expected = find_bridges(islands, compute_neighbors(islands, 3))
    found = find_bridges(form(distances), graph, metric="precomputed")
    assert pairs_of(found) == pairs_of(expected)


def test_sparse_rows_have_the_bridges_of_dense_ones(islands):
    graph = compute_neighbors(islands, 3)
    assert pairs_of(find_bridges(sp.csr_array(islands), graph)) == pairs_of(find_bridges(islands, graph))


def test_components_infinitely_far_apart_are_refused():
    near = cdist(np.arange(5.0)[:, None], np.arange(5.0)[:, None])
    distances = np.block([[near, np.full((5, 5), np.inf)], [np.full((5, 5), np.inf), near]])
    graph = compute_neighbors(distances, 2, metric="precomputed")
    with pytest.raises(ValueError, match="2 components of 5, 5 rows are infinitely far apart"):
        find_bridges(distances, graph, metric="precomputed")
    stored = sp.csr_array(sp.block_diag([sp.csr_array(near), sp.csr_array(near)]))
    with pytest.raises(ValueError, match="2 components of 5, 5 rows are infinitely far apart"):
        find_bridges(stored, compute_neighbors(stored, 2, metric="precomputed"), metric="precomputed")


def test_the_number_of_threads_does_not_change_the_bridges(islands):
    graph = compute_neighbors(islands, 3)
    one, three = (on_threads(n, find_bridges)(islands, graph) for n in (1, 3))
    assert pairs_of(one) == pairs_of(three)
    assert one.distances.tobytes() == three.distances.tobytes()


def test_a_connected_graph_has_no_bridges():
    X = np.random.default_rng(0).normal(size=(40, 2))
    graph = compute_neighbors(X, 8)
    assert graph_components(graph).max() == 0
    assert len(find_bridges(X, graph)) == 0
    bridges, labels = join_components(X, graph, "error")
    assert bridges.distances.shape == (0,)
    assert (labels == 0).all()


def test_a_graph_in_pieces_is_joined_with_a_warning_or_refused(islands):
    graph = compute_neighbors(islands, 3)
    n = int(graph_components(graph).max()) + 1
    warned = rf"^Someone: the neighbour graph has {n} components of 9\d?, .*longest"
    with running(name="Someone"), pytest.warns(NeighborsWarning, match=warned):
        bridges, _ = join_components(islands, graph, "connect")
    assert len(bridges) == n - 1
    refused = rf"^Someone: the neighbour graph must be connected \(it has {n} components of"
    with running(name="Someone"), pytest.raises(ValueError, match=refused):
        join_components(islands, graph, "error")
