"""Which entries of rows come first: those of a stable sort."""

import numpy as np
import pytest

from gnomon.linalg import first_columns


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_first_columns_are_those_of_a_stable_sort_whatever_is_equal(dtype):
    order = np.random.default_rng(0).integers(0, 12, size=(60, 300)).astype(dtype)
    order[3], order[4], order[5, :290] = 1.0, np.inf, np.inf
    expected = np.argsort(order, axis=1, kind="stable")
    for k in (1, 15, 299, 300):
        np.testing.assert_array_equal(first_columns(order, k), expected[:, :k])
    assert first_columns(np.empty((0, 4)), 2).shape == (0, 2)
