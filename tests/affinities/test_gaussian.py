from __future__ import annotations

import numpy as np
import pytest
from tests.threads import on_threads

from gnomon._run import running
from gnomon.affinities import gaussian_affinities, gaussian_weights
from gnomon.linalg.table import kernel_csr
from gnomon.neighbors.graph import NeighborGraph

REFERENCE_BETA = [
    1.424793245,
    0.8762386037,
    0.7721185939,
    1.384923182,
    1.023738492,
    1.025293427,
    0.6428480144,
    3.236891519,
]
REFERENCE_P_ROW0 = [
    0.0,
    0.001743616867,
    0.001459752505,
    0.048238314,
    0.008945689647,
    0.003397722617,
    0.004138728259,
    0.0243009414,
]


def entropy(weights):
    weights = weights.astype(np.float64)
    return -np.sum(weights * np.log(np.where(weights > 0, weights, 1)), axis=1)


def test_agrees_with_stored_reference(neighbor_graph, eight_points):
    affinities = gaussian_affinities(neighbor_graph(eight_points, 7), perplexity=3)
    np.testing.assert_allclose(0.5 / affinities.bandwidths.astype(float) ** 2, REFERENCE_BETA, rtol=1e-5)
    np.testing.assert_allclose(affinities.matrix.toarray()[0], REFERENCE_P_ROW0, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("perplexity", [1.5, 5, 20.5, 44.9, 45])
def test_entropy_is_log_perplexity(neighbor_graph, perplexity):
    X = np.random.default_rng(0).normal(size=(300, 10))
    weights, _ = gaussian_weights(neighbor_graph(X, 45).distances, perplexity=perplexity)
    np.testing.assert_allclose(entropy(weights), np.log(perplexity), atol=1e-5)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-6)


def test_weights_follow_the_gaussian_of_the_bandwidth(neighbor_graph):
    graph = neighbor_graph(np.random.default_rng(1).normal(size=(100, 4)), 30)
    weights, bandwidths = gaussian_weights(graph.distances, perplexity=8)
    expected = np.exp(-(graph.distances.astype(float) ** 2) / (2 * bandwidths.astype(float)[:, None] ** 2))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(weights, expected, rtol=2e-4, atol=1e-7)


def test_two_neighbours_closed_form():
    # With squared distances 0 and 1 and weights p and 1 - p, beta = ln(p / (1 - p)).
    p = 0.9
    perplexity = np.exp(-p * np.log(p) - (1 - p) * np.log(1 - p))
    weights, bandwidths = gaussian_weights(np.array([[0, 1]], np.float32), perplexity=perplexity)
    np.testing.assert_allclose(weights, [[p, 1 - p]], atol=1e-5)
    np.testing.assert_allclose(0.5 / bandwidths**2, np.log(p / (1 - p)), rtol=1e-4)


def test_matrix_is_symmetric_sums_to_one_and_has_sorted_columns(neighbor_graph):
    matrix = gaussian_affinities(
        neighbor_graph(np.random.default_rng(2).normal(size=(500, 6)), 31), perplexity=10
    ).matrix
    assert (matrix != matrix.T).nnz == 0
    assert abs(matrix.sum(dtype=np.float64) - 1) < 1e-6
    assert matrix.diagonal().max() == 0
    assert matrix.data.min() > 0
    assert matrix.sum(axis=1).min() >= (1 - 1e-5) / (2 * 500)
    steps = np.diff(matrix.indices.astype(np.int64))
    assert np.delete(steps, matrix.indptr[1:-1] - 1).min() > 0


def test_columns_are_those_of_the_kernel_and_no_wider_copy(neighbor_graph):
    graph = neighbor_graph(np.random.default_rng(2).normal(size=(50, 6)), 9)
    matrix = gaussian_affinities(graph, perplexity=3).matrix
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
    assert np.shares_memory(kernel_csr(matrix)[1], matrix.indices)


def test_agrees_with_scikit_learn(neighbor_graph):
    from scipy.spatial.distance import squareform
    from sklearn.manifold._t_sne import _joint_probabilities
    from sklearn.metrics import pairwise_distances

    X = np.random.default_rng(3).normal(size=(60, 5)).astype(np.float32)
    expected = squareform(_joint_probabilities(pairwise_distances(X, metric="sqeuclidean"), 12, 0))
    found = gaussian_affinities(neighbor_graph(X, 59), perplexity=12).matrix.toarray()
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=1e-9)


def test_rows_permute_with_the_data(neighbor_graph):
    X = np.random.default_rng(4).normal(size=(200, 5))
    order = np.random.default_rng(5).permutation(200)
    straight = gaussian_affinities(neighbor_graph(X, 20), perplexity=6).matrix.toarray()
    permuted = gaussian_affinities(neighbor_graph(X[order], 20), perplexity=6).matrix.toarray()
    np.testing.assert_allclose(permuted, straight[order][:, order], rtol=1e-5)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_scale_of_the_distances_does_not_matter(neighbor_graph, scale):
    graph = neighbor_graph(np.random.default_rng(6).normal(size=(50, 3)), 20)
    plain, _ = gaussian_weights(graph.distances, perplexity=7)
    scaled, bandwidths = gaussian_weights(graph.distances * np.float32(scale), perplexity=7)
    np.testing.assert_allclose(scaled, plain, rtol=1e-3, atol=1e-7)
    assert np.isfinite(bandwidths).all()


def test_ties_share_the_weight():
    # Five neighbours at the smallest distance: no bandwidth brings the perplexity below 5.
    distances = np.array([[0, 0, 0, 0, 0, 1, 2], [1, 1, 1, 1, 1, 1, 1]], np.float32)
    weights, bandwidths = gaussian_weights(distances, perplexity=3)
    np.testing.assert_allclose(weights[0], [0.2] * 5 + [0, 0], atol=1e-6)
    np.testing.assert_allclose(weights[1], 1 / 7)
    assert np.isfinite(bandwidths).all()


def test_missing_neighbours_are_left_out():
    inf = np.inf
    distances = np.array([[1, 2, 3, 4, inf], [1, 2, inf, inf, inf], [inf] * 5], np.float32)
    weights, bandwidths = gaussian_weights(distances, perplexity=3)
    alone, _ = gaussian_weights(distances[:1, :4].copy(), perplexity=3)
    np.testing.assert_array_equal(weights[0], [*alone[0], 0])
    np.testing.assert_allclose(weights[1], [0.5, 0.5, 0, 0, 0])  # fewer neighbours than the perplexity
    assert bandwidths[1] == inf
    assert not weights[2].any()


def test_mask_overrules_distances_and_isolated_rows_keep_the_total():
    indices = np.array([[1, 2], [0, 2], [0, 1], [0, 1]], np.int32)
    distances = np.array([[1, 2], [1, 3], [2, 3], [4, 5]], np.float32)
    mask = np.array([[True, True], [True, True], [True, True], [False, False]])
    matrix = gaussian_affinities(NeighborGraph(indices, distances, mask), perplexity=1.5).matrix
    assert matrix[[3]].nnz == 0
    assert matrix[:, [3]].nnz == 0
    assert abs(matrix.sum() - 1) < 1e-6


@pytest.mark.parametrize("n_threads", [2, 3, 5])
def test_bits_do_not_depend_on_threads(neighbor_graph, n_threads):
    graph = neighbor_graph(np.random.default_rng(7).normal(size=(3000, 4)), 30)
    one = on_threads(1, gaussian_affinities)(graph, perplexity=10)
    many = on_threads(n_threads, gaussian_affinities)(graph, perplexity=10)
    for name in ("data", "indices", "indptr"):
        assert getattr(one.matrix, name).tobytes() == getattr(many.matrix, name).tobytes()
    assert one.bandwidths.tobytes() == many.bandwidths.tobytes()


def test_perplexity_above_the_number_of_neighbours_is_refused(neighbor_graph):
    graph = neighbor_graph(np.random.default_rng(8).normal(size=(20, 2)), 5)
    with (
        running(name="TSNE"),
        pytest.raises(
            ValueError, match=r"^TSNE: perplexity=8 must be at most n_neighbors=5\. Lower perplexity or pass"
        ),
    ):
        gaussian_affinities(graph, perplexity=8)


def test_wrong_row_numbers_are_refused():
    graph = NeighborGraph(np.array([[1], [2]], np.int32), np.ones((2, 1), np.float32))
    with pytest.raises(ValueError, match=r"row numbers from 1 to 2 must be in \[0, 2\)"):
        gaussian_affinities(graph, perplexity=1)
    graph = NeighborGraph(np.array([[1], [0]], np.int32), np.ones((2, 2), np.float32))
    with pytest.raises(ValueError, match="same shape"):
        gaussian_affinities(graph, perplexity=1)
