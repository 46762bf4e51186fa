"""Borders of two groups: no gap is denied where hardly any row is as near to both, however density differs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import binom
from sklearn.datasets import make_swiss_roll

from gnomon.evaluation import are_apart, is_continuum, is_real
from gnomon.evaluation.gaps.borders import Border, Radii
from gnomon.evaluation.gaps.judgement import Ground


def rays(seed, n=400, d=6):
    """Draw two rays from near one place, along which density falls and width grows: groups that do not mix anywhere."""
    rng = np.random.default_rng(seed)
    along, a = np.exp(rng.uniform(0.0, 3.7, n)), np.arange(n) < n // 2
    X = 0.25 * along[:, None] * rng.normal(size=(n, d))
    X[a, 0] += along[a]
    X[~a, 1] += along[~a]
    return X, a


@pytest.mark.parametrize("seed", [0, 1])
def test_a_gap_in_a_dense_corner_is_not_denied(seed, monkeypatch):
    X, a = rays(seed)
    for ask in (lambda: are_apart(X, None, a, ~a, n_nulls=19), lambda: is_continuum(X, None, a, ~a, n_nulls=19)):
        found = ask()
        assert (found.answer, found.finding) == ("cannot be told", "hardly a row as near to both")
        assert found.interval[1] == math.inf
        assert "hardly any row is as near to one side as to the other (" in found.sentence
        assert found.told_apart > 0.95
    long = X[a, 0] > np.median(X[a, 0])
    assert are_apart(X[a], None, long, ~long, n_nulls=19).answer != "yes"
    monkeypatch.setattr(Ground, "_unsure_border", lambda *_: None)
    assert are_apart(X, None, a, ~a, n_nulls=19).answer == "no"  # which the fall of density alone says


def annuli(seed, n=100, thick=0.1):
    """Draw rows of two rings around each other, without one of them between their edges at 0.55 and 0.95."""
    rng = np.random.default_rng(seed)
    a, angle = np.arange(2 * n) < n, rng.uniform(0.0, 2.0 * np.pi, 2 * n)
    radius = np.where(a, 0.45, 0.95) + thick * rng.uniform(size=2 * n)
    return radius[:, None] * np.c_[np.cos(angle), np.sin(angle)], a


@pytest.mark.parametrize("seed", [0, 1])
def test_a_gap_between_thin_rings_that_fifteen_neighbours_reach_over_is_not_denied(seed, monkeypatch):
    X, a = annuli(seed)
    for found in (are_apart(X, None, a, ~a, n_nulls=19), is_real(X, None, a, n_nulls=19)):
        assert (found.answer, found.interval[1]) == ("cannot be told", math.inf)
        assert "The 15 neighbours of a density may reach over a gap there" in found.sentence
    monkeypatch.setattr(Ground, "_unsure_border", lambda *_: None)
    assert are_apart(X, None, a, ~a, n_nulls=19).answer == "no"  # which densities alone say


def test_an_empty_gap_is_found_by_rows_counted_at_the_border():
    """By the binomial law, with chance held down by the fall that five neighbours tell."""
    X, a = annuli(0, n=200)
    for found in (are_apart(X, X, a, ~a, n_nulls=39), is_real(X, X, a, n_nulls=39)):
        assert (found.answer, found.finding, found.in_map) == ("yes", "two groups", "yes")
        assert found.unit == "fall of log density between the groups as rows counted at their border tell it"
        assert found.interval[0] >= math.log(4.0)
        assert found.interval[0] <= found.statistic <= found.interval[1]
        assert found.p_value == pytest.approx(2.0 / 40.0)
        assert found.sentence.startswith("Between ")
        assert "as near to one side as to the other, where " in found.sentence
        assert found.rests_on.startswith("400 rows, densities of 5 neighbours, 78 tables")
    assert is_continuum(X, None, a, ~a, n_nulls=39).answer == "no"
    assert are_apart(X, None, a, ~a, n_nulls=19).answer != "yes"  # twice 1 / 20 is more than alpha
    turned = np.arctan2(X[:, 1], X[:, 0]) > 0.0
    assert are_apart(X, None, turned, ~turned, n_nulls=39).answer != "yes"  # halves that both rings join


def test_counts_at_a_border_join_bound_and_part_by_the_binomial_law():
    for between in range(40):
        border = Border(between, 40, True, between // 2)
        assert border.is_below(0.25, 0.05) == (binom.cdf(between, between + 40, 0.2) <= 0.05)
        assert border.joins(0.25, 0.05) == (binom.sf(between - 1, between + 40, 0.2) <= 0.05)
        thin = binom.cdf(between, between + 40, 0.5) <= 0.05 and between <= 24
        assert border.is_thin(0.05) == thin
        assert not Border(between, 40, True, width=1.1).is_thin(0.05)
        estimate, low, high = border.fall(0.05)
        assert low < estimate < high
        assert binom.cdf(between, between + 40, 1.0 / (1.0 + math.exp(low))) == pytest.approx(0.05)
        if between:
            assert binom.sf(between - 1, between + 40, 1.0 / (1.0 + math.exp(high))) == pytest.approx(0.05)
        assert border.is_below(0.25, 0.05) == (low >= math.log(4.0))
    assert Border(0, 40, True).fall(0.05)[2] == math.inf
    assert Border(0, 0, True).fall(0.05)[1] == -math.inf
    assert not Border(0, 40, False).is_below(0.25, 0.05)
    assert Border(0, 40, False).joins(0.25, 0.05)  # the two are mixed
    assert not Border(20, 20, True, 0).joins(0.25, 0.05)  # rows of one side alone join nothing
    assert Border(20, 20, True, 6).joins(0.25, 0.05)


def test_windows_along_an_even_line_hold_as_many_rows_between_as_beside():
    line = np.arange(2000.0)[:, None]
    radii, a = Radii(line), line[:, 0] < 1000
    for k in (15, 8, 5):
        near = Border.of(radii, a, ~a, k, windows="near")
        assert near.between == pytest.approx(near.peak, abs=3)
        assert near.fewer == pytest.approx(0.5 * near.between, abs=1)
        assert near.joins(0.25, 0.05) == (k > 5)  # of ten rows, four and six, one cannot be sure
    wide = Border.of(radii, a, ~a, windows="wide")
    assert wide.width > 2.0 > near.width
    assert not wide.is_thin(0.05)


def test_rows_of_neither_count_at_a_border():
    along = np.linspace(0.0, 30.0, 600)
    thread = np.c_[along, 0.01 * np.random.default_rng(0).normal(size=(600, 1))]
    ends = along < 10.0, along > 20.0
    assert are_apart(thread, None, *ends, n_nulls=19).answer == "no"
    assert is_real(thread, None, ends[0], n_nulls=19).answer == "no"
    assert Border.of(Radii(thread), *ends).is_sharp(0.25, 0.05)  # of the two alone there is one


def test_radii_are_distances_to_the_fifteenth_neighbour_in_a_group():
    X = np.random.default_rng(0).normal(size=(300, 3))
    radii, distances = Radii(X), cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    for group, k in ((np.arange(300) < 40, 15), (np.arange(300) % 2 == 0, 15), (np.arange(300) < 9, 8)):
        np.testing.assert_allclose(radii.to(group), np.sort(distances[:, group], axis=1)[:, k - 1], rtol=1e-9)
        np.testing.assert_allclose(radii.to(group, 5), np.sort(distances[:, group], axis=1)[:, 4], rtol=1e-9)


def test_rows_along_an_even_line_are_as_many_at_the_border_as_beside_it():
    line = np.arange(400.0)[:, None]
    found = Border.of(Radii(line), line[:, 0] < 200, line[:, 0] >= 200)
    assert found.in_order
    assert found.between == pytest.approx(found.peak, abs=2)
    assert not found.is_sharp(0.25, 0.05)
    moved = np.where(line < 200, line, line + 60)  # 8 radii of the rows beside it
    gap = Border.of(Radii(moved), line[:, 0] < 200, line[:, 0] >= 200)
    assert gap.is_sharp(0.25, 0.05)


def test_a_border_is_sharp_where_rows_are_surely_fewer_and_below_a_share():
    for between in range(40):
        fewer = binom.cdf(between, between + 40, 0.5) <= 0.05
        assert Border(between, 40, True).is_sharp(0.25, 0.05) == (fewer and between < 10)
    assert not Border(0, 40, False).is_sharp(0.25, 0.05)
    assert not Border(0, 4, True).is_sharp(0.25, 0.05)  # chance alone leaves so few out


def test_equal_rows_have_no_border():
    a = np.arange(80) < 40
    assert not Border.of(Radii(np.zeros((80, 2))), a, ~a).in_order
    assert not Border.of(Radii(np.repeat([[0.0], [1.0]], 40, axis=0)), a, ~a).in_order


def turns(seed, n):
    """Draw rows of a roll, and which lie on its inner half: the halves face each other, and meet along one line."""
    X, along = make_swiss_roll(n, noise=0.1, random_state=seed)
    return X, along < np.median(along)


@pytest.mark.parametrize(("seed", "n"), [(0, 400), (0, 800), (1, 800)])
def test_halves_of_a_roll_are_not_said_to_keep_apart_where_they_meet(seed, n, monkeypatch):
    X, a = turns(seed, n)
    found = are_apart(X, None, a, ~a, n_nulls=19)
    assert found.answer != "yes"
    assert found.finding in ("too few rows as near to both", "one group")
    monkeypatch.setattr(Border, "where_they_meet", property(lambda border: border))
    assert are_apart(X, None, a, ~a, n_nulls=19).finding == "hardly a row as near to both"


def test_rows_beside_a_border_count_near_rows_between():
    """Two sheets side by side that go over into each other at one edge."""
    places = np.stack(np.meshgrid(np.arange(40.0), np.arange(20.0)), axis=-1).reshape(-1, 2)
    sheets = np.concatenate([np.c_[places, np.zeros(800)], np.c_[places, np.full(800, 4.0)]])
    edge = np.c_[np.full(60, -1.0), np.tile(np.arange(20.0), 3), np.repeat([1.0, 2.0, 3.0], 20)]
    X, a = np.concatenate([sheets, edge]), np.r_[np.arange(1600) < 800, edge[:, 2] < 2.0]
    border = Border.of(Radii(X), a, ~a)
    assert border.is_thin(0.05)
    assert not border.where_they_meet.is_thin(0.05)
    assert border.where_they_meet.between == border.between > 2
    X, a = rays(1)  # one row between them is a stray
    border = Border.of(Radii(X), a, ~a)
    assert border.between <= 2
    assert border.where_they_meet.peak == border.peak


def test_distances_to_the_nearest_of_some_rows_leave_out_the_row_itself():
    X = np.random.default_rng(0).normal(size=(50, 3))
    distances, rows = cdist(X, X), np.arange(50) < 7
    np.fill_diagonal(distances, np.inf)
    np.testing.assert_allclose(Radii(X).nearest(rows), distances[:, rows].min(axis=1), rtol=1e-9)
