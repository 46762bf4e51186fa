"""The cross-entropy of differences over local radii."""

import numpy as np
import pytest

from gnomon import _core
from gnomon.kernels import UMAPKernel
from gnomon.objectives import CrossEntropy, ScaledCrossEntropy
from gnomon.objectives.terms import Draws
from gnomon.optimizers import SampledDescent

KERNEL = UMAPKernel(1.577, 0.8951)
N = 48


@pytest.fixture(scope="module")
def affinities(random_affinities):
    return random_affinities(N, 10, normalization="membership")


@pytest.fixture(scope="module")
def radii():
    return np.exp(0.7 * np.random.default_rng(3).normal(size=N))


@pytest.fixture(scope="module")
def points():
    return (4.0 * np.random.default_rng(4).normal(size=(N, 2))).astype(np.float32)


@pytest.mark.parametrize("d", [2, 3])
def test_radii_of_one_are_the_cross_entropy(d, affinities, random_embedding):
    Y = random_embedding(N, d)
    plain, scaled = CrossEntropy(affinities, KERNEL), ScaledCrossEntropy(affinities, KERNEL, np.ones(N))
    for one, other in zip(plain.forces(Y), scaled.forces(Y), strict=True):
        np.testing.assert_array_equal(one, other)
    for isotropic in (False, True):
        maps = [SampledDescent(20, isotropic=isotropic).minimize(loss, Y).embedding for loss in (plain, scaled)]
        np.testing.assert_array_equal(*maps)
    np.testing.assert_allclose(scaled.loss(Y), plain.reference(Y)[0], rtol=1e-12)


def test_the_loss_is_the_formula(affinities, radii, points):
    mu, Y = affinities.matrix.toarray().astype(float), points.astype(float)
    s = np.square(Y[:, None] - Y).sum(-1) / np.outer(radii, radii)
    k = KERNEL.value(s)
    degrees, off = mu.sum(1), ~np.eye(N, dtype=bool)
    repulsion = 3.0 * 2.0 * (degrees[:, None] + degrees) / N / 4.0
    expected = (-mu * np.log(k))[off].sum() - (repulsion[off] * np.log(1.0 - k[off])).sum()
    given = {"negative_sample_rate": 3, "repulsion_strength": 2.0, "evaluation": "exact"}
    objective = ScaledCrossEntropy(affinities, KERNEL, radii, **given)
    np.testing.assert_allclose(objective.loss(points), expected, rtol=1e-5)


def test_the_gradient_is_that_of_the_loss(affinities, radii, points):
    objective, h = ScaledCrossEntropy(affinities, KERNEL, radii, evaluation="exact"), 1e-5
    Y = points.astype(float)
    _, slope = objective.reference(Y)
    np.testing.assert_allclose(objective.gradient(points), slope, atol=1e-4)
    for i, c in ((0, 0), (7, 1), (30, 0)):
        step = np.zeros_like(Y)
        step[i, c] = h
        numeric = (objective.reference(Y + step)[0] - objective.reference(Y - step)[0]) / (2 * h)
        np.testing.assert_allclose(slope[i, c], numeric, rtol=1e-6, atol=1e-7)


def test_samples_have_the_gradient_as_their_mean(affinities, radii, points, relative_error):
    """Attraction at once; repulsion that of d_i in place of (d_i + d_j) / 2, as `CrossEntropy` says."""
    objective, epochs = ScaledCrossEntropy(affinities, KERNEL, radii), 400
    objective.sampling = _core.SamplingParameters(0, objective.sampling.edge_scale, 5.0, 32, 1e30)  # nothing is cut
    mean = np.zeros_like(points, dtype=float)
    for epoch in range(epochs):
        objective.at(epoch, epochs)
        attraction, repulsion = objective.forces(points)
        mean += repulsion / epochs
    assert relative_error(attraction, objective.attractions[0].force(points)) < 1e-5
    Y, zoom, degrees = points.astype(float), objective.zoom.astype(float), affinities.matrix.sum(axis=1)
    squares = np.outer(zoom, zoom) ** 2
    away = Y[:, None] - Y
    s = squares * np.square(away).sum(-1) + np.eye(N)
    push = -KERNEL.derivative(s) / (1.0 - KERNEL.value(s)) * squares
    expected = np.einsum("ij,ijc->ic", 2.0 * 5.0 / N * degrees[:, None] * push, away)
    assert relative_error(mean, expected) < 0.06
    drawn = np.mean([objective.sampled_force(points, Draws(N, 32, 0, t)) for t in range(epochs)], axis=0)
    assert relative_error(drawn, -objective.reference(points)[1]) < 0.06


def test_a_larger_unit_is_a_larger_map(affinities, radii, points):
    one, four = (ScaledCrossEntropy(affinities, KERNEL, c * radii) for c in (1.0, 4.0))
    np.testing.assert_allclose(four.loss(4 * points), one.loss(points), rtol=1e-6)
    for small, large in zip(one.forces(points), four.forces(4 * points), strict=True):
        np.testing.assert_allclose(4 * large, small, rtol=1e-4, atol=1e-5)
    maps = [SampledDescent(15).minimize(loss, c * points).embedding for loss, c in ((one, 1.0), (four, 4.0))]
    np.testing.assert_allclose(maps[1], 4 * maps[0], rtol=1e-3, atol=1e-3)


def test_what_is_no_radius_is_refused(affinities, radii, points):
    for bad in (radii[:-1], np.zeros(N), np.where(np.arange(N), radii, np.nan)):
        with pytest.raises(ValueError, match=r"radii must be a positive number for each of the 48 points"):
            ScaledCrossEntropy(affinities, KERNEL, bad)
    with pytest.raises(ValueError, match=r"evaluation='tree' must be 'sampled' or 'exact' with radii"):
        ScaledCrossEntropy(affinities, KERNEL, radii, evaluation="tree")
    with pytest.raises(TypeError, match="must be one whose second derivatives are known"):
        ScaledCrossEntropy(affinities, KERNEL, radii).expand(points)
