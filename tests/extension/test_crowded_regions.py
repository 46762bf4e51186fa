"""Regions that more new rows come to than by chance: never told of rows like the old ones, and told where they are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from scipy.stats import hypergeom

import gnomon as gn
from gnomon.extension import measure_drift
from gnomon.extension.drift.regions import crowded_regions
from gnomon.extension.drift.together import BothTables


def _places(n):
    return np.column_stack([np.arange(n), np.arange(n)]).astype(float)


def _chances(old, new, sizes, counts):
    """Count rows about new ones by SciPy, and ask its hypergeometric distribution."""
    found = []
    for k, count in zip(sizes, counts, strict=True):
        for at in np.linspace(0, len(new) - 1, count).astype(int):
            others = np.concatenate([cdist(new[[at]], old)[0], np.delete(cdist(new[[at]], new)[0], at)])
            inside = others <= np.sort(others)[k - 1]
            n_new = int(inside[len(old) :].sum())
            chance = hypergeom.sf(n_new - 1, len(others), len(new) - 1, int(inside.sum()))
            found.append(chance * count * len(sizes))
    return np.array(found)


def test_chances_are_those_of_drawing_the_rows_about_a_new_one():
    rng = np.random.default_rng(1)
    old, new = rng.normal(size=(70, 3)), rng.normal(size=(50, 3))
    new[:16] *= 0.2
    sizes = [12, 17, 24, 34, 48]  # from 11.3 rows on: those are all new in one of 400 draws of 50 regions
    expected = _chances(old, new, sizes, [50, 50, 40, 29, 20])  # eight times 120 by the size
    regions, chances = crowded_regions(BothTables(old, new), _places(50))
    assert chances[0] == pytest.approx(min(expected.min(), 1.0), rel=1e-6)
    assert chances[0] < 0.05
    assert (np.diff(chances) >= 0.0).all()
    assert regions[0][1] + regions[0][2] - 1 in sizes
    again = crowded_regions(BothTables(csr_array(old), csr_array(new)), _places(50))
    np.testing.assert_allclose(again[1], chances, rtol=1e-9)


def test_rows_as_far_as_the_last_belong_to_a_region_whichever_table_they_are_of():
    """Among equal rows the first would be old ones."""
    old, new = np.repeat(np.eye(4), 30, axis=0), np.repeat(np.eye(4), [30, 30, 30, 60], axis=0)
    regions, chances = crowded_regions(BothTables(old, new), _places(150))
    assert regions[0][1:] == (60, 30)
    np.testing.assert_array_equal(regions[0][0], [119.5, 119.5])  # the median place
    expected = hypergeom.sf(58, 269, 149, 89) * 29 * 6  # sizes of 19 to 107 hold the same rows; 29 are of 76
    assert chances[0] == pytest.approx(min(expected, 1.0), rel=1e-6)


@pytest.mark.parametrize("draw", ["normal", "cauchy", "poisson"])
def test_the_law_of_the_columns_does_not_make_a_region(draw):
    draws = {"normal": "standard_normal", "cauchy": "standard_cauchy", "poisson": "poisson"}[draw]
    chances = []
    for seed in range(20):
        draw_rows = getattr(np.random.default_rng([seed, 3]), draws)
        X = draw_rows(1.0, size=(300, 80)) if draw == "poisson" else draw_rows(size=(300, 80))
        chances.append(crowded_regions(BothTables(X[:150], X[150:], 10), _places(150))[1][0])
    assert min(chances) > 0.0025
    assert np.mean(np.array(chances) <= 0.05) <= 0.1


@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_new_rows_of_many_columns_that_are_like_the_old_crowd_no_region(method):
    """A map places them nearer to its middle than the rows that it was fitted to, as they lie in its components."""
    settings = {} if method == "pca" else {"max_iter": 250}
    for seed in range(2):
        X = np.random.default_rng(seed).normal(size=(400, 120))
        made = gn.map(X[:200], method=method, random_state=0, **settings)
        drift = made.extend(X[200:])[1]
        assert drift.region_p_values[0] > 0.0025
        assert "region" not in drift.summary()


def test_a_kind_that_doubles_and_one_that_is_new_are_told_where_they_came_to():
    rng = np.random.default_rng(0)
    centres = 4.0 * np.eye(8, 20)
    old = centres[rng.integers(0, 7, 1500)] + rng.normal(size=(1500, 20))
    doubled = centres[rng.choice(7, 600, p=[2 / 7] + [5 / 42] * 6)] + rng.normal(size=(600, 20))
    drift = measure_drift(old, old[:, :2], doubled, doubled[:, :2])
    assert drift.region_p_values[0] < 0.0025
    assert abs(drift.regions[0][0][0] - 4.0) < 1.0  # places are the first two columns
    some = centres[rng.integers(0, 7, 400)] + rng.normal(size=(400, 20))
    some[:20] += centres[7] * 2.0  # 5 %
    drift = measure_drift(old, old[:, :2], some, some[:, :2])
    assert drift.region_p_values[0] < 0.0025
    assert drift.regions[0][1] >= 15


def test_few_new_rows_have_no_region_and_many_are_looked_at_in_part(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    for count in (1, 3):
        drift = measure_drift(X, X[:, :2], X[:count] + 0.1, X[:count, :2])
        assert (drift.regions, len(drift.region_p_values)) == ([], 0)
    monkeypatch.setattr("gnomon.extension.drift.together.MOST_OLD", 30)
    monkeypatch.setattr("gnomon.extension.drift.together.MOST_NEW", 20)
    monkeypatch.setattr("gnomon.extension.drift.summary.MOST_OLD", 30)
    monkeypatch.setattr("gnomon.extension.drift.summary.MOST_NEW", 20)
    new = np.concatenate([rng.normal(size=(20, 3)), rng.normal(size=(40, 3)) * 0.01 + 3.0])
    drift = measure_drift(X, X[:, :2], new, new[:, :2])
    place, count, among = drift.regions[0]
    np.testing.assert_allclose(place, 3.0, atol=0.1)
    assert (count, among) == (11, 0)
    assert "lie 11, and by its 0 old rows 0 would (of 20 new and 30 old rows looked at)" in drift.summary()
