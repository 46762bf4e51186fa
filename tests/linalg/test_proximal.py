"""Singular-value thresholding: what the partial and squared ways give is what the full decomposition gives."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.threads import on_threads

from gnomon.linalg import Smoothing, inner_products, product, share, singular_value_threshold
from gnomon.linalg import proximal as module


def _noisy(shape, seed=0):
    rng = np.random.default_rng(seed)
    return 3.0 * rng.normal(size=(shape[0], 5)) @ rng.normal(size=(5, shape[1])) + 0.3 * rng.normal(size=shape)


def _by_definition(A, threshold):
    left, values, right = np.linalg.svd(A, full_matrices=False)
    return (left * np.maximum(values - threshold, 0.0)) @ right


@pytest.mark.parametrize("shape", [(60, 150), (150, 60), (40, 40)])
@pytest.mark.parametrize("solver", ["svd", "gram", "subspace"])
def test_every_solver_is_the_full_decomposition_with_lowered_values(shape, solver):
    A = _noisy(shape)
    start = singular_value_threshold(A + 1e-2 * _noisy(shape, 1), 12.0, solver="svd")
    found = singular_value_threshold(A, 12.0, solver=solver, start=start)
    assert (found.solver, found.rank) == (solver, 5)
    np.testing.assert_allclose(found.matrix(), _by_definition(A, 12.0), atol=1e-6)
    np.testing.assert_allclose(found.left.T @ found.left, np.eye(5), atol=1e-8)
    np.testing.assert_allclose(found.right @ found.right.T, np.eye(5), atol=1e-8)
    largest = np.abs(found.right).argmax(axis=1)
    assert (found.right[np.arange(5), largest] > 0).all()


def test_a_diagonal_is_lowered_entry_by_entry():
    found = singular_value_threshold(np.diag([5.0, 3.0, 1.0]), 2.0)
    np.testing.assert_allclose(found.matrix(), np.diag([3.0, 1.0, 0.0]), atol=1e-14)


@pytest.mark.parametrize("solver", ["svd", "gram"])
def test_above_all_singular_values_nothing_is_left(solver):
    found = singular_value_threshold(_noisy((30, 50)), 1e4, solver=solver)
    assert found.rank == 0
    np.testing.assert_array_equal(found.matrix(), np.zeros((30, 50)))


def test_where_squaring_loses_the_threshold_the_full_decomposition_is_taken():
    rng = np.random.default_rng(0)
    left, _ = np.linalg.qr(rng.normal(size=(60, 3)))
    right, _ = np.linalg.qr(rng.normal(size=(40, 3)))
    A = (left * [1e6, 1.0, 1e-3]) @ right.T
    found = singular_value_threshold(A, 1e-4, solver="gram")
    assert found.solver == "svd"
    np.testing.assert_allclose(found.values, np.array([1e6, 1.0, 1e-3]) - 1e-4, rtol=1e-6)
    assert singular_value_threshold(A, 1e3, solver="gram").solver == "gram"


def test_a_start_that_misses_a_direction_does_not_hide_it():
    A = _noisy((200, 80))
    poor = singular_value_threshold(A, 400.0, solver="svd")
    assert poor.rank < 5
    found = singular_value_threshold(A, 12.0, solver="subspace", start=poor)
    np.testing.assert_allclose(found.matrix(), _by_definition(A, 12.0), atol=1e-6)


def test_a_rank_beyond_the_subspace_goes_to_the_gram_matrix(monkeypatch):
    monkeypatch.setattr(module, "_SMALL", 0.0)
    A = _noisy((300, 200))
    start = singular_value_threshold(A, 40.0, solver="svd")
    near = singular_value_threshold(A + 1e-6, 40.0, start=start)
    far = singular_value_threshold(A, 5.0, start=start)
    assert (near.solver, far.solver) == ("subspace", "gram")
    assert far.rank > 50
    np.testing.assert_allclose(far.matrix(), _by_definition(A, 5.0), atol=1e-8)


def test_a_subspace_has_to_start_somewhere():
    with pytest.raises(ValueError, match=r"solver='subspace' must be given a start"):
        singular_value_threshold(np.eye(3), 0.5, solver="subspace")


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_change_no_bit(n_threads):
    A = _noisy((700, 600))
    assert on_threads(n_threads, inner_products)(A).tobytes() == on_threads(1, inner_products)(A).tobytes()
    assert on_threads(n_threads, product)(A, A.T).tobytes() == on_threads(1, product)(A, A.T).tobytes()
    one = on_threads(1, singular_value_threshold)(A, 30.0, solver="gram")
    more = on_threads(n_threads, singular_value_threshold)(A, 30.0, solver="gram")
    assert on_threads(1, one.matrix)().tobytes() == on_threads(n_threads, more.matrix)().tobytes()


def test_products_in_tiles_are_products():
    A = _noisy((1100, 530))
    np.testing.assert_allclose(inner_products(A), A.T @ A, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(product(A, A.T), A @ A.T, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_shared_parts_come_back_in_their_order_and_raise_what_they_raise(n_threads):
    assert on_threads(n_threads, share)(lambda part: part * part, [3, 1, 2, 5]) == [9, 1, 4, 25]
    with pytest.raises(ZeroDivisionError):
        on_threads(n_threads, share)(lambda part: 1 / part, [1, 0, 2])


def _path(n):
    edges = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1])
    return sp.csr_array(sp.diags_array(np.asarray(edges.sum(axis=1)).ravel()) - edges)


@pytest.mark.parametrize("weight", [0.0, 0.01, 1.0, 50.0])
@pytest.mark.parametrize("solver", ["factor", "chebyshev"])
def test_smoothing_solves_its_equations(weight, solver):
    laplacian, V = _path(50), _noisy((50, 7))
    solved = Smoothing(laplacian, weight, solver=solver).solve(V)
    np.testing.assert_allclose(solved, np.linalg.solve(np.eye(50) + weight * laplacian.toarray(), V), atol=1e-11)


def test_large_graphs_are_smoothed_by_products_unless_they_would_be_many():
    assert Smoothing(_path(1200), 1.0).solver == "chebyshev"
    assert Smoothing(_path(1200), 1e4).solver == "factor"
    assert Smoothing(_path(100), 1.0).solver == "factor"
