"""Laws of output kernels: slopes against finite differences, and where they are defined."""

import numpy as np
import pytest

from gnomon.kernels import EXAMPLES, LAWS, Cauchy, CustomKernel, CustomLaw, Linear, NoiseContrast, evaluate_law
from gnomon.objectives import PairObjective, gradient_error
from gnomon.objectives.terms import AllPairs

CASES = [(law, kernel) for law in LAWS for kernel in EXAMPLES.values() if kernel.bounded or not law.startswith("log")]


@pytest.mark.parametrize(("law", "kernel"), CASES, ids=lambda value: str(value).partition("(")[0])
def test_slope_is_the_finite_difference_of_the_energy(law, kernel):
    s = np.concatenate((np.geomspace(1e-5, 9e-4, 10), np.geomspace(1.1e-3, 30.0, 20)))
    step = 1e-5 * s
    up, _ = evaluate_law(law, kernel, s + step)
    down, _ = evaluate_law(law, kernel, s - step)
    _, slope = evaluate_law(law, kernel, s)
    np.testing.assert_allclose(slope, (up - down) / (2 * step), rtol=1e-5, atol=1e-7 * np.abs(slope).max())


@pytest.mark.parametrize(("law", "kernel"), CASES, ids=lambda value: str(value).partition("(")[0])
def test_coincident_points_have_finite_energies(law, kernel):
    energy, slope = evaluate_law(law, kernel, np.zeros(3))
    assert np.isfinite(energy).all()
    assert np.isfinite(slope).all()


def test_laws_are_what_their_formulas_say():
    k = Cauchy().value(2.0)
    for law, expected in zip(LAWS, (k, -np.log(k), -np.log(1 - k), k**2), strict=True):
        assert evaluate_law(law, Cauchy(), 2.0)[0] == pytest.approx(float(expected), rel=1e-12)


def test_kernels_below_one_at_zero_have_no_floor():
    kernel = NoiseContrast(0.5)
    energy, slope = evaluate_law("log_deficit", kernel, 0.0)
    assert energy == pytest.approx(-np.log(1 - 1 / 1.5))
    assert slope == pytest.approx(kernel.derivative(0.0) / (1 - 1 / 1.5))


def test_logarithmic_laws_are_refused_for_what_is_no_similarity():
    with pytest.raises(ValueError, match=r"kernel=Linear\(\) must be a similarity in \(0, 1\] for law='log'"):
        evaluate_law("log", Linear(), 1.0)
    with pytest.raises(ValueError, match="must be a similarity"):
        evaluate_law("log_deficit", CustomKernel(np.exp, np.exp), 1.0)
    with pytest.raises(ValueError, match="law='cube' must be one of value, log, log_deficit, square"):
        evaluate_law("cube", Linear(), 1.0)


@pytest.mark.parametrize("name", ["square", "log"])
def test_a_law_of_ones_own_is_that_of_the_same_name(name):
    own = {
        "square": CustomLaw(np.square, lambda k: 2.0 * k),
        "log": CustomLaw(lambda k: -np.log(k), lambda k: -1.0 / k, needs_similarity=True),
    }[name]
    s = np.array([0.0, 0.3, 2.0, 50.0])
    np.testing.assert_allclose(evaluate_law(own, Cauchy(), s), evaluate_law(name, Cauchy(), s), rtol=1e-12)


def test_the_self_test_finds_a_wrong_derivative_of_a_law():
    Y = np.random.default_rng(0).normal(size=(12, 2)).astype(np.float32)
    law, other = (CustomLaw(np.square, lambda k: 2.0 * k) for _ in range(2))
    object.__setattr__(other, "derivative", lambda k: 2.1 * k)  # which it would refuse
    right, wrong = (gradient_error(PairObjective([], [AllPairs(12, Cauchy(), one)]), Y) for one in (law, other))
    assert right < 1e-3 < wrong


def test_a_law_that_needs_a_similarity_refuses_other_kernels():
    with pytest.raises(ValueError, match="a similarity between 0 and 1"):
        AllPairs(5, Linear(), CustomLaw(np.log, lambda k: 1.0 / k, needs_similarity=True))
