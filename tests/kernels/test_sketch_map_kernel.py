"""Sketch-map's sigmoid: a table of its values, its inverse and its ends."""

import numpy as np
import pytest

from gnomon import _core
from gnomon.kernels import SketchMapKernel

R = np.array([0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 4.0, 8.0])
# (sigma, a, b): s(R), computed independently
TABLE = {
    (1, 1, 1): [0.0, 0.2, 0.3333333333, 0.5, 0.6, 0.6666666667, 0.8, 0.8888888889],
    (1, 2, 2): [0.0, 0.05882352941, 0.2, 0.5, 0.6923076923, 0.8, 0.9411764706, 0.9846153846],
    (2, 2, 6): [0.0, 0.01208550171, 0.04719363358, 0.1721048792, 0.3359321837, 0.5, 0.882154988, 0.9927160008],
    (1.5, 4, 2): [0.0, 0.001155401888, 0.01801949394, 0.2075941843, 0.5, 0.6911207996, 0.9190763963, 0.9797067095],
    (7, 12, 6): [
        0.0,
        6.459440214e-18,
        2.645786712e-14,
        1.083714237e-10,
        1.406079506e-08,
        4.43889056e-07,
        0.001813227145,
        0.7491713281,
    ],
}
KERNELS = [SketchMapKernel(*parameters) for parameters in TABLE]
EXTREME = [SketchMapKernel(1e-3, 0.5, 0.3), SketchMapKernel(50.0, 30.0, 1.0)]


@pytest.mark.parametrize("parameters", TABLE, ids=str)
def test_values_equal_the_table(parameters):
    kernel = SketchMapKernel(*parameters)
    np.testing.assert_allclose(kernel.of_distances(R), TABLE[parameters], rtol=1e-9)
    np.testing.assert_allclose(kernel.value(R**2), TABLE[parameters], rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_one_half_at_sigma_and_power_laws_at_both_ends(kernel):
    c = 2.0 ** (kernel.a / kernel.b) - 1.0
    assert kernel.of_distances(kernel.sigma) == pytest.approx(0.5, rel=1e-12)
    near, far = 1e-4 * kernel.sigma, 1e3 * kernel.sigma
    assert kernel.of_distances(near) == pytest.approx(kernel.b / kernel.a * c * 1e-4**kernel.a, rel=1e-3)
    rest = 1.0 - kernel.of_distances(far)
    if rest > 1e-12:
        assert rest == pytest.approx(c ** (-kernel.b / kernel.a) * 1e3**-kernel.b, rel=2e-3)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_inverse_undoes_the_value(kernel):
    r = kernel.sigma * np.geomspace(0.05, 5.0, 30)
    np.testing.assert_allclose(kernel.inverse(kernel.of_distances(r)), r, rtol=1e-6)
    np.testing.assert_array_equal(kernel.inverse([0.0, 1.0]), [0.0, np.inf])


@pytest.mark.parametrize("kernel", KERNELS + EXTREME, ids=str)
def test_the_compiled_kernel_equals_it_from_touching_to_far(kernel):
    compiled = _core.OutputKernel(kernel.name, *kernel.parameters)
    nothing = np.empty(0, dtype=np.float32)
    for r in (0.0, 1e-9, 1e-6, 1e-3, 0.3, 1.0, 30.0, 1e6):
        Y = np.array([[0.0], [r]], dtype=np.float32)
        force, energy = _core.pair_sums("value", Y, nothing, nothing, compiled, 1)
        s = np.float64(Y[1, 0]) ** 2
        assert np.isfinite(force).all()
        assert energy == pytest.approx(2.0 * float(kernel.value(s)), rel=2e-4, abs=1e-6)
        if r > 0.0:
            expected = float(kernel.derivative(s)) * np.float64(Y[1, 0])
            assert force[1, 0] == pytest.approx(expected, rel=2e-4, abs=1e-20)


def test_parameters_must_be_positive():
    for name in ("sigma", "a", "b"):
        with pytest.raises(ValueError, match=rf"SketchMapKernel: {name}=0\.0 must be a number > 0"):
            SketchMapKernel(**{name: 0.0})
