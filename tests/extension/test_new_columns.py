"""Columns of new rows beside those of old ones: their distributions, and those that hold one value alone."""

import math

import numpy as np
import pytest
import scipy
from scipy.stats import fisher_exact, ks_2samp

from gnomon.extension.drift import columns
from gnomon.extension.drift.chance import chance_of_more
from gnomon.extension.drift.columns import (
    Unknown,
    largest_difference,
    measure_columns,
    measure_missing,
    measure_unknown,
)

RNG = np.random.default_rng(0)
OLD = np.column_stack([RNG.normal(size=200), RNG.integers(0, 3, 200), RNG.random(200) < 0.1, np.zeros(200)])
NEW = np.column_stack([RNG.normal(size=90) + 0.5, RNG.integers(0, 3, 90), RNG.random(90) < 0.5, np.zeros(90)])


@pytest.mark.parametrize("made", [np.asarray, scipy.sparse.csr_array])
def test_the_shift_of_a_column_is_the_statistic_of_kolmogorov_and_smirnov(made):
    found = measure_columns(made(OLD), made(NEW))
    expected = [ks_2samp(OLD[:, j], NEW[:, j]).statistic for j in range(3)]
    order = np.argsort(expected)[::-1]
    assert found.columns.tolist() == order.tolist()  # the last column has one value alone in all rows
    np.testing.assert_allclose(found.shifts, np.array(expected)[order], atol=1e-12)
    assert len(found.constant) == 0
    assert 0.0 < found.p_value < 0.01


def test_a_row_of_weight_two_counts_as_two():
    weights = RNG.integers(0, 3, 200).astype(float)
    found = measure_columns(OLD, NEW, weights)
    twice = measure_columns(np.repeat(OLD, weights.astype(int), axis=0), NEW)
    np.testing.assert_allclose(found.shifts, twice.shifts, atol=1e-12)
    np.testing.assert_array_equal(found.columns, twice.columns)
    assert found.p_value > twice.p_value  # but says no more of chance than one


def test_equal_tables_do_not_differ_and_apart_ones_differ_by_one():
    share = np.full(200, 1 / 200)
    np.testing.assert_allclose(largest_difference(OLD, OLD, share), 0.0, atol=1e-12)
    np.testing.assert_allclose(largest_difference(OLD, OLD + 100.0, share), 1.0)


def test_one_value_is_told_only_where_chance_hardly_gives_it():
    new = NEW.copy()
    new[:, 0] = 0.3
    assert measure_columns(OLD, new).constant.tolist() == [0]
    assert measure_columns(OLD, new[:3]).constant.tolist() == [0]
    assert measure_columns(OLD, new[:1]).constant.tolist() == []
    rare = np.zeros((400, 1))
    rare[:8] = 1.0  # nine of ten draws of five rows have none of these
    assert measure_columns(rare, np.zeros((5, 1))).constant.tolist() == []
    assert measure_columns(rare, np.zeros((500, 1))).constant.tolist() == [0]


def test_of_very_many_columns_those_that_vary_most_are_compared(monkeypatch):
    monkeypatch.setattr(columns, "_MOST_COLUMNS", 5)
    scale = np.ones(80)
    scale[[3, 10, 70, 71, 79]] = 10.0
    found = measure_columns(RNG.normal(size=(60, 80)) * scale, RNG.normal(size=(50, 80)) * scale)
    assert sorted(found.columns) == [3, 10, 70, 71, 79]


def test_tables_of_one_value_have_no_column_to_compare():
    found = measure_columns(np.ones((10, 2)), np.ones((4, 2)))
    assert (len(found.columns), len(found.constant), found.p_value) == (0, 0, 1.0)


def lacking(n, share, columns=1):
    return np.arange(n * columns).reshape(n, columns, order="F") % 10 < 10 * share


@pytest.mark.parametrize(("old", "new", "found"), [(0.1, 0.7, [0]), (0.1, 1.0, [0]), (0.1, 0.1, []), (0.7, 0.1, [])])
def test_columns_that_are_missing_more_often_than_by_chance_are_found(old, new, found):
    told = measure_missing((lacking(600, old), lacking(300, new)))
    assert told.columns.tolist() == found
    assert (told.of_old.tolist(), told.of_new.tolist()) == (([old], [new]) if found else ([], []))


def test_the_chance_of_missing_values_is_that_of_fisher():
    table = [[9, 51], [11, 19]]
    expected = fisher_exact([table[1], table[0]], alternative="greater").pvalue
    assert chance_of_more(9, 60, 11, 30) == pytest.approx(expected)
    assert chance_of_more(0, 60, 0, 30) == pytest.approx(1.0)
    assert len(measure_missing((lacking(60, 0.0), np.ones((1, 1), dtype=bool))).columns) == 0  # one row may be chance


def test_the_chance_of_missing_values_is_that_of_all_columns():
    old, new = np.zeros((60, 30), dtype=bool), np.zeros((30, 30), dtype=bool)
    old[:2, 3] = new[:8, 3] = True
    chance = chance_of_more(2, 60, 8, 30)
    for count, found in ((1, [0]), (math.floor(0.0025 / chance), [0]), (math.floor(0.0025 / chance) + 1, [])):
        of_first = [3, *(j for j in range(30) if j != 3)][:count]
        assert measure_missing((old[:, of_first], new[:, of_first])).columns.tolist() == found
    often = np.arange(400)[:, None] < [40, 40, 80, 80]  # a tenth more of the old is no more than is usual
    told = measure_missing((often, np.arange(4000)[:, None] < [800, 804, 1200, 1640]))
    assert told.columns.tolist() == [3, 1]  # the largest difference first
    assert told.of_new.tolist() == [0.41, 0.201]


def test_filled_values_are_not_compared():
    gaps = lacking(200, 0.5, 4), lacking(90, 0.5, 4)
    filled = NEW.copy()
    filled[gaps[1]] = 50.0
    found = measure_columns(OLD, filled, missing=gaps)
    known = [ks_2samp(OLD[~gaps[0][:, j], j], NEW[~gaps[1][:, j], j]).statistic for j in range(3)]
    np.testing.assert_allclose(found.shifts[np.argsort(found.columns)][:3], known, atol=1e-12)
    assert len(found.constant) == 0
    gaps[1][:, 0] = True
    assert measure_columns(OLD, filled, missing=gaps).shifts[-1] == 0.0  # nothing is known of it
    none = np.zeros(OLD.shape, dtype=bool), np.zeros(NEW.shape, dtype=bool)
    same, plain = measure_columns(OLD, NEW, missing=none), measure_columns(OLD, NEW)
    np.testing.assert_array_equal(same.shifts, plain.shifts)
    assert (same.by_chance, same.p_value) == (plain.by_chance, plain.p_value)


@pytest.mark.parametrize(("single", "count", "chance"), [(0, 8, False), (0, 3, True), (20, 8, True), (20, 90, False)])
def test_unknown_categories_are_chance_where_as_many_old_rows_have_one_of_their_own(single, count, chance):
    found = measure_unknown([Unknown("a", "'x'", 1, 5), Unknown("b", "'y'", count, single)], 300, 100, 2)
    place = found.names.index("b")
    assert found.names == ("b", "a")
    assert found.of_new[place] == count / 100
    table = [[count, 100 - count], [single + 1, 299 - single]]
    assert found.by_chance[place] == (2 * fisher_exact(table, "greater").pvalue > 0.0025) == chance


@pytest.mark.parametrize("single", [0, 1, 5, 299, 300])
def test_unknown_categories_are_chance_up_to_one_draw_of_four_hundred(single):
    told = []
    for count in range(1, 101):
        (by_chance,) = measure_unknown([Unknown("b", "'y'", count, single)], 300, 100, 3).by_chance
        of_old = min(single + 1, 300)
        table = [[count, 100 - count], [of_old, 300 - of_old]]
        assert by_chance == (3 * fisher_exact(table, "greater").pvalue > 0.0025)
        told.append(by_chance)
    assert told[0]
    assert all(told) == (single > 100)


def test_the_mean_of_columns_with_rare_values_is_alike_by_chance():
    low = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        levels = [(rng.integers(0, 5, size=(700, 1)) == np.arange(5)).astype(float) for _ in range(8)]
        table = np.hstack([*levels, (rng.random((700, 200)) < 0.01).astype(float)])
        found = measure_columns(table[:400], table[400:])
        assert found.n_together > 200
        low += found.together_p_value < 0.05
    assert low <= 3  # the mean and spread of the old rows alone made it 20
