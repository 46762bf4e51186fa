"""Eigenpairs of Laplacians: closed forms of rings and paths, and the same answer from every solver."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph

from gnomon.linalg import laplacian_eigenpairs
from gnomon.linalg.eigen.chebyshev import refine_bottom


def chain(n, closed):
    i = np.arange(n if closed else n - 1)
    matrix = sp.coo_array((np.ones(i.size), (i, (i + 1) % n)), shape=(n, n)).tocsr()
    return sp.csr_array(matrix + matrix.T, dtype=np.float32)


@pytest.fixture(scope="module")
def digits_graph():
    """Weighted and connected."""
    graph = kneighbors_graph(load_digits().data[:900], 12, mode="distance")
    graph.data = np.exp(-np.square(graph.data / 30))
    return sp.csr_array(graph.maximum(graph.T), dtype=np.float32)


@pytest.mark.parametrize(("n", "solver"), [(20, "dense"), (700, "dense"), (700, "multilevel"), (700, "lanczos")])
def test_rings_have_their_closed_form(n, solver):
    found = laplacian_eigenpairs(chain(n, True), 4, normalized=False, solver=solver)
    k = np.array([1, 1, 2, 2])
    np.testing.assert_allclose(found.eigenvalues, 2 - 2 * np.cos(2 * np.pi * k / n), rtol=1e-6)
    circle = np.linalg.norm(found.vectors[:, :2], axis=1)
    np.testing.assert_allclose(circle, np.sqrt(2 / n), rtol=1e-5)
    assert found.converged
    halves = laplacian_eigenpairs(chain(n, True), 4, solver=solver).eigenvalues
    np.testing.assert_allclose(halves, 1 - np.cos(2 * np.pi * k / n), rtol=1e-6)


@pytest.mark.parametrize(("n", "solver"), [(20, "dense"), (700, "multilevel")])
def test_paths_have_their_closed_form(n, solver):
    found = laplacian_eigenpairs(chain(n, False), 3, normalized=False, solver=solver)
    k = np.arange(1, 4)
    np.testing.assert_allclose(found.eigenvalues, 2 - 2 * np.cos(np.pi * k / n), rtol=1e-6)
    vectors = np.cos(np.pi * k * (np.arange(n)[:, None] + 0.5) / n) * np.sqrt(2 / n)
    np.testing.assert_allclose(np.abs(found.vectors), np.abs(vectors), atol=1e-5)


@pytest.mark.parametrize("normalized", [True, False])
def test_all_solvers_find_the_same_vectors(digits_graph, normalized):
    dense, other, third = (
        laplacian_eigenpairs(digits_graph, 5, normalized=normalized, solver=solver)
        for solver in ("dense", "multilevel", "lanczos")
    )
    for found in (other, third):
        assert found.converged
        np.testing.assert_allclose(found.eigenvalues, dense.eigenvalues, rtol=1e-9)
        np.testing.assert_allclose(found.vectors, dense.vectors, atol=1e-5)
    assert subspace_angles(other.vectors, dense.vectors).max() < 1e-5
    np.testing.assert_allclose(other.vectors.T @ other.vectors, np.eye(5), atol=1e-12)


def test_the_solver_changes_with_the_size_and_the_number_of_vectors(digits_graph):
    assert laplacian_eigenpairs(digits_graph[:600][:, :600], 2).solver == "dense"
    assert laplacian_eigenpairs(digits_graph, 2).solver == "multilevel"
    assert laplacian_eigenpairs(digits_graph, 57).solver == "lanczos"
    with pytest.raises(ValueError, match="n_vectors=57 must be at most 56"):
        laplacian_eigenpairs(digits_graph, 57, solver="multilevel")
    with pytest.raises(ValueError, match="n_vectors=900 must be at most 899"):
        laplacian_eigenpairs(digits_graph, 900)


@pytest.mark.parametrize("normalized", [True, False])
def test_residuals_are_those_of_the_vectors_returned(digits_graph, normalized):
    found = laplacian_eigenpairs(digits_graph, 3, normalized=normalized)
    laplacian = sp.csgraph.laplacian(digits_graph.astype(np.float64), normed=normalized)
    residuals = np.linalg.norm(laplacian @ found.vectors - found.vectors * found.eigenvalues, axis=0)
    np.testing.assert_allclose(found.residuals, residuals, atol=1e-12)
    assert residuals.max() <= 1e-7 * found.eigenvalues[-1]


def test_an_iteration_that_ends_early_says_so(digits_graph):
    short = laplacian_eigenpairs(digits_graph, 3, max_products=1, tolerance=1e-12)
    assert not short.converged
    assert short.residuals.max() > 1e-12 * short.eigenvalues[-1]
    crowded = laplacian_eigenpairs(chain(700, False), 3, solver="lanczos")
    assert not crowded.converged
    stopped = laplacian_eigenpairs(digits_graph, 3, tolerance=1e-12, report=lambda done, total: True)
    assert not stopped.converged


@pytest.mark.parametrize("normalized", [True, False])
def test_bytes_do_not_depend_on_threads(digits_graph, normalized):
    found = [laplacian_eigenpairs(digits_graph, 3, normalized=normalized, n_threads=k) for k in (1, 2, 3)]
    assert len({one.vectors.tobytes() for one in found}) == 1
    assert len({one.eigenvalues.tobytes() for one in found}) == 1


def test_a_random_start_reaches_what_a_good_start_reaches():
    n = 300
    laplacian = sp.csr_array(sp.csgraph.laplacian(chain(n, False).astype(np.float64)))
    start = np.random.default_rng(0).normal(size=(n, 8))
    found = refine_bottom(laplacian, start, np.full(n, n**-0.5), 2, upper=4.0, tolerance=1e-8, max_products=5000)
    assert found.converged
    np.testing.assert_allclose(found.eigenvalues, 2 - 2 * np.cos(np.pi * np.arange(1, 3) / n), rtol=1e-9)


def test_two_clusters_on_a_thread_have_one_tiny_eigenvalue():
    """F16: what hangs other solvers. The cut of the thread is the first coordinate."""
    rng = np.random.default_rng(0)
    blocks = [kneighbors_graph(rng.normal(size=(500, 3)), 8) for _ in range(2)]
    matrix = sp.block_diag([block.maximum(block.T) for block in blocks], format="lil")
    matrix[0, 500] = matrix[500, 0] = 1e-9
    found = laplacian_eigenpairs(sp.csr_array(matrix, dtype=np.float32), 2)
    assert found.converged
    assert 0 <= found.eigenvalues[0] < 1e-11
    side = np.sign(found.vectors[:, 0])
    assert abs(side[:500].sum()) == abs(side[500:].sum()) == 500
