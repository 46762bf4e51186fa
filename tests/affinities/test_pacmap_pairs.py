"""The pairs of PaCMAP: which they are, how many, and the same for any number of threads."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from tests.threads import on_threads

from gnomon.affinities import pacmap_pairs
from gnomon.affinities.pacmap import mid_near_partners
from gnomon.neighbors.graph import NeighborGraph


def directed(matrix, *, n_each):
    """Undo (C + C') / 2 as far as it goes: the entries and how many choices they stand for."""
    assert matrix.dtype == np.float32
    assert (matrix != matrix.T).nnz == 0
    assert set(np.unique(matrix.data)) <= {0.5, 1.0}
    assert not matrix.diagonal().any()
    assert matrix.sum() == pytest.approx(n_each * matrix.shape[0])
    return matrix.toarray()


@pytest.fixture
def clustered():
    rng = np.random.default_rng(0)
    centres = 4 * rng.normal(size=(5, 6))
    return centres[rng.integers(0, 5, 240)] + rng.normal(size=(240, 6)) * rng.uniform(0.2, 2.0, (240, 1))


def test_near_pairs_are_those_of_smallest_scaled_distance(clustered, neighbor_graph):
    pairs = pacmap_pairs(clustered, neighbor_graph(clustered, 60), n_neighbors=10)
    D = cdist(clustered, clustered)
    scales = np.sort(D, axis=1)[:, 4:7].mean(axis=1)  # column 0 is the point itself
    scaled = D**2 / np.outer(scales, scales)
    np.fill_diagonal(scaled, np.inf)
    candidates = np.argsort(D + np.diag(np.full(240, np.inf)), axis=1)[:, :60]
    chosen = np.zeros((240, 240))
    for i, among in enumerate(candidates):
        chosen[i, among[np.argsort(scaled[i, among])[:10]]] = 1
    np.testing.assert_array_equal(directed(pairs.near, n_each=10), (chosen + chosen.T) / 2)
    assert (chosen[np.arange(240)[:, None], candidates[:, :10]] == 0).any()  # not simply the nearest


def test_further_pairs_are_not_near_and_as_many_as_asked(clustered, neighbor_graph):
    pairs = pacmap_pairs(clustered, neighbor_graph(clustered, 60), n_neighbors=10, further_ratio=2.5)
    near, further = directed(pairs.near, n_each=10), directed(pairs.further, n_each=25)
    assert np.all(further[near == 1.0] == 0)  # a pair that is near from both ends is further from neither
    assert ((near > 0) & (further > 0)).any()  # one that is near from one end may be drawn from the other


def test_mid_near_partners_are_second_nearest_of_six(clustered):
    partners = mid_near_partners(clustered, 5, seed=3)
    assert partners.shape == (240, 5)
    assert all(len({i, *row}) == 6 for i, row in enumerate(partners))
    ranks = np.argsort(np.argsort(cdist(clustered, clustered), axis=1), axis=1)  # 0 is the point itself
    found = np.take_along_axis(ranks, partners.astype(np.intp), axis=1)
    assert found.min() >= 2
    # the second smallest of six of m numbers has the mean 2 (m + 1) / 7 and a deviation of 0.16 m
    assert found.mean() == pytest.approx(2 * 240 / 7, abs=4 * 0.16 * 239 / np.sqrt(1200))


def test_mid_near_partner_among_two_is_the_farther():
    # Three points on a line: a group holds both others, so that each takes the farther one.
    partners = mid_near_partners(np.array([[0.0], [1.0], [5.0]]), 1)
    np.testing.assert_array_equal(partners, [[2], [2], [0]])


@pytest.mark.parametrize("n_samples", [2, 3, 4, 7, 12, 25])
def test_few_points_have_fewer_pairs(n_samples, neighbor_graph):
    X = np.random.default_rng(n_samples).normal(size=(n_samples, 3))
    n_neighbors = max(1, (n_samples - 1) // 2)
    pairs = pacmap_pairs(X, neighbor_graph(X, n_samples - 1), n_neighbors=n_neighbors)
    directed(pairs.near, n_each=n_neighbors)
    directed(pairs.mid_near, n_each=n_neighbors // 2)
    directed(pairs.further, n_each=min(2 * n_neighbors, n_samples - 1 - n_neighbors))


def test_the_same_bytes_for_any_number_of_threads_and_others_for_another_seed(clustered, neighbor_graph):
    X = np.tile(clustered, (4, 1)) + np.random.default_rng(5).normal(size=(960, 6))
    graph = neighbor_graph(X, 60)

    def bits(**parameters):
        pairs = pacmap_pairs(X, graph, **parameters)
        matrices = (pairs.near, pairs.mid_near, pairs.further)
        return [b"".join(part.tobytes() for part in (m.indptr, m.indices, m.data)) for m in matrices]

    one = on_threads(1, bits)(seed=1)
    assert all(on_threads(n, bits)(seed=1) == one for n in (2, 3, 5))
    other = bits(seed=2)
    assert [a == b for a, b in zip(one, other, strict=True)] == [True, False, False]


def test_precomputed_distances_give_the_pairs_of_the_rows(clustered, neighbor_graph):
    graph, D = neighbor_graph(clustered, 60), cdist(clustered, clustered)
    expected = pacmap_pairs(clustered, graph)
    rows, columns = np.nonzero(~np.eye(240, dtype=bool))
    stored = sp.csr_array((D[rows, columns], (rows, columns)), shape=(240, 240))
    for distances in (D, stored):
        found = pacmap_pairs(distances, graph, metric="precomputed")
        assert (found.mid_near != expected.mid_near).nnz == 0


def test_missing_neighbours_make_no_pair(neighbor_graph):
    X = np.random.default_rng(0).normal(size=(30, 3))
    graph = neighbor_graph(X, 8)
    mask = np.ones((30, 8), dtype=bool)
    mask[4, 2:] = False
    indices = graph.indices.copy()
    indices[4, 2:] = indices[4, 1]
    masked = NeighborGraph(indices, np.where(mask, graph.distances, np.float32(np.inf)), mask)
    assert pacmap_pairs(X, masked, n_neighbors=5).near.sum() == 29 * 5 + 2


def test_more_neighbours_than_the_graph_has_is_an_error(clustered, neighbor_graph):
    with pytest.raises(ValueError, match="pacmap_pairs: n_neighbors=10 must be at most 8, those of the graph"):
        pacmap_pairs(clustered, neighbor_graph(clustered, 8))
