"""Whether the lengths of rows say anything, on tables that were made so that they do or do not."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from gnomon.kernels.inputs import CosineInput
from gnomon.methods.linear.kernel_selection import select_kernel
from gnomon.methods.linear.row_lengths import lengths_say_nothing, unit_rows

PROFILES = np.random.default_rng(0).dirichlet(np.full(40, 0.3), 3)


def _counts(depths, seed=0):
    """Return counts of mixtures of three profiles, and the mixtures."""
    draw = np.random.default_rng(seed)
    mix = draw.dirichlet(np.ones(3), len(depths))
    return draw.poisson(depths[:, None] * (mix @ PROFILES)).astype(np.float64), mix


DEPTHS = np.random.default_rng(1).lognormal(5.5, 0.8, 150)
COUNTS = _counts(DEPTHS)[0]


def _growth():
    """Return rows whose proportions follow from their size."""
    draw = np.random.default_rng(2)
    size = draw.uniform(0.3, 3.0, (150, 1)) ** draw.uniform(0.5, 1.6, 8)
    return size * np.exp(0.05 * draw.normal(size=(150, 8)))


def _amounts():
    """Return amounts of two substances, each up to a limit of its own."""
    draw = np.random.default_rng(3)
    return np.maximum(draw.uniform(0, [2, 1], (150, 2)) @ draw.uniform(size=(2, 15)), 0.0)


def test_depths_of_counts_say_nothing_dense_or_sparse_in_any_unit():
    for X in (COUNTS, sp.csr_array(COUNTS), 1e-150 * COUNTS, 1e150 * COUNTS):
        for seed in range(3):
            assert lengths_say_nothing(X, 10, seed)


@pytest.mark.parametrize(
    "X",
    [
        _counts(np.full(150, 300.0))[0],
        _growth(),
        _amounts(),
        np.random.default_rng(4).uniform(size=(150, 6)),
        COUNTS - COUNTS.mean(axis=0),
        COUNTS[:, :3],
        np.zeros((30, 5)),
    ],
    ids=["one depth", "size shapes", "limited amounts", "cube", "from the mean", "three features", "zeros"],
)
def test_other_lengths_are_kept(X):
    for seed in range(3):
        assert not lengths_say_nothing(X, 10, seed)


def test_lengths_are_kept_where_directions_tell_features_no_better():
    normal = np.abs(np.random.default_rng(5).normal(size=(150, 12)))  # whose lengths and directions are independent
    for seed in range(3):
        assert not lengths_say_nothing(normal, 10, seed)


def test_unit_rows_have_length_one_and_zeros_stay():
    X = np.array([[3.0, 4.0], [0.0, 0.0], [1e200, 0.0]])
    np.testing.assert_allclose(unit_rows(X), [[0.6, 0.8], [0, 0], [1, 0]])
    np.testing.assert_allclose(unit_rows(sp.csr_array(X)).toarray(), [[0.6, 0.8], [0, 0], [1, 0]])


def test_mixtures_in_counts_of_any_depth_get_the_cosine():
    asked = {"kernels": ["linear", "cosine"], "n_components": 2}
    found = select_kernel(COUNTS, **asked)
    assert found.by_direction
    assert isinstance(found.best.kernel, CosineInput)
    assert "lengths of rows say nothing" in found.summary()
    same = select_kernel(_counts(np.full(150, 300.0))[0], **asked)
    assert not same.by_direction
    assert "lengths" not in same.summary()


def test_fidelity_by_direction_does_not_see_lengths():
    factors = np.random.default_rng(6).lognormal(0.0, 0.8, (150, 1))
    first, second = (select_kernel(X, kernels=["cosine"], n_components=2) for X in (COUNTS, factors * COUNTS))
    assert first.by_direction
    assert second.by_direction
    assert first.table[0].fidelity == pytest.approx(second.table[0].fidelity, abs=1e-6)
    assert first.intrinsic_dimension == pytest.approx(second.intrinsic_dimension, rel=1e-6)
