"""L-BFGS: it is SciPy's inside a block, reaches known minima, and says when the number type ends its way."""

import numpy as np
import pytest
import scipy.optimize

from gnomon.exceptions import ConvergenceWarning
from gnomon.kernels import UMAPKernel
from gnomon.objectives import CrossEntropy, KLDivergence
from gnomon.optimizers import LBFGS, Adam, GradientDescent, SafeDescent, SampledDescent


def test_a_block_is_one_run_of_scipy(problems):
    objective = problems["Valley"](5)
    start = np.random.default_rng(0).normal(size=(5, 2))
    unit = objective.loss(start)
    expected = scipy.optimize.minimize(
        lambda x: (objective.loss(x.reshape(5, 2)) / unit, objective.gradient(x.reshape(5, 2)).ravel() / unit),
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 25, "maxcor": 7, "ftol": 0, "gtol": 0},
    )
    solution = LBFGS(max_iter=25, block=25, memory=7, tol=0.0).minimize(objective, start)
    np.testing.assert_array_equal(solution.embedding.ravel(), expected.x)


@pytest.mark.parametrize("block", [5, 100])
def test_minima_in_closed_form_are_reached(block, problems):
    centre = np.random.default_rng(0).normal(size=(20, 3))
    optimizer = LBFGS(tol=1e-9, block=block)
    for objective, target in (
        (problems["Quadratic"](centre, (1.0, 1e2, 1e-2)), centre),
        (problems["Valley"](20), np.ones((20, 2))),
    ):
        start = np.zeros_like(target)
        solution = optimizer.minimize(objective, start)
        assert solution.converged
        assert "fell to tol=1e-09 of its largest" in solution.reason
        assert (
            np.linalg.norm(objective.gradient(solution.embedding))
            <= 1e-9 * np.linalg.norm(objective.gradient(start)) * 50
        )
        np.testing.assert_allclose(solution.embedding, target, atol=1e-5)


def test_principal_components_are_the_minimum_of_strain(problems):
    X = np.random.default_rng(1).normal(size=(40, 6)) * (5, 3, 1, 0.5, 0.2, 0.1)
    objective = problems["Strain"](X)
    solution = LBFGS(tol=1e-9).minimize(objective, np.random.default_rng(2).normal(size=(40, 2)))
    values, vectors = np.linalg.eigh(objective.target)
    best = (vectors[:, -2:] * values[-2:]) @ vectors[:, -2:].T
    Y = solution.embedding - solution.embedding.mean(0)
    np.testing.assert_allclose(Y @ Y.T, best, atol=1e-6 * values[-1])
    assert solution.loss[-1][1] == pytest.approx(np.square(values[:-2]).sum())


def test_float32_ends_where_its_noise_hides_the_fall(problems):
    X = np.random.default_rng(1).normal(size=(40, 6)) * (5, 3, 1, 0.5, 0.2, 0.1)
    objective = problems["Strain"](X, np.float32)
    solution = LBFGS(tol=0.0).minimize(objective, np.random.default_rng(2).normal(size=(40, 2)))
    assert solution.converged
    assert "An iteration lowers the loss by less than float32 can tell (1e-07 of it)" in solution.reason
    assert "inexact" not in solution.reason
    assert solution.n_iter < 200
    assert [i for i, _ in solution.loss] == sorted({i for i, _ in solution.loss})
    again = LBFGS(tol=0.0).minimize(objective, None, state=solution.state)
    np.testing.assert_array_equal(again.embedding, solution.embedding)
    values = np.linalg.eigvalsh(objective.target.astype(float))
    assert solution.loss[-1][1] == pytest.approx(np.square(values[:-2]).sum(), rel=1e-5)


def test_real_losses_end_lower_than_by_their_own_optimizers(clusters):
    kl = KLDivergence(clusters["total"])
    own = GradientDescent(max_iter=500).minimize(kl, clusters["start"])
    better = LBFGS(max_iter=1000).minimize(kl, own.embedding)
    assert better.converged
    assert better.loss[-1][1] < own.loss[-1][1]
    cross_entropy = CrossEntropy(clusters["membership"], UMAPKernel(1.5769, 0.8951), evaluation="exact")
    start = np.random.default_rng(5).uniform(0, 10, size=(300, 2))
    own = SampledDescent(200, track_loss=True).minimize(cross_entropy, start)
    assert LBFGS(max_iter=300).minimize(cross_entropy, own.embedding).loss[-1][1] < own.loss[-1][1]


def test_a_replay_does_not_end_where_the_first_run_went_on(problems):
    objective, start = problems["Valley"](5), np.random.default_rng(0).normal(size=(5, 2))
    part = LBFGS().minimize(objective, start, stop_after=8)
    part.state.largest_gradient_norm = 1e9  # as if larger gradients had come late: all iterations now look converged
    rest = LBFGS().minimize(objective, start, state=part.state)
    assert (rest.n_iter, rest.converged) == (9, True)


def test_the_largest_gradient_may_be_the_first(problems):
    objective = problems["Quadratic"](np.zeros((4, 2)), (1.0, 2.0))
    solution = LBFGS().minimize(objective, np.ones((4, 2)))
    assert solution.state.largest_gradient_norm == pytest.approx(np.sqrt(4 * (1 + 4)))


def test_a_search_that_meets_the_infinite_turns_back():
    class Barrier:
        """-log(1 - x^2) + (x - 2)^2 / 2, infinite from |x| = 1 on."""

        n_samples, evaluation, dtype = 1, "exact", np.float64

        def loss(self, Y):
            x = Y[0, 0]
            return -np.log(1 - x**2) + (x - 2) ** 2 / 2 if abs(x) < 1 else np.inf

        def gradient(self, Y):
            x = Y[0, 0]
            return np.array([[2 * x / (1 - x**2) + x - 2 if abs(x) < 1 else np.nan]])

    solution = LBFGS(tol=1e-8).minimize(Barrier(), [[0.0]])
    x = solution.embedding[0, 0]
    assert solution.converged
    assert 2 * x / (1 - x**2) + x - 2 == pytest.approx(0, abs=1e-6)


def test_a_start_at_the_minimum_stays(problems):
    for value in (0.0, 3.0):
        objective = problems["Quadratic"](np.full((3, 2), value), 1.0)
        solution = LBFGS().minimize(objective, np.full((3, 2), value))
        assert solution.converged
        np.testing.assert_array_equal(solution.embedding, value)


def test_a_gradient_of_another_loss_is_named(problems):
    class Wrong(problems["Quadratic"]):
        def gradient(self, Y):
            return -super().gradient(Y)

    solution = LBFGS().minimize(Wrong(np.zeros((3, 2)), 1.0), np.ones((3, 2)))
    assert "the gradient's norm is 1 of its largest" in solution.reason
    assert "the gradient is too inexact" in solution.reason


class Turned:
    """A loss with some share of its gradient, or of its rows."""

    def __init__(self, objective, factor=1.0, rows=slice(None)):
        self.n_samples, self.dtype = objective.n_samples, getattr(objective, "dtype", np.float32)
        self.loss = objective.loss
        self.gradient = lambda Y: self.dtype(factor) * objective.gradient(Y)[rows]


@pytest.mark.parametrize("factor", [-1.0, -0.1])
def test_a_loss_that_does_not_fall_along_minus_its_gradient_is_told(factor, problems, clusters):
    for objective, Y in (
        (problems["Valley"](5), np.random.default_rng(0).normal(size=(5, 2))),
        (KLDivergence(clusters["total"]), 1e4 * clusters["start"]),
    ):
        with pytest.warns(
            ConvergenceWarning, match="LBFGS: The loss does not fall along minus the gradient .*gradient_er"
        ):
            found = LBFGS().minimize(Turned(objective, factor), Y)
        assert not found.converged
        assert found.n_iter <= 1
        assert found.reason.startswith("The loss does not fall along minus the gradient")


def _minimum(clusters):
    return LBFGS(max_iter=2000).minimize(KLDivergence(clusters["total"]), 1e4 * clusters["start"]).embedding


@pytest.mark.filterwarnings("error")
def test_a_descent_that_begins_at_a_minimum_has_converged(problems, clusters):
    for objective, Y in (
        (problems["Valley"](5), np.ones((5, 2))),
        (KLDivergence(clusters["total"]), _minimum(clusters)),
    ):
        assert LBFGS(tol=0.0).minimize(objective, Y).converged


@pytest.mark.parametrize(
    "optimizer", [LBFGS(), Adam(), GradientDescent(), SafeDescent(1.0)], ids=lambda one: type(one).__name__
)
def test_a_gradient_of_another_shape_is_named_by_every_optimizer(optimizer, problems):
    objective = Turned(problems["Quadratic"](np.zeros((20, 3)), (1.0, 1e2, 1e-2)), rows=slice(5))
    text = rf"{type(optimizer).__name__}: gradient\(Y\) of Turned must be of the shape \(20, 3\) of Y \(found \(5, 3\)"
    with pytest.raises(ValueError, match=text):
        optimizer.minimize(objective, np.ones((20, 3), dtype=np.float64))


@pytest.mark.parametrize("first", [0, 6])
def test_a_gradient_that_is_not_finite_is_no_end_of_the_way(first):
    class Broken:
        n_samples, calls = 20, 0
        added = None

        def loss(self, Y):
            return float(np.square(Y.astype(np.float64) - 1.0).sum()) ** 2

        def gradient(self, Y):
            self.calls += 1
            away = Y.astype(np.float64) - 1.0
            found = (4.0 * np.square(away).sum() * away).astype(Y.dtype)
            if self.calls > first:
                found[3] = np.nan
            return found

    start = np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32)
    with pytest.raises(FloatingPointError, match=r"gradient of Broken after iteration .* must be finite"):
        LBFGS(max_iter=50, block=3, tol=0.0).minimize(Broken(), start)
