"""Systems in the Laplacian of a graph agree with a dense solver."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.linalg import solve_graph_system


def _graph(n=40, seed=0):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.2), 1)
    return W + W.T


def _laplacian(W):
    return np.diag(W.sum(axis=1)) - W


def test_the_solution_is_that_of_the_pseudo_inverse():
    W, F = _graph(), np.random.default_rng(1).normal(size=(40, 3))
    found = solve_graph_system(sp.csr_array(W), F, tol=1e-12)
    assert np.allclose(found.Z, np.linalg.pinv(_laplacian(W)) @ F, atol=1e-9)
    assert found.residual <= 1e-12
    assert found.n_products <= 60


def test_each_component_has_mean_zero_and_a_lonely_point_stays():
    W = np.zeros((61, 61))
    W[:30, :30], W[30:60, 30:60] = _graph(30, 2), _graph(30, 3)
    Z = solve_graph_system(sp.csr_array(W), np.random.default_rng(1).normal(size=(61, 2)), tol=1e-10).Z
    assert np.allclose(Z[:30].mean(axis=0), 0.0)
    assert np.allclose(Z[30:60].mean(axis=0), 0.0)
    assert not Z[60].any()


def test_held_points_stay_and_the_others_solve_their_own_rows():
    W, F = _graph(), np.random.default_rng(1).normal(size=(40, 2))
    held = np.arange(40) % 4 == 0
    Z = solve_graph_system(sp.csr_array(W), F, held=held, tol=1e-12).Z
    assert not Z[held].any()
    assert np.allclose((_laplacian(W) @ Z)[~held], F[~held])


def test_anchors_are_springs_to_the_origin():
    W, F = _graph(), np.random.default_rng(1).normal(size=(40, 2))
    Z = solve_graph_system(sp.csr_array(W), F, anchor=0.3, tol=1e-12).Z
    assert np.allclose(Z, np.linalg.solve(_laplacian(W) + 0.3 * np.eye(40), F))


def test_the_search_ends_at_its_budget_and_says_what_is_left():
    W, F = _graph(), np.random.default_rng(1).normal(size=(40, 2))
    found = solve_graph_system(sp.csr_array(W), F, tol=1e-12, max_products=3)
    assert found.n_products == 3
    centred = F - F.mean(axis=0)
    left = centred - _laplacian(W) @ found.Z
    assert found.residual == pytest.approx(np.linalg.norm(left) / np.linalg.norm(centred), rel=1e-6)


def test_no_force_moves_nothing():
    found = solve_graph_system(sp.csr_array(_graph()), np.zeros((40, 2)))
    assert not found.Z.any()
    assert found.residual == 0.0
