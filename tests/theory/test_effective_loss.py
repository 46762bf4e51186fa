"""What UMAP descends: its mean force, the loss behind it where there is one, and the losses along a run."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon import UMAP
from gnomon.affinities import Affinities
from gnomon.kernels import UMAPKernel
from gnomon.objectives import CrossEntropy
from gnomon.theory import effective_loss, expected_umap_gradient

KERNEL = UMAPKernel.from_min_dist(0.1)


def test_the_mean_force_is_the_independent_one(eight_points, reference):
    """The independent one adds 0.001 to s in the repulsion's denominator, as the authors' program does."""
    memberships, Y, kernel = eight_points
    m, n = reference["umap"]["m"], len(Y)
    found = expected_umap_gradient(memberships, Y, kernel, negative_sample_rate=m)
    away = Y[:, None] - Y[None]
    s = np.square(away).sum(-1) + np.eye(n)
    added = 2 * kernel.b * kernel.value(s) * (1 / s - 1 / (s + 1e-3))
    degrees = memberships.matrix.toarray().sum(axis=1)
    expected = np.array(reference["umap"]["expected_sgd_gradient_unscaled"])
    difference = m * degrees[:, None] / n * np.einsum("ij,ijc->ic", added, away)
    np.testing.assert_allclose(found, expected - difference, rtol=1e-4, atol=1e-4)


def _mean_force(memberships, Y, kernel, m):
    """The formula, pair by pair."""
    mu, n = memberships.matrix.toarray().astype(float), len(Y)
    away = Y[:, None] - Y[None]
    s = np.square(away).sum(-1) + np.eye(n)
    k, slope = kernel.value(s), kernel.derivative(s)
    held = np.maximum(s, 1e-3)
    push = kernel.derivative(held) / (1 - kernel.value(held))
    off = ~np.eye(n, dtype=bool)
    pull = np.einsum("ij,ijc->ic", mu * off * (-2 * slope / k), away)
    repel = np.einsum("ij,ijc->ic", off * 2 * push, away)
    return 2 * pull + m * mu.sum(1)[:, None] / n * repel


@pytest.mark.parametrize("n_components", [1, 2, 4])
def test_the_mean_force_is_its_formula_in_any_dimension(ring, n_components):
    rng = np.random.default_rng(1)
    Y = rng.normal(size=(60, n_components)) * 3
    weights = sp.csr_array(ring[0].matrix.multiply(1.0))
    weights.data *= np.float32(0.7)
    memberships = Affinities(
        sp.csr_array(weights.maximum(sp.eye_array(60, k=7) + sp.eye_array(60, k=-7)) / 2), "membership"
    )
    found = expected_umap_gradient(memberships, Y, KERNEL, negative_sample_rate=3.0)
    expected = _mean_force(memberships, Y, KERNEL, 3.0)
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(expected).max())


def test_with_equal_degrees_the_mean_force_is_the_gradient_of_the_sampled_loss(ring):
    memberships, Y = ring
    expected = CrossEntropy(memberships, KERNEL, evaluation="exact").reference(Y)[1]
    np.testing.assert_allclose(expected_umap_gradient(memberships, Y, KERNEL), expected, atol=1e-3)


def test_with_unequal_degrees_it_is_the_gradient_of_nothing(eight_points):
    """Its cross derivatives differ, by the ratio of the degrees for points without an edge."""
    memberships, Y, kernel = eight_points
    i, j, step = 0, 1, 1e-2
    assert memberships.matrix[i, j] == 0

    def derivative(of, by):
        moved = np.zeros_like(Y)
        moved[by, 0] = step
        up, down = (_mean_force(memberships, Y + sign * moved, kernel, 5.0)[of, 0] for sign in (1, -1))
        return (up - down) / (2 * step)

    degrees = np.asarray(memberships.matrix.sum(axis=1)).ravel()
    assert derivative(i, j) / derivative(j, i) == pytest.approx(degrees[i] / degrees[j], rel=1e-3)


def test_parameters_scale_the_repulsion_alone(ring):
    memberships, Y = ring
    none, once, twice = (
        expected_umap_gradient(memberships, Y, KERNEL, negative_sample_rate=m, repulsion_strength=g)
        for m, g in ((0.0, 1.0), (5.0, 1.0), (2.5, 4.0))
    )
    np.testing.assert_allclose(twice - none, 2 * (once - none), atol=1e-3)


def test_the_losses_are_the_independent_ones(eight_points, reference):
    memberships, Y, kernel = eight_points
    given = reference["umap"]
    found = effective_loss(memberships, [Y], kernel, negative_sample_rate=given["m"])
    assert found.effective[0] == pytest.approx(given["effective_loss"], rel=1e-4)
    assert found.stated[0] == pytest.approx(given["ce_ordered_pairs"], rel=1e-4)
    mu = np.array(given["mu"])
    np.testing.assert_allclose(found.attraction, mu.sum(axis=1), rtol=1e-6)
    n, weight = len(mu), given["m"] * mu.sum(axis=1).mean() / 2 / len(mu)
    assert found.repulsion_ratio == pytest.approx((1 - mu.sum() / (n * (n - 1))) / weight, rel=1e-5)


def test_a_run_lowers_the_sampled_loss_and_not_the_stated_one(digits):
    states = []
    model = UMAP(random_state=0, init="spectral", callback=lambda progress: _keep(progress, states))
    model.fit(digits[0][:500])
    found = effective_loss(model.affinities_, [states[0], model.embedding_], model.kernel_)
    assert found.sampled[-1] < 0.8 * found.sampled[0]
    assert found.repulsion_ratio > 3
    text = found.summary()
    assert "sampled" in text
    assert "(fell)" in text
    assert f"{found.repulsion_ratio:.4g} times" in text


def _keep(progress, states):
    if progress.embedding is not None:
        states.append(progress.embedding.copy())
    return False


def test_a_run_without_repulsion_has_no_ratio(ring):
    memberships, Y = ring
    assert effective_loss(memberships, [Y], KERNEL, repulsion_strength=0.0).repulsion_ratio == np.inf


def test_no_map_and_wrong_numbers_are_refused(ring):
    memberships, Y = ring
    with pytest.raises(ValueError, match="effective_loss: embeddings must be at least one map"):
        effective_loss(memberships, [], KERNEL)
    with pytest.raises(ValueError, match="negative_sample_rate=-1"):
        expected_umap_gradient(memberships, Y, KERNEL, negative_sample_rate=-1)
    with pytest.raises(ValueError, match="60"):
        expected_umap_gradient(memberships, Y[:50], KERNEL)
