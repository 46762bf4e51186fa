"""Errors from leaving out one part at a time are those of the formula, and parts that count nothing take no part."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.explanations.jackknife import jackknife_error, mean_of_blocks


def test_the_error_is_the_spread_of_what_is_found_without_each_part():
    without = np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 2.0]])
    np.testing.assert_allclose(jackknife_error(without), [np.sqrt(2 / 3 * 8.0), 0.0])
    assert jackknife_error(without[:, 0]) == pytest.approx(np.sqrt(2 / 3 * 8.0))


def test_the_mean_over_blocks_counts_them_by_size_and_knows_no_error_of_a_single_one():
    sums, sizes = np.array([[2.0, 0.0], [9.0, 0.0], [0.0, 0.0], [4.0, 0.0]]), np.array([1.0, 3.0, 0.0, 0.5])
    mean, error = mean_of_blocks(sums, sizes)
    np.testing.assert_allclose(mean, [15 / 4.5, 0.0])
    np.testing.assert_allclose(error, [jackknife_error(np.array([13 / 3.5, 6 / 1.5, 11 / 4])), 0.0])
    mean, error = mean_of_blocks(sums[:3:2], sizes[:3:2])
    np.testing.assert_array_equal(mean, [2.0, 0.0])
    assert np.isnan(error).all()
    assert np.isfinite(mean_of_blocks(sums[:2], sizes[:2])[1]).all()
