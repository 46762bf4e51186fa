"""A derivative that is given with a value is believed if differences of the value give it, and else refused."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.kernels import KERNELS, CustomKernel, CustomLaw
from gnomon.kernels.registry import EXAMPLES


def _cauchy(s):
    return 1.0 / (1.0 + s)


def _slope(s):
    return -1.0 / (1.0 + s) ** 2


def _curvature(s):
    return 2.0 / (1.0 + s) ** 3


KNOTS = np.geomspace(1e-5, 1e5, 300)
HEIGHTS = _cauchy(KNOTS)
STEPS = np.diff(HEIGHTS) / np.diff(KNOTS)
ORDINARY = {
    "a power": (lambda s: s**-0.1, lambda s: -0.1 * s**-1.1),
    "a hinge": (lambda s: np.maximum(0.0, 1.0 - s), lambda s: np.where(s < 1.0, -1.0, 0.0)),
    "two kinks": (lambda s: np.clip(s, 0.3, 7.0), lambda s: np.where((s > 0.3) & (s < 7.0), 1.0, 0.0)),
    "a table": (
        lambda s: np.interp(s, KNOTS, HEIGHTS),
        lambda s: STEPS[np.clip(np.searchsorted(KNOTS, s) - 1, 0, len(STEPS) - 1)],
    ),
    "single precision": (lambda s: _cauchy(s.astype(np.float32)), lambda s: _slope(s.astype(np.float32))),
    "single precision within": (
        lambda s: (1 - np.exp(-s.astype(np.float32))).astype(np.float64),
        lambda s: np.exp(-s.astype(np.float32)).astype(np.float64),
    ),
    "values kept off zero": (lambda s: np.maximum((1 + s) ** -4, 1e-8), lambda s: -4 * (1 + s) ** -5),
    "waves shorter than the steps": (np.sin, np.cos),
    "infinite beyond one": (lambda s: np.where(s < 1, s, np.inf), lambda s: np.where(s < 1, 1, np.nan)),
    "overflow": (np.exp, np.exp),
    "a step of no slope": (lambda s: np.where(s < 2.0, 1.0, 0.5), np.zeros_like),
    "whole numbers": (np.ones_like, lambda s: np.zeros(s.shape, dtype=int)),
    **{
        f"width {width:g}": (
            lambda s, width=width: np.exp(-s / width),
            lambda s, width=width: -np.exp(-s / width) / width,
        )
        for width in (1e-6, 1e-3, 1.0, 1e3, 1e6)
    },
}
WRONG = {
    "sign": (lambda s: -_slope(s), None, "-0.2517; wrong at 81 of 81 places.*Change its sign"),
    "by the distance": (lambda s: 2 * np.sqrt(s) * _slope(s), None, r"Divide the derivative by .* by 2 sqrt\(s\)"),
    "twice": (lambda s: 2 * _slope(s), None, "Correct one of the two functions"),
    "3 % off": (lambda s: 1.03 * _slope(s), None, "wrong at 8. of 81 places"),
    "far away alone": (lambda s: np.where(s > 9.0, 0.0, _slope(s)), None, "wrong at "),
    "none": (np.zeros_like, None, "wrong at "),
    "second": (_slope, lambda s: 0.5 * _curvature(s), "0.2526"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_the_kernels_of_the_library_pass_as_ones_own(name):
    kernel = EXAMPLES[name]
    second = getattr(kernel, "second_derivative", None)
    CustomKernel(kernel.value, kernel.derivative, second_derivative=second, bounded=kernel.bounded)


@pytest.mark.parametrize("name", ORDINARY)
def test_kinks_rounding_and_what_is_not_finite_are_let_pass(name):
    CustomKernel(*ORDINARY[name])


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_derivative_is_refused_with_what_differences_give(name):
    slope, second, told = WRONG[name]
    which, of = ("derivative", "value") if second is None else ("second_derivative", "derivative")
    what = rf"CustomKernel: {which} must be that of {of} by the squared distance s = d\^2 \(at s=.*differences of {of} "
    with pytest.raises(ValueError, match=rf"{what}.*{told}"):
        CustomKernel(_cauchy, slope, second_derivative=second, bounded=True)


def test_a_wrong_derivative_of_a_law_is_refused():
    CustomLaw(lambda k: -np.log(1 - k), lambda k: 1 / (1 - k), lambda k: (1 - k) ** -2)
    told = r"CustomLaw: derivative must be that of value by the similarity k \(at k=0.951 it is 0.951 and"
    with pytest.raises(ValueError, match=told):
        CustomLaw(np.square, lambda k: k)
    with pytest.raises(ValueError, match=r"CustomLaw: second_derivative must be that of derivative"):
        CustomLaw(np.square, lambda k: 2 * k, lambda k: 2 * k)
    with pytest.raises(TypeError, match=r"CustomLaw: derivative=2 must be a function of similarities"):
        CustomLaw(np.square, 2)
