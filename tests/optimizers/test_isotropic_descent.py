"""Isotropic sampled descent: no axis of the map is preferred."""

import numpy as np
import pytest
from tests.threads import on_threads

from gnomon.kernels import UMAPKernel
from gnomon.objectives import CrossEntropy
from gnomon.optimizers import SampledDescent

KERNEL = UMAPKernel(1.5769, 0.8951)


def orthogonal(d, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]


@pytest.mark.parametrize("n_components", [1, 2, 3, 5])
def test_rotating_the_start_rotates_the_map(clusters, n_components):
    objective = CrossEntropy(clusters["membership"], KERNEL)
    start, turn = np.random.default_rng(5).normal(size=(300, n_components)), orthogonal(n_components)
    first, second = (
        SampledDescent(8, isotropic=True).minimize(objective, Y0).embedding for Y0 in (start, start @ turn)
    )
    assert np.abs(first @ turn - second).mean() < 1e-3 * first.std()  # rounding errors grow with the epochs
    if n_components > 1:
        first, second = (SampledDescent(8).minimize(objective, Y0).embedding for Y0 in (start, start @ turn))
        assert np.abs(first @ turn - second).mean() > 1e-1 * first.std()


def test_in_one_dimension_both_forms_are_one(clusters):
    objective, start = CrossEntropy(clusters["membership"], KERNEL), np.random.default_rng(5).normal(size=(300, 1))
    plain, isotropic = (SampledDescent(8, isotropic=way).minimize(objective, start) for way in (False, True))
    np.testing.assert_allclose(isotropic.embedding, plain.embedding, rtol=1e-3, atol=1e-4)


def test_a_force_is_no_longer_than_its_limit(clusters):
    """Two points that nearly touch repel along the way between them, whatever that is."""
    objective = CrossEntropy(clusters["membership"], KERNEL)
    start = np.random.default_rng(5).normal(size=(300, 2)) * 1e-3
    solution = SampledDescent(1, isotropic=True).minimize(objective, start)
    moved = np.linalg.norm(solution.embedding - start.astype(np.float32), axis=1)
    assert moved.max() <= np.sqrt(2) * (1 + 1e-4)  # the first step has the length of the learning rate in each axis
    assert moved.min() > np.sqrt(2) * (1 - 1e-3)


def test_clusters_separate(clusters, separation):
    start = np.random.default_rng(5).uniform(0, 10, size=(300, 2))
    solution = SampledDescent(200, isotropic=True).minimize(CrossEntropy(clusters["membership"], KERNEL), start)
    assert separation(solution.embedding, clusters["labels"]) > 0.99


@pytest.mark.parametrize("n_components", [1, 2, 3, 5])
def test_equal_bytes_for_any_number_of_threads(clusters, n_components):
    start = np.random.default_rng(5).uniform(0, 10, size=(300, n_components))
    results = {
        on_threads(n, SampledDescent(30, isotropic=True).minimize)(
            CrossEntropy(clusters["membership"], KERNEL), start
        ).embedding.tobytes()
        for n in (1, 2, 3)
    }
    assert len(results) == 1
