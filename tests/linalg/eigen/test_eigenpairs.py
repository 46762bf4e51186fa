"""One function for eigenproblems: every solver finds the pairs of the dense problem, says how well, and ends."""

from __future__ import annotations

from functools import cache
from inspect import signature

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from scipy.sparse import csgraph
from scipy.sparse.linalg import eigsh
from sklearn.datasets import load_digits, load_iris, make_swiss_roll
from sklearn.manifold import spectral_embedding
from sklearn.neighbors import kneighbors_graph
from tests.threads import on_threads

from gnomon.affinities import alignment_matrix, reconstruction_weights
from gnomon.linalg import GraphLaplacian, connected_components, eigenpairs, symmetric_operator
from gnomon.linalg.eigen.base import Search, Semidefinite
from gnomon.linalg.eigen.laplacian import filtered_subspace
from gnomon.neighbors import compute_neighbors


def chain(n, closed):
    """The weights of a ring or of a path."""
    i = np.arange(n if closed else n - 1)
    matrix = sp.coo_array((np.ones(i.size), (i, (i + 1) % n)), shape=(n, n)).tocsr()
    return sp.csr_array(matrix + matrix.T, dtype=np.float32)


def union_graph(X, n_neighbors):
    graph = kneighbors_graph(X, n_neighbors)
    return sp.csr_array(graph.maximum(graph.T), dtype=np.float32)


def heavy_tailed(n):
    """A connected random graph whose weights differ by orders of magnitude."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(0, n, (2, 6 * n))
    matrix = sp.coo_array((rng.gamma(0.3, 1, 6 * n) + 1e-4, (i, j)), shape=(n, n)).tocsr() + 0.01 * chain(n, True)
    matrix = matrix + matrix.T
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    return sp.csr_array(matrix, dtype=np.float32)


def two_clusters(weight):
    """Two clusters on a thread: one edge of so small a weight joins them."""
    rng = np.random.default_rng(0)
    blocks = [union_graph(rng.normal(size=(500, 3)), 8) for _ in range(2)]
    matrix = sp.block_diag(blocks, format="lil")
    matrix[0, 500] = matrix[500, 0] = weight
    return sp.csr_array(matrix, dtype=np.float32)


def apart(weights, size=80):
    """Clouds in a row, each joined to the next by one edge of such a weight."""
    rng = np.random.default_rng(0)
    clouds = [union_graph(rng.normal(size=(size, 3)), 8) for _ in range(len(weights) + 1)]
    matrix = sp.block_diag(clouds, format="lil")
    for i, weight in enumerate(weights):
        matrix[i * size, (i + 1) * size] = matrix[(i + 1) * size, i * size] = weight
    return sp.csr_array(matrix, dtype=np.float32)


@cache
def digits_weights():
    """Weighted and connected, 700 nodes."""
    graph = kneighbors_graph(load_digits().data[:700], 12, mode="distance")
    graph.data = np.exp(-np.square(graph.data / 30))
    return sp.csr_array(graph.maximum(graph.T), dtype=np.float32)


@cache
def lle_matrix(n):
    X, _ = make_swiss_roll(n, random_state=0)
    return reconstruction_weights(X, compute_neighbors(X, 10)).M


def by_products(matrix):
    return symmetric_operator(lambda V: matrix @ V, matrix.shape[0])


def diagonal(eigenvalues):
    """The operator with these eigenvalues along the axes: to a random start it is like any other."""
    return symmetric_operator(lambda V: np.asarray(eigenvalues)[:, None] * V, len(eigenvalues))


def laplacian(normalized):
    return GraphLaplacian(digits_weights(), normalized)


def random_spectrum(n):
    return np.concatenate([[9.0, 7.0, 6.9], -np.ones(5) * 20, np.linspace(0, 3, n - 8)])


# Every solver on every kind of operator that it takes: operator, the dense matrix, what is left out, options.
PROBLEMS = {
    "normalized Laplacian": (lambda: laplacian(True), {}),
    "Laplacian": (lambda: laplacian(False), {}),
    "matrix": (lambda: lle_matrix(500), {"known": np.ones(500)}),
    "operator": (lambda: diagonal(random_spectrum(500)), {"which": "largest"}),
    "smallest of an operator": (lambda: diagonal(-random_spectrum(500)), {}),
    "largest of a matrix": (lambda: laplacian(True).matrix, {"which": "largest"}),
}
SOLVERS = {
    "normalized Laplacian": ["dense", "multilevel", "lanczos", "factor", "descent"],
    "Laplacian": ["dense", "multilevel", "lanczos", "factor", "descent"],
    "matrix": ["dense", "factor", "descent"],
    "operator": ["dense", "lanczos"],
    "smallest of an operator": ["dense", "lanczos"],
    "largest of a matrix": ["dense", "lanczos"],
}
EVERY = [(problem, solver) for problem, solvers in SOLVERS.items() for solver in solvers]


def written_out(operator):
    if isinstance(operator, GraphLaplacian):
        return operator.matrix.toarray()
    return operator @ np.eye(operator.shape[0]) if not sp.issparse(operator) else operator.toarray()


@cache
def dense_pairs(problem):
    """All eigenpairs of a problem, by LAPACK."""
    make, _ = PROBLEMS[problem]
    return np.linalg.eigh(written_out(make()))


def found_on(n_threads, problem, solver):
    make, options = PROBLEMS[problem]
    return on_threads(n_threads, eigenpairs)(make(), 3, solver=solver, seed=3, **options)


@cache
def pairs_found(problem, solver):
    """Three pairs, by one thread."""
    return found_on(1, problem, solver)


@pytest.mark.parametrize(("problem", "solver"), EVERY)
def test_every_solver_finds_the_pairs_of_the_dense_problem(problem, solver):
    make, options = PROBLEMS[problem]
    operator, found = make(), pairs_found(problem, solver)
    values, vectors = dense_pairs(problem)
    if options.get("which") == "largest":
        values, vectors = values[::-1], vectors[:, ::-1]
    known = int("known" in options or isinstance(operator, GraphLaplacian))
    wanted = slice(known, known + 3)
    assert found.solver == solver
    assert found.converged
    assert not found.out_of_time
    np.testing.assert_allclose(found.values, values[wanted], rtol=1e-5, atol=1e-12)
    assert np.sin(subspace_angles(found.vectors, vectors[:, wanted])).max() < 1e-4
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(3), atol=1e-10)
    if known:
        np.testing.assert_allclose(vectors[:, 0] @ found.vectors, 0.0, atol=1e-7)
    largest = np.abs(found.vectors).argmax(axis=0)
    assert (found.vectors[largest, range(3)] > 0).all()


@pytest.mark.parametrize(("problem", "solver"), EVERY)
def test_residuals_are_those_of_the_vectors_returned(problem, solver):
    found = pairs_found(problem, solver)
    matrix = written_out(PROBLEMS[problem][0]())
    residuals = np.linalg.norm(matrix @ found.vectors - found.vectors * found.values, axis=0)
    np.testing.assert_allclose(found.residuals, residuals, rtol=1e-2, atol=2e-13 * np.abs(matrix).sum(axis=1).max())


@pytest.mark.parametrize(("problem", "solver"), EVERY)
def test_equal_seeds_give_equal_bytes_on_any_number_of_threads(problem, solver):
    runs = [pairs_found(problem, solver), found_on(3, problem, solver)]
    assert len({one.vectors.tobytes() + one.values.tobytes() for one in runs}) == 1


@pytest.mark.parametrize(("problem", "solver"), [one for one in EVERY if one[1] != "dense"])
@pytest.mark.parametrize("limit", ["budget", "report"])
def test_a_spent_time_budget_or_a_wish_to_stop_ends_the_search_and_is_said(problem, solver, limit):
    make, options = PROBLEMS[problem]
    ends = {"time_budget": 0.0} if limit == "budget" else {"report": lambda done, total, at_most: True}
    found = eigenpairs(make(), 2, solver=solver, tol=1e-14, **ends, **options)
    assert found.out_of_time
    assert not found.converged
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(2), atol=1e-8)


def test_a_wish_to_stop_that_comes_when_a_factor_is_done_ends_its_search():
    def stop(done, total, at_most):
        return at_most and done > 0

    found = eigenpairs(lle_matrix(700), 2, known=np.ones(700), solver="factor", report=stop)
    assert (found.solver, found.out_of_time, found.converged) == ("factor", True, False)
    np.testing.assert_allclose(found.vectors.sum(axis=0), 0.0, atol=1e-8)


def test_a_factor_is_told_by_its_operations_up_to_its_end_and_what_may_end_early_says_so():
    told = []
    eigenpairs(
        lle_matrix(700),
        2,
        known=np.ones(700),
        solver="factor",
        report=lambda *work, at_most: told.append((*work, at_most)),
    )
    of_factor = [work[:2] for work in told if not work[2]]
    assert told[: len(of_factor)] == [(*work, False) for work in of_factor]
    assert of_factor == sorted(of_factor)
    assert of_factor[0] == (0, 1000)
    assert 0 < of_factor[-1][0] < of_factor[-1][1] == 1000
    assert {total for _, total, at_most in told if at_most} == {60}


def test_a_solver_that_takes_no_part_of_an_operator_is_refused():
    with pytest.raises(ValueError, match="solver='factor' must be"):
        eigenpairs(diagonal(np.arange(20.0)), 2, solver="factor")
    with pytest.raises(ValueError, match="solver='multilevel' must be"):
        eigenpairs(lle_matrix(200), 2, solver="multilevel")
    with pytest.raises(ValueError, match="known must be None"):
        eigenpairs(diagonal(np.arange(20.0)), 2, known=np.ones(20))
    with pytest.raises(ValueError, match=r"other_end=0.1 must be None"):
        eigenpairs(lle_matrix(200), 2, other_end=0.1)


def test_more_vectors_than_there_are_is_refused():
    path = GraphLaplacian(chain(5, False), normalized=False)
    for operator, known in ((path, None), (path.matrix, np.ones(5))):
        with pytest.raises(ValueError, match=r"n_vectors=5 must be at most 4 \(n_samples=5\)"):
            eigenpairs(operator, 5, known=known)
        assert eigenpairs(operator, 4, known=known).residuals.max() < 1e-12
    assert eigenpairs(diagonal(np.arange(5.0)), 5).converged
    with pytest.raises(ValueError, match=r"n_vectors=2 must be at most 56 and far below n_samples=9"):
        eigenpairs(GraphLaplacian(chain(9, True)), 2, solver="multilevel")


# -- graphs --


@pytest.mark.parametrize(("n", "solver"), [(20, "dense"), (700, "dense"), (700, "multilevel"), (300, "lanczos")])
def test_rings_have_their_closed_form(n, solver):
    """Every eigenvalue but the first occurs twice."""
    k = np.array([1, 1, 2, 2])
    for normalized, degree in ((False, 2), (True, 1)):
        found = eigenpairs(GraphLaplacian(chain(n, True), normalized), 4, solver=solver)
        np.testing.assert_allclose(found.values, degree * (1 - np.cos(2 * np.pi * k / n)), rtol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(found.vectors[:, :2], axis=1), np.sqrt(2 / n), rtol=1e-5)
        assert found.converged


@pytest.mark.parametrize(("n", "solver"), [(20, "dense"), (700, "multilevel"), (900, "factor")])
def test_paths_have_their_closed_form(n, solver):
    found = eigenpairs(GraphLaplacian(chain(n, False), normalized=False), 3, solver=solver)
    k = np.arange(1, 4)
    np.testing.assert_allclose(found.values, 2 - 2 * np.cos(np.pi * k / n), rtol=1e-6)
    vectors = np.cos(np.pi * k * (np.arange(n)[:, None] + 0.5) / n) * np.sqrt(2 / n)
    np.testing.assert_allclose(np.abs(found.vectors), np.abs(vectors), atol=1e-5)


@pytest.mark.parametrize(("n", "solver"), [(9, "dense"), (700, "dense"), (700, "multilevel")])
def test_a_ring_at_a_coarse_tolerance(n, solver):
    found = eigenpairs(GraphLaplacian(chain(n, True)), 2, solver=solver, tol=1e-3)
    np.testing.assert_allclose(found.values, 1 - np.cos(2 * np.pi / n), rtol=2e-2, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), np.sqrt(2 / n), rtol=1e-2)


def test_a_search_that_ends_where_the_space_no_longer_turns_is_off_by_little_more():
    rng = np.random.default_rng(3)
    graph = GraphLaplacian(union_graph(rng.random((6000, 2)) * [3, 1], 8))
    exact = eigenpairs(graph, 2, solver="multilevel", tol=1e-7)
    rough = eigenpairs(graph, 2, solver="multilevel", tol=1e-5, turn=0.02)
    assert rough.converged
    assert (rough.residuals > 1e-2 * rough.values).any()  # by residuals it would have gone on
    assert np.sin(subspace_angles(rough.vectors, exact.vectors)).max() < 0.05
    for n_threads in (1, 2):
        again = on_threads(n_threads, eigenpairs)(graph, 2, solver="multilevel", tol=1e-5, turn=0.02)
        np.testing.assert_array_equal(again.vectors, rough.vectors)


def test_components_are_those_of_scipy_in_the_order_of_their_first_nodes():
    rng = np.random.default_rng(4)
    for n, edges in ((1, 0), (50, 10), (400, 350), (400, 2000)):
        i, j = rng.integers(0, n, (2, edges))
        matrix = sp.csr_array((np.ones(edges), (i, j)), shape=(n, n))  # an edge may be stored one way
        labels = connected_components(matrix)
        _, expected = csgraph.connected_components(matrix, directed=False)
        first = np.unique(labels, return_index=True)[1]
        assert (np.diff(first) > 0).all()
        assert len(np.unique(np.stack([labels, expected]), axis=1).T) == len(first) == expected.max() + 1


def test_stored_eigenvalues_of_iris():
    """In two pieces: each has an eigenvalue 0, of which one is trivial."""
    iris = load_iris().data
    i, j = np.indices(iris.shape)
    graph = GraphLaplacian(union_graph(iris + 1e-3 * np.sin(1 + 7 * i + 3 * j), 10))
    expected = [0, 0.02216557348, 0.07112273992, 0.07914002046, 0.1916982035]
    np.testing.assert_allclose(eigenpairs(graph, 5, tol=1e-2).values, expected, atol=1e-9)
    coarse = eigenpairs(graph, 5, solver="multilevel", tol=1e-2)
    np.testing.assert_allclose(coarse.values, expected, atol=2e-4)


def test_a_small_graph_agrees_with_scikit_learn():
    matrix = union_graph(np.random.default_rng(5).random((400, 2)) * [2, 1], 10)
    assert connected_components(matrix).max() == 0
    found = eigenpairs(GraphLaplacian(matrix), 3, tol=1e-2)
    assert found.solver == "dense"
    expected = spectral_embedding(sp.csr_matrix(matrix), n_components=3, drop_first=True, random_state=0)
    ours = found.vectors / np.sqrt(matrix.sum(axis=1))[:, None]  # scikit-learn gives D^-1/2 z
    assert np.rad2deg(subspace_angles(ours, expected)).max() < 0.1


@pytest.mark.parametrize("graph", ["digits", "plane", "random"])
def test_single_precision_agrees_with_arpack(graph):
    matrix = {
        "digits": digits_weights,
        "plane": lambda: union_graph(np.random.default_rng(1).random((5000, 2)) * [3, 1], 8),
        "random": lambda: heavy_tailed(3000),
    }[graph]()
    coarse = eigenpairs(GraphLaplacian(matrix), 2, tol=1e-3)
    start = np.random.default_rng(2).normal(size=matrix.shape[0])
    values, vectors = eigsh(sp.eye_array(len(start)) - GraphLaplacian(matrix).matrix, 4, which="LA", v0=start)
    order = np.argsort(-values)[1:3]
    assert (coarse.solver, coarse.converged) == ("multilevel", True)
    np.testing.assert_allclose(1 - coarse.values, values[order], atol=2e-5)
    assert np.sin(subspace_angles(coarse.vectors, vectors[:, order])).max() < 1e-2


@pytest.mark.parametrize("n_vectors", [1, 2, 5, 6, 13, 30])
def test_any_number_of_vectors_is_orthonormal_and_rising(n_vectors):
    graph = laplacian(True)
    dense, coarse = (eigenpairs(graph, n_vectors, solver=s, tol=1e-3) for s in ("dense", "multilevel"))
    np.testing.assert_allclose(coarse.values, dense.values, atol=1e-5)
    for found in (dense, coarse):
        np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(n_vectors), atol=1e-5)
        np.testing.assert_allclose(graph.trivial @ found.vectors, 0, atol=1e-5)
        assert (np.diff(found.values) >= 0).all()
        assert found.converged


def test_the_solver_changes_with_the_size_and_the_number_of_vectors():
    weights = digits_weights()
    assert eigenpairs(GraphLaplacian(weights[:600][:, :600]), 2).solver == "dense"
    assert eigenpairs(GraphLaplacian(weights), 2).solver == "multilevel"
    assert eigenpairs(GraphLaplacian(weights), 57, max_products=1).solver == "lanczos"
    with pytest.raises(ValueError, match="n_vectors=57 must be at most 56"):
        eigenpairs(GraphLaplacian(weights), 57, solver="multilevel")


def test_an_iteration_that_ends_early_says_so():
    matrix = union_graph(np.random.default_rng(3).random((3000, 2)), 8)
    assert eigenpairs(GraphLaplacian(matrix), 2, tol=1e-2).converged
    for tolerance in (1e-5, 1e-12):  # in single and in double precision
        few = eigenpairs(GraphLaplacian(matrix), 2, max_products=1, tol=tolerance)
        assert (few.converged, few.out_of_time) == (False, False)
        assert few.residuals.max() > tolerance * few.values[-1]
    crowded = eigenpairs(GraphLaplacian(chain(700, False)), 3, solver="lanczos")
    assert not crowded.converged
    assert np.isfinite(crowded.vectors).all()


@pytest.mark.parametrize("tolerance", [1e-2, 1e-7])
@pytest.mark.parametrize("weight", [1e-7, 1e-9])
def test_two_clusters_on_a_thread_have_one_tiny_eigenvalue(tolerance, weight):
    """What hangs other solvers. The cut of the thread is the first coordinate."""
    found = eigenpairs(GraphLaplacian(two_clusters(weight)), 2, tol=tolerance)
    assert found.converged
    assert 0 <= found.values[0] < (1e-6 if tolerance > 1e-5 else 100 * weight)
    side = np.sign(found.vectors[:, 0])
    assert abs(side[:500].sum()) == abs(side[500:].sum()) == 500
    assert side[0] == -side[-1]


@pytest.mark.parametrize("weights", [[1], [1e-5], [1, 1e-3, 1e-6, 1e-9], [0.1] * 4, [0] * 4])
@pytest.mark.parametrize("normalized", [True, False])
def test_slow_modes_do_not_hide_the_others(weights, normalized):
    """A filter makes the slow ones up to 1e9 times as long; all pairs are those of the dense problem."""
    graph = GraphLaplacian(apart(weights), normalized)
    values, vectors = np.linalg.eigh(graph.matrix.toarray())
    for n_vectors in (1, 2, 5, 10):
        found = eigenpairs(graph, n_vectors, solver="multilevel")
        assert found.converged
        np.testing.assert_allclose(found.values, values[1 : n_vectors + 1], rtol=1e-8, atol=1e-13 * graph.upper)
        np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(n_vectors), atol=1e-10)
        np.testing.assert_allclose(found.vectors.T @ graph.trivial, 0.0, atol=1e-10)
        alike = vectors[:, values < found.values[-1] + 1e-9]
        np.testing.assert_allclose(np.linalg.norm(alike.T @ found.vectors, axis=0), 1.0, atol=1e-8)


@pytest.mark.parametrize("n_threads", [2, 5])
def test_bytes_of_slow_modes_do_not_depend_on_threads(n_threads):
    graph = GraphLaplacian(apart([1, 1e-3, 1e-6, 1e-9], 600))
    one, many = (on_threads(n, eigenpairs)(graph, 10, seed=5) for n in (1, n_threads))
    assert (one.solver, one.converged) == ("multilevel", True)
    assert one.vectors.tobytes() + one.values.tobytes() == many.vectors.tobytes() + many.values.tobytes()


@pytest.mark.parametrize("n", [33, 40, 64, 130])
def test_small_and_regular_graphs_are_finite(n):
    for matrix in (chain(n, True), sp.csr_array((1 - np.eye(n)).astype(np.float32))):
        found = eigenpairs(GraphLaplacian(matrix), 2, solver="multilevel", tol=1e-2)
        assert np.isfinite(found.vectors).all()
        np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(2), atol=1e-5)


@pytest.mark.parametrize("n_threads", [2, 3, 5])
def test_bytes_of_a_large_graph_do_not_depend_on_threads(n_threads):
    graph = GraphLaplacian(heavy_tailed(9000))
    one, many = (on_threads(n, eigenpairs)(graph, 2, seed=5, tol=1e-2) for n in (1, n_threads))
    assert one.vectors.tobytes() + one.values.tobytes() == many.vectors.tobytes() + many.values.tobytes()


def test_a_random_start_reaches_what_a_good_start_reaches():
    n = 300
    path = GraphLaplacian(chain(n, False), normalized=False)
    start = np.random.default_rng(0).normal(size=(n, 8))
    found = filtered_subspace(path.matrix, start, path.trivial, path.upper, Search(2, 1e-8, max_products=5000))
    assert found.converged
    np.testing.assert_allclose(found.values[:2], 2 - 2 * np.cos(np.pi * np.arange(1, 3) / n), rtol=1e-9)


@pytest.mark.parametrize("lost", ["equal", "zero", "trivial"])
def test_columns_of_a_start_that_add_nothing_are_no_eigenvectors(lost):
    """A vector of zeros would have the residual 0."""
    n = 300
    path = GraphLaplacian(chain(n, False), normalized=False)
    start = np.random.default_rng(0).normal(size=(n, 8))
    start[:, 2:7] = {"equal": start[:, :1], "zero": 0.0, "trivial": path.trivial[:, None]}[lost]
    found = filtered_subspace(path.matrix, start, path.trivial, path.upper, Search(2, 1e-8, max_products=5000))
    assert found.converged
    np.testing.assert_allclose(found.values[:2], 2 - 2 * np.cos(np.pi * np.arange(1, 3) / n), rtol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(8), atol=1e-12)
    np.testing.assert_allclose(found.vectors.T @ path.trivial, 0.0, atol=1e-12)


@pytest.mark.parametrize("lost", ["equal", "zero", "known"])
def test_a_space_with_columns_that_add_nothing_is_filled_up_beside_the_known_vector(lost):
    n = 50
    path = GraphLaplacian(chain(n, False), normalized=False)
    operator = Semidefinite(path.matrix, path.trivial)
    space = np.linalg.eigh(path.matrix.toarray())[1][:, 1:5]
    space[:, 2] = {"equal": space[:, 0], "zero": 0.0, "known": path.trivial}[lost]
    values, vectors, residuals = operator.rayleigh_ritz(space)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(vectors.T @ path.trivial, 0.0, atol=1e-12)
    np.testing.assert_allclose(values[:2], 2 - 2 * np.cos(np.pi * np.arange(1, 3) / n), rtol=1e-9)
    assert residuals[:2].max() < 1e-12 < 1e-2 < residuals[3]


def test_components_are_numbered_in_order():
    matrix = sp.csr_array(sp.block_diag([chain(4, True), sp.csr_array((1, 1)), chain(3, True)]))
    np.testing.assert_array_equal(connected_components(matrix), [0, 0, 0, 0, 1, 2, 2, 2])


# -- smallest pairs of a matrix --


def test_without_a_known_vector_the_constant_comes_first():
    found = eigenpairs(GraphLaplacian(chain(700, False), normalized=False).matrix, 2)
    np.testing.assert_allclose(found.vectors[:, 0], 1 / np.sqrt(700), rtol=1e-6)
    assert found.values[0] < 1e-12 < found.values[1]


@pytest.mark.parametrize("n", [590, 610])
def test_dense_and_factor_agree_on_both_sides_of_the_switch(n):
    automatic = eigenpairs(lle_matrix(n), 3, known=np.ones(n))
    assert automatic.solver == ("dense" if n < 600 else "factor")
    other = eigenpairs(lle_matrix(n), 3, known=np.ones(n), solver="factor" if n < 600 else "dense")
    np.testing.assert_allclose(automatic.values, other.values, rtol=1e-5, atol=1e-14)
    np.testing.assert_allclose(np.abs(np.sum(automatic.vectors * other.vectors, axis=0)), 1.0, atol=1e-6)


def test_one_known_vector_alone_is_left_out():
    """Flat data: the two coordinates have eigenvalue zero as well, and they are the solution."""
    X = np.random.default_rng(0).uniform(size=(800, 2))
    found = eigenpairs(alignment_matrix(X, compute_neighbors(X, 8), 2).matrix, 2, known=np.ones(800))
    assert (found.solver, found.converged) == ("factor", True)
    np.testing.assert_allclose(found.values, 0.0, atol=1e-12)
    centred = np.linalg.qr(X - X.mean(axis=0))[0]
    np.testing.assert_allclose(np.linalg.svd(centred.T @ found.vectors)[1], 1.0, atol=1e-8)


def test_equal_eigenvalues_are_all_found():
    """A torus of 26 x 26 nodes: the smallest eigenvalue beyond zero occurs four times."""
    ring, eye = GraphLaplacian(chain(26, True), normalized=False).matrix, sp.eye_array(26)
    torus = sp.csr_array(sp.kron(ring, eye) + sp.kron(eye, ring))
    found = eigenpairs(torus, 4, known=np.ones(676), solver="factor")
    np.testing.assert_allclose(found.values, 2 - 2 * np.cos(2 * np.pi / 26), rtol=1e-8)


def test_pieces_give_zero_eigenvalues_and_no_failure():
    pieces = [GraphLaplacian(chain(n, False), normalized=False).matrix for n in (400, 300)]
    found = eigenpairs(sp.csr_array(sp.block_diag(pieces)), 2, known=np.ones(700), solver="factor")
    np.testing.assert_allclose(found.values, [0.0, 2 - 2 * np.cos(np.pi / 400)], atol=1e-12)


def test_the_zero_matrix_has_a_result():
    found = eigenpairs(sp.csr_array((700, 700)), 2, known=np.ones(700))
    assert np.isfinite(found.vectors).all()
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(2), atol=1e-10)


def test_a_factor_beyond_the_limits_is_replaced_by_descent_or_refused():
    matrix, known = lle_matrix(700), np.ones(700)
    for limits in ({"max_entries": 2000.0}, {"max_operations": 2000.0}):
        assert eigenpairs(matrix, 1, known=known, **limits).solver == "descent"
        with pytest.raises(ValueError, match=r"solver='factor' must be 'descent', or .* \(the factor needs"):
            eigenpairs(matrix, 1, known=known, solver="factor", **limits)


# -- ends of a spectrum by products --


@pytest.mark.parametrize(
    "eigenvalues",
    [
        1.0 / np.arange(1, 901),
        np.concatenate((np.linspace(1.0, 10.0, 20), -np.linspace(0.0, 8.0, 880))),
        np.concatenate(([3.0, 3.0, 3.0], np.linspace(-0.5, 0.5, 897))),
        np.concatenate(([1.0, 0.99, 0.98, 0.97], np.linspace(0.0, 0.95, 896))),
        np.concatenate(([5.0, 4.0, 3.0, -2.0], np.zeros(896))),
        np.full(900, 2.0),
        np.zeros(900),
        -np.ones(900),
        np.linspace(-2.0, 1.0, 50),
    ],
    ids=["decaying", "indefinite", "multiple", "close", "low rank", "flat", "zero", "negative", "small"],
)
def test_both_ends_of_a_spectrum_are_found_by_products(eigenvalues):
    found = eigenpairs(diagonal(eigenvalues), 3, which="largest", tol=1e-9, other_end=1e-2)
    size = max(np.abs(eigenvalues).max(), 1e-300)
    assert found.converged
    np.testing.assert_allclose(found.values, np.sort(eigenvalues)[::-1][:3], rtol=1e-10)
    assert found.other_end == pytest.approx(eigenvalues.min(), abs=1e-2 * size)
    images = np.asarray(eigenvalues)[:, None] * found.vectors
    assert np.linalg.norm(images - found.vectors * found.values, axis=0).max() < 2e-9 * size
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(3), atol=1e-12)
    alone = eigenpairs(diagonal(eigenvalues), 3, which="largest")
    assert alone.other_end is None
    np.testing.assert_allclose(alone.values, found.values, atol=1e-9 * size)


@pytest.mark.skipif("rng" not in signature(eigsh).parameters, reason="SciPy before 1.17 seeds ARPACK's restarts itself")
def test_equal_seeds_give_equal_bytes_where_arpack_meets_an_invariant_space():
    low_rank = diagonal(np.concatenate((np.full(3, 3.0), np.zeros(697))))
    runs = [eigenpairs(low_rank, 100, which="largest", seed=3) for _ in range(2)]
    assert runs[0].solver == "arpack"
    assert runs[0].vectors.tobytes() == runs[1].vectors.tobytes()


def test_an_iteration_on_products_that_is_cut_short_says_so():
    found = eigenpairs(diagonal(np.linspace(0.0, 1.0, 900)), 3, which="largest", max_products=3)
    assert (found.converged, found.out_of_time) == (False, False)


@pytest.mark.parametrize(("n", "n_vectors", "solver"), [(610, 60, "arpack"), (610, 200, "dense")])
def test_more_vectors_than_blocks_have_room_for_are_found(n, n_vectors, solver):
    eigenvalues = 1.0 / np.arange(1, n + 1)
    found = eigenpairs(diagonal(eigenvalues), n_vectors, which="largest")
    assert found.solver == solver
    np.testing.assert_allclose(found.values, eigenvalues[:n_vectors], rtol=1e-9)
