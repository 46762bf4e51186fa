"""Columns that are the sum of others and rows that are the sum or the mean of all others are told, and no others."""

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

import gnomon as gn
from gnomon.data.totals import TotalRow, find_total_columns, find_total_rows, warn_of_totals
from gnomon.exceptions import DataWarning


@pytest.fixture
def counts():
    return np.random.default_rng(0).poisson(20, (40, 6)).astype(float)


def with_total_row(table, how):
    return np.insert(table, 7, how(table, axis=0), axis=0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_column_is_the_sum_of_a_run_of_others(counts, dtype):
    parts = np.random.default_rng(1).gamma(1.0, size=(40, 5))
    table = np.c_[counts[:, :3].sum(axis=1), counts, parts.sum(axis=1), parts].astype(dtype)
    assert find_total_columns(table) == {0: [1, 2, 3], 7: [8, 9, 10, 11, 12]}


def test_a_total_is_passed_over_in_its_own_run_and_zeros_add_nothing(counts):
    table = np.c_[counts[:, :2], counts[:, :4].sum(axis=1), np.zeros(40), counts[:, 2:4]]
    assert find_total_columns(table) == {2: [0, 1, 4, 5]}
    assert find_total_columns(np.c_[counts[:, 0], np.zeros(40), counts[:, 0], counts[:, 1]]) == {}


def test_of_runs_that_add_up_the_longest_is_told(counts):
    last = counts[:, 2:].sum(axis=1)
    assert find_total_columns(np.c_[counts, last, last])[6] == [2, 3, 4, 5]


def test_large_columns_before_hide_no_difference(counts):
    """Sums are told from nothing by what is added, not by what stands before it, such as dates."""
    table = np.c_[19_800_000 + np.arange(40.0), counts[:, 0] * 1e-3, counts[:, 1] * 1e-3, counts[:, 2]]
    assert find_total_columns(table) == {}


def test_one_row_that_does_not_add_up_is_enough(counts):
    table = np.c_[counts, counts.sum(axis=1)]
    assert find_total_columns(table) == {6: [0, 1, 2, 3, 4, 5]}
    table[11, 6] += 1.0
    assert find_total_columns(table) == {}


def test_rows_with_missing_values_are_not_looked_at(counts):
    table = np.c_[counts, counts.sum(axis=1)]
    table[3, 2], table[30, 6] = np.nan, np.nan
    assert find_total_columns(table) == {6: [0, 1, 2, 3, 4, 5]}
    table[:31, 2] = np.nan
    assert find_total_columns(table) == {}  # nine rows


@pytest.mark.parametrize("seed", range(20))
def test_answers_and_indicators_add_up_to_nothing_that_is_told(seed):
    draw = np.random.default_rng(seed)
    table = draw.integers(0, draw.integers(2, 7), (draw.integers(10, 100), draw.integers(3, 40))).astype(float)
    assert find_total_columns(table) == {}
    assert find_total_rows(table) == []


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes"])
def test_tables_of_scikit_learn_have_no_totals(name):
    X = getattr(datasets, f"load_{name}")(return_X_y=True)[0]
    assert find_total_columns(X) == {}
    assert find_total_rows(X) == []


def test_a_row_is_the_sum_or_the_mean_of_all_others(counts):
    assert find_total_rows(with_total_row(counts, np.sum)) == [TotalRow(7, False)]
    assert find_total_rows(with_total_row(counts, np.mean)) == [TotalRow(7, True)]
    assert find_total_rows(with_total_row(counts - counts.mean(axis=0), np.sum)) == []  # zeros
    mixed = with_total_row(counts, np.sum)
    mixed[7, 0] = 3.0  # a column of ratios, say
    assert find_total_rows(mixed) == [TotalRow(7, False)]
    mixed[7, 1] = 3.0
    assert find_total_rows(mixed) == []
    assert find_total_rows(counts[:, :2]) == []
    assert find_total_rows(np.r_[counts[:4], counts[:4].sum(axis=0, keepdims=True)]) == []


def test_both_are_warned_of_by_name_with_a_remedy(counts):
    table = pd.DataFrame(counts[:, :3], columns=["apples", "pears", "plums"])
    table["all"] = table.sum(axis=1)
    with pytest.warns(DataWarning, match=r"'all' is the sum of 'apples', 'pears' and 'plums' .* drop=\['all'\]"):
        gn.map(table, "pca")
    with pytest.warns(DataWarning, match=r"row 7 is the sum of all others"):
        warn_of_totals(with_total_row(counts, np.sum))
    with pytest.warns(DataWarning, match=r"is the sum of the 6 columns "):
        warn_of_totals(np.c_[counts, counts.sum(axis=1)])


def test_indicators_of_categories_are_no_summands():
    """A number that counts how often some words were said is no total of their indicators."""
    draw = np.random.default_rng(0)
    words = draw.choice(list("abc"), 40)
    table = pd.DataFrame({"word": words, "x": draw.normal(size=40), "y": draw.normal(size=40)})
    table["z"] = table["y"] + (words == "a")
    gn.map(table, "pca")  # a warning would be an error
