"""The alternating direction method on problems whose minimum is known."""

from itertools import pairwise

import numpy as np
import pytest

from gnomon._progress import Reporter
from gnomon.objectives import LowRankSparse
from gnomon.optimizers import ADMM


class Tug:
    """|Y - a|^2 / 2 + sum of |Y - b| + |Y - c|^2: each entry alone has a minimum that can be written down."""

    dtype = np.float64
    row_separable = (True, False)
    scale = 1.0

    def __init__(self, a, b, c):
        self.a, self.b, self.c = a, b, c
        self.n_samples = len(a)

    def first_penalty(self, rule):
        return 1.0

    def loss(self, Y):
        squares = 0.5 * np.sum((Y - self.a) ** 2) + np.sum((Y - self.c) ** 2)
        return float(squares + np.abs(Y - self.b).sum())

    def prox(self, V, penalty, memory, out):
        out[:] = (self.a + penalty * V) / (1.0 + penalty)
        return memory

    def prox_term(self, index, V, penalty, rows):
        if index == 1:
            return (2.0 * self.c + penalty * V) / (2.0 + penalty)
        gap = V - self.b[rows]
        return self.b[rows] + np.sign(gap) * np.maximum(np.abs(gap) - 1.0 / penalty, 0.0)

    def minimum(self):
        middle = (self.a + 2.0 * self.c) / 3.0  # of the squares, of curvature 3
        gap = middle - self.b
        return self.b + np.sign(gap) * np.maximum(np.abs(gap) - 1.0 / 3.0, 0.0)


@pytest.fixture
def tug():
    return Tug(*np.random.default_rng(0).normal(size=(3, 7, 4)))


@pytest.mark.parametrize("penalty", ["fixed", "increasing", "balanced"])
@pytest.mark.parametrize("first", [0.05, 1.0, 30.0])
def test_any_penalty_leads_to_the_minimum(tug, penalty, first):
    solution = ADMM(penalty=penalty, first_penalty=first, tol=1e-9, max_iter=20000).minimize(tug, np.zeros((7, 4)))
    assert solution.converged
    np.testing.assert_allclose(solution.embedding, tug.minimum(), atol=1e-7)


@pytest.mark.parametrize("relaxation", [0.6, 1.0, 1.9])
def test_relaxation_changes_the_way_only(tug, relaxation):
    solution = ADMM(relaxation=relaxation, tol=1e-10).minimize(tug, np.zeros((7, 4)))
    np.testing.assert_allclose(solution.embedding, tug.minimum(), atol=1e-8)


def test_a_resumed_run_is_one_run():
    X = np.random.default_rng(0).normal(size=(30, 12))
    problem = LowRankSparse(X, 0.2)
    optimizer = ADMM(tol=0.0, max_iter=90, penalty="balanced")
    whole = optimizer.minimize(problem, X)
    part = optimizer.minimize(problem, X, stop_after=33)
    before = part.embedding.tobytes()
    rest = optimizer.minimize(problem, X, state=part.state)
    assert rest.embedding.tobytes() == whole.embedding.tobytes()
    assert rest.state.residuals == whole.state.residuals
    assert part.embedding.tobytes() == before
    assert len(part.state.residuals) == 33


def test_a_penalty_that_increases_stays_below_its_limit(tug):
    solution = ADMM(penalty="increasing", first_penalty=1e-4, tol=0.0, max_iter=300).minimize(tug, np.zeros((7, 4)))
    penalties = [one.penalty for one in solution.state.residuals]
    assert penalties == sorted(penalties)
    assert penalties[0] < penalties[-1] <= 1e4 * penalties[0]


def test_a_penalty_increases_only_where_the_primal_residual_asks_for_it():
    X = np.random.default_rng(0).normal(size=(30, 12))
    residuals = ADMM(penalty="increasing", max_iter=80).minimize(LowRankSparse(X, 0.2), X).state.residuals
    grew = [after.penalty > before.penalty for before, after in pairwise(residuals)]
    assert grew == [one.primal > 0.25 * one.dual for one in residuals[:-1]]
    assert 0 < sum(grew) < len(grew)


def test_a_callback_ends_it_and_each_iteration_is_reported(tug):
    seen = []

    def stop(progress):
        seen.append(progress.done)
        return progress.done == 5

    reporter = Reporter(stop)
    reporter.begin("decomposition", 100)
    solution = ADMM(tol=0.0, max_iter=100).minimize(tug, np.zeros((7, 4)), reporter=reporter)
    assert seen == [0, 1, 2, 3, 4, 5]
    assert not solution.converged
    assert "callback" in solution.reason


def test_the_end_before_convergence_is_said(tug):
    solution = ADMM(tol=0.0, max_iter=3, track_loss=True).minimize(tug, np.zeros((7, 4)))
    assert solution.reason == "Iteration 3 of 3 was reached. Raise max_iter."
    assert [iteration for iteration, _ in solution.loss] == [1, 2, 3]


def test_wrong_parameters_are_refused_by_name():
    with pytest.raises(ValueError, match=r"ADMM: relaxation=2 must be a number > 0 and < 2"):
        ADMM(relaxation=2)
    with pytest.raises(ValueError, match=r"ADMM: penalty='magic' must be one of 'fixed', "):
        ADMM(penalty="magic")
