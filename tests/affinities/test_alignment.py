"""Alignment matrices against independent implementations, their null spaces, and their invariances."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_swiss_roll
from tests.threads import on_threads

from gnomon.affinities import alignment, alignment_matrix
from gnomon.neighbors import NeighborGraph, compute_neighbors

VARIANTS = ["ltsa", "hessian", "modified"]


def ltsa_of(Z, d):
    k = len(Z)
    axes = np.linalg.svd(Z - Z.mean(axis=0))[0][:, :d]
    affine = np.column_stack([np.full(k, 1 / np.sqrt(k)), axes])
    return np.eye(k) - affine @ affine.T


def hessian_of(Z, d):
    """The published form: the quadratic columns alone, after Gram-Schmidt, divided by their sums where these matter."""
    axes = np.linalg.svd(Z - Z.mean(axis=0))[0][:, :d]
    products = [axes[:, a] * axes[:, b] for a, b in combinations_with_replacement(range(d), 2)]
    orthonormal = np.linalg.qr(np.column_stack([np.ones(len(Z)), axes, *products]))[0]
    quadratic = orthonormal[:, 1 + d :]
    sums = quadratic.sum(axis=0)
    quadratic = quadratic / np.where(np.abs(sums) > 1e-4, sums, 1.0)
    return quadratic @ quadratic.T


def summed(local_of, X, graph, d):
    B = np.zeros((len(X), len(X)))
    for row in graph.indices:
        B[np.ix_(row, row)] += local_of(X[row], d)
    return B


@pytest.fixture
def roll():
    return make_swiss_roll(150, random_state=0)[0]


@pytest.fixture
def cloud():
    return np.random.default_rng(0).normal(size=(120, 20))


@pytest.mark.parametrize(("variant", "local_of"), [("ltsa", ltsa_of), ("hessian", hessian_of)])
@pytest.mark.parametrize(("d", "n_neighbors"), [(1, 6), (2, 9), (3, 14)])
def test_agrees_with_a_plain_implementation(roll, cloud, variant, local_of, d, n_neighbors):
    for X in (roll, cloud) if d < 3 else (cloud,):
        graph = compute_neighbors(X, n_neighbors)
        found = alignment_matrix(X, graph, d, variant=variant)
        np.testing.assert_allclose(found.matrix.toarray(), summed(local_of, X, graph, d), atol=1e-10)
        assert found.n_flat == 0


@pytest.mark.parametrize("variant", ["ltsa", "modified"])
@pytest.mark.parametrize("data", ["roll", "cloud"])  # more and fewer neighbours than features
def test_the_error_of_a_map_is_that_of_scikit_learn(request, variant, data):
    from sklearn.manifold import LocallyLinearEmbedding

    X = request.getfixturevalue(data)
    B = alignment_matrix(X, compute_neighbors(X, 12), 2, variant=variant).matrix.toarray()
    expected = LocallyLinearEmbedding(n_neighbors=12, n_components=2, method=variant, eigen_solver="dense").fit(X)
    eigenvalues = np.linalg.eigvalsh(B + np.ones_like(B))[:2]
    np.testing.assert_allclose(eigenvalues.sum(), expected.reconstruction_error_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_it_is_symmetric_semidefinite_and_maps_the_constant_to_zero(roll, variant):
    B = alignment_matrix(roll, compute_neighbors(roll, 10), 2, variant=variant).matrix
    np.testing.assert_array_equal(B.toarray(), B.T.toarray())
    np.testing.assert_allclose(B.sum(axis=1), 0.0, atol=1e-12)
    assert np.linalg.eigvalsh(B.toarray())[0] > -1e-12


@pytest.mark.parametrize("variant", ["ltsa", "hessian"])
@pytest.mark.parametrize("n_features", [2, 7])
def test_on_flat_data_its_null_space_is_the_constant_and_the_coordinates(variant, n_features):
    rng = np.random.default_rng(0)
    flat = rng.uniform(size=(150, 2))
    X = flat @ np.linalg.qr(rng.normal(size=(n_features, 2)))[0].T + 3.0
    B = alignment_matrix(X, compute_neighbors(X, 10), 2, variant=variant).matrix.toarray()
    values = np.linalg.eigvalsh(B)
    assert values[2] < 1e-12 < 1e-5 < values[3]
    np.testing.assert_allclose(B @ flat, 0.0, atol=1e-12)


@pytest.mark.parametrize("variant", VARIANTS)
def test_moving_turning_and_scaling_the_rows_changes_nothing(roll, variant):
    graph = compute_neighbors(roll, 10)
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    expected = alignment_matrix(roll, graph, 2, variant=variant).matrix
    found = alignment_matrix(1e3 * roll @ rotation + 1e5, graph, 2, variant=variant).matrix
    np.testing.assert_allclose(found.toarray(), expected.toarray(), atol=1e-7)


@pytest.mark.parametrize("variant", VARIANTS)
def test_bytes_do_not_depend_on_threads_and_blocks_agree(roll, variant, monkeypatch):
    graph = compute_neighbors(roll, 10)
    runs = [on_threads(n, alignment_matrix)(roll, graph, 2, variant=variant).matrix for n in (1, 2, 3)]
    assert len({run.data.tobytes() for run in runs}) == 1
    monkeypatch.setattr(alignment, "_BLOCK", 1700)
    blocks = alignment_matrix(roll, graph, 2, variant=variant).matrix
    np.testing.assert_allclose(blocks.toarray(), runs[0].toarray(), atol=1e-13)


@pytest.mark.parametrize("variant", VARIANTS)
def test_sparse_rows_give_what_dense_rows_give(variant):
    X = np.random.default_rng(0).poisson(1.0, size=(80, 12)).astype(np.float64)
    graph = compute_neighbors(X, 9)
    dense = alignment_matrix(X, graph, 2, variant=variant).matrix
    sparse = alignment_matrix(sp.csr_array(X), graph, 2, variant=variant).matrix
    np.testing.assert_allclose(sparse.toarray(), dense.toarray(), atol=1e-10)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("data", ["roll", "cloud"])
def test_a_masked_neighbor_counts_for_nothing(request, variant, data):
    X = request.getfixturevalue(data)
    graph = compute_neighbors(X, 9)
    extra = np.hstack([graph.indices, graph.indices[:, -1:]])
    lengths = np.hstack([graph.distances, np.full((len(X), 1), np.inf, np.float32)])
    padded = NeighborGraph(extra, lengths, np.isfinite(lengths))
    expected = alignment_matrix(X, graph, 2, variant=variant).matrix
    found = alignment_matrix(X, padded, 2, variant=variant).matrix
    np.testing.assert_allclose(found.toarray(), expected.toarray(), atol=1e-9)


@pytest.mark.parametrize("variant", VARIANTS)
def test_neighbors_on_a_line_have_one_tangent_and_say_so(variant):
    line = np.linspace(0.0, 1.0, 40)[:, None] * np.array([[1.0, 2.0, -1.0]])
    found = alignment_matrix(line, compute_neighbors(line, 7), 2, variant=variant)
    assert found.n_flat == 40
    assert np.isfinite(found.matrix.data).all()
    if variant != "modified":
        np.testing.assert_allclose(found.matrix @ line, 0.0, atol=1e-10)


@pytest.mark.parametrize(("variant", "d", "least"), [("hessian", 2, 6), ("hessian", 3, 10), ("ltsa", 2, 4)])
def test_too_few_neighbors_are_refused_by_name(roll, variant, d, least):
    graph = compute_neighbors(roll, least - 1)
    with pytest.raises(ValueError, match=rf"n_neighbors={least - 1} must be at least {least} \(variant='{variant}'"):
        alignment_matrix(roll, graph, d, variant=variant)
    alignment_matrix(roll, compute_neighbors(roll, least), d, variant=variant)
