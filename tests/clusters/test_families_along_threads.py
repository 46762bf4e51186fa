"""One-parameter families of profiles are no clusters, whatever direction parts their ends; missing stretches do."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon import find_clusters
from gnomon.clusters import thread
from gnomon.clusters.border import HeldOutNeighbors
from gnomon.clusters.splits import Group, _Ground
from gnomon.clusters.thread import thinning_along_thread
from gnomon.clusters.tree import DensityTree
from gnomon.evaluation.gaps.lines import THIN


def _lines(places, width, noise, draw):
    """Return a line at each place on 200 pixels."""
    pixels = np.linspace(-0.5, 1.5, 200)
    profiles = np.exp(-(((pixels - places[:, None]) / width) ** 2))
    return profiles + noise * draw.normal(size=profiles.shape)


def _places(n, draw, missing=None):
    places = draw.uniform(size=3 * n)
    if missing is not None:
        places = places[(places < missing[0]) | (places > missing[1])]
    return places[:n]


@pytest.mark.parametrize(("n", "width", "noise"), [(300, 0.1, 0.02), (800, 0.05, 0.02), (800, 0.1, 0.002)])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_line_that_moves_evenly_makes_no_clusters(n, width, noise, seed):
    draw = np.random.default_rng(seed)
    found = find_clusters(_lines(_places(n, draw), width, noise, draw), random_state=0)
    assert set(found.labels.tolist()) == {-1}


@pytest.mark.parametrize(("n", "width", "noise"), [(300, 0.1, 0.02), (800, 0.05, 0.02), (800, 0.2, 0.05)])
def test_where_no_line_is_two_clusters_part(n, width, noise):
    draw = np.random.default_rng(0)
    places = _places(n, draw, (0.45, 0.6))
    found = find_clusters(_lines(places, width, noise, draw), random_state=0)
    sides = places > 0.5
    known = found.labels >= 0
    assert known.mean() > 0.9
    assert not set(found.labels[known & sides].tolist()) & set(found.labels[known & ~sides].tolist())


def _arc(n, draw, thin=0.0):
    """Return rows on three quarters of a circle in four columns; of a share in the middle six of seven are missing."""
    angle = 1.5 * np.pi * draw.uniform(size=n)
    middle = 0.75 * np.pi
    angle = angle[(np.abs(angle - middle) >= 0.75 * np.pi * thin) | (draw.uniform(size=n) < 1 / 7)]
    rows = np.column_stack([np.cos(angle), np.sin(angle), np.zeros((len(angle), 2))])
    return rows + 0.01 * draw.normal(size=rows.shape), angle > middle


def test_p_values_along_a_thread_are_those_of_chance():
    p_values = []
    for seed in range(60):
        rows, is_second = _arc(200, np.random.default_rng(seed))
        found = thinning_along_thread(rows, is_second, np.arange(len(rows)) % 2 == 0)
        assert found is not None
        p_values.append(found.p_value)
    for level in (0.05, 0.2):
        assert np.mean(np.array(p_values) <= level) <= level + 3.0 * np.sqrt(level * (1.0 - level) / len(p_values))


def test_a_thin_stretch_of_a_thread_is_seen_along_it():
    rows, is_second = _arc(600, np.random.default_rng(0), thin=0.15)
    found = thinning_along_thread(rows, is_second, np.arange(len(rows)) % 2 == 0)
    assert found is not None
    assert found.p_value <= 1e-3
    assert found.share < 0.5


def test_rows_have_the_order_of_the_thread():
    rows, is_second = _arc(150, np.random.default_rng(1))
    order = thread._order(rows, is_second)
    angle = np.arctan2(rows[order, 1], rows[order, 0]) % (2.0 * np.pi)
    angle[angle > 1.75 * np.pi] -= 2.0 * np.pi
    places = np.argsort(np.argsort(angle))
    assert abs(np.corrcoef(places, np.arange(150))[0, 1]) > 0.999


@pytest.mark.parametrize("d", [2, 5, 30])
def test_clouds_and_pairs_of_clouds_are_no_threads(d):
    for apart in (0.0, 4.0, 6.0):
        rows = np.random.default_rng(0).normal(size=(200, d))
        rows[100:, 0] += apart
        assert thinning_along_thread(rows, np.arange(200) >= 100, np.arange(200) % 2 == 0) is None


def test_few_rows_are_not_judged():
    rows, is_second = _arc(20, np.random.default_rng(0))
    assert thinning_along_thread(rows, is_second, np.arange(len(rows)) % 2 == 0) is None
    for n in (23, 24):
        order = thread._order_on_thread(np.eye(n, k=1) + np.eye(n, k=-1))
        assert n < 24 if order is None else sorted([order[0], order[-1]]) == [0, n - 1]


def test_rows_of_one_group_alone_are_not_judged():
    rows, _ = _arc(100, np.random.default_rng(0))
    for side in (False, True):
        assert thinning_along_thread(rows, np.full(len(rows), side), np.arange(len(rows)) % 2 == 0) is None


def test_a_fall_that_just_holds_is_looked_at_along_the_thread():
    rows, _ = _arc(200, np.random.default_rng(0))
    learned, held_out = rows[::2], rows[1::2]
    tree = DensityTree.of(learned, learned, 20)
    ground = _Ground(tree, learned, held_out, HeldOutNeighbors.of(learned, held_out))
    one, other = (Group(part.rows, part.leaves, part.start) for part in tree.parts if part.children is None)
    assert ground._along_thread(one, other, 1e-4, THIN) == (1.0, np.inf)
    assert ground._along_thread(one, other, 1e-4, THIN + 0.01) == (1e-4, THIN + 0.01)  # fails as it is
