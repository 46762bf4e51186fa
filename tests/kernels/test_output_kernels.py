"""Output kernels: values, slopes, and the fit of UMAP's kernel."""

import numpy as np
import pytest

from gnomon.kernels import Cauchy, UMAPKernel

KERNELS = [Cauchy(), UMAPKernel(1.5769, 0.8951), UMAPKernel(0.58, 1.334)]

# spread, min_dist, a, b: fitted by umap-learn 0.5
FITS = [
    (1.0, 0.0, 1.932808397, 0.7904949732),
    (1.0, 0.001, 1.929073396, 0.7915045334),
    (1.0, 0.1, 1.57694346, 0.8950608779),
    (1.0, 0.5, 0.5830300203, 1.334166992),
    (1.0, 0.99, 0.1193052999, 1.916390417),
    (0.5, 0.1, 5.069309329, 1.003005423),
    (2.0, 0.5, 0.2588787413, 1.057499699),
    (3.0, 1.0, 0.07307862412, 1.148889437),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_derivative_is_the_finite_difference_of_the_value(kernel):
    s = np.geomspace(1e-3, 1e3, 50)
    step = 1e-6 * s
    difference = (kernel.value(s + step) - kernel.value(s - step)) / (2 * step)
    np.testing.assert_allclose(kernel.derivative(s), difference, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_kernel_falls_from_one(kernel):
    assert kernel.value(0.0) == 1.0
    assert np.all(np.diff(kernel.value(np.linspace(0, 10, 100))) < 0)
    assert np.isfinite(kernel.derivative(0.0))


def test_cauchy_is_umap_with_unit_parameters():
    s = np.geomspace(1e-6, 1e6, 40)
    np.testing.assert_allclose(Cauchy().value(s), UMAPKernel(1.0, 1.0).value(s), rtol=1e-14)
    assert Cauchy().parameters == UMAPKernel(1.0, 1.0).parameters


@pytest.mark.parametrize(("spread", "min_dist", "a", "b"), FITS)
def test_fit_equals_the_reference(spread, min_dist, a, b):
    kernel = UMAPKernel.from_min_dist(min_dist, spread)
    np.testing.assert_allclose(kernel.parameters, (a, b), rtol=1e-4)


def test_fit_refuses_a_min_dist_above_the_spread():
    with pytest.raises(ValueError, match=r"UMAPKernel: min_dist=2\.0 must be at most spread=1\.0\. Raise spread"):
        UMAPKernel.from_min_dist(2.0)
    with pytest.raises(ValueError, match="a=-1"):
        UMAPKernel(-1, 1.0)
