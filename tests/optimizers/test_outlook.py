"""The end of a descent that ends by a tolerance is foreseen within 30 %, or not told."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gnomon._progress import Reporter
from gnomon.objectives import Stress
from gnomon.optimizers import ADMM, LBFGS, GradientDescent, Majorization, PolarDescent, SafeDescent
from gnomon.optimizers.outlook import Outlook


def told(falls, max_iter=5000, every=10):
    """Return, of a fall from its first number to 1, where it ends, and the ends told by iteration."""
    outlook, ends = Outlook(max_iter), {}
    for iteration in range(every, max_iter, every):
        excess = falls(iteration)
        if excess <= 1.0:
            return iteration, ends
        ends[iteration] = outlook.look(iteration, excess)[1]
    return max_iter, ends


@pytest.mark.parametrize(
    "falls",
    [
        lambda i: 1e6 * 0.96**i,
        lambda i: 1e6 * 0.96**i * (1.0 + 0.1 * np.sin(i)),
        lambda i: 300.0 / i,
        lambda i: 1e5 / i**2,
        lambda i: (10.0 if i < 60 else 1.0) * 1e5 * 0.97**i,
    ],
    ids=["factor", "wavy", "power", "square", "kinked"],
)
def test_steady_falls_are_extended_to_the_tolerance(falls):
    last, ends = told(falls)
    late = {iteration: end for iteration, end in ends.items() if iteration >= last / 2}
    assert sum(end is not None for end in late.values()) >= len(late) / 2
    for iteration, end in ends.items():
        assert end is None or abs(end - last) <= 0.3 * (last - iteration) + 10


def test_a_fall_that_jumps_is_not_foreseen():
    draws = np.random.default_rng(0)
    _, ends = told(lambda i: math.exp(8.0 - 0.01 * i + draws.normal(0.0, 2.0)), max_iter=300)
    assert set(ends.values()) == {None}


def test_a_fall_too_slow_for_max_iter_ends_there():
    last, ends = told(lambda i: 1e9 * 0.99**i, max_iter=500)
    assert last == 500
    assert ends[400] == 500


def test_no_tolerance_no_early_end():
    assert Outlook(100).look(10, None) == (False, None)
    assert Outlook(100).look(10, math.inf) == (True, None)
    assert Outlook(100).look(10, 3.0, over=True) == (True, 10)


def descend(optimizer, seed=0):
    """Return what is reported of a descent of the stress of a drawn table."""
    X = np.random.default_rng(seed).normal(size=(40, 4))
    delta = np.linalg.norm(X[:, None] - X[None], axis=2)
    seen = []
    reporter = Reporter(seen.append)
    reporter.begin("layout", optimizer.max_iter)
    solution = optimizer.minimize(Stress(delta.astype(np.float32)), X[:, :2], reporter=reporter)
    return solution, seen[1:]


@pytest.mark.parametrize(
    "optimizer",
    [Majorization(tol=1e-4, block=2), LBFGS(tol=1e-2, block=10)],
    ids=["majorization", "lbfgs"],
)
def test_a_descent_with_a_tolerance_has_at_most_its_iterations(optimizer):
    solution, seen = descend(optimizer)
    assert solution.converged
    assert solution.n_iter < optimizer.max_iter
    assert all(one.at_most for one in seen)
    assert all(one.seconds_left is None or one.end <= optimizer.max_iter for one in seen)
    assert (seen[-1].end, seen[-1].seconds_left, seen[-1].is_over) == (solution.n_iter, 0.0, True)


def test_a_descent_without_a_tolerance_takes_all_its_iterations():
    _, seen = descend(Majorization(tol=0.0, max_iter=20, block=5))
    assert [one.at_most for one in seen[:-1]] == [False] * (len(seen) - 1)
    assert all(one.seconds_left is not None for one in seen)


def test_optimizers_say_by_what_they_end():
    class At:
        gradient_norm, largest_gradient_norm, largest_eigenvalue, last_fall = 6.0, 10.0, 4.0, 1e-3

    assert LBFGS(tol=0.1).excess(At) == pytest.approx(6.0)
    assert SafeDescent(tol=0.1).excess(At) == pytest.approx(6.0)
    assert SafeDescent(tol=None, min_grad_norm=2.0).excess(At) == pytest.approx(3.0)
    assert PolarDescent(tol=0.5).excess(At) == pytest.approx(3.0)
    assert Majorization(tol=1e-4).excess(At) == pytest.approx(10.0)
    assert ADMM(tol=1e-3).excess(At) == math.inf
    assert GradientDescent().excess(At) is None
