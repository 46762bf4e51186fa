"""Sparse Cholesky factors by fronts against LAPACK, and bottom eigenpairs against closed forms and dense solvers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from sklearn.datasets import make_swiss_roll

from gnomon.affinities import alignment_matrix, reconstruction_weights
from gnomon.linalg import bottom_eigenpairs
from gnomon.linalg.eigen import multifrontal as fronts_module
from gnomon.linalg.eigen.multifrontal import SparseCholesky, plan_elimination
from gnomon.neighbors import compute_neighbors


def path_laplacian(n):
    """The Laplacian of a path, whose eigenvalues are 2 - 2 cos(pi k / n)."""
    degrees = np.full(n, 2.0)
    degrees[[0, -1]] = 1.0
    off = np.full(n - 1, -1.0)
    return sp.diags_array([off, degrees, off], offsets=[-1, 0, 1], format="csr")


def lle_matrix(n, n_neighbors=10):
    X, _ = make_swiss_roll(n, random_state=0)
    return reconstruction_weights(X, compute_neighbors(X, n_neighbors)).M


def random_definite(n, density, seed):
    entries = sp.random_array((n, n), density=density, rng=np.random.default_rng(seed))
    return sp.csr_array(entries @ entries.T + sp.eye_array(n) * 0.1)


@pytest.mark.parametrize(("n", "density"), [(1, 1.0), (7, 0.0), (60, 0.02), (300, 0.01), (200, 0.2), (120, 1.0)])
def test_the_factor_solves_what_lapack_solves(n, density):
    matrix = random_definite(n, density, n)
    B = np.random.default_rng(1).normal(size=(n, 3))
    plan = plan_elimination(matrix, max_entries=1e8)
    expected = np.linalg.solve(matrix.toarray() + 0.5 * np.eye(n), B)
    np.testing.assert_allclose(SparseCholesky(matrix, plan, shift=0.5).solve(B), expected, rtol=1e-9, atol=1e-9)


def test_a_wide_front_is_factored_in_panels_to_the_same_result(monkeypatch):
    monkeypatch.setattr(fronts_module, "_WIDE", 32)
    monkeypatch.setattr(fronts_module, "_TALL", 50)
    matrix = random_definite(150, 0.3, 0)
    B = np.random.default_rng(1).normal(size=(150, 2))
    solution = SparseCholesky(matrix, plan_elimination(matrix, max_entries=1e8)).solve(B)
    np.testing.assert_allclose(solution, np.linalg.solve(matrix.toarray(), B), rtol=1e-9, atol=1e-9)


def test_a_plan_eliminates_every_row_once_and_counts_no_less_than_the_factor_has():
    matrix = random_definite(300, 0.01, 3)
    plan = plan_elimination(matrix, max_entries=1e8)
    assert sorted(plan.order) == list(range(300))
    factor = np.linalg.cholesky(matrix.toarray()[np.ix_(plan.order, plan.order)])
    pivots, below = np.diff(plan.starts), np.diff(plan.offsets)
    assert np.count_nonzero(np.abs(factor) > 1e-14) <= (pivots * (pivots + below)).sum() <= plan.n_entries
    fronts = np.repeat(np.arange(plan.n_fronts), pivots)
    for column in range(300):
        f = fronts[column]
        known = {*range(plan.starts[f], plan.starts[f + 1]), *plan.places[plan.offsets[f] : plan.offsets[f + 1]]}
        assert set(np.flatnonzero(np.abs(factor[:, column]) > 1e-14)) <= known


def test_a_plan_beyond_its_limit_is_given_up_with_the_size_so_far():
    plan = plan_elimination(random_definite(200, 0.2, 0), max_entries=1000)
    assert plan.n_fronts == 0
    assert plan.n_entries > 1000


def test_an_indefinite_matrix_has_no_factor():
    matrix = path_laplacian(30)
    with pytest.raises(np.linalg.LinAlgError, match="not positive"):
        SparseCholesky(matrix, plan_elimination(matrix, max_entries=1e6), shift=-0.5)


@pytest.mark.parametrize("solver", ["dense", "factor"])
@pytest.mark.parametrize("n", [100, 900])
def test_eigenvalues_of_a_path(n, solver):
    found = bottom_eigenpairs(path_laplacian(n), 4, null_vector=np.ones(n), solver=solver)
    np.testing.assert_allclose(found.eigenvalues, 2 - 2 * np.cos(np.pi * np.arange(1, 5) / n), rtol=1e-8)
    assert found.converged
    assert found.solver == solver
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(found.vectors.sum(axis=0), 0.0, atol=1e-10)
    largest = np.abs(found.vectors).argmax(axis=0)
    assert (found.vectors[largest, range(4)] > 0).all()


def test_without_a_null_vector_the_constant_comes_first():
    found = bottom_eigenpairs(path_laplacian(700), 2)
    np.testing.assert_allclose(found.vectors[:, 0], 1 / np.sqrt(700), rtol=1e-6)
    assert found.eigenvalues[0] < 1e-12 < found.eigenvalues[1]


@pytest.mark.parametrize("n", [590, 610])
def test_dense_and_factor_agree_on_both_sides_of_the_switch(n):
    matrix = lle_matrix(n)
    automatic = bottom_eigenpairs(matrix, 3, null_vector=np.ones(n))
    assert automatic.solver == ("dense" if n < 600 else "factor")
    other = bottom_eigenpairs(matrix, 3, null_vector=np.ones(n), solver="factor" if n < 600 else "dense")
    np.testing.assert_allclose(automatic.eigenvalues, other.eigenvalues, rtol=1e-5, atol=1e-14)
    np.testing.assert_allclose(np.abs(np.sum(automatic.vectors * other.vectors, axis=0)), 1.0, atol=1e-6)


@pytest.mark.parametrize("solver", ["dense", "factor", "descent"])
def test_residuals_are_those_of_the_vectors_returned(solver):
    matrix = lle_matrix(700)
    found = bottom_eigenpairs(matrix, 2, null_vector=np.ones(700), solver=solver)
    residuals = np.linalg.norm(matrix @ found.vectors - found.vectors * found.eigenvalues, axis=0)
    np.testing.assert_allclose(found.residuals, residuals, rtol=1e-3, atol=1e-15)


def test_one_null_vector_alone_is_left_out():
    # Flat data: the two coordinates have eigenvalue zero as well, and they are the solution.
    X = np.random.default_rng(0).uniform(size=(800, 2))
    matrix = alignment_matrix(X, compute_neighbors(X, 8), 2).matrix
    found = bottom_eigenpairs(matrix, 2, null_vector=np.ones(800))
    assert found.solver == "factor"
    assert found.converged
    np.testing.assert_allclose(found.eigenvalues, 0.0, atol=1e-12)
    centred = np.linalg.qr(X - X.mean(axis=0))[0]
    np.testing.assert_allclose(np.linalg.svd(centred.T @ found.vectors)[1], 1.0, atol=1e-8)


def test_equal_eigenvalues_are_all_found():
    # A torus of 26 x 26 nodes: the smallest eigenvalue beyond zero occurs four times.
    ring = sp.lil_array(path_laplacian(26))
    ring[0, 0] = ring[25, 25] = 2.0
    ring[0, 25] = ring[25, 0] = -1.0
    eye = sp.eye_array(26)
    torus = sp.csr_array(sp.kron(ring, eye) + sp.kron(eye, ring))
    found = bottom_eigenpairs(torus, 4, null_vector=np.ones(676), solver="factor")
    np.testing.assert_allclose(found.eigenvalues, 2 - 2 * np.cos(2 * np.pi / 26), rtol=1e-8)


def test_pieces_give_zero_eigenvalues_and_no_failure():
    matrix = sp.csr_array(sp.block_diag([path_laplacian(400), path_laplacian(300)]))
    found = bottom_eigenpairs(matrix, 2, null_vector=np.ones(700), solver="factor")
    np.testing.assert_allclose(found.eigenvalues, [0.0, 2 - 2 * np.cos(np.pi / 400)], atol=1e-12)


def test_the_zero_matrix_has_a_result():
    found = bottom_eigenpairs(sp.csr_array((700, 700)), 2, null_vector=np.ones(700))
    assert np.isfinite(found.vectors).all()
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(2), atol=1e-10)


def test_descent_finds_what_the_factor_finds():
    n = 700
    matrix = lle_matrix(n)
    factor = bottom_eigenpairs(matrix, 2, null_vector=np.ones(n), solver="factor")
    descent = bottom_eigenpairs(matrix, 2, null_vector=np.ones(n), solver="descent")
    assert descent.converged
    np.testing.assert_allclose(descent.eigenvalues, factor.eigenvalues, rtol=1e-4)


def test_a_factor_beyond_the_limits_is_replaced_by_descent_or_refused():
    n = 700
    matrix = lle_matrix(n)
    for limits in ({"max_entries": 2000.0}, {"max_operations": 2000.0}):
        assert bottom_eigenpairs(matrix, 1, null_vector=np.ones(n), **limits).solver == "descent"
        with pytest.raises(ValueError, match=r"solver='factor' must be 'descent', or .* \(the factor needs"):
            bottom_eigenpairs(matrix, 1, null_vector=np.ones(n), solver="factor", **limits)


@pytest.mark.parametrize("solver", ["factor", "descent"])
def test_a_spent_time_budget_or_a_wish_to_stop_ends_the_search_and_is_said(solver):
    n = 700
    matrix = lle_matrix(n)
    budget = bottom_eigenpairs(matrix, 2, null_vector=np.ones(n), solver=solver, time_budget=0.0)
    stopped = bottom_eigenpairs(matrix, 2, null_vector=np.ones(n), solver=solver, report=lambda done, total: True)
    steps = bottom_eigenpairs(
        matrix, 2, null_vector=np.ones(n), solver=solver, report=lambda done, total: total < n and done > 0
    )  # a wish that comes when a factor is done already
    assert steps.solver == solver
    for found in (budget, stopped, steps):
        assert not found.converged
        assert found.out_of_time
        np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(2), atol=1e-10)
        np.testing.assert_allclose(found.vectors.sum(axis=0), 0.0, atol=1e-8)


def test_equal_seeds_give_equal_bytes():
    matrix = lle_matrix(900)
    runs = [bottom_eigenpairs(matrix, 2, null_vector=np.ones(900), seed=3).vectors.tobytes() for _ in range(2)]
    assert runs[0] == runs[1]


def test_more_vectors_than_there_are_is_refused():
    with pytest.raises(ValueError, match=r"n_vectors=5 must be at most 4 \(n_samples=5\)"):
        bottom_eigenpairs(path_laplacian(5), 5, null_vector=np.ones(5))
    assert scipy.linalg.norm(bottom_eigenpairs(path_laplacian(5), 4, null_vector=np.ones(5)).residuals) < 1e-12
