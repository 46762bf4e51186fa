"""Output kernels: values, slopes, and the fit of UMAP's kernel."""

import numpy as np
import pytest

from gnomon.kernels import (
    EXAMPLES,
    KERNELS,
    Cauchy,
    CustomKernel,
    Distance,
    Gaussian,
    InversePower,
    Linear,
    NoiseContrast,
    StudentT,
    UMAPKernel,
    similarities,
)

VARIETY = [*EXAMPLES.values(), UMAPKernel(0.58, 1.334), StudentT(0.3), StudentT(40.0), InversePower(2.0), Gaussian(0.2)]

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


@pytest.mark.parametrize("kernel", VARIETY, ids=lambda value: str(value).partition("(")[0])
def test_derivative_is_the_finite_difference_of_the_value(kernel):
    s = np.geomspace(1e-3, 1e3, 50)
    step = 1e-6 * s
    difference = (kernel.value(s + step) - kernel.value(s - step)) / (2 * step)
    np.testing.assert_allclose(kernel.derivative(s), difference, rtol=1e-6, atol=1e-8 * np.abs(difference).max())


@pytest.mark.parametrize("kernel", VARIETY, ids=lambda value: str(value).partition("(")[0])
def test_values_and_slopes_are_finite_everywhere(kernel):
    s = np.array([[0.0, 1e-30], [1e-12, 1e6]])
    for result in (kernel.value(s), kernel.derivative(s)):
        assert result.shape == s.shape
        assert result.dtype == np.float64
        assert np.isfinite(result).all()


@pytest.mark.parametrize("kernel", [k for k in VARIETY if k.bounded], ids=lambda value: str(value).partition("(")[0])
def test_similarities_fall_towards_zero(kernel):
    values = kernel.value(np.linspace(0, 10, 100))
    assert np.all(np.diff(values) < 0)
    assert values[0] <= 1
    assert values[-1] > 0
    assert kernel.value(1e8) < 1e-2


def test_every_kernel_is_registered_under_its_name():
    assert KERNELS.keys() == EXAMPLES.keys()
    for name, kernel in EXAMPLES.items():
        assert kernel.name == name
        assert type(kernel) is KERNELS[name]
        assert kernel.bounded or not kernel.smooth  # a mesh needs a kernel that decays
        assert len(kernel.parameters) == (3 if name == "sketch_map" else 2)


def test_kernels_are_what_their_formulas_say():
    s = np.geomspace(1e-4, 1e4, 30)
    np.testing.assert_allclose(StudentT(1.0).value(s), Cauchy().value(s), rtol=1e-12)
    np.testing.assert_allclose(StudentT(1e9).value(s[:20]), Gaussian(2.0).value(s[:20]), rtol=1e-5)
    q = Cauchy().value(s)
    np.testing.assert_allclose(NoiseContrast(0.3).value(s), q / (q + 0.3), rtol=1e-12)
    np.testing.assert_allclose(InversePower(0.5).value(s), 1 / Distance().value(s), rtol=1e-12)
    points = np.random.default_rng(0).normal(size=(5, 2))
    squared = np.square(points[:, None] - points[None]).sum(-1)
    centring = np.eye(5) - 0.2
    np.testing.assert_allclose(
        centring @ Linear().value(squared) @ centring, centring @ points @ points.T @ centring, atol=1e-12
    )


@pytest.mark.parametrize("make", [Gaussian, StudentT, InversePower, NoiseContrast])
def test_parameters_must_be_positive(make):
    with pytest.raises(ValueError, match=rf"{make.__name__}: \w+=0\.0 must be a number > 0"):
        make(0.0)


def test_custom_kernels_are_checked_where_they_are_used():
    s = np.array([0.0, 1.0])
    with pytest.raises(TypeError, match="CustomKernel: derivative=3 must be a function of squared distances"):
        CustomKernel(np.exp, 3)
    with pytest.raises(ValueError, match=r"derivative must be finite at every squared distance \(inf at s=0\)"):
        CustomKernel(np.sqrt, lambda s: np.where(s > 0, 0.5 / np.sqrt(np.maximum(s, 1e-300)), np.inf)).derivative(s)
    with pytest.raises(ValueError, match=r"value must be a function that keeps the shape \(shape \(\) for"):
        CustomKernel(np.sum, np.sum).value(s)
    with pytest.raises(ValueError, match=r"value must be in \(0, 1\] for bounded=True \(values from 1 to 2\)"):
        CustomKernel(lambda s: 2 / (1 + s), lambda s: -2 / (1 + s) ** 2, bounded=True).value(s)
    with pytest.raises(ValueError, match="value must be a function with real values"):
        CustomKernel(lambda s: s * 1j, np.ones_like).value(s)


def test_cauchy_is_umap_with_unit_parameters():
    s = np.geomspace(1e-6, 1e6, 40)
    np.testing.assert_allclose(Cauchy().value(s), UMAPKernel(1.0, 1.0).value(s), rtol=1e-14)
    assert Cauchy().parameters == UMAPKernel(1.0, 1.0).parameters


@pytest.mark.parametrize(("spread", "min_dist", "a", "b"), FITS)
def test_fit_equals_the_reference(spread, min_dist, a, b):
    kernel = UMAPKernel.from_min_dist(min_dist, spread)
    np.testing.assert_allclose(kernel.parameters, (a, b), rtol=1e-4)


@pytest.mark.parametrize("min_dist", [0.0, 0.1])
def test_the_usual_fits_that_are_kept_are_what_a_fit_finds(monkeypatch, min_dist):
    usual = UMAPKernel.from_min_dist(min_dist)
    monkeypatch.setattr(similarities, "_FITTED", {})
    np.testing.assert_allclose(UMAPKernel.from_min_dist(min_dist).parameters, usual.parameters, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 0.1, 7.0, 1e4])
def test_fit_in_another_unit_is_the_same_curve(scale):
    one, other = UMAPKernel.from_min_dist(0.5, 1.0), UMAPKernel.from_min_dist(0.5 * scale, scale)
    squared = np.linspace(0.0, 9.0, 20)
    np.testing.assert_allclose(other.value(squared * scale**2), one.value(squared), rtol=1e-9)


def test_fit_refuses_a_min_dist_above_the_spread():
    with pytest.raises(ValueError, match=r"UMAPKernel: min_dist=2\.0 must be at most spread=1\.0\. Raise spread"):
        UMAPKernel.from_min_dist(2.0)
    with pytest.raises(ValueError, match="a=-1"):
        UMAPKernel(-1, 1.0)
