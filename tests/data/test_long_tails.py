"""Columns that spread evenly in their logarithms alone are told."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse

import gnomon as gn
from gnomon.data.tails import find_long_tails, told_of_long_tails


def columns(n=500, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "lognormal": rng.lognormal(8.0, 1.5, n),
        "pareto": 1.0 + rng.pareto(1.0, n),
        "exponential": rng.exponential(1.0, n),
        "normal": 10.0 + rng.normal(size=n),
        "half normal": np.abs(rng.normal(size=n)),
        "uniform": rng.uniform(size=n),
        "counts": rng.poisson(30.0, n),
        "two groups": np.where(rng.random(n) < 0.2, 100.0, 10.0) + rng.normal(size=n),
        "signed": rng.standard_cauchy(n),
        "few values": np.array([1.0, 3.0, 10.0, 30.0, 100.0, 1000.0])[rng.integers(0, 6, n)],
        "one zero": np.where(np.arange(n) == 7, 0.0, rng.lognormal(8.0, 1.5, n)),
        "zeros": np.where(rng.random(n) < 0.2, 0.0, rng.lognormal(8.0, 1.5, n)),
    }


@pytest.mark.parametrize("seed", range(3))
def test_long_tails_are_found_and_no_other_columns(seed):
    given = columns(seed=seed)
    found = find_long_tails(np.column_stack([*given.values()]))
    assert [list(given)[f] for f in found] == ["lognormal", "pareto"]


def test_missing_values_say_nothing_and_few_rows_are_not_judged():
    column = np.random.default_rng(0).lognormal(0.0, 2.0, 400)[:, None]
    holed = np.where(np.arange(400)[:, None] % 3 == 0, np.nan, column)
    assert find_long_tails(holed).tolist() == [0]
    assert find_long_tails(column * 1e-30).tolist() == [0]
    assert find_long_tails(column[:99]).size == 0
    assert find_long_tails(np.where(np.arange(400)[:, None] == 7, -0.5, column)).size == 0  # one that has no logarithm
    assert find_long_tails(np.full((200, 1), np.nan)).size == 0
    assert told_of_long_tails(scipy.sparse.csr_array(column), ["a"]) == []


@pytest.mark.parametrize(("largest", "found"), [(7.0, [0]), (6.99, [])])
def test_the_95th_percentile_lies_five_times_as_far_from_the_median_as_the_fifth(largest, found):
    rows = np.arange(101)  # percentiles are rows 5, 25, 50, 75 and 95
    column = np.interp(rows, [0, 5, 25, 50, 51, 75, 95, 100], [0.9, 1.0, 1.4, 2.0, 2.1, 3.0, largest, 8.0])
    assert find_long_tails(column[:, None]).tolist() == found


@pytest.mark.parametrize(("n_levels", "found"), [(20, [0]), (19, [])])
def test_twenty_different_values_are_no_levels(n_levels, found):
    levels = np.exp(1.5 * np.linspace(-2.0, 2.0, n_levels))
    weights = np.exp(-0.5 * np.linspace(-2.0, 2.0, n_levels) ** 2)
    column = np.repeat(levels, np.ceil(40 * weights).astype(int))
    assert find_long_tails(column[:, None]).tolist() == found


def test_three_columns_are_named_and_others_counted():
    column = np.random.default_rng(0).lognormal(0.0, 2.0, (400, 5))
    (told,) = told_of_long_tails(column, [*"abcde"])
    assert re.findall("'(.)' ", told) == [*"abc"]
    assert "and 2 more columns. Distances are" in told


def test_a_map_notes_columns_with_long_tails_where_they_are_compared():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(300, 3)), rng.lognormal(10.0, 1.5, 300)])
    names = ["a", "b", "c", "income"]
    noted = [note for note in gn.map(X, method="pca", feature_names=names, scale="standard").notes if "tail" in note]
    assert len(noted) == 1
    assert "'income' (half of it up to " in noted[0]
    logarithms = np.column_stack([X[:, :3], np.log10(X[:, 3])])
    assert not any("tail" in note for note in gn.map(logarithms, method="pca", feature_names=names).notes)
    assert not any("tail" in note for note in gn.map(X[:, 3:], method="mds", metric="cosine", n_components=1).notes)
