"""The test of gradients finds right ones right and wrong ones wrong."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.kernels import Cauchy, CustomKernel
from gnomon.objectives import CrossEntropy, KLDivergence, PairObjective, gradient_error
from gnomon.objectives.terms import AllPairs, EdgePairs


@pytest.fixture(scope="module")
def Y():  # noqa: N802
    return np.stack(np.meshgrid(np.arange(4.0), np.arange(3.0)), -1).reshape(-1, 2)


def test_a_right_kernel_passes_and_a_wrong_derivative_does_not(random_affinities, Y):
    affinities = random_affinities(12, 4)

    def value(s):
        return 1.0 / (1.0 + s) ** 2

    right = CustomKernel(value, lambda s: -2.0 / (1.0 + s) ** 3, bounded=True)
    wrong = CustomKernel(value, right.derivative, bounded=True)
    object.__setattr__(wrong, "derivative_function", lambda s: -1.9 / (1.0 + s) ** 3)  # which it would refuse
    assert gradient_error(KLDivergence(affinities, right), Y) < 1e-8
    assert gradient_error(KLDivergence(affinities, wrong), Y) > 1e-3


def test_an_objective_of_ones_own_needs_no_more_than_loss_and_gradient(Y):
    class Bowl:
        def loss(self, Y):
            return float(np.square(Y).sum())

        def gradient(self, Y):
            return 2.0 * Y

    assert gradient_error(Bowl(), Y) < 1e-8
    Bowl.gradient = lambda self, Y: 2.0 * Y + 0.1
    assert gradient_error(Bowl(), Y) > 1e-3


def test_parameters_are_checked(Y, random_affinities):
    with pytest.raises(ValueError, match="gradient_error: step=0 must be"):
        gradient_error(KLDivergence(random_affinities(12, 4)), Y, step=0)


class Quartic:
    """The sum of fourth powers, with whatever gradient is given."""

    def __init__(self, slope):
        self.slope = slope

    def loss(self, Y):
        return float((Y**4).sum())

    def gradient(self, Y):
        return self.slope(4.0 * Y**3)


def _change(row, value):
    def of(gradient):
        gradient[row] = value
        return gradient

    return of


@pytest.mark.parametrize("n", [30, 3000])
@pytest.mark.parametrize(
    ("slope", "expected"),
    [
        (lambda g: -g, 2.0),
        (lambda g: 0.5 * g, 0.5),
        (lambda g: 1.25 * g, 0.2),
        (lambda g: 0.0 * g, 1.0),
        (_change(3, np.nan), np.inf),
        (_change(3, np.inf), np.inf),
        (_change(slice(None), np.nan), np.inf),
    ],
    ids=["sign", "half", "more", "none", "one row NaN", "one row infinite", "NaN"],
)
def test_what_is_wrong_by_how_much_does_not_depend_on_the_number_of_points(slope, expected, n):
    for seed in range(3):
        Y = np.random.default_rng(seed).normal(size=(n, 2))
        assert gradient_error(Quartic(lambda g: g), Y, seed=seed) < 1e-8
        assert gradient_error(Quartic(slope), Y, seed=seed) == pytest.approx(expected, rel=1e-3)


def test_one_wrong_row_is_seen():
    Y = np.random.default_rng(0).normal(size=(100, 2))
    Y[7] = 2.0
    assert gradient_error(Quartic(_change(7, 0.0)), Y) > 0.1


def _sum(kind, n=60):
    rng = np.random.default_rng(0)
    A = rng.random((n, n))
    return kind([EdgePairs(sp.csr_array(A + A.T), Cauchy(), "log")], [AllPairs(n, Cauchy(), "value")])


def test_a_gradient_or_a_loss_that_is_overridden_is_compared_itself():
    class Turned(PairObjective):
        def gradient(self, Y):
            return -super().gradient(Y)

    class More(PairObjective):
        def loss(self, Y):
            return super().loss(Y) + float(np.square(Y).sum()) * self.constant

    class Both(More):
        def gradient(self, Y):
            return super().gradient(Y) + 2.0 * Y * self.constant

    Y = np.random.default_rng(1).normal(size=(60, 2))
    assert gradient_error(_sum(PairObjective), Y) < 1e-8
    assert gradient_error(_sum(Turned), Y) == pytest.approx(2.0, rel=1e-2)
    for kind, wrong in ((More, True), (Both, False)):
        objective = _sum(kind)
        objective.constant = 300.0
        assert (gradient_error(objective, Y) > 0.1) == wrong
        assert wrong or gradient_error(objective, Y) < 1e-2


@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_float32_alone_tells_right_from_wrong(random_affinities, random_embedding, scale):
    class Bare:
        def __init__(self, objective, factor):
            self.loss = objective.loss
            self.gradient = lambda Y: factor * objective.gradient(Y)

    affinities, Y = random_affinities(300), random_embedding(300, scale=scale)
    for objective in (KLDivergence(affinities), CrossEntropy(affinities, Cauchy(), evaluation="exact")):
        assert gradient_error(Bare(objective, 1.0), Y) < 1e-2
        assert gradient_error(Bare(objective, 1.1), Y) > 5e-2


def test_a_gradient_of_another_shape_is_named():
    with pytest.raises(
        ValueError, match=r"gradient\(Y\) of Quartic must be of the shape \(12, 2\) of Y \(found \(5, 2\)"
    ):
        gradient_error(Quartic(lambda g: g[:5]), np.ones((12, 2)))


def test_where_loss_and_gradient_are_zero_they_agree():
    assert gradient_error(Quartic(lambda g: g), np.zeros((4, 2))) < 1e-8
