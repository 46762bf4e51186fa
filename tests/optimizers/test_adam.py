"""Adam: its step is its formula, and it reaches minima known in closed form."""

import numpy as np
import pytest

from gnomon import _core
from gnomon.optimizers import Adam


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 2e-6), (np.float64, 1e-13)])
def test_steps_equal_their_formula(dtype, rtol):
    rng = np.random.default_rng(0)
    beta1, beta2, rate, epsilon = 0.8, 0.95, 0.3, 1e-3
    Y = rng.normal(size=(5000, 3)).astype(dtype)  # more than one chunk of rows
    gradients = rng.normal(size=(4, 5000, 3)).astype(dtype)
    first, second = np.zeros_like(Y), np.zeros_like(Y)
    expected, m, v = Y.astype(float), 0.0, 0.0
    for t, gradient in enumerate(gradients):
        parameters = _core.AdamParameters(rate, beta1, beta2, epsilon)
        before = Y.copy()
        norms = _core.adam_step(Y, gradient, first, second, parameters, t, 2)
        g = gradient.astype(float)
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
        step = rate * (m / (1 - beta1 ** (t + 1))) / (np.sqrt(v / (1 - beta2 ** (t + 1))) + epsilon)
        expected -= step
        np.testing.assert_allclose(Y, expected, rtol=rtol, atol=10 * rtol)
        np.testing.assert_allclose(norms, (np.linalg.norm(g), np.linalg.norm(step)), rtol=10 * rtol)
        assert not np.array_equal(before, Y)


def test_the_first_step_is_the_learning_rate_whatever_the_scale_of_the_loss(problems):
    for scale in (1e-3, 1.0, 1e6):
        objective = problems["Quadratic"](np.zeros((4, 2)), scale)
        solution = Adam(0.25, epsilon=1e-12, max_iter=1).minimize(objective, np.ones((4, 2)))
        np.testing.assert_allclose(solution.embedding, 0.75, rtol=1e-8)


def test_it_converges_to_the_minimum(problems):
    centre = np.random.default_rng(0).normal(size=(10, 2))
    solution = Adam(0.1, max_iter=5000, tol=1e-6).minimize(problems["Quadratic"](centre, (1.0, 30.0)), 0 * centre)
    assert solution.converged
    assert "fell to tol=1e-06 of its largest" in solution.reason
    np.testing.assert_allclose(solution.embedding, centre, atol=1e-5)
    solution = Adam(0.01, max_iter=10_000, tol=1e-7).minimize(problems["Valley"](1), [[-1.2, 1.0]])
    assert solution.converged
    np.testing.assert_allclose(solution.embedding, 1, atol=1e-3)


def test_a_linear_decay_ends_at_rest(problems):
    objective = problems["Quadratic"](np.zeros((1, 1)), 1.0)
    moves = []

    class Watched(type(objective)):
        def gradient(self, Y):
            moves.append(float(Y[0, 0]))
            return np.ones_like(Y)

    solution = Adam(1.0, decay="linear", max_iter=50, tol=0.0).minimize(Watched(np.zeros((1, 1)), 1.0), [[0.0]])
    steps = -np.diff([*moves, float(solution.embedding[0, 0])])
    np.testing.assert_allclose(steps, 1 - np.arange(50) / 50, rtol=1e-6)  # a constant gradient: the rate itself
    assert solution.converged
    assert solution.reason == "Iteration 50 of 50 was reached."


def test_a_constant_rate_stops_where_the_loss_does_not_fall(problems):
    solution = Adam(1.0, max_iter=5000, tol=0.0, n_iter_without_progress=100).minimize(
        problems["Quadratic"](np.zeros((2, 2)), 1.0, np.float32), np.zeros((2, 2))
    )
    assert solution.converged
    assert solution.n_iter < 500


def test_a_falling_rate_goes_on_where_the_loss_does_not_fall(problems):
    objective = problems["Quadratic"](np.zeros((2, 2)), 1.0)
    objective.loss = lambda Y: 1.0
    for decay, n_iter in (("constant", 100), ("linear", 300)):
        optimizer = Adam(decay=decay, max_iter=300, tol=0.0, n_iter_without_progress=50)
        assert optimizer.minimize(objective, np.ones((2, 2))).n_iter == n_iter


def test_parameters_out_of_range_are_errors():
    with pytest.raises(ValueError, match="Adam: beta1=1"):
        Adam(beta1=1.0)
    with pytest.raises(ValueError, match="decay='cosine' must be one of 'constant', 'linear'"):
        Adam(decay="cosine")
