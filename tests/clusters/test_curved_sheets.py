"""Sheets that bend through many columns are no clusters, though the straight line between two parts is empty."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gnomon import find_clusters
from gnomon.clusters import path, splits
from gnomon.clusters.border import FALL, HeldOutNeighbors
from gnomon.clusters.path import falls_on_every_path


def plots_along_two_gradients(seed, n=200, n_species=60, width=0.15):
    """Count species that each have an optimum in a plane of two conditions, in plots spread evenly over it."""
    draw = np.random.default_rng(seed)
    places, optima = draw.uniform(size=(n, 2)), draw.uniform(-0.1, 1.1, size=(n_species, 2))
    tolerances = width * np.exp(0.3 * draw.normal(size=n_species))
    heights = 20.0 * np.exp(0.8 * draw.normal(size=n_species))
    squares = np.square(places[:, None] - optima).sum(axis=2)
    counts = draw.poisson(heights * np.exp(-squares / (2.0 * tolerances**2))).astype(np.float64)
    return counts[:, counts.sum(axis=0) > 0]


@pytest.mark.parametrize("seed", [0, 6, 9, 11])
def test_plots_along_two_gradients_are_no_clusters(seed, monkeypatch):
    X = np.log1p(plots_along_two_gradients(seed))
    assert not find_clusters(X, random_state=0)
    monkeypatch.setattr(splits, "falls_on_every_path", lambda *_: True)
    assert find_clusters(X, random_state=0)  # which straight lines alone say


def clouds(apart, d, n=100):
    X = np.random.default_rng(0).normal(size=(2 * n, d))
    is_second = np.arange(2 * n) >= n
    X[is_second, 0] += apart
    return X, is_second


def test_density_falls_on_every_path_between_clouds_and_not_within_one():
    assert falls_on_every_path(*clouds(7.0, 3), FALL)
    assert not falls_on_every_path(*clouds(0.0, 3), FALL)
    sheet = np.random.default_rng(0).uniform(size=(300, 2))
    rolled = np.c_[np.cos(4.0 * sheet[:, 0]), np.sin(4.0 * sheet[:, 0]), sheet[:, 1]]
    assert not falls_on_every_path(rolled, sheet[:, 0] > 0.5, FALL)
    kept = np.abs(sheet[:, 0] - 0.5) > 0.15
    assert falls_on_every_path(rolled[kept], sheet[kept, 0] > 0.5, FALL)


def test_no_fall_is_asked_for_where_none_would_be_seen():
    X, is_second = clouds(7.0, 3)
    mixed = np.random.default_rng(0).permutation(is_second)
    assert not falls_on_every_path(X, mixed, FALL)
    few = np.r_[np.flatnonzero(~mixed)[:29], np.flatnonzero(mixed)]
    assert falls_on_every_path(X[few], mixed[few], FALL)  # no density is told of 29 rows
    assert falls_on_every_path(*clouds(5.0, 40), FALL)


def test_of_many_rows_some_are_looked_at(monkeypatch):
    seen = []
    monkeypatch.setattr(path, "planted_falls", lambda sizes, *_: seen.append(sizes) or np.zeros(1))
    falls_on_every_path(*clouds(7.0, 3, n=700), FALL)
    assert seen == [(250, 250)]


def test_a_border_is_smoothed_where_neighbourhoods_are_wider_than_half_the_distance(monkeypatch):
    X, is_second = clouds(3.0, 2)
    found = HeldOutNeighbors.of(X, np.random.default_rng(1).normal(size=(50, 2)))
    rows = np.flatnonzero(~is_second), np.flatnonzero(is_second)
    monkeypatch.setattr(HeldOutNeighbors, "fall", lambda *_: (math.inf, 1.0))
    assert found.is_smoothed(*rows, 2.0)
    assert not found.is_smoothed(*rows, 2.1)
