from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tests.threads import on_threads

from gnomon.linalg import normal_matrix, uniform_matrix


@pytest.mark.parametrize(("draw", "distribution"), [(normal_matrix, "norm"), (uniform_matrix, "uniform")])
def test_numbers_have_the_distribution(draw, distribution):
    numbers = draw(3, 1, (20000, 3))
    assert stats.kstest(numbers.ravel(), distribution).pvalue > 0.01
    assert np.abs(np.corrcoef(numbers.T) - np.eye(3)).max() < 0.03


@pytest.mark.parametrize("draw", [normal_matrix, uniform_matrix])
def test_rows_are_functions_of_seed_stream_and_row(draw):
    numbers = on_threads(1, draw)(3, 1, (5000, 2))
    np.testing.assert_array_equal(draw(3, 1, (100, 2)), numbers[:100])
    np.testing.assert_array_equal(on_threads(3, draw)(3, 1, (5000, 2)), numbers)
    for seed, stream in ((4, 1), (3, 2)):
        assert not np.isin(draw(seed, stream, (100, 2)), numbers).any()
