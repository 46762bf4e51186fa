"""Losses on surfaces: compiled sums are the plain ones, gradients are slopes along geodesics, flatness is the limit."""

import numpy as np
import pytest
from tests.threads import on_threads

from gnomon import _core
from gnomon.affinities import ConditionalAffinity, FuzzyAffinity, GaussianAffinity, Inputs
from gnomon.kernels import Cauchy, CustomKernel, UMAPKernel
from gnomon.neighbors import compute_neighbors
from gnomon.objectives import ConditionalDivergence, CrossEntropy, InfoNCE, KLDivergence, OnSurface, on_surface
from gnomon.surfaces import Hyperboloid, Sphere

KERNEL = UMAPKernel(1.5769, 0.8951)
SURFACES = [Sphere(2.5), Hyperboloid(1.5)]
BOTH = pytest.mark.parametrize("surface", SURFACES, ids=lambda one: one.name)
LOSSES = {
    "cross-entropy": lambda affinities: CrossEntropy(affinities["fuzzy"], KERNEL),
    "noise by degree": lambda affinities: CrossEntropy(affinities["fuzzy"], KERNEL, noise_exponent=0.75),
    "kl": lambda affinities: KLDivergence(affinities["gaussian"], Cauchy()),
}
ALL = pytest.mark.parametrize("loss", LOSSES)
N = 90


@pytest.fixture(scope="module")
def affinities():
    X = np.random.default_rng(0).normal(size=(N, 5)).astype(np.float32)
    inputs = Inputs(X, compute_neighbors(X, 12), 0)
    return {
        "fuzzy": FuzzyAffinity()(inputs),
        "gaussian": GaussianAffinity(perplexity=4.0)(inputs),
        "conditional": ConditionalAffinity(perplexity=4.0)(inputs),
    }


def _points(surface, n=N, seed=1):
    return surface.start(np.random.default_rng(seed).normal(size=(n, surface.width)))


@BOTH
@ALL
def test_compiled_sums_are_those_of_numpy(affinities, surface, loss):
    objective, points = OnSurface(LOSSES[loss](affinities), surface), _points(surface)
    value, gradient = objective.loss_and_gradient(points)
    exact, slopes = objective.reference(points)
    assert value == pytest.approx(exact, rel=1e-6)
    np.testing.assert_allclose(gradient, slopes, atol=2e-6 * np.abs(slopes).max())
    assert objective.loss(points) == value
    np.testing.assert_array_equal(objective.gradient(points), gradient)


@BOTH
@ALL
def test_gradients_are_slopes_along_geodesics(affinities, surface, loss):
    objective, points = OnSurface(LOSSES[loss](affinities), surface), _points(surface)
    rng, step = np.random.default_rng(2), 1e-5
    _, gradient = objective.reference(points)
    np.testing.assert_allclose(surface.tangent(points, gradient), gradient, atol=1e-9)
    for _ in range(3):
        along = surface.tangent(points, rng.normal(size=points.shape))
        ahead, behind = (objective.reference(surface.go(points, sign * step * along))[0] for sign in (1, -1))
        assert (ahead - behind) / (2 * step) == pytest.approx(float((gradient * along).sum()), rel=1e-5)


@pytest.mark.parametrize("cls", [Sphere, Hyperboloid])
def test_a_large_radius_is_flat(affinities, cls):
    flat, surface = CrossEntropy(affinities["fuzzy"], KERNEL), cls(1e4)
    plane = np.random.default_rng(3).normal(size=(N, 2))
    middle = surface.points(np.zeros((N, 2)))
    east = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]) if cls is Sphere else np.eye(2)
    value, gradient = OnSurface(flat, surface).reference(surface.go(middle, plane @ east))
    exact, slopes = flat.reference(plane)
    assert value == pytest.approx(exact, rel=1e-6)
    np.testing.assert_allclose(gradient @ east.T, slopes, atol=1e-3 * np.abs(slopes).max())


@BOTH
def test_all_pairs_of_the_compiled_sum_are_exact_near_far_and_opposite(surface):
    Z = _points(surface, 3)
    Y = np.concatenate([Z, _points(surface, 700, 4)])
    if surface.name == "sphere":
        Y = np.concatenate([Y, -Z, surface.go(-Z, surface.tangent(Z, np.full((3, 3), 1e-3)))])
    else:
        Y = np.concatenate([Y, surface.go(Z, np.full((3, 2), 1e-4)), surface.go(Z, np.full((3, 2), 15.0))])
    compiled = _core.Surface(surface.name, surface.radius)
    weights, kernel = np.linspace(0.5, 2.0, len(Y)).astype(np.float32), _core.OutputKernel("cauchy", 1.0, 1.0)
    energies, forces = _core.surface_pair_sums(compiled, "value", kernel, Z, Y, weights, False, 1)
    squared, away = surface.meet(Z[:, None], Y)
    value = 1.0 / (1.0 + squared)
    np.testing.assert_allclose(energies, value @ weights, rtol=1e-6)
    np.testing.assert_allclose(forces, -np.einsum("ij,ijc->ic", weights * value**2, away), atol=1e-5)


@BOTH
def test_threads_do_not_change_a_bit(affinities, surface):
    objective, points = OnSurface(CrossEntropy(affinities["fuzzy"], KERNEL), surface), _points(surface)
    one, two = (on_threads(threads, objective.loss_and_gradient)(points) for threads in (1, 2))
    assert one[0] == two[0]
    assert one[1].tobytes() == two[1].tobytes()


def test_losses_that_are_no_sums_over_pairs_are_refused(affinities):
    own = CustomKernel(lambda s: 1 / (1 + s), lambda s: -1 / (1 + s) ** 2, bounded=True)
    for flat in (
        InfoNCE(affinities["fuzzy"], Cauchy()),
        KLDivergence(affinities["gaussian"], own),
        ConditionalDivergence(affinities["conditional"], Cauchy()),
    ):
        with pytest.raises(ValueError, match=r"must be a sum over .* on a surface\. Use the loss"):
            on_surface(flat, Sphere())
