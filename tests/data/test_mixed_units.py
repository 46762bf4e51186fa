"""Columns in two units, and cells a decimal point away, are told; columns of two groups hardly ever."""

import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data.mixed_units import _some_rows, find_mixed_units, find_slips, warn_of_mixed_units
from gnomon.exceptions import DataWarning

N = 1024


def in_two_units(factor, *, seed=0, share=0.25, spread=0.03):
    rng = np.random.default_rng(seed)
    values = np.exp(rng.normal(3.0, spread, N))
    values[: int(share * N)] *= factor
    return rng.permutation(values)


def told(values, **how):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_mixed_units(values, **how)
    return " ".join(str(one.message) for one in caught)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("factor", [1.609344, 2.2046, 2.54, 3.28084, 10.0, 18.0156, 38.67, 88.42, 100.0, 1000.0])
def test_a_known_factor_is_found_with_the_share_of_its_rows(factor, dtype):
    found = find_mixed_units(in_two_units(factor).astype(dtype))
    assert found.factor == pytest.approx(factor, rel=1e-4)
    assert found.share == pytest.approx(0.25)
    assert found.high / found.low == pytest.approx(factor, rel=0.01)
    assert found.low < found.boundary < found.high


def test_fahrenheit_and_celsius_are_found_as_written_to_a_tenth():
    rng = np.random.default_rng(0)
    celsius = rng.normal(36.8, 0.5, N).round(1)
    assert find_mixed_units(celsius) is None
    mixed = np.where(np.arange(N) % 3 == 0, (1.8 * celsius + 32.0).round(1), celsius)
    assert np.isnan(find_mixed_units(mixed).factor)
    assert "as of degrees Fahrenheit and Celsius" in told(mixed[:, None])
    assert "= 1.8 * X.loc[" in told(mixed[:, None])


@pytest.mark.parametrize("factor", [1.4, 1.9, 6.0, 14.0, 25.0, 60.0, 300.0])
def test_other_ratios_other_shapes_and_levels_are_no_units(factor):
    assert find_mixed_units(in_two_units(factor)) is None
    rng = np.random.default_rng(1)
    parts = rng.normal(100.0, 3.0, N // 2), rng.normal(10.0, 1.0, N // 2)  # ten times, and three times as wide
    assert find_mixed_units(np.concatenate(parts)) is None
    assert find_mixed_units(rng.choice([1.0, 10.0, 2.0, 20.0], N)) is None
    assert find_mixed_units(-in_two_units(10.0)) is None
    assert find_mixed_units(in_two_units(10.0, share=0.015)) is None  # few cells, not a unit


def ordinary_columns(rng, n):
    yield rng.normal(rng.uniform(5, 50), 1, n)
    yield np.exp(rng.normal(rng.uniform(-2, 6), rng.uniform(0.05, 2), n))
    yield rng.gamma(rng.uniform(0.3, 10), rng.uniform(0.1, 100), n)
    yield rng.uniform(1, 10 ** rng.uniform(0.1, 5), n)
    yield rng.poisson(rng.uniform(5, 500), n) + 1.0
    yield rng.pareto(rng.uniform(0.5, 4), n) + 1.0
    yield rng.beta(rng.uniform(0.1, 5), rng.uniform(0.1, 5), n)
    yield np.exp(rng.standard_t(3, n) * rng.uniform(0.1, 1))
    yield rng.choice([9.0, 19.0, 29.0, 49.0, 99.0, 199.0, 999.0], n)
    yield 10 ** rng.uniform(0, rng.uniform(0.1, 6), n)


def test_ordinary_columns_raise_no_alarm():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table = np.stack([*ordinary_columns(rng, int(rng.choice([60, 300, 1000])))], axis=1)
        assert told(table) == ""


def test_columns_of_two_groups_of_any_ratio_are_seldom_taken_for_units():
    found = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        ratio, spread = rng.uniform(0.5, 7.0), np.exp(rng.uniform(np.log(0.02), np.log(0.4), 2))
        group = (rng.random(400) < rng.uniform(0.05, 0.95)).astype(int)
        found += find_mixed_units(np.exp(rng.normal(group * ratio, spread[group]))) is not None
    assert found <= 6


def heights(seed=0):
    return np.random.default_rng(seed).normal(170, 9, N).round(1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("cell", "odd"), [(17.5, True), (1.72, True), (1710.0, False), (30.0, False), (9.0, False)])
def test_a_decimal_point_that_slipped_is_found(cell, odd, dtype):
    values = heights().astype(dtype)
    assert find_slips(values).tolist() == []
    values[[3, 500]] = cell  # 1710 is told by its distance alone
    assert find_slips(values).tolist() == [3, 500] * odd


def test_wide_columns_and_many_cells_have_no_slips():
    rng = np.random.default_rng(0)
    wide = np.exp(rng.normal(3.0, 1.0, N))
    wide[3] = 2.0
    assert find_slips(wide).tolist() == []
    many = np.where(np.arange(N) % 10 == 0, 17.5, heights())
    assert find_slips(many).tolist() == []
    for n_levels, slips in ((15, [3]), (14, [])):  # measured, or levels of a scale
        levels = 150.0 + np.arange(N) % n_levels
        levels[3] = 15.5
        assert find_slips(levels).tolist() == slips


@pytest.mark.parametrize("n", [300, 1000, 1024, 100_000])
def test_the_rows_looked_at_first_are_spread_evenly_and_come_in_no_period(n):
    rows = _some_rows(n)
    gaps = np.diff([*rows.tolist(), n])
    assert rows[0] == 0
    assert gaps.max() <= 3.0 * n / 256
    for period in range(2, 10):
        of_each = np.bincount(rows % period, minlength=period) / len(rows)
        np.testing.assert_allclose(of_each, 1.0 / period, atol=0.05)
    assert _some_rows(256).tolist() == list(range(256))


def test_a_map_and_a_preprocessor_name_column_share_factor_and_remedy():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.normal(60, 12, N), "glucose": np.exp(rng.normal(np.log(105), 0.2, N))})
    people["height"] = heights()
    people.loc[people.index % 4 == 0, "glucose"] /= 18.0156
    people.loc[7, "height"] = 17.5
    with pytest.warns(DataWarning) as caught:
        made = gn.map(people, "pca")
    with pytest.warns(DataWarning) as ours:
        gn.TablePreprocessor().fit(people)
    for some in ([str(one.message) for one in caught], [str(one.message) for one in ours]):
        assert any("in 25% of the rows" in one and "as of mg/dl and mmol/l of glucose (18.016)" in one for one in some)
        assert any("'height' has 17.5 (row 7), a decimal point away from the others (1" in one for one in some)
    remedy = next(one for one in made.notes if "glucose" in one).partition("into one, ")[2]
    exec(remedy.removesuffix(" of a data frame X."), {"X": people})
    assert find_mixed_units(people["glucose"].to_numpy()) is None
    assert people["glucose"].min() > 40.0


def test_what_was_filled_in_is_not_looked_at():
    values = in_two_units(10.0)
    filled = np.arange(N) % 8 == 0
    values[filled] = 60.0
    assert told(values[:, None]) == ""
    assert "25% of the rows" in told(values[:, None], filled=filled[:, None]).replace("75%", "25%")
