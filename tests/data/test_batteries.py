"""Codes beside the scale of many columns are told once; levels of scales and counts are no codes."""

import warnings

import numpy as np
import pytest

import gnomon as gn
from gnomon.data.batteries import find_battery_codes
from gnomon.data.sentinels import warn_of_sentinels


def answers(seed=0, n=400, n_columns=12, low=1, high=5):
    rng = np.random.default_rng(seed)
    spread = (high - low) / 5.0
    latent = rng.normal(size=(n, 1)) + rng.normal(size=(n, n_columns))
    return np.clip(np.rint((low + high) / 2 + spread * latent), low, high), rng


def found(X):
    return [(one.code, one.low, one.high, one.columns) for one in find_battery_codes(np.asarray(X, dtype=np.float64))]


@pytest.mark.parametrize(
    ("code", "low", "high"),
    [
        (-9, 1, 5),
        (-8, 1, 5),
        (-1, 1, 5),
        (-1, 1, 7),
        (7, 1, 5),
        (8, 1, 5),
        (9, 1, 5),
        (9, 1, 7),
        (9, 1, 4),
        (-9, 0, 10),
    ],
)
def test_a_code_apart_from_the_scale_of_all_columns_is_found(code, low, high):
    X, rng = answers(low=low, high=high)
    chosen = rng.random(X.shape) < 0.03
    X[chosen] = code
    assert found(X) == [(code, low, high, tuple(range(12)))]
    assert find_battery_codes(X)[0].n_cells == np.count_nonzero(chosen)


def test_the_code_of_a_filter_or_of_few_who_refuse_is_found_in_the_columns_that_have_it():
    X, rng = answers(n_columns=20)
    X[np.ix_(rng.random(400) < 0.4, range(10, 20))] = 7
    assert found(X) == [(7, 1, 5, tuple(range(10, 20)))]
    X, rng = answers(n_columns=20)
    X[np.ix_(rng.random(400) < 0.1, range(15, 20))] = 9
    assert found(X) == [(9, 1, 5, tuple(range(15, 20)))]


def test_several_codes_and_missing_values_and_unused_levels_are_no_hindrance():
    X, rng = answers()
    X[:, 3][X[:, 3] == 4] = 3
    for code in (7, 8, 9):
        X[rng.random(X.shape) < 0.03] = code
    X[rng.random(X.shape) < 0.1] = np.nan
    assert [one[:3] for one in found(X)] == [(7, 1, 5), (8, 1, 5), (9, 1, 5)]


@pytest.mark.parametrize(("code", "low", "high"), [(6, 1, 5), (0, 1, 5), (-1, 0, 10), (8, 1, 7), (9, 0, 10)])
def test_a_code_next_to_the_scale_or_within_it_is_not_told_from_a_level(code, low, high):
    X, rng = answers(low=low, high=high)
    X[rng.random(X.shape) < 0.03] = code
    assert found(X) == []


@pytest.mark.parametrize("seed", range(3))
def test_tables_without_codes_have_none(seed):
    rng = np.random.default_rng(seed)
    shape = (300, 20)
    normal = rng.normal(size=shape)
    tables = {
        "counts": rng.poisson(rng.uniform(0.2, 6.0, 20), shape),
        "heavy counts": rng.negative_binomial(0.7, 0.25, shape),
        "counts with a top": np.minimum(rng.zipf(2.0, shape), 9),
        "0 to 10": np.clip(np.rint(7 + 2.5 * normal), 0, 10),
        "1 to 9, ends rare": np.clip(np.rint(5 + 0.9 * normal), 1, 9),
        "days in a week": np.clip(np.rint(np.where(rng.random(shape) < 0.1, 7, 2 + 1.5 * normal)), 0, 7),
        "genotypes": rng.binomial(2, rng.uniform(0.05, 0.5, 20), shape),
        "yes and no": rng.integers(0, 2, shape),
        "pixels": np.clip(np.rint(8 + 8 * normal), 0, 16),
        "months": rng.integers(1, 13, shape),
        "ages": rng.integers(18, 80, shape),
        "codes": rng.choice([1, 2, 4, 8, 9], shape),
        "rising steps": rng.choice([1, 2, 3, 5, 8], shape),
        "points": rng.choice([0, 1, 3, 9], shape),
        "even levels": 2 * rng.integers(0, 5, shape),
        "around 0": np.clip(np.rint(3 * normal), -9, 9),
        "measured": normal,
    }
    assert {name: found(X) for name, X in tables.items() if found(X)} == {}


def test_few_columns_few_rows_and_few_cells_are_no_evidence():
    X, rng = answers(n_columns=3)
    X[rng.random(X.shape) < 0.03] = 9
    assert found(X) == []
    X, _ = answers()
    X[:2] = 9  # in two rows of each column
    assert found(X) == []
    X, _ = answers(n=60, n_columns=4)
    X[:3] = 7  # 12 cells: a level that is rarely used
    assert found(X) == []


def test_a_code_is_told_once_for_all_columns_with_what_to_do():
    X, rng = answers()
    X[rng.random(X.shape) < 0.05] = -9
    names = [f"item {j}" for j in range(12)]
    n = np.count_nonzero(X == -9)
    with pytest.warns(gn.exceptions.DataWarning) as told:
        warn_of_sentinels(X, names)
    assert len(told) == 1
    text = str(told[0].message)
    assert "12 columns on a scale from 1 to 5 ('item 0', " in text
    assert f"and 7 more columns) have -9 in {n:,} cells ({n / X.size:.1%}), apart from all levels" in text
    assert "Such values often stand for missing ones: if these do, put NaN in their place." in text


def test_columns_that_tell_their_code_alone_are_not_told_again():
    X, rng = answers(high=3, n_columns=8)
    X[rng.random(X.shape) < 0.05] = -9  # beyond three times the range of each
    X = np.column_stack([X, np.where(rng.random(400) < 0.05, 999.0, rng.integers(18, 80, 400))])
    with pytest.warns(gn.exceptions.DataWarning) as told:
        warn_of_sentinels(X, [f"item {j}" for j in range(8)] + ["age"])
    first, second = (str(one.message) for one in told)
    assert first.startswith("gnomon: 8 columns on a scale from 1 to 3")
    assert second.startswith("gnomon: 'age' has 999 in")
    assert "item" not in second


def test_the_front_door_tells_it_and_notes_it():
    X, rng = answers(n=150, n_columns=6)
    X[rng.random(X.shape) < 0.08] = 9
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = gn.map(X, method="pca", random_state=0)
    assert any("have 9 in" in str(one.message) for one in told)
    assert any("have 9 in" in one for one in made.notes)


def columns_of(counts, n_columns):
    """Return columns in which each value comes so often."""
    return np.tile(np.repeat(np.array([*counts], dtype=np.float64), [*counts.values()])[:, None], n_columns)


def test_a_code_needs_twenty_cells_and_fifty_where_one_level_is_empty():
    levels = dict.fromkeys(range(1, 6), 80)
    for code, n_cells, least in ((9, 4, 5), (7, 12, 13)):  # in each of four columns
        assert found(columns_of(levels | {code: n_cells}, 4)) == []
        assert found(columns_of(levels | {code: least}, 4)) == [(code, 1, 5, (0, 1, 2, 3))]


def test_what_falling_counts_lead_to_is_no_code():
    assert found(columns_of({0: 200, 1: 100, 2: 40, 3: 7, 9: 10}, 4)) == []  # 4.9 cells of 4
    assert found(columns_of({0: 200, 1: 100, 2: 40, 3: 8, 9: 10}, 4)) == [(9, 0, 3, (0, 1, 2, 3))]  # 6.4 cells


def test_a_level_that_others_of_the_scale_use_is_no_code():
    coded, used = columns_of({0: 60, 1: 80, 2: 80, 3: 60, 7: 40}, 6), columns_of({0: 60, 1: 80, 2: 80, 3: 60, 5: 40}, 4)
    assert found(coded) == [(7, 0, 3, (0, 1, 2, 3, 4, 5))]
    assert found(np.hstack([coded, used[:, :3]])) == found(coded)
    assert found(np.hstack([coded, used])) == []
