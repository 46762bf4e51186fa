"""Columns filled in by their least value, or by zeros far away, are told; natural zeros, limits and ties are not."""

from __future__ import annotations

import numpy as np
import pytest

import gnomon as gn
from gnomon.data.floors import find_filled_floors, warn_of_filled_floors
from gnomon.exceptions import DataWarning

N, P = 120, 20
FILLED = 12  # columns with missing values


def intensities(seed=0):
    """Logarithms of intensities, and which of them are missing: two fifths of the first twelve columns."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(N, P)) + rng.normal(25, 2, P)
    missing = np.zeros((N, P), dtype=bool)
    missing[:, :FILLED] = rng.random((N, FILLED)) < 0.4
    return values, missing


def filled_by_least(seed=0):
    values, missing = intensities(seed)
    known = np.where(missing, np.nan, values)
    return np.where(missing, np.nanmin(known, axis=0), known), missing


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_filled_by_their_least_value_are_found(seed, dtype):
    values, _ = filled_by_least(seed)
    columns, zero = find_filled_floors(values.astype(dtype))
    np.testing.assert_array_equal(columns, np.arange(FILLED))
    assert not zero


@pytest.mark.parametrize("seed", range(3))
def test_columns_filled_by_zeros_are_found(seed):
    values, missing = intensities(seed)
    columns, zero = find_filled_floors(np.where(missing, 0.0, values))
    np.testing.assert_array_equal(columns, np.arange(FILLED))
    assert zero


def test_columns_filled_by_zeros_are_found_among_many_rows():
    values = np.tile(np.array([0.0, 1.0, 1.0]), 1000)[:, None] * np.random.default_rng(0).normal(25, 1, (3000, 6))
    columns, zero = find_filled_floors(values)
    np.testing.assert_array_equal(columns, np.arange(6))
    assert zero
    values[1, :2] = 1.0  # of a row that is looked at last
    assert find_filled_floors(values) is None
    mostly = np.tile(np.array([0.0, 0.0, 1.0]), 1000)[:, None] * np.random.default_rng(0).normal(25, 1, (3000, 6))
    assert find_filled_floors(mostly) is None  # as roots of shares of words


def test_missing_values_that_are_left_and_few_columns_are_not_told():
    values, missing = intensities()
    assert find_filled_floors(np.where(missing, np.nan, values)) is None
    filled = filled_by_least()[0]
    assert find_filled_floors(filled[:, FILLED - 4 :]) is None  # four columns
    assert find_filled_floors(filled[:, FILLED - 5 :]) is not None


def natural():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(300, 40)) @ rng.normal(size=(40, 40)) / 6.0
    counts = rng.poisson(rng.gamma(0.8, 1.25, (300, 40)) * np.exp(rng.normal(size=40)))
    shares = np.log1p(counts / counts.sum(axis=1, keepdims=True) * 1e4)
    activations = np.maximum(values - 0.3, 0.0)
    yield "counts", counts.astype(np.float64)
    yield "logarithms with a number added", np.log(counts + 0.5)
    yield "normalised", shares
    yield "normalised and standardised", (shares - shares.mean(axis=0)) / shares.std(axis=0)
    yield "activations", activations
    yield "activations, standardised", (activations - activations.mean(axis=0)) / activations.std(axis=0)
    yield "clipped scores", np.clip(50 + 20 * values, 35, 100)
    yield "both ends cut", np.clip(50 + 3 * values, *np.quantile(50 + 3 * values, [0.06, 0.94], axis=0))
    yield "pixels", np.clip(np.round(80 + 90 * values), 0, 255)
    yield "one-hot", (rng.random((300, 40)) < 0.2).astype(np.float64)
    yield "numbers of visits", rng.geometric(0.7, (300, 40)).astype(np.float64)
    yield "whole numbers of many sizes", rng.geometric(0.7, (300, 40)) * np.arange(1.0, 41.0)
    yield "doses", np.where(rng.random((300, 40)) < 0.5, 0.0, rng.normal(60, 12, (300, 40)))
    levels = rng.choice(6, (300, 40), p=[0.75, 0.05, 0.05, 0.05, 0.05, 0.05])
    yield "few levels, of a unit for each column", levels * np.linspace(0.1, 0.9, 40) + np.linspace(3.0, 9.0, 40)
    yield "one value below 0", np.where(rng.random((300, 40)) < 0.4, -1.0, rng.normal(25, 1, (300, 40)))
    yield "continuous", values + 50.0


@pytest.mark.parametrize(("what", "values"), [*natural()], ids=lambda one: one if isinstance(one, str) else "")
def test_natural_floors_are_not_told(what, values):
    assert find_filled_floors(values) is None, what


def test_the_warning_counts_columns_and_cells():
    values, missing = filled_by_least()
    cells = int(missing.sum()) + FILLED  # the least value that was measured is one too
    with pytest.warns(DataWarning, match=rf"12 of 20 columns \('a', .*and 7 more columns\).* in {cells} cells") as told:
        warn_of_filled_floors(values, [chr(97 + f) for f in range(P)])
    assert "put NaN in their place" in str(told[0].message)


def test_maps_and_preprocessors_warn():
    values, _ = filled_by_least()
    with pytest.warns(DataWarning, match="filled in by it"):
        gn.map(values, random_state=0)
    with pytest.warns(DataWarning, match="filled in by it"):
        gn.TablePreprocessor().fit(values)
