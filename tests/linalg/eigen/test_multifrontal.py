"""Sparse Cholesky factors by fronts against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon
from gnomon.linalg.eigen import multifrontal as fronts_module
from gnomon.linalg.eigen.multifrontal import SparseCholesky, plan_elimination


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


@pytest.mark.parametrize("n_columns", [1, 8, 9, 40, 130])
def test_wide_fronts_take_any_number_of_right_hand_sides_and_threads(n_columns):
    matrix = random_definite(350, 0.3, 0)  # one front of more rows than products are summed at a time
    plan = plan_elimination(matrix, max_entries=1e8)
    B = np.random.default_rng(1).normal(size=(350, n_columns))
    solution = SparseCholesky(matrix, plan).solve(B)
    np.testing.assert_allclose(solution, np.linalg.solve(matrix.toarray(), B), rtol=1e-9, atol=1e-9)
    with gnomon.running(n_threads=3):
        assert SparseCholesky(matrix, plan).solve(B).tobytes() == solution.tobytes()
    alone = SparseCholesky(matrix, plan).solve(B[:, [-1]])
    assert alone.tobytes() == np.ascontiguousarray(solution[:, [-1]]).tobytes()


def test_a_caller_is_asked_whether_to_go_on_and_may_give_up(monkeypatch):
    monkeypatch.setattr(fronts_module, "_OPERATIONS", 1e5)
    matrix = random_definite(300, 0.02, 0)
    plan, asked = plan_elimination(matrix, max_entries=1e8), []
    factor = SparseCholesky(matrix, plan, check=lambda done, total: asked.append((done, total)))
    assert len(asked) > 3
    assert sorted(asked) == asked
    assert asked[0] == (0, 1000)
    assert 0 < asked[-1][0] < asked[-1][1] == 1000  # solves follow
    B = np.ones((300, 1))
    assert factor.solve(B).tobytes() == SparseCholesky(matrix, plan).solve(B).tobytes()

    def stop(done, total):
        raise TimeoutError

    with pytest.raises(TimeoutError):
        SparseCholesky(matrix, plan, check=stop)


def test_what_is_told_of_a_front_counts_its_columns():
    """A dense matrix is one front: of n columns the first c cost c^2 n - 2 c^3 / 3, and those of small ones little."""
    n, asked = 640, []
    matrix = sp.csr_array(np.full((n, n), 1.0) + n * np.eye(n))
    plan = plan_elimination(matrix, max_entries=1e8)
    assert plan.n_fronts == 1
    work, places = fronts_module._Work.of(plan), np.arange(n + 1)
    done = np.array([work.done(place) for place in places])
    assert done[0] == 0.0
    begun = done[1] - n + 2.0 / 3.0  # put together with the first column
    np.testing.assert_allclose(done[1:n] - begun, (places**2 * (n - 2.0 / 3.0 * places))[1:n])
    assert done[n] - begun == pytest.approx(n**3 / 3)
    assert work.total == pytest.approx(done[n] + 300 * n**2)
    SparseCholesky(matrix, plan, check=lambda *told: asked.append(told))
    assert asked[-1] == (int(1000 * done[n] / work.total), 1000)


def test_work_goes_on_from_front_to_front():
    plan = plan_elimination(random_definite(300, 0.02, 0), max_entries=1e8)
    work = fronts_module._Work.of(plan)
    done = [work.done(place) for place in range(301)]
    assert plan.n_fronts > 1
    assert sorted(set(done)) == done
    pivots, below = np.diff(plan.starts), np.diff(plan.offsets)
    counted = (pivots**3 / 3 + pivots**2 * below + pivots * below**2 + 90 * (pivots + below) ** 2).sum()
    assert done[-1] == pytest.approx(counted)


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
    matrix = sp.csr_array(sp.diags_array([-np.ones(29), np.full(30, 2.0), -np.ones(29)], offsets=[-1, 0, 1]))
    with pytest.raises(np.linalg.LinAlgError, match="not positive"):
        SparseCholesky(matrix, plan_elimination(matrix, max_entries=1e6), shift=-0.5)
