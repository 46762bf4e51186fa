"""Groups of several clouds are judged where parts of both lie in one, so that no far cloud hides that they join."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gnomon.evaluation import are_apart, is_continuum, is_real
from gnomon.evaluation.gaps.falls import _clouds, _strays, fall_between
from gnomon.evaluation.gaps.saddles import Landscape

FAST = {"n_nulls": 19}
LIMIT = math.log(4.0)


def moons(n=400, seed=0):
    """Two moons, which of them a row is of, and where along it, from 0 to pi."""
    rng = np.random.default_rng(seed)
    moon, along = np.arange(n) % 2, rng.uniform(0, np.pi, n)
    points = np.c_[np.cos(along), np.sin(along)] * (1 - 2 * moon)[:, None] + np.outer(moon, [1.0, 0.5])
    return points + 0.05 * rng.normal(size=(n, 2)), moon, along


def three(sizes=(100, 100, 100), gap=12.0, seed=0):
    """Three clouds on a line."""
    groups = np.repeat(np.arange(3), sizes)
    return np.random.default_rng(seed).normal(size=(len(groups), 3)) + gap * groups[:, None] * np.eye(3)[0], groups


@pytest.mark.parametrize(("seed", "at"), [(0, 2.0), (1, 0.8)])
def test_part_of_a_moon_is_not_apart_from_its_rest_and_the_other_moon(seed, at):
    X, moon, along = moons(seed=seed)
    part = (moon == 0) & (along < at)
    for a, b in ((part, ~part), (~part, part)):
        found = are_apart(X, None, a, b, names=("P", "Q"), columns={}, **FAST)
        assert found.answer == "no"
        name = "Q" if a is part else "P"
        share = np.mean(moon[~part] == 0)
        assert f"{100 * share:.0f} % of {name}" in found.sentence
        assert is_continuum(X, None, a, b, **FAST).answer == "yes"
        assert is_real(X, None, a, **FAST).answer == "no"
    alone = moon == 0
    assert are_apart(X[alone], None, part[alone], ~part[alone], **FAST).answer == "no"


def test_groups_of_whole_clouds_are_apart_however_many_they_hold():
    X, groups = three()
    landscape = Landscape.of(X)
    nearest = fall_between(landscape, groups == 1, groups != 1, limit=LIMIT)
    pairs = [fall_between(landscape, groups == 1, groups == one, limit=LIMIT).value for one in (0, 2)]
    assert nearest.value == min(pairs) > LIMIT
    assert nearest.strays == (0, 0)
    found = are_apart(X, None, groups == 1, groups != 1, **FAST)
    assert found.answer == "yes"
    assert found.sentence.startswith("Between A and B, ")
    assert found.sentence.endswith(": a gap.")


@pytest.mark.parametrize("n_clouds", [3, 5, 8])
def test_sides_of_many_clouds_are_apart_in_whatever_order_these_join(n_clouds):
    """Clouds of one side join those of the other before enough of their own."""
    draw = np.random.default_rng(n_clouds)
    grid = np.stack(np.meshgrid(range(6), range(6)), axis=-1).reshape(-1, 2)
    centers = 12.0 * grid[draw.permutation(36)[: 2 * n_clouds]]
    cloud = np.repeat(np.arange(2 * n_clouds), 50)
    X = centers[cloud] + draw.normal(size=(len(cloud), 2))
    side = cloud < n_clouds
    for a, b in ((side, ~side), (cloud == 0, cloud > 0), (cloud < 2, cloud >= 2)):
        found = are_apart(X, None, a, b, columns={}, **FAST)
        assert found.answer == "yes"
        assert found.sentence.endswith(": a gap.")
        assert is_continuum(X, None, a, b, columns={}, **FAST).answer == "no"
    # Clouds that are dealt to both sides join them, however many they are.
    for dealt in (max(1, n_clouds // 2), n_clouds, 2 * n_clouds):
        mixed = side ^ ((cloud < dealt) & (draw.random(len(cloud)) < 0.5))
        assert are_apart(X, None, mixed, ~mixed, **FAST).answer != "yes"


@pytest.mark.parametrize(("n_between", "are_seen"), [(200, True), (500, False)])
def test_clouds_decide_only_where_half_of_the_rows_of_each_side_lie_in_them(n_between, are_seen):
    draw = np.random.default_rng(1)
    cloud = np.repeat(np.arange(12), 35)
    clouds = draw.uniform(-60, 60, size=(12, 2))[cloud] + 0.5 * draw.normal(size=(420, 2))
    X = np.r_[clouds, draw.uniform(-60, 60, size=(n_between, 2))]
    side = np.r_[cloud < 6, draw.random(n_between) < 0.5]
    landscape = Landscape.of(X)
    assert fall_between(landscape, side, ~side, limit=math.inf).value == 0.0
    assert (fall_between(landscape, side, ~side, limit=LIMIT).value > 0.0) == are_seen


def test_the_fall_of_parts_is_that_of_their_cloud_alone():
    """Half of one cloud and a second against the other half and a third: the halves decide."""
    X, groups = three()
    half = X[:, 1] > 0
    a = (groups == 1) | ((groups == 0) & half)
    b = (groups == 2) | ((groups == 0) & ~half)
    landscape = Landscape.of(X)
    for island in (False, True):
        found = fall_between(landscape, a, b, island=island, limit=LIMIT)
        np.testing.assert_array_equal(found.a, a & (groups == 0))
        np.testing.assert_array_equal(found.b, b & (groups == 0))
        assert found.value == fall_between(landscape, found.a, found.b, island=island, limit=math.inf).value < LIMIT
    # A fall that is not above the limit is that of the whole groups.
    above = fall_between(landscape, a, b, limit=math.inf)
    np.testing.assert_array_equal(above.a, a)
    assert above.value > LIMIT


def test_a_part_counts_from_an_eighth_of_the_smaller_group_and_fifteen_rows_on():
    X, groups = three((400, 300, 100))
    landscape = Landscape.of(X)
    for of_smaller, moved, counts in ((320, 40, True), (320, 39, False), (160, 20, True), (160, 19, False)):
        a = np.isin(np.arange(800), np.arange(400)[: of_smaller + moved])
        b = (groups > 0) | np.isin(np.arange(800), np.arange(400)[:moved])
        a &= ~b
        assert np.count_nonzero(a) == of_smaller
        found = fall_between(landscape, a, b, limit=LIMIT)
        assert (found.value < LIMIT) == counts
        assert found.strays == (0, 0 if counts else moved)


def test_strays_are_counted_in_clouds_of_which_the_other_group_holds_a_larger_share():
    a, b = np.arange(20) < 8, np.arange(20) >= 8
    clouds = [np.isin(np.arange(20), rows) for rows in ([0, 1, 2, 3, 4, 5, 8, 9], [6, 10, 11, 12, 13], [7, 14, 15])]
    assert _strays(clouds, a, b) == (1 + 1, 2)
    assert _strays(clouds, b, a) == (2, 1 + 1)
    assert _strays([np.ones(20, bool)], a, b) == (8, 0)  # as large a share: not in a cloud of the first


@pytest.mark.parametrize(("moved", "told"), [(3, ""), (20, " But 12 % of Q lies in one cloud with P.")])
def test_what_part_of_a_group_lies_with_the_other_is_told_beside_a_gap(moved, told):
    X, groups = three((250, 120, 30))
    b = (groups > 0) | (np.arange(400) < moved)
    found = are_apart(X, None, ~b, b, names=("P", "Q"), columns={}, **FAST)
    assert found.answer == "yes"
    assert found.sentence.endswith(f": a gap.{told}")
    assert are_apart(X, None, b, ~b, names=("Q", "P"), columns={}, **FAST).sentence.endswith(f": a gap.{told}")


def test_parts_of_too_few_rows_for_a_cloud_are_not_told_to_lie_with_what_they_are_parted_from():
    rng = np.random.default_rng(0)
    part = np.arange(200) // 25  # eight clouds of 25 rows, far apart: none is of thirty
    X = np.c_[12.0 * np.cos(part * np.pi / 4), 12.0 * np.sin(part * np.pi / 4)] + 0.5 * rng.normal(size=(200, 2))
    landscape = Landscape.of(X)
    for a in (part < 2, np.isin(part, [0, 4])):
        found = fall_between(landscape, a, ~a, island=True, limit=LIMIT)
        assert found.value >= LIMIT
        assert found.strays == (0, 0)


def test_clouds_are_those_of_drawn_groups():
    X, groups = three()
    found = _clouds(Landscape.of(X), LIMIT)
    assert len(found) == 3
    for cloud in found:
        assert len(np.unique(groups[cloud])) == 1
        assert np.count_nonzero(cloud) > 90
    np.testing.assert_array_equal(_clouds(Landscape.of(X), 100.0), np.ones((1, 300), bool))


def test_a_row_that_joins_islands_only_after_they_are_parted_is_in_none():
    """0 and 1, 2 and 3, 5 and 6 are pairs; the first two join at 8, then 4 joins them at 9 and the third at 20."""
    merges = [[0, 1, 1], [2, 3, 1], [5, 6, 1], [7, 8, 8], [10, 4, 9], [11, 9, 20]]
    tree = np.c_[np.array(merges, dtype=float), [2, 2, 2, 4, 5, 7]]
    landscape = Landscape(np.array([1.0, 1.0, 1.0, 1.0, 9.0, 1.0, 1.0]), tree, 1.0)
    assert landscape.islands(2.0, 2).tolist() == [0, 0, 1, 1, -1, 2, 2]
    assert landscape.islands(2.0, 3).tolist() == [-1] * 7  # the smaller part has two rows
    assert landscape.islands(2.5, 2).tolist() == [0, 0, 0, 0, 0, 1, 1]  # log 8 is less: they are one island
