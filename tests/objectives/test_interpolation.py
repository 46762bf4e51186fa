"""Interpolated repulsion against all pairs: stated accuracy, refinement, small and large extents, history."""

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon as gn
from gnomon import _core
from gnomon.affinities import Affinities
from gnomon.kernels import Cauchy, Gaussian, NoiseContrast, StudentT, UMAPKernel
from gnomon.objectives import CrossEntropy, KLDivergence
from gnomon.objectives.pairs import compile_kernel
from gnomon.optimizers.loop import coarsened


def both(affinities, Y, kernel=None, **parameters):
    exact = KLDivergence(affinities, kernel, evaluation="exact")
    interpolated = KLDivergence(affinities, kernel, evaluation="interpolated", **parameters)
    return exact.forces(Y)[1], interpolated.forces(Y)[1]


KERNELS = [
    Cauchy(),
    UMAPKernel(1.0, 1.0),
    UMAPKernel(0.1193, 1.9164),
    UMAPKernel(9.0, 1.0),
    Gaussian(4.0),
    StudentT(0.5),
    StudentT(5.0),
    NoiseContrast(0.3),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("n_components", [1, 2])
def test_refinement_converges_to_exact(kernel, n_components, random_affinities, random_embedding, relative_error):
    affinities, Y = random_affinities(2000), random_embedding(2000, n_components, scale=4.0)
    errors = []
    for spacing in (0.5, 0.25, 0.125):
        expected, found = both(affinities, Y, kernel, spacing=spacing)
        errors.append(relative_error(found, expected))
    assert errors[0] < 0.06
    assert errors[1] < errors[0] / 4
    assert errors[2] < max(errors[1] / 4, 1e-4)


@pytest.mark.parametrize("kernel", [Cauchy(), Gaussian(4.0), NoiseContrast(0.3)], ids=str)
@pytest.mark.parametrize("n_components", [1, 2])
@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1e-2, 0.1, 0.3, 1.0])
def test_small_embeddings_lose_nothing_to_rounding(
    scale, n_components, kernel, random_affinities, random_embedding, relative_error
):
    # all similarities are nearly k(0) here: in single precision they hold no trace of the distances
    expected, found = both(random_affinities(1500), random_embedding(1500, n_components, scale=scale), kernel)
    assert relative_error(found, expected) < 8e-3


def test_a_coarsened_mesh_is_the_mesh_of_the_wider_spacing(random_affinities, random_embedding):
    affinities, Y = random_affinities(300), random_embedding(300)
    fine = KLDivergence(affinities, evaluation="interpolated", spacing=0.25)
    wide = KLDivergence(affinities, evaluation="interpolated", spacing=0.5)
    before = fine.gradient(Y)
    with coarsened(fine, 2.0):
        np.testing.assert_array_equal(fine.gradient(Y), wide.gradient(Y))
    np.testing.assert_array_equal(fine.gradient(Y), before)
    assert np.any(before != wide.gradient(Y))
    with coarsened(KLDivergence(affinities, evaluation="exact"), 2.0) as nothing:
        assert nothing is None


@pytest.mark.parametrize("n_components", [1, 2])
@pytest.mark.parametrize("kernel", [Cauchy(), StudentT(0.5), NoiseContrast(0.3)], ids=str)
def test_no_point_feels_its_own_charge(kernel, n_components):
    """Of one point among many others that are far away, wherever it lies between the nodes."""
    compiled, rng = compile_kernel(kernel), np.random.default_rng(0)
    far = np.full((2, n_components), 40.0) * [[1.0], [-1.0]]
    found, sums = [], []
    for _ in range(20):
        at = rng.uniform(-1, 1, (1, n_components))
        Y = np.concatenate([at, far, at + 20.0]).astype(np.float32)
        force, total = _core.ParticleMesh(compiled, 0.5).evaluate(Y, np.empty(0, np.float32), 1)
        exact, expected = _core.pair_sums("value", Y, *(np.empty(0, np.float32),) * 2, compiled, 1)
        found.append(np.abs(force + exact).max())
        sums.append(total - expected)
    assert max(found) < 2e-3 * 0.5  # the kernel's steepest slope is about one half
    assert np.abs(sums).max() < 2e-3


def test_coincident_points_feel_nothing(random_affinities):
    Y = np.full((500, 2), 3.25, dtype=np.float32)
    expected, found = both(random_affinities(500), Y)
    np.testing.assert_array_equal(expected, 0)
    assert np.abs(found).max() < 1e-9


def test_sparse_points_far_apart(random_affinities, random_embedding, relative_error):
    affinities, Y = random_affinities(1500), random_embedding(1500, scale=20.0)
    expected, found = both(affinities, Y, spacing=0.25)
    assert relative_error(found, expected) < 0.03


def test_an_embedding_wider_than_the_largest_mesh_still_has_finite_forces(random_affinities, random_embedding):
    Y = random_embedding(300)
    Y[0] = 1e5
    _, found = both(random_affinities(300), Y)
    assert np.isfinite(found).all()


def test_losses_agree(random_affinities, random_embedding):
    affinities, Y = random_affinities(2000), random_embedding(2000, scale=5.0)
    for kernel in (Cauchy(), StudentT(2.0), NoiseContrast(0.3)):
        losses = [KLDivergence(affinities, kernel, evaluation=e).loss(Y) for e in ("exact", "interpolated")]
        assert losses[1] == pytest.approx(losses[0], abs=2e-3)


def test_the_result_depends_on_the_points_alone(random_affinities, random_embedding):
    affinities = random_affinities(800)
    embeddings = [random_embedding(800, scale=s) for s in (0.01, 20.0, 0.5, 20.0, 0.01)]
    kept = KLDivergence(affinities, evaluation="interpolated")
    for Y in embeddings:
        fresh = KLDivergence(affinities, evaluation="interpolated")
        np.testing.assert_array_equal(kept.gradient(Y), fresh.gradient(Y))


def test_points_that_are_not_finite_give_nan(random_affinities, random_embedding):
    Y = random_embedding(300)
    Y[7, 1] = np.nan
    objective = KLDivergence(random_affinities(300), evaluation="interpolated")
    assert np.isnan(objective.gradient(Y)).all()
    assert np.isnan(objective.loss(Y))


DEFICITS = [UMAPKernel(1.577, 0.895), UMAPKernel(0.1193, 1.9164), Cauchy(), Gaussian(1.0), NoiseContrast(0.3)]


def cross_entropies(affinities, kernel, **parameters):
    exact = CrossEntropy(affinities, kernel, evaluation="exact")
    return exact, CrossEntropy(affinities, kernel, evaluation="interpolated", **parameters)


@pytest.mark.parametrize("kernel", DEFICITS, ids=str)
@pytest.mark.parametrize("n_components", [1, 2])
def test_singular_repulsions_of_unequal_charges_converge_to_exact_ones(
    kernel, n_components, random_affinities, random_embedding, relative_error
):
    affinities, Y = random_affinities(1500, normalization="membership"), random_embedding(1500, n_components, scale=2.0)
    errors, losses = [], []
    for spacing in (0.4, 0.1, 0.025):
        exact, found = cross_entropies(affinities, kernel, spacing=spacing)
        assert np.ptp(exact.repulsions[0].factors[0]) > 0.3 * exact.repulsions[0].factors[0].mean()
        errors.append(relative_error(found.forces(Y)[1], exact.forces(Y)[1]))
        losses.append(abs(found.loss(Y) / exact.loss(Y) - 1.0))
    assert errors[2] < max(errors[0] / 2, 2e-3)
    assert losses[2] < max(losses[0] / 10, 1e-4)


def test_pairs_beyond_the_spacing_feel_the_singular_law_itself(random_affinities, relative_error):
    """Points of a grid of side 0.6, of which none is closer than five spacings."""
    Y = 0.6 * np.stack(np.meshgrid(np.arange(25.0), np.arange(20.0)), -1).reshape(-1, 2)
    Y = (Y + np.random.default_rng(0).uniform(-0.1, 0.1, Y.shape)).astype(np.float32)
    affinities = random_affinities(500, normalization="membership")
    exact, found = cross_entropies(affinities, UMAPKernel(1.577, 0.895), spacing=0.1)
    assert relative_error(found.forces(Y)[1], exact.forces(Y)[1]) < 8e-3
    assert found.loss(Y) == pytest.approx(exact.loss(Y), rel=1e-5)


@pytest.mark.parametrize("scale", [1e-4, 1e-3, 3e-3])
def test_small_maps_lose_nothing_of_singular_repulsions(scale, random_affinities, random_embedding, relative_error):
    """Here all pairs are closer than the distance below which the law itself is a straight line."""
    affinities, Y = random_affinities(500, normalization="membership"), random_embedding(500, scale=scale)
    exact, found = cross_entropies(affinities, UMAPKernel(1.577, 0.895))
    assert relative_error(found.forces(Y)[1], exact.forces(Y)[1]) < 2e-3
    assert found.loss(Y) == pytest.approx(exact.loss(Y), rel=1e-5)


@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_the_force_is_the_slope_of_the_interpolated_loss(scale, random_affinities, random_embedding):
    affinities, Y = random_affinities(300, normalization="membership"), random_embedding(300, scale=scale)
    _, objective = cross_entropies(affinities, UMAPKernel(1.577, 0.895))
    (term,) = objective.repulsions
    direction = np.random.default_rng(3).normal(size=Y.shape).astype(np.float32)
    step = 2e-3 * scale
    ends = [term.energy((Y + sign * step * direction).astype(np.float32)) for sign in (1, -1)]
    slope = -float((term.force(Y).astype(np.float64) * direction).sum())
    assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(slope, rel=0.02)


def test_singular_sums_do_not_depend_on_threads_or_on_the_maps_before(random_affinities, random_embedding):
    affinities = random_affinities(9000, normalization="membership")
    maps = [random_embedding(9000, scale=s) for s in (5.0, 0.01, 5.0)]
    _, kept = cross_entropies(affinities, UMAPKernel(1.577, 0.895))
    with gn.running(n_threads=1):
        found = [kept.gradient(Y) for Y in maps]
    with gn.running(n_threads=3):
        fresh = [cross_entropies(affinities, kept.kernel)[1].gradient(Y) for Y in maps]
    for one, other in zip(found, fresh, strict=True):
        np.testing.assert_array_equal(one, other)


def test_only_similarities_have_a_mesh_of_the_singular_law():
    kernel = compile_kernel(Cauchy())
    with pytest.raises(ValueError, match="value and log_deficit"):
        _core.ParticleMesh(kernel, 0.3, "square")
    affinities = Affinities(sp.csr_array(np.ones((5, 5), np.float32) - np.eye(5, dtype=np.float32)), "membership")
    objective = CrossEntropy(affinities, Cauchy(), evaluation="interpolated")
    with pytest.raises(ValueError, match="n_components=3 must be at most 2"):
        objective.gradient(np.zeros((5, 3), np.float32))
