"""Values that stand for missing ones are warned of where they lie far from all others, and nowhere else."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import gnomon as gn
from gnomon.data.columns import encode_dataset
from gnomon.data.sentinels import find_sentinels, find_uncalled, warn_of_sentinels
from gnomon.exceptions import DataWarning

N = 400


def columns_with_sentinels():
    rng = np.random.default_rng(0)
    yield 999.0, rng.integers(1, 10, N)
    yield 99.0, rng.integers(18, 60, N)
    yield -99.0, rng.normal(10, 8, N).round(1)
    yield 9999.0, np.exp(rng.normal(6, 0.7, N)).round()
    yield -1.0, rng.integers(1, 800, N)
    yield -9.0, rng.gamma(2, 30, N).round(1)
    yield 9.0, rng.integers(0, 2, N)
    yield 99.9, rng.uniform(0, 5, N)
    yield float(-(2**31)), rng.normal(size=N)
    yield 1e20, rng.normal(size=N)


def test_nines_and_those_that_end_in_seven_or_eight_are_codes_up_to_five_digits():
    ages = np.random.default_rng(0).normal(5.0, 1.0, 200).round(2)
    for code in (97.0, 98.0, 99.0, 997.0, 998.0, 9997.0, 9998.0, 99997.0, 99998.0):
        assert find_sentinels(np.where(np.arange(200) % 20 == 3, code, ages)) == [code]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("code", "rest"), list(columns_with_sentinels()))
def test_values_that_stand_for_missing_ones_are_found(code, rest, dtype):
    values = np.where(np.arange(N) % 20 == 3, code, rest).astype(dtype)
    assert find_sentinels(values) == pytest.approx([code])
    assert find_sentinels(np.where(np.arange(N) < 2, code, rest).astype(dtype)) == []  # two rows may be outliers


def ordinary_columns(rng, n):
    money = np.exp(rng.normal(rng.uniform(1, 6), rng.uniform(0.2, 2), n))
    yield rng.normal(rng.uniform(-50, 50), rng.uniform(1, 50), n).round()
    yield money.round()
    yield np.minimum(money.round(), 999)  # written for all that is more
    yield np.where(rng.random(n) < 0.5, 0, rng.normal(1000, 100, n)).round()
    yield np.where(rng.random(n) < 0.5, 0, money).round(2)
    yield rng.poisson(np.exp(rng.uniform(-2, 5)), n)
    yield rng.poisson(2, n) - rng.poisson(1, n)
    yield rng.integers(1, rng.integers(3, 12), n)
    yield rng.integers(-1, 2, n)
    yield np.clip(rng.normal(60, 25, n).round(), 0, 99)
    yield np.clip(rng.normal(0, 1, n), -1, 1)
    yield rng.choice([9, 19, 29, 49, 99, 199, 999], n)
    yield rng.choice([0, 99], n)
    yield rng.standard_cauchy(n).round()
    yield ((rng.pareto(1, n) + 1) * 10).round()
    yield np.where(rng.random(n) < 0.2, rng.normal(99, 1, n), rng.normal(5, 1, n)).round()


def test_ordinary_columns_raise_no_alarm():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        for values in ordinary_columns(rng, int(rng.choice([60, 300, 1000]))):
            assert find_sentinels(np.asarray(values, dtype=float)) == []


def survey(day):
    rng = np.random.default_rng(1)
    days = [day if i % 12 == 0 else f"2020-{1 + i % 12:02d}-05" for i in range(60)]
    score = np.where(np.arange(60) % 10 == 0, 999, rng.integers(1, 10, 60))
    sex = np.array(["f", "m"])[rng.integers(0, 2, 60)]
    return pd.DataFrame({"a": rng.normal(size=60), "score": score, "end": days, "sex": sex})


def test_a_map_names_column_value_share_and_remedy():
    told = (
        "'score' has 999 in 6 rows (10.0%), far from all others (1 to 9); 'end' has 9999-12-31 in 5 rows (8.3%), far "
        "from all others (2020-02-05 to 2020-12-05). They are taken as they are. Such values often stand for missing "
        "ones: if these do, put NaN in their place."
    )
    with pytest.warns(DataWarning) as caught:
        made = gn.map(survey("9999-12-31"), "pca")
    assert f"map: {told}" in [str(one.message) for one in caught]
    assert any(told in note for note in made.notes)
    assert made.X[:, made.feature_names.index("score")].max() == 999.0


def test_a_preprocessor_tells_what_a_map_tells():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"height": rng.normal(170, 9, 300), "weight": rng.normal(70, 12, 300)})
    frame.loc[rng.choice(300, 8, replace=False), "height"] = -1.0
    with pytest.warns(DataWarning) as told:
        made = gn.map(frame, "pca")
    with pytest.warns(DataWarning) as ours:
        gn.TablePreprocessor().fit(frame)
    assert str(ours[0].message).removeprefix("TablePreprocessor: ") == str(told[0].message).removeprefix("map: ")
    assert "'height' has -1 in 8 rows (2.7%)" in made.notes[0]
    frame.loc[frame["height"] > 180, "height"] = np.nan
    with pytest.warns(DataWarning, match=r"'height' has -1 in 8 rows \(2.7%\), far from all others \(1\d\d.* to 1[78]"):
        gn.TablePreprocessor().fit(frame)


@pytest.mark.parametrize(("day", "odd"), [("1970-01-01", True), ("1900-01-01", True), ("2019-12-31", False)])
def test_dates_are_told_by_their_day(day, odd):
    data = encode_dataset(gn.data.Dataset(survey(day).drop(columns="score")), None, None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_sentinels(data.X, data.feature_names, data.columns)
    assert [f"'end' has {day} in 5 rows" in str(one.message) for one in caught] == [True] * odd


def test_dates_from_1970_or_1900_on_and_pictures_raise_no_alarm():
    for first in ("1970-01-01", "1900-01-01"):
        months = pd.date_range(first, periods=120, freq="MS")
        frame = pd.DataFrame(
            {
                "month": np.random.default_rng(0).permutation(np.repeat(months, 3)),
                "a": np.random.default_rng(0).normal(size=360),
            }
        )
        data = encode_dataset(gn.data.Dataset(frame), None, None)
        warn_of_sentinels(data.X, data.feature_names, data.columns)
    pixels = np.random.default_rng(0).integers(0, 5, (60, 16)).astype(float)
    pixels[::5, 3] = 99.0
    gn.map(pixels, "pca", image_shape=(4, 4))
    with pytest.warns(DataWarning, match="'feature 3' has 99 in 12 rows"):
        gn.map(pixels, "pca", scale=None)


def odd_columns(values, **how):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_sentinels(values, **how)
    return str(caught[0].message) if caught else ""


def test_what_zeros_became_in_nearly_all_columns_is_not_missing():
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.exp(rng.normal(-1, 1.5, 60)), (N, 60))
    logarithms = np.log1p(counts * rng.uniform(0.8, 1.25, (N, 1))) - 1
    odd = [f for f in range(60) if find_sentinels(logarithms[:, f])]
    assert 0 < len(odd) < 30
    assert odd_columns(logarithms) == ""
    assert "'feature 0' has -1" in odd_columns(logarithms[:, odd])  # of fewer columns, or odd in most of them
    sensors = np.where(rng.random((N, 30)) < 0.4, -1.0, rng.gamma(2, 30, (N, 30)))
    assert "so have 25 more columns" in odd_columns(sensors)
    assert odd_columns(sensors, of_cells=True) == ""


def genotypes(seed=0, shape=(120, 150)):
    rng = np.random.default_rng(seed)
    return rng.binomial(2, rng.uniform(0.05, 0.95, shape[1]), shape).astype(float), rng


@pytest.mark.parametrize("code", [-1.0, 3.0])
@pytest.mark.parametrize("of_few_rows", [True, False])
def test_a_code_of_genotypes_that_are_not_known_is_told_once_for_all_columns(code, of_few_rows):
    X, rng = genotypes()
    assert find_uncalled(X) is None
    rates = np.where(np.arange(len(X)) < 12, 0.3, 0.01)[:, None] if of_few_rows else 0.05
    lost = rng.random(X.shape) < rates
    X[lost] = code
    found, columns = find_uncalled(X)
    assert found == code
    assert len(columns) == X.shape[1]
    match = rf"150 columns of 0, 1 and 2 have {code:g} in {lost.sum():,} cells .*NaN in its place"
    table = pd.DataFrame({"age": rng.integers(20, 80, len(X)), **{f"rs{j}": X[:, j] for j in range(X.shape[1])}})
    for given in (X, table):
        with pytest.warns(DataWarning, match=match) as caught:
            gn.map(given, "pca")
        (told,) = [str(one.message) for one in caught if "of 0, 1 and 2" in str(one.message)]
        assert ("of them in 12 of 120 rows" in told) == of_few_rows


def test_ends_of_scales_and_counts_are_no_unknown_genotypes():
    X, rng = genotypes()
    shape, shares = X.shape, rng.uniform(0.05, 0.95, X.shape[1])
    person = rng.normal(size=(shape[0], 1))
    answers = np.clip(np.rint(1.2 + rng.normal(0, 0.6, shape[1]) + 0.7 * person + rng.normal(0, 0.8, shape)), 0, 3)
    same = np.clip(np.rint(1.2 + 0.7 * person + rng.normal(0, 0.8, shape)), 0, 3)

    def letters(weights):
        return np.stack([rng.choice(4, shape[0], p=p) for p in rng.dirichlet(weights, shape[1])], axis=1)

    for table in (
        letters([1.0, 1.0, 1.0, 0.4]),
        letters([8.0] * 4),
        rng.binomial(3, rng.uniform(0.4, 0.65, shape[1]), shape),
        rng.binomial(3, shares, shape),
        rng.binomial(4, shares, shape),
        rng.binomial(3, shares, shape) - 1,
        np.minimum(rng.poisson(rng.gamma(1.0, 0.3, shape[1]), shape), 3),
        answers,
        same,
    ):
        assert find_uncalled(np.asarray(table, dtype=float)) is None
    one = X.copy()
    one[:20, 0] = -1.0
    assert find_uncalled(one) is None  # one column cannot be told
    X[rng.random(shape) < 0.05] = -1.0
    assert find_uncalled(X[:, :90]) is None
