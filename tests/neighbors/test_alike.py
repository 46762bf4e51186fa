"""Rows near each other are alike where they are so in most columns, not in those few that make the distances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from gnomon.neighbors import alike_in_columns, compute_neighbors, near_sets, sets_alike_in_columns


def _sets(X, metric="euclidean"):
    """Return the sets before and after columns are asked, of rows in some set."""
    before = near_sets(compute_neighbors(X, 20, metric=metric, seed=0))
    return before, sets_alike_in_columns(X, before, metric)


@pytest.mark.parametrize("law", ["cauchy", "log-normal"])
def test_a_few_giant_columns_make_no_rows_alike(law):
    told = np.zeros(2, dtype=int)
    for seed in range(20):
        rng = np.random.default_rng([seed, 1])
        X = rng.standard_cauchy((300, 200)) if law == "cauchy" else np.exp(2.5 * rng.normal(size=(300, 200)))
        told += [bool((sets != np.arange(300)).any()) for sets in _sets(X)]
    assert told[0] >= 4
    assert told[1] == 0


@pytest.mark.parametrize("law", ["normal", "cauchy", "poisson"])
@pytest.mark.parametrize("d", [20, 150])
@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_copies_with_noise_stay_in_their_sets(law, d, make):
    rng = np.random.default_rng(0)
    draw = {
        "normal": rng.standard_normal,
        "cauchy": rng.standard_cauchy,
        "poisson": lambda size: rng.poisson(0.4, size),
    }
    X = np.asarray(draw[law](size=(200, d)), dtype=np.float64) * np.exp(rng.normal(size=d))
    spread = np.median(np.abs(X - np.median(X, axis=0)), axis=0) * 1.5 if law != "poisson" else X.std(axis=0)
    both = make(np.concatenate([X, X[:15] + 0.05 * spread * rng.normal(size=(15, d))]))
    before, after = _sets(both)
    assert np.count_nonzero(before[200:] == np.arange(15)) >= 12
    np.testing.assert_array_equal(after[200:], before[200:])


def test_directions_are_compared_under_the_cosine():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 30))
    both = np.concatenate([X, 50.0 * X[:5] + 1e-3 * rng.normal(size=(5, 30))])
    before, after = _sets(both, "cosine")
    np.testing.assert_array_equal(before[150:], np.arange(5))
    np.testing.assert_array_equal(after, before)
    assert (sets_alike_in_columns(both, before) != before).any()


def test_the_other_rows_must_be_one_and_a_half_times_as_far():
    """In one column of plain numbers, of a spread so wide that what counts by its logarithm is as good as linear."""
    X = np.concatenate([[0.0, 0.01], np.linspace(50.0, 1000.0, 20)])[:, None]
    sets = np.arange(22)
    for third, alike in ((0.0255, True), (0.0245, False)):  # from 0.01 on that is 1.55 and 1.45 times as far
        rows = np.concatenate([X, [[third]]])
        together = np.append(sets, 22)
        together[1] = 0
        assert alike_in_columns(rows, together, np.array([1]), 23).tolist() == [alike]
        kept = sets_alike_in_columns(rows, together)
        assert kept[1] == (0 if alike else 1)
    assert alike_in_columns(rows, together, np.array([1]), 22).tolist() == [True]  # the third is none of the table


def test_a_row_that_is_not_alike_leaves_its_set_to_the_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 40))
    X[1:3] = X[0] + 1e-3 * rng.normal(size=(2, 40))
    sets = np.arange(100)
    sets[[0, 1, 2, 50]] = 0
    expected = np.arange(100)
    expected[:3] = 0
    np.testing.assert_array_equal(sets_alike_in_columns(X, sets), expected)
    sets[[0, 1, 2, 50]] = [0, 50, 50, 50]  # the first row of a set is its number
    sets[[1, 2, 50]] = 1
    kept = sets_alike_in_columns(X, sets)
    assert kept[[0, 50]].tolist() == [0, 50]
    np.testing.assert_array_equal(sets_alike_in_columns(X, np.arange(100)), np.arange(100))


def test_columns_of_one_value_say_nothing():
    X = np.zeros((60, 12))
    X[:, 3:] = np.random.default_rng(0).normal(size=(60, 9))
    X[1] = X[0] + 1e-6
    sets = np.arange(60)
    sets[1] = 0
    assert sets_alike_in_columns(X, sets)[1] == 0
