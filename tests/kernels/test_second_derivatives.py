"""Second derivatives of kernels and laws are those of the first."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.kernels import EXAMPLES, LAWS, CurvedKernel, curvature_of_law, evaluate_law

_CURVED = [kernel for kernel in EXAMPLES.values() if isinstance(kernel, CurvedKernel)]
_SQUARED = np.array([0.002, 0.05, 0.7, 1.0, 4.0, 90.0])


def _difference(function, s):
    step = 1e-5 * s
    return (function(s + step) - function(s - step)) / (2.0 * step)


def test_all_kernels_but_two_have_a_second_derivative():
    assert {kernel.name for kernel in EXAMPLES.values()} - {kernel.name for kernel in _CURVED} <= {
        "sketch_map",
        "custom",
    }


@pytest.mark.parametrize("kernel", _CURVED, ids=lambda kernel: kernel.name)
def test_the_second_derivative_is_the_slope_of_the_first(kernel):
    expected = _difference(kernel.derivative, _SQUARED)
    np.testing.assert_allclose(kernel.second_derivative(_SQUARED), expected, rtol=1e-7, atol=1e-12)
    assert np.isfinite(kernel.second_derivative(0.0))


@pytest.mark.parametrize("kernel", _CURVED, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("law", LAWS)
def test_the_curvature_of_a_law_is_the_slope_of_its_slope(law, kernel):
    if law.startswith("log") and not kernel.bounded:
        pytest.skip("no similarity")
    s = _SQUARED[:5] if kernel.name == "gaussian" else _SQUARED
    expected = _difference(lambda at: evaluate_law(law, kernel, at)[1], s)
    np.testing.assert_allclose(curvature_of_law(law, kernel, s), expected, rtol=1e-6, atol=1e-8)


def test_the_straight_piece_of_a_law_has_no_curvature():
    kernel = next(kernel for kernel in _CURVED if kernel.name == "cauchy")
    np.testing.assert_array_equal(curvature_of_law("log_deficit", kernel, [0.0, 5e-4]), 0.0)
