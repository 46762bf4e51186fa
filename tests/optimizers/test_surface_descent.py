"""Descents on surfaces: the loss falls, points stay on the surface, and results repeat to the byte."""

import numpy as np
import pytest
from tests.threads import on_threads

from gnomon.kernels import UMAPKernel
from gnomon.objectives import CrossEntropy, KLDivergence, OnSurface
from gnomon.optimizers import SampledSurfaceDescent, SurfaceDescent
from gnomon.surfaces import Hyperboloid, Sphere

KERNEL = UMAPKernel(1.5769, 0.8951)
BOTH = pytest.mark.parametrize("surface", [Sphere(2.0), Hyperboloid(1.5)], ids=lambda one: one.name)


def _objective(clusters, surface):
    return OnSurface(CrossEntropy(clusters["membership"], KERNEL, seed=3), surface)


def _start(surface, n, seed=0):
    return surface.start(np.random.default_rng(seed).normal(size=(n, surface.width)))


def _on_it(surface, points):
    return np.abs(surface.points(surface.coordinates(points)) - points).max() < 1e-9


@BOTH
def test_the_exact_loss_falls_in_every_iteration(clusters, surface):
    objective = _objective(clusters, surface)
    start = _start(surface, objective.n_samples)
    solution = SurfaceDescent(max_iter=30, block=1).minimize(objective, start)
    losses = [objective.loss(start)] + [loss for _, loss in solution.loss]
    assert len(losses) == 31
    assert (np.diff(losses) < 0).all()
    assert _on_it(surface, solution.embedding)


@BOTH
def test_sampled_epochs_lower_the_exact_loss_nearly_as_far(clusters, surface):
    objective = _objective(clusters, surface)
    start = _start(surface, objective.n_samples)
    sampled = SampledSurfaceDescent(500).minimize(objective, start)
    assert _on_it(surface, sampled.embedding)
    polished = SurfaceDescent(max_iter=60).minimize(objective, sampled.embedding)
    first, found, best = (objective.loss(one) for one in (start, sampled.embedding, polished.embedding))
    assert found < 0.5 * first
    assert found - best < 0.1 * (first - best)


@BOTH
def test_threads_and_seams_do_not_change_a_bit(clusters, surface):
    objective = _objective(clusters, surface)
    start = _start(surface, objective.n_samples)
    descent = SampledSurfaceDescent(40)
    one, two = (on_threads(threads, descent.minimize)(objective, start) for threads in (1, 2))
    assert one.embedding.tobytes() == two.embedding.tobytes()
    half = descent.minimize(objective, start, stop_after=17)
    whole = descent.minimize(objective, start, state=half.state)
    assert whole.embedding.tobytes() == one.embedding.tobytes()


def test_the_result_turns_with_the_start_of_a_sphere(clusters):
    surface = Sphere(2.0)
    objective = _objective(clusters, surface)
    start = _start(surface, objective.n_samples)
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    plain, turned = (SampledSurfaceDescent(3).minimize(objective, one).embedding for one in (start, start @ rotation))
    np.testing.assert_allclose(turned, plain @ rotation, atol=1e-4)


@BOTH
@pytest.mark.parametrize("kind", ["coincident", "opposite", "rim"])
def test_no_start_gives_nan(clusters, surface, kind):
    objective = _objective(clusters, surface)
    n = objective.n_samples
    point = _start(surface, 5)[:1]
    start = np.repeat(point, n, axis=0)
    if kind == "opposite":
        start[::2] *= -1.0
    if kind == "rim":
        start = surface.go(start, 40.0 * surface.tangent(start, np.random.default_rng(0).normal(size=start.shape)))
    for descent in (SampledSurfaceDescent(30), SurfaceDescent(max_iter=3)):
        solution = descent.minimize(objective, start)
        assert np.isfinite(solution.embedding).all()
        assert _on_it(surface, solution.embedding)


def test_a_gradient_of_zero_ends_the_descent(clusters):
    surface = Sphere()
    objective = _objective(clusters, surface)
    solution = SurfaceDescent().minimize(objective, np.tile([0.0, 0.0, 1.0], (objective.n_samples, 1)))
    assert solution.converged
    assert solution.n_iter == 0


def test_other_losses_are_not_sampled(clusters):
    objective = OnSurface(KLDivergence(clusters["total"], UMAPKernel(1.0, 1.0)), Sphere())
    with pytest.raises(ValueError, match=r"must be of CrossEntropy to be sampled on a surface\. Use SurfaceDescent"):
        SampledSurfaceDescent().minimize(objective, _start(Sphere(), objective.n_samples))
