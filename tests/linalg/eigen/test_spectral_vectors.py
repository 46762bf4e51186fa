from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from scipy.sparse.linalg import eigsh
from sklearn.datasets import load_digits, load_iris
from sklearn.manifold import spectral_embedding
from sklearn.neighbors import kneighbors_graph

from gnomon.linalg import connected_components, spectral_vectors


def union_graph(X, n_neighbors):
    graph = kneighbors_graph(X, n_neighbors)
    return sp.csr_array(graph.maximum(graph.T), dtype=np.float32)


def ring(n):
    i = np.arange(n)
    matrix = sp.coo_array((np.ones(n), (i, (i + 1) % n)), shape=(n, n)).tocsr()
    return sp.csr_array(matrix + matrix.T, dtype=np.float32)


def heavy_tailed(n):
    """A connected random graph whose weights differ by orders of magnitude."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, n, (2, 6 * n))
    matrix = sp.coo_array((rng.gamma(0.3, 1, 6 * n) + 1e-4, (i, j)), shape=(n, n)).tocsr() + 0.01 * ring(n)
    matrix = matrix + matrix.T
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    return sp.csr_array(matrix, dtype=np.float32)


@pytest.fixture(scope="module")
def digits_graph():
    return union_graph(load_digits().data[:900], 12)


def trivial_vector(matrix):
    roots = np.sqrt(matrix.sum(axis=1, dtype=np.float64))
    return roots / np.linalg.norm(roots)


@pytest.mark.parametrize(("n", "solver"), [(9, "dense"), (700, "dense"), (700, "multilevel")])
def test_ring_has_its_closed_form(n, solver):
    found = spectral_vectors(ring(n), 2, solver=solver, tolerance=1e-3)
    np.testing.assert_allclose(found.eigenvalues, 1 - np.cos(2 * np.pi / n), rtol=2e-2, atol=1e-6)
    circle = np.linalg.norm(found.vectors, axis=1)
    np.testing.assert_allclose(circle, np.sqrt(2 / n), rtol=1e-2)


def test_stored_eigenvalues_of_iris():
    iris = load_iris().data
    i, j = np.indices(iris.shape)
    matrix = union_graph(iris + 1e-3 * np.sin(1 + 7 * i + 3 * j), 10)
    found = spectral_vectors(matrix, 5)
    expected = [0, 0.02216557348, 0.07112273992, 0.07914002046, 0.1916982035]
    np.testing.assert_allclose(found.eigenvalues, expected, atol=1e-9)
    assert found.n_graph_components == 2
    np.testing.assert_allclose(spectral_vectors(matrix, 5, solver="multilevel").eigenvalues, expected, atol=2e-4)


def test_dense_agrees_with_scikit_learn():
    matrix = union_graph(np.random.default_rng(5).random((400, 2)) * [2, 1], 10)
    assert connected_components(matrix).max() == 0
    found = spectral_vectors(matrix, 3)
    assert found.solver == "dense"
    expected = spectral_embedding(sp.csr_matrix(matrix), n_components=3, drop_first=True, random_state=0)
    ours = found.vectors / np.sqrt(matrix.sum(axis=1))[:, None]  # scikit-learn gives D^-1/2 z
    assert np.rad2deg(subspace_angles(ours, expected)).max() < 0.1


@pytest.mark.parametrize("graph", ["digits", "swiss", "random"])
def test_multilevel_agrees_with_lanczos(digits_graph, graph):
    if graph == "digits":
        matrix = digits_graph
    elif graph == "swiss":
        matrix = union_graph(np.random.default_rng(1).random((5000, 2)) * [3, 1], 8)
    else:
        matrix = heavy_tailed(3000)
    found = spectral_vectors(matrix, 2, solver="multilevel", tolerance=1e-3)
    inverse = sp.diags_array(1 / np.sqrt(matrix.sum(axis=1, dtype=np.float64)))
    start = np.random.default_rng(2).normal(size=matrix.shape[0])
    values, vectors = eigsh(inverse @ matrix.astype(np.float64) @ inverse, 4, which="LA", v0=start)
    order = np.argsort(-values)
    assert found.converged
    np.testing.assert_allclose(1 - found.eigenvalues, values[order[1:3]], atol=2e-5)
    assert np.sin(subspace_angles(found.vectors, vectors[:, order[1:3]])).max() < 1e-2


@pytest.mark.parametrize("n_vectors", [1, 2, 5, 6, 13, 30])
def test_both_solvers_agree_and_are_orthonormal(digits_graph, n_vectors):
    dense = spectral_vectors(digits_graph, n_vectors, solver="dense")
    multilevel = spectral_vectors(digits_graph, n_vectors, solver="multilevel", tolerance=1e-3)
    np.testing.assert_allclose(multilevel.eigenvalues, dense.eigenvalues, atol=1e-5)
    for found in (dense, multilevel):
        np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(n_vectors), atol=1e-5)
        np.testing.assert_allclose(trivial_vector(digits_graph) @ found.vectors, 0, atol=1e-5)
        assert (np.diff(found.eigenvalues) >= 0).all()
        assert found.converged


def test_residuals_are_what_they_say(digits_graph):
    found = spectral_vectors(digits_graph, 3, solver="multilevel")
    inverse = sp.diags_array(1 / np.sqrt(digits_graph.sum(axis=1, dtype=np.float64)))
    product = found.vectors - inverse @ digits_graph @ (inverse @ found.vectors)
    residuals = np.linalg.norm(product - found.vectors * found.eigenvalues, axis=0)
    np.testing.assert_allclose(residuals, found.residuals, rtol=0.1, atol=1e-6)


def test_bounds_on_work_are_kept_and_told():
    matrix = union_graph(np.random.default_rng(3).random((3000, 2)), 8)
    assert spectral_vectors(matrix, 2).converged
    few = spectral_vectors(matrix, 2, max_products=1, tolerance=1e-5)
    assert not few.converged
    assert not few.out_of_time
    late = spectral_vectors(matrix, 2, time_budget=0.0, tolerance=1e-5)
    assert late.out_of_time
    assert np.isfinite(late.vectors).all()


def test_nearly_disconnected_graphs_end():
    """Two halves joined by one edge of weight 1e-7 do not hang the iteration (F16)."""
    rng = np.random.default_rng(4)
    halves = sp.block_diag([union_graph(rng.normal(size=(1500, 3)), 10) for _ in range(2)], format="lil")
    halves[0, 1500] = halves[1500, 0] = 1e-7
    found = spectral_vectors(sp.csr_array(halves, dtype=np.float32), 2)
    assert found.n_graph_components == 1
    assert found.eigenvalues[0] < 1e-6
    side = np.sign(found.vectors[:, 0])
    assert abs(side[:1500].sum()) == 1500
    assert side[0] == -side[-1]


@pytest.mark.parametrize("n", [33, 40, 64, 130])
def test_small_and_regular_graphs_are_finite(n):
    for matrix in (ring(n), sp.csr_array((1 - np.eye(n)).astype(np.float32))):
        found = spectral_vectors(matrix, 2, solver="multilevel")
        assert np.isfinite(found.vectors).all()
        np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(2), atol=1e-5)


@pytest.mark.parametrize("n_threads", [2, 3, 5])
def test_bits_do_not_depend_on_threads(n_threads):
    matrix = heavy_tailed(9000)
    one, many = spectral_vectors(matrix, 2, seed=5), spectral_vectors(matrix, 2, seed=5, n_threads=n_threads)
    assert one.solver == "multilevel"
    assert one.vectors.tobytes() == many.vectors.tobytes()
    assert one.eigenvalues.tobytes() == many.eigenvalues.tobytes()


def test_components_are_numbered_in_order():
    matrix = sp.csr_array(sp.block_diag([ring(4), sp.csr_array((1, 1)), ring(3)]))
    np.testing.assert_array_equal(connected_components(matrix), [0, 0, 0, 0, 1, 2, 2, 2])


def test_parameters_are_checked():
    with pytest.raises(ValueError, match=r"n_vectors=9 must be at most 8 \(n_samples=9\)"):
        spectral_vectors(ring(9), 9)
    with pytest.raises(ValueError, match=r"n_vectors=2 must be at most 56 and far below n_samples=9"):
        spectral_vectors(ring(9), 2, solver="multilevel")
