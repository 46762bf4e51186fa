"""Reconstruction weights in the feature space of an input kernel."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.threads import on_threads

from gnomon.affinities import Gram, Inputs, ReconstructionAffinity, reconstruction_weights, weights_of_new_rows
from gnomon.kernels.inputs import GaussianInput, LinearInput, PolynomialInput
from gnomon.neighbors import NeighborGraph

RULES = ["signed", "non_negative"]
KERNELS = {
    "gaussian": GaussianInput(sigma=1.5),
    "polynomial": PolynomialInput((1.0, 0.5, 0.25), 2.0),
    "one's own": lambda A, B: (A @ B.T) ** 2 + A @ B.T,
}


@pytest.fixture
def cloud():
    return np.random.default_rng(0).normal(size=(150, 6))


def around(K, i, neighbors):
    """Inner products of the displacements from point i in feature space."""
    return (
        K[np.ix_(neighbors, neighbors)] - K[i, neighbors][:, None] - K[i, neighbors][None] + K[i, i] * np.ones((1, 1))
    )


@pytest.mark.parametrize("regularization", [1e-3, 1e-1])
@pytest.mark.parametrize("weights", RULES)
def test_the_linear_kernel_gives_the_weights_of_the_rows(cloud, neighbor_graph, weights, regularization):
    graph = neighbor_graph(cloud, 9)
    given = {"weights": weights, "regularization": regularization}
    plain = reconstruction_weights(cloud, graph, **given)
    found = reconstruction_weights(cloud, graph, gram=Gram.from_kernel("linear", cloud), **given)
    np.testing.assert_allclose(found.W.toarray(), plain.W.toarray(), atol=1e-9)
    assert found.weights == weights
    far = cloud + 100.0  # the origin does not matter, up to rounding
    moved = reconstruction_weights(far, graph, gram=Gram.from_kernel("linear", far), **given)
    np.testing.assert_allclose(moved.W.toarray(), plain.W.toarray(), atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("n_neighbors", [4, 12])
def test_signed_weights_solve_the_dense_system(cloud, neighbor_graph, kernel, n_neighbors):
    graph = neighbor_graph(cloud, n_neighbors)
    gram = Gram.from_kernel(kernel, cloud)
    K, found = gram.dense(), reconstruction_weights(cloud, graph, gram=gram).W.toarray()
    for i, neighbors in enumerate(graph.indices):
        G = around(K, i, neighbors)
        w = np.linalg.solve(G + 1e-3 * np.trace(G) * np.eye(n_neighbors), np.ones(n_neighbors))
        np.testing.assert_allclose(found[i, neighbors], w / w.sum(), atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_non_negative_weights_satisfy_the_conditions_of_the_optimum(cloud, neighbor_graph, kernel):
    graph = neighbor_graph(cloud, 10)
    gram = Gram.from_kernel(kernel, cloud)
    K, found = gram.dense(), reconstruction_weights(cloud, graph, weights="non_negative", gram=gram).W.toarray()
    assert found.min() >= 0.0
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    for i, neighbors in enumerate(graph.indices):
        G, w = around(K, i, neighbors), found[i, neighbors]
        slopes = (G + 1e-3 * np.trace(G) * np.eye(10)) @ w
        np.testing.assert_allclose(slopes[w > 0], w @ slopes, rtol=1e-7)
        assert (slopes[w == 0] > (w @ slopes) * (1 - 1e-7)).all()


def test_a_matrix_will_do_and_threads_and_blocks_change_nothing(cloud, neighbor_graph, monkeypatch):
    graph, gram = neighbor_graph(cloud, 8), Gram.from_kernel("gaussian", cloud)
    expected = reconstruction_weights(cloud, graph, gram=gram).W
    matrix = reconstruction_weights(cloud, graph, gram=Gram.from_matrix(gram.dense())).W
    np.testing.assert_allclose(matrix.toarray(), expected.toarray(), atol=1e-12)
    monkeypatch.setattr("gnomon.affinities.reconstruction._BLOCK", 700)
    for n_threads in (1, 3):
        found = on_threads(n_threads, reconstruction_weights)(cloud, graph, gram=gram).W
        np.testing.assert_array_equal(found.data, expected.data)


def test_absent_neighbours_weigh_nothing_and_equal_ones_alike(cloud, neighbor_graph):
    graph = neighbor_graph(cloud, 6)
    distances = graph.distances.copy()
    distances[3, 4:] = np.inf
    gram = Gram.from_kernel("gaussian", cloud)
    short = NeighborGraph(graph.indices, distances)
    found = reconstruction_weights(cloud, short, gram=gram).W.toarray()
    less = reconstruction_weights(cloud, NeighborGraph(graph.indices[:, :4], distances[:, :4]), gram=gram).W.toarray()
    np.testing.assert_allclose(found[3], less[3], atol=1e-10)
    same = np.ones((4, 3))
    ring = NeighborGraph(np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]], np.int32), np.zeros((4, 3), np.float32))
    equal = reconstruction_weights(same, ring, gram=Gram.from_kernel(GaussianInput(1.0), same)).W.toarray()
    np.testing.assert_allclose(equal[0, 1:], 1 / 3, atol=1e-14)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", [LinearInput(), GaussianInput(1.5), PolynomialInput()], ids=lambda one: one.name)
@pytest.mark.parametrize("weights", RULES)
def test_new_rows_are_rebuilt_as_fitted_ones_are(cloud, neighbor_graph, weights, kernel, sparse):
    graph = neighbor_graph(cloud, 7)
    rows = sp.csr_array(cloud) if sparse else cloud
    fitted = reconstruction_weights(rows, graph, weights=weights, gram=Gram.from_kernel(kernel, rows)).W.toarray()
    found = weights_of_new_rows(rows, rows, graph.indices, weights=weights, kernel=kernel)
    np.testing.assert_allclose(found, np.take_along_axis(fitted, graph.indices, axis=1), atol=1e-7)
    alone = weights_of_new_rows(rows, rows[[5]], graph.indices[[5]], weights=weights, kernel=kernel)
    np.testing.assert_array_equal(alone[0], found[5])


def test_the_affinity_keeps_its_kernel_for_new_rows(cloud, neighbor_graph):
    inputs = Inputs(cloud, neighbor_graph(cloud, 7))
    affinity = ReconstructionAffinity(input_kernel="gaussian")
    made = affinity(inputs).W.toarray()
    rule = affinity.new_rows(inputs)
    found = rule(cloud, cloud[:20], inputs.graph.indices[:20], inputs.graph.distances[:20])
    np.testing.assert_allclose(found, np.take_along_axis(made, inputs.graph.indices, axis=1)[:20], atol=1e-6)
    plain = reconstruction_weights(cloud, inputs.graph).W
    np.testing.assert_array_equal(ReconstructionAffinity()(inputs).W.data, plain.data)
    assert np.abs(made - plain.toarray()).max() > 0.01
    with pytest.raises(ValueError, match="parameters sigma of kernel='linear' must be left out"):
        ReconstructionAffinity(input_kernel_params={"sigma": 2.0})(inputs)


def test_what_no_feature_space_has_is_refused(cloud, neighbor_graph):
    graph = neighbor_graph(cloud, 6)
    negative = Gram.from_matrix(-Gram.from_kernel("gaussian", cloud).dense())
    with pytest.raises(ValueError, match=r"input kernel must be positive semidefinite around each row \(around row 0"):
        reconstruction_weights(cloud, graph, gram=negative)
    few = Gram.from_kernel("gaussian", cloud[:100])
    with pytest.raises(ValueError, match=r"gram of 100 rows .* must be of n_samples=150 rows"):
        reconstruction_weights(cloud, graph, gram=few)
    gram = Gram.from_kernel("gaussian", cloud)
    with pytest.raises(ValueError, match=r"weights='membership' must be of n_samples=150 rows, with weights='signed'"):
        reconstruction_weights(cloud, graph, weights="membership", gram=gram)

    def overflows(A, B):
        return np.where(A[:, :1] * B[:, 0] > 4.0, np.inf, A @ B.T)

    with pytest.raises(ValueError, match=r"input kernel must be one of finite similarities"):
        weights_of_new_rows(cloud, 3 * cloud, graph.indices, kernel=_Own(overflows))


class _Own:
    """An input kernel that checks nothing."""

    of_differences, semidefinite, name = False, None, "own"

    def __init__(self, block):
        self.block = block

    def diagonal(self, A):
        return np.diag(self.block(A, A))
