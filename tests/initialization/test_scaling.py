from __future__ import annotations

import numpy as np
import pytest

from gnomon.initialization import rescale, rescale_to_box


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e200])
def test_rescale_sets_the_spread_of_the_first_column(scale):
    embedding = np.random.default_rng(0).normal(size=(100, 2)) * [3, 5] * scale + 7 * scale
    found = rescale(embedding, 1e-2)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[:, 0].std(), 1e-2, rtol=1e-5)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-8)
    ratio = embedding[:, 1].std() / embedding[:, 0].std() if scale == 1.0 else None
    if ratio:
        np.testing.assert_allclose(found[:, 1].std() / found[:, 0].std(), ratio, rtol=1e-5)
    np.testing.assert_allclose(rescale(embedding)[:, 0].std(), 1e-4, rtol=1e-5)


def test_rescale_of_constant_columns():
    np.testing.assert_array_equal(rescale(np.ones((5, 2))), 0)
    found = rescale(np.column_stack([np.ones(4), np.arange(4.0)]))
    np.testing.assert_array_equal(found[:, 0], 0)
    assert np.ptp(found[:, 1]) > 0


def test_box_is_filled_on_every_axis():
    embedding = np.random.default_rng(1).normal(size=(100, 3)).astype(np.float32)
    embedding[:, 2] = 4
    before = embedding.copy()
    found = rescale_to_box(embedding, 10.0)
    np.testing.assert_allclose(found.min(axis=0), [0, 0, 5], atol=1e-6)
    np.testing.assert_allclose(found.max(axis=0), [10, 10, 5], atol=1e-6)
    np.testing.assert_array_equal(embedding, before)
