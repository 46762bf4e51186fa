"""Borders of two groups: no gap is denied where hardly any row is as near to both, however density differs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import binom

from gnomon.evaluation import are_apart, is_continuum, is_real
from gnomon.evaluation.gaps.borders import Border, Radii


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
    monkeypatch.setattr(Border, "is_sharp", lambda *_: False)
    assert are_apart(X, None, a, ~a, n_nulls=19).answer == "no"  # which the fall of density alone says


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
