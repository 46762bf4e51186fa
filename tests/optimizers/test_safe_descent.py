"""Safe descent: the loss falls in every iteration, as far as the proof says."""

from itertools import pairwise

import numpy as np
import pytest

from gnomon.objectives import KLDivergence
from gnomon.optimizers import SafeDescent


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(1).normal(size=(40, 6)) * (5, 3, 1, 0.5, 0.2, 0.1)


def _steps(objective, start, n_iter, optimizer=None):
    """Return the embeddings of the first iterations, each a run resumed."""
    optimizer = SafeDescent() if optimizer is None else optimizer
    state, points = None, [start]
    for stop in range(1, n_iter + 1):
        solution = optimizer.minimize(objective, start, state=state, stop_after=stop)
        state = solution.state
        points.append(solution.embedding.copy())
    return points


@pytest.mark.parametrize("spread", [0.1, 3.0])
def test_the_safe_step_lowers_strain_as_much_as_proven(spread, table, problems):
    objective = problems["Strain"](table)
    start = spread * np.random.default_rng(2).normal(size=(40, 2))
    step = objective.safe_step(start)
    points = _steps(objective, start, 60)
    for before, after in pairwise(points):
        gradient = objective.gradient(before)
        np.testing.assert_array_equal(after, before - step * gradient)
        fall = objective.loss(before) - objective.loss(after)
        assert fall >= step / 2 * np.square(gradient).sum()
    np.testing.assert_allclose(points[-1].mean(0), start.mean(0), atol=1e-12)


def test_strain_ends_at_the_principal_components(table, problems):
    objective = problems["Strain"](table)
    start = np.random.default_rng(2).normal(size=(40, 2))
    solution = SafeDescent(tol=1e-9).minimize(objective, start)
    assert solution.converged
    assert "fell to tol=1e-09 of its largest" in solution.reason
    assert all(later <= earlier for (_, earlier), (_, later) in pairwise(solution.loss))
    values, vectors = np.linalg.eigh(objective.target)
    best = (vectors[:, -2:] * values[-2:]) @ vectors[:, -2:].T
    Y = solution.embedding - solution.embedding.mean(0)
    np.testing.assert_allclose(Y @ Y.T, best, atol=1e-6 * values[-1])


def test_a_saddle_is_not_left(table, problems):
    objective = problems["Strain"](table)
    values, vectors = np.linalg.eigh(objective.target)
    saddle = vectors[:, [-1, -3]] * np.sqrt(values[[-1, -3]])
    solution = SafeDescent(max_iter=5).minimize(objective, saddle)
    np.testing.assert_allclose(solution.embedding, saddle, atol=1e-9)


def test_backtracking_lowers_the_loss_from_any_step(problems, clusters):
    rosenbrock, kl = problems["Valley"](1), KLDivergence(clusters["total"])
    start = np.random.default_rng(0).normal(size=(300, 2)).astype(np.float32)
    for objective, first, step in ((rosenbrock, np.array([[-1.2, 1.0]]), 1e3), (kl, start, 1e6)):
        optimizer = SafeDescent(step, backtracking=True)
        losses = [objective.loss(points) for points in _steps(objective, first, 40, optimizer)]
        assert all(later < earlier for earlier, later in pairwise(losses))


def test_backtracking_takes_the_first_of_the_halved_steps_that_serves(problems):
    objective = problems["Quadratic"](np.zeros((3, 2)), 1.0)  # any step below 2 lowers it
    solution = SafeDescent(1000.0, backtracking=True, max_iter=1).minimize(objective, np.ones((3, 2)))
    assert solution.state.last_step == 1000 / 2**9
    np.testing.assert_allclose(solution.embedding, 1 - 1000 / 2**9)


def test_backtracking_ends_where_the_number_type_does(table, problems):
    objective = problems["Strain"](table, np.float32)
    start = np.random.default_rng(2).normal(size=(40, 2))
    solution = SafeDescent(0.1, backtracking=True, tol=0.0, block=1).minimize(objective, start)
    assert solution.converged
    assert [i for i, _ in solution.loss] == list(range(1, solution.n_iter + 1))
    assert "lowers the loss by more than float32 can tell (1e-07 of it)" in solution.reason
    values = np.linalg.eigvalsh(objective.target.astype(float))
    assert solution.loss[-1][1] == pytest.approx(np.square(values[:-2]).sum(), rel=1e-4)
    again = SafeDescent(0.1, backtracking=True, tol=0.0).minimize(objective, start, state=solution.state)
    assert (again.n_iter, again.reason) == (solution.n_iter, solution.reason)
    np.testing.assert_array_equal(again.embedding, solution.embedding)


def test_a_step_has_to_come_from_somewhere(problems):
    with pytest.raises(
        ValueError, match=r"learning_rate='safe' must be a number here \(Valley has no safe_step\)\. Pass"
    ):
        SafeDescent().minimize(problems["Valley"](1), [[0.0, 0.0]])
