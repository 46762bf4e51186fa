from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.threads import on_threads

from gnomon._run import running
from gnomon.affinities import fuzzy_simplicial_set, gaussian_affinities, membership_weights
from gnomon.neighbors.graph import NeighborGraph

# Rows of a graph of umap-learn (the point itself, at distance 0, left out) and what it finds for them.
ROWS = np.array(
    [[0.5, 0.8, 1.1, 1.7, 2.0], [0.1, 0.1, 0.1, 0.1, 0.1], [0.0, 0.0, 0.4, 0.9, 1.3], [1.0, 2.0, 3.0, 4.0, 5.0]],
    dtype=np.float32,
)
FLOORS = [8.333333333e-05, 0.0004333333333]
REFERENCE = {
    1.0: ([0.8321990967, *FLOORS, 2.429016113], [0.5, 0.1, 0.4, 1.0]),
    1.5: ([0.6306304932, *FLOORS, 1.800720215], [0.65, 0.1, 0.65, 1.5]),
    2.0: ([0.377204895, *FLOORS, 1.040802002], [0.8, 0.1, 0.9, 2.0]),
}
REFERENCE_SIGMA = [
    0.322479248,
    1.055419922,
    1.152099609,
    0.5379333496,
    0.6824951172,
    0.3371887207,
    1.694213867,
    0.1638526917,
]
REFERENCE_MU = {  # upper triangle of the graph of eight points, n_neighbors=4 in umap-learn
    (0, 3): 1.0,
    (0, 4): 0.4582347815,
    (0, 6): 0.4866009578,
    (0, 7): 0.739613823,
    (1, 3): 0.3403766714,
    (1, 4): 1.0,
    (1, 7): 0.7278537221,
    (2, 3): 0.3893678496,
    (2, 5): 1.0,
    (2, 7): 0.6106302057,
    (3, 6): 1.0,
    (3, 7): 0.3946475817,
    (4, 5): 0.07203885064,
    (4, 7): 0.9463812438,
    (5, 7): 1.0,
    (6, 7): 0.5134053093,
}


@pytest.mark.parametrize("local_connectivity", [1.0, 1.5, 2.0])
def test_bandwidths_agree_with_umap_learn(local_connectivity):
    _, nearest, bandwidths = membership_weights(ROWS, local_connectivity=local_connectivity)
    sigma, rho = REFERENCE[local_connectivity]
    np.testing.assert_allclose(bandwidths, sigma, rtol=1e-4)
    np.testing.assert_allclose(nearest, rho, rtol=1e-6)


def test_graph_agrees_with_umap_learn(neighbor_graph, eight_points):
    affinities = fuzzy_simplicial_set(neighbor_graph(eight_points, 3))
    expected = np.zeros((8, 8))
    for (i, j), value in REFERENCE_MU.items():
        expected[i, j] = expected[j, i] = value
    np.testing.assert_allclose(affinities.matrix.toarray(), expected, atol=2e-5)
    np.testing.assert_allclose(affinities.bandwidths, REFERENCE_SIGMA, rtol=1e-4)


def test_weights_sum_to_log2_of_the_neighbours_and_oneself(neighbor_graph):
    weights, _, _ = membership_weights(neighbor_graph(np.random.default_rng(0).normal(size=(400, 8)), 14).distances)
    np.testing.assert_allclose(weights.sum(axis=1), np.log2(15), atol=1e-5)
    np.testing.assert_array_equal(weights[:, 0], 1)


def test_memberships_are_symmetric_and_in_range(neighbor_graph):
    matrix = fuzzy_simplicial_set(neighbor_graph(np.random.default_rng(1).normal(size=(600, 5)), 15)).matrix
    assert (matrix != matrix.T).nnz == 0
    assert matrix.data.min() > 0
    assert matrix.data.max() == 1
    assert matrix.diagonal().max() == 0


@pytest.mark.parametrize("mix", [0.0, 0.3, 1.0])
def test_mix_of_union_and_intersection(neighbor_graph, mix):
    graph = neighbor_graph(np.random.default_rng(2).normal(size=(300, 5)), 10)
    weights, _, _ = membership_weights(graph.distances)
    W = sp.csr_array(
        (weights.ravel(), (np.repeat(np.arange(300), 10), graph.indices.ravel())), shape=(300, 300)
    ).toarray()
    expected = mix * (W + W.T - W * W.T) + (1 - mix) * W * W.T
    matrix = fuzzy_simplicial_set(graph, set_op_mix_ratio=mix).matrix
    np.testing.assert_allclose(matrix.toarray(), expected, atol=1e-6)
    assert matrix.nnz == np.count_nonzero(expected)


def test_rows_permute_with_the_data(neighbor_graph):
    X = np.random.default_rng(3).normal(size=(200, 5))
    order = np.random.default_rng(4).permutation(200)
    straight = fuzzy_simplicial_set(neighbor_graph(X, 12)).matrix.toarray()
    permuted = fuzzy_simplicial_set(neighbor_graph(X[order], 12)).matrix.toarray()
    np.testing.assert_allclose(permuted, straight[order][:, order], atol=1e-6)


@pytest.mark.parametrize("scale", [1e-25, 1e30])
def test_scale_of_the_distances_does_not_matter(neighbor_graph, scale):
    graph = neighbor_graph(np.random.default_rng(5).normal(size=(50, 3)), 10)
    plain, _, _ = membership_weights(graph.distances)
    scaled, _, bandwidths = membership_weights(graph.distances * np.float32(scale))
    np.testing.assert_allclose(scaled, plain, atol=1e-4)
    assert np.isfinite(bandwidths).all()


def test_missing_neighbours_are_left_out_of_every_mean():
    """A row with a pruned neighbour equals the same row of a narrower graph (F14)."""
    inf = np.inf
    narrow = np.array([[0.1, 0.1, 0.1], [0.0, 0.0, 0.5], [1.0, 2.0, 4.0]], np.float32)
    wide = np.column_stack([narrow, np.full((3, 2), inf, np.float32)])
    for with_gap, without in zip(membership_weights(wide), membership_weights(narrow), strict=True):
        np.testing.assert_array_equal(with_gap[:, :3] if with_gap.ndim == 2 else with_gap, without)
    assert not membership_weights(wide)[0][:, 3:].any()


def test_rows_without_neighbours_stay_empty():
    indices = np.array([[1], [0], [0]], np.int32)
    graph = NeighborGraph(indices, np.ones((3, 1), np.float32), np.array([[True], [True], [False]]))
    affinities = fuzzy_simplicial_set(graph)
    np.testing.assert_array_equal(affinities.matrix.toarray(), [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert np.isfinite(affinities.bandwidths).all()


def test_identical_points_have_membership_one():
    indices = np.array([[1, 2], [0, 2], [0, 1]], np.int32)
    affinities = fuzzy_simplicial_set(NeighborGraph(indices, np.zeros((3, 2), np.float32)))
    np.testing.assert_array_equal(affinities.matrix.toarray(), 1 - np.eye(3))
    np.testing.assert_array_equal(affinities.bandwidths, 0)


@pytest.mark.parametrize("local_connectivity", [0.0, 0.5, 1.0, 7.0, 100.0])
def test_any_local_connectivity_is_finite(local_connectivity):
    weights, nearest, bandwidths = membership_weights(ROWS, local_connectivity=local_connectivity)
    assert np.isfinite(weights).all()
    assert np.isfinite(bandwidths).all()
    if local_connectivity > 5:  # more than there are: the whole row counts as near
        np.testing.assert_array_equal(nearest, ROWS[:, -1])
        np.testing.assert_array_equal(weights, 1)


@pytest.mark.parametrize("n_threads", [2, 3, 5])
def test_bits_do_not_depend_on_threads(neighbor_graph, n_threads):
    graph = neighbor_graph(np.random.default_rng(6).normal(size=(3000, 4)), 15)
    one = on_threads(1, fuzzy_simplicial_set)(graph)
    many = on_threads(n_threads, fuzzy_simplicial_set)(graph)
    for name in ("data", "indices", "indptr"):
        assert getattr(one.matrix, name).tobytes() == getattr(many.matrix, name).tobytes()
    assert one.bandwidths.tobytes() == many.bandwidths.tobytes()


def test_parameters_are_checked(neighbor_graph):
    graph = neighbor_graph(np.random.default_rng(7).normal(size=(20, 2)), 5)
    with (
        running(name="UMAP"),
        pytest.raises(ValueError, match=r"^UMAP: set_op_mix_ratio=1\.5 must be a number >= 0 and <= 1"),
    ):
        fuzzy_simplicial_set(graph, set_op_mix_ratio=1.5)
    with pytest.raises(ValueError, match=r"local_connectivity=-1 must be"):
        fuzzy_simplicial_set(graph, local_connectivity=-1)


@pytest.mark.parametrize("n_neighbors", [10, 300])
@pytest.mark.parametrize("make", [fuzzy_simplicial_set, gaussian_affinities])
def test_a_row_that_names_a_neighbour_twice_is_an_error(make, n_neighbors):
    rng = np.random.default_rng(0)
    indices = np.argsort(rng.random((400, 400)), axis=1)[:, :n_neighbors].astype(np.int32)
    indices[7, 4] = indices[7, 2]
    graph = NeighborGraph(indices, np.sort(rng.random(indices.shape).astype(np.float32), axis=1))
    with pytest.raises(ValueError, match=r"row 7 names a neighbour twice\. Make them with .*as_neighbor_graph"):
        make(graph, **({"perplexity": 3.0} if make is gaussian_affinities else {}))
