"""New rows like those of a map are hardly ever advised to be fitted again, however few or many; others are."""

import numpy as np
import pytest
from scipy.stats import betabinom

from gnomon.extension import measure_drift
from gnomon.extension.chance import chance_of_farther, chance_of_fewer, counts_beyond, largest_shift

ROWS = np.random.default_rng(0).normal(size=(300, 3))


def drift_of(X_new, X=ROWS):
    return measure_drift(X, X[:, :2], X_new, X_new[:, :2])


@pytest.mark.parametrize("m", [1, 2, 5, 10, 50])
def test_rows_like_the_old_ones_are_no_reason_to_fit_again(m):
    rng = np.random.default_rng(m)
    assert sum(drift_of(rng.normal(size=(m, 3))).refit for _ in range(20)) <= 1


@pytest.mark.parametrize("m", [1, 2, 5, 10, 50])
def test_rows_far_from_the_old_ones_are_one(m):
    drift = drift_of(np.random.default_rng(m).normal(size=(m, 3)) + 8.0)
    assert drift.refit
    assert "of the new rows lie farther out than 95 % of the old (more than 15%, and than chance)" in str(drift)


def test_what_may_be_chance_is_called_so():
    one = ROWS[:1] * 2.2 / np.linalg.norm(ROWS[0])
    drift = drift_of(one + np.array([[0.0, 0.0, 1.2]]))
    assert drift.unusual == 1.0
    assert not drift.refit
    assert drift.summary().splitlines()[-1] == (
        "No need to fit again: what speaks for it may be chance, of one new row."
    )


def test_rows_that_the_map_places_badly_are_a_reason():
    rng = np.random.default_rng(0)
    X_new = rng.normal(size=(50, 3))
    drift = measure_drift(ROWS, ROWS[:, :2], X_new, rng.normal(size=(50, 2)))
    assert "of their neighbours less than old rows (more than 15%)" in " ".join(drift.reasons)
    assert drift.lost_by_chance < 1e-6
    assert drift_of(X_new).lost_by_chance > 0.9


def test_the_difference_of_distributions_is_told_beside_that_of_chance():
    drift = drift_of(ROWS[:1] + 0.01)
    assert drift.shift <= drift.shift_by_chance == 1.0
    assert "how far out they lie, not where (their novelty), differs in distribution by" in str(drift)
    rng = np.random.default_rng(0)
    for m in (10, 200):
        found = [
            np.abs(np.searchsorted(np.sort(rng.random(m)), old := np.sort(rng.random(300))) / m - np.arange(300) / 300)
            for _ in range(300)
        ]
        assert len(old) == 300
        above = np.mean([one.max() > largest_shift(300, m) for one in found])
        assert 0.01 <= above <= 0.1


def test_the_number_beyond_an_old_row_is_beta_binomial():
    for n, m, rank in ((300, 1, 286), (300, 7, 286), (20, 5, 20), (1, 3, 1)):
        expected = np.cumsum(betabinom.pmf(np.arange(m, -1, -1), m, n - rank + 1, rank))[::-1]
        np.testing.assert_allclose(counts_beyond(n, m, rank), expected, rtol=1e-9)


@pytest.mark.parametrize("m", [1, 4, 300])
def test_farther_rows_are_as_likely_as_told(m):
    rng = np.random.default_rng(m)
    told = np.array(
        [chance_of_farther(np.searchsorted(np.sort(rng.random(200)), rng.random(m)), 200) for _ in range(2000)]
    )
    for level in (0.05, 0.01):
        assert np.mean(told <= level) <= level + 3 * np.sqrt(level / 2000)
    assert np.mean(told <= 0.05) >= 0.02


def test_sums_of_few_and_of_many_counts_are_as_likely_as_told():
    old = np.array([1, 1, 2])  # and one of 0
    assert chance_of_fewer(old, 1, 0.0) == pytest.approx(0.25)
    assert chance_of_fewer(old, 2, 1.5) == pytest.approx(1 / 16 + 2 * 2 / 16)
    assert chance_of_fewer(old, 2, -0.5) == 0.0
    assert chance_of_fewer(old, 3, 6.0) == pytest.approx(1.0)
    assert chance_of_fewer(np.zeros(4, int), 2000, 0.0) == 1.0
    for total in (980.0, 1000.0, 1030.0):
        assert chance_of_fewer(old, 1001, total) == pytest.approx(chance_of_fewer(old, 1000, total - 1.0), abs=0.02)
