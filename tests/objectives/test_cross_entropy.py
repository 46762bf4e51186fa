"""The cross-entropy of UMAP: oracles, references, and sampling as an unbiased estimate."""

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon._run import running
from gnomon.affinities import Affinities
from gnomon.kernels import Cauchy, UMAPKernel
from gnomon.objectives import CrossEntropy

KERNELS = [Cauchy(), UMAPKernel(1.5769, 0.8951), UMAPKernel(0.58, 1.334)]


@pytest.fixture(scope="module")
def eight(reference):
    r = reference["umap"]
    affinities = Affinities(sp.csr_array(np.array(r["mu"], dtype=np.float32)), "membership")
    return affinities, UMAPKernel(r["a"], r["b"]), np.array(reference["Y8"], dtype=np.float32), r


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("n_components", [1, 2, 3, 6])
def test_exact_equals_the_oracle(kernel, n_components, random_affinities, random_embedding, oracle, relative_error):
    affinities, Y = random_affinities(133, normalization="membership"), random_embedding(133, n_components, scale=3.0)
    objective = CrossEntropy(affinities, kernel, negative_sample_rate=4, repulsion_strength=1.5, evaluation="exact")
    expected = oracle(affinities, kernel, Y)
    assert objective.loss(Y) == pytest.approx(expected.cross_entropy(6.0), rel=1e-5)
    assert relative_error(objective.gradient(Y), expected.cross_entropy_gradient(6.0)) < 1e-4


def test_the_oracle_is_the_finite_difference_of_the_loss(random_affinities, random_embedding, oracle):
    affinities, Y = random_affinities(20, 4, normalization="membership"), random_embedding(20).astype(np.float64)
    gradient = oracle(affinities, KERNELS[1], Y).cross_entropy_gradient(5.0)
    direction = np.random.default_rng(0).normal(size=Y.shape)
    up, down = (oracle(affinities, KERNELS[1], Y + step * direction).cross_entropy(5.0) for step in (1e-6, -1e-6))
    assert (up - down) / 2e-6 == pytest.approx(np.sum(gradient * direction), rel=1e-6)


def test_loss_and_gradient_agree_below_the_floor():
    # Two points closer than the floor of 1e-3: the loss is a straight line in the squared distance there.
    affinities = Affinities(sp.csr_array(np.array([[0, 1], [1, 0]], np.float32)), "membership")
    objective = CrossEntropy(affinities, Cauchy(), evaluation="exact")
    losses = [objective.loss(np.array([[0, 0], [x, 0]], np.float32)) for x in (0.019, 0.021)]
    gradient = objective.gradient(np.array([[0, 0], [0.02, 0]], np.float32))
    assert (losses[1] - losses[0]) / 0.002 == pytest.approx(gradient[1, 0], rel=1e-2)
    assert np.isfinite(objective.loss(np.zeros((2, 2), np.float32)))
    np.testing.assert_array_equal(objective.gradient(np.zeros((2, 2), np.float32)), 0)


def test_both_ends_of_a_negative_pair_moving_is_twice_the_repulsion(eight, relative_error):
    affinities, kernel, Y, r = eight
    objective = CrossEntropy(
        affinities, kernel, negative_sample_rate=r["m"], repulsion_strength=2.0, evaluation="exact"
    )
    assert objective.loss(Y) == pytest.approx(r["effective_loss"], rel=1e-4)
    assert relative_error(objective.gradient(Y), np.array(r["effective_grad"])) < 1e-4


def test_the_mean_of_the_samples_is_the_reference(eight, relative_error):
    affinities, kernel, Y, r = eight
    objective = CrossEntropy(affinities, kernel, negative_sample_rate=r["m"], seed=3)
    # Ten times wider, no component of a pair's force reaches its limit.
    Y = 10 * Y
    mean = np.zeros(Y.shape)
    for epoch in range(4000):
        objective.epoch = epoch
        mean += objective.gradient(Y) / 4000
    k = kernel.value(np.square(Y[:, None] - Y[None]).sum(-1))
    away = (Y[:, None] - Y[None]).astype(np.float64)
    s = np.square(away).sum(-1) + np.eye(8)
    mu = affinities.matrix.toarray().astype(np.float64)
    pull = 4 * kernel.a * kernel.b * s ** (kernel.b - 1) * k
    push = 2 * r["m"] * mu.sum(1)[:, None] / 8 * kernel.b * k / s
    assert relative_error(mean, np.einsum("ij,ijc->ic", mu * pull - push, away)) < 0.02


def test_where_degrees_are_equal_the_mean_of_the_samples_is_the_gradient(relative_error):
    n = 64
    ring = sp.csr_array(sum(np.roll(np.eye(n, dtype=np.float32), shift, 1) for shift in (1, -1, 3, -3)))
    affinities = Affinities(ring, "membership")
    # On a lattice no pair is so close that its force reaches the limit.
    Y = np.stack(np.meshgrid(np.arange(8), 1.3 * np.arange(8)), axis=-1).reshape(-1, 2).astype(np.float32)
    sampled = CrossEntropy(affinities, Cauchy())
    mean = np.zeros(Y.shape)
    for epoch in range(2000):
        sampled.epoch = epoch
        mean += sampled.gradient(Y) / 2000
    exact = CrossEntropy(affinities, Cauchy(), evaluation="exact")
    assert relative_error(mean, exact.gradient(Y)) < 0.02
    assert sampled.loss(Y) == exact.loss(Y)


@pytest.mark.parametrize("evaluation", ["exact", "sampled"])
@pytest.mark.parametrize("n_components", [2, 5])
def test_equal_bytes_for_any_number_of_threads(evaluation, n_components, random_affinities, random_embedding):
    affinities = random_affinities(1111, normalization="membership")
    Y, results = random_embedding(1111, n_components), []
    for n_threads in (1, 2, 3, 5):
        with running(n_threads=n_threads):
            objective = CrossEntropy(affinities, UMAPKernel(1.5769, 0.8951), evaluation=evaluation)
            results.append((objective.gradient(Y).tobytes(), objective.loss(Y)))
    assert results.count(results[0]) == 4


def test_forces_sum_to_minus_the_gradient(random_affinities, random_embedding):
    affinities, Y = random_affinities(200, normalization="membership"), random_embedding(200)
    for evaluation in ("exact", "sampled"):
        objective = CrossEntropy(affinities, Cauchy(), evaluation=evaluation)
        attraction, repulsion = objective.forces(Y)
        np.testing.assert_array_equal(-(attraction + repulsion), objective.gradient(Y))


def test_seeds_and_epochs_draw_different_points(random_affinities, random_embedding):
    affinities, Y = random_affinities(200, normalization="membership"), random_embedding(200)
    one, other = (CrossEntropy(affinities, Cauchy(), seed=seed) for seed in (0, 1))
    repulsions = [one.forces(Y)[1].tobytes(), other.forces(Y)[1].tobytes()]
    one.epoch = 1
    repulsions.append(one.forces(Y)[1].tobytes())
    assert len(set(repulsions)) == 3


def test_negative_affinities_are_refused():
    matrix = sp.csr_array(np.array([[0, -1], [-1, 0]], np.float32))
    with pytest.raises(ValueError, match="CrossEntropy: affinities must be finite and not negative"):
        CrossEntropy(Affinities(matrix, "membership"), Cauchy())
