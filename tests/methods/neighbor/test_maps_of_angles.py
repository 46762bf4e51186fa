"""The same angles counted from elsewhere give the same map."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial import procrustes

import gnomon as gn

RNG = np.random.default_rng(1)
RING = np.column_stack([RNG.uniform(-180, 180, 120), RNG.normal(0, 3, 120)])
PATCH = RNG.uniform(-40, 40, (120, 2))


def turned(rows, by):
    return (rows + by + 180.0) % 360.0 - 180.0


def disparity(estimator, rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gn.exceptions.GnomonWarning)
        return procrustes(*(estimator.fit_transform(turned(rows, by)) for by in (0.0, 90.0)))[2]


FEW = {"metric": "periodic(360)", "random_state": 0, "max_iter": 20}


@pytest.mark.parametrize("variant", ["standard", "modified"])
def test_a_ring_embedded_locally_has_no_seam(variant):
    assert disparity(gn.LocallyLinearEmbedding(variant=variant, metric="periodic(360)"), RING) < 1e-6


@pytest.mark.parametrize("variant", ["ltsa", "hessian", "standard", "modified"])
def test_a_patch_across_the_seam_is_laid_flat_and_takes_new_rows(variant):
    estimator = gn.LocallyLinearEmbedding(variant=variant, metric="periodic(360)").fit(turned(PATCH, 150.0))
    linear = np.column_stack([PATCH, np.ones(len(PATCH))])
    fit = np.linalg.lstsq(linear, estimator.embedding_, rcond=None)[0]
    assert np.sqrt(np.mean((linear @ fit - estimator.embedding_) ** 2)) < 0.25 * estimator.embedding_.std()
    new = 0.9 * PATCH[:30] + 0.3
    there = estimator.place(turned(new, 150.0))
    np.testing.assert_allclose(there, estimator.place(turned(new, 150.0) + 360.0), atol=1e-9)
    near = np.linalg.norm(there - (np.column_stack([new, np.ones(30)]) @ fit), axis=1)
    assert np.median(near) < 0.25 * estimator.embedding_.std()


@pytest.mark.parametrize(
    "estimator",
    [
        gn.TSNE(perplexity=9, **FEW),
        gn.DREAMS(perplexity=9, **FEW),
        gn.StarMAP(n_stars=9, **FEW),
        gn.PaCMAP(**FEW),
        gn.TwoKernelLLE(early_exaggeration_iter=10, **FEW),
        gn.FeatMAP(init="pca", **FEW),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_start_by_principal_components_has_no_seam(estimator):
    assert disparity(estimator, RING) < 1e-3


def test_new_rows_of_a_two_kernel_map_do_not_feel_the_seam():
    rows = turned(PATCH, 150.0)
    made = gn.TwoKernelLLE(early_exaggeration_iter=10, **FEW).fit(rows)
    np.testing.assert_allclose(made.place(rows[:9] + 0.2), made.place(rows[:9] + 0.2 - 360.0), atol=1e-3)
