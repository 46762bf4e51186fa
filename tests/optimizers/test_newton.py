"""Newton's method: digits double, losses fall from anywhere, runs resume."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.optimizers import Newton


class Rosenbrock:
    """A banana-shaped valley for each point, lowest at (1, 1)."""

    dtype = np.float64
    n_samples = 3
    evaluation = "exact"

    def loss(self, Y):
        return float(np.sum(100.0 * (Y[:, 1] - Y[:, 0] ** 2) ** 2 + (1.0 - Y[:, 0]) ** 2))

    def gradient(self, Y):
        x, y = Y.T
        return np.stack([-400.0 * x * (y - x**2) - 2.0 * (1.0 - x), 200.0 * (y - x**2)], axis=1)

    def hessian(self, Y):
        x, y = Y.T
        H = np.zeros((6, 6))
        H[:3, :3] = np.diag(1200.0 * x**2 - 400.0 * y + 2.0)
        H[:3, 3:] = H[3:, :3] = np.diag(-400.0 * x)
        H[3:, 3:] = 200.0 * np.eye(3)
        return H


_START = np.array([[-1.2, 1.0], [3.0, -2.0], [0.0, 5.0]])


def test_the_minimum_is_found_to_all_digits():
    solution = Newton(max_iter=100, tol=1e-13).minimize(Rosenbrock(), _START)
    assert solution.converged
    np.testing.assert_allclose(solution.embedding, 1.0, rtol=1e-10)


def test_the_loss_never_rises():
    losses = [value for _, value in Newton(max_iter=100).minimize(Rosenbrock(), _START).loss]
    assert len(losses) > 5
    assert (np.diff(losses) <= 1e-12 * np.abs(losses[0])).all()


def test_a_resumed_run_is_one_run():
    whole = Newton(max_iter=12).minimize(Rosenbrock(), _START)
    part = Newton(max_iter=12).minimize(Rosenbrock(), _START, stop_after=5)
    resumed = Newton(max_iter=12).minimize(Rosenbrock(), _START, state=part.state)
    np.testing.assert_array_equal(resumed.embedding, whole.embedding)


def test_wrong_parameters_are_refused():
    with pytest.raises(ValueError, match=r"Newton: damping=0 must be a number > 0"):
        Newton(damping=0)
    with pytest.raises(ValueError, match=r"Newton: max_iter=-1 must be an integer >= 0"):
        Newton(max_iter=-1)
