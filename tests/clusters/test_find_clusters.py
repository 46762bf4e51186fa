"""Clusters: what the parts compute, what is found where the truth is known, and that nothing is claimed in noise."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import binom
from sklearn.metrics import adjusted_rand_score

import gnomon as gn
from gnomon.clusters import halves, votes
from gnomon.clusters.border import HeldOutNeighbors
from gnomon.clusters.levels import default_level, nested_levels
from gnomon.clusters.naming import _made_unique, name_level
from gnomon.clusters.reach import are_neighbors, reaches
from gnomon.clusters.splits import Group, _Ground, _nearer_parts, shown_splits
from gnomon.clusters.steps import _levels, noise_of_steps
from gnomon.clusters.thinning import thinning
from gnomon.clusters.tree import DensityTree
from gnomon.exceptions import DataWarning
from gnomon.neighbors import RowSearch


def _nested(n=600, seed=0):
    """Three groups by features 0 to 2; the first falls into two by feature 3, the others do not."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, 12))
    groups = np.arange(n) % 3
    X[np.arange(n), groups] += 18.0
    inner = (groups == 0) & (np.arange(n) // 3 % 2 == 0)
    X[inner, 3] += 8.0
    return X, groups, np.where(inner, 3, groups)


@pytest.fixture(scope="module")
def found():
    X, groups, fine = _nested()
    return gn.find_clusters(X), groups, fine


_NOISE = {
    "normal": lambda draw: draw.normal(size=(300, 8)),
    "correlated": lambda draw: draw.normal(size=(300, 8)) @ draw.normal(size=(8, 8)),
    "even": lambda draw: draw.uniform(size=(300, 2)),
    "heavy": lambda draw: draw.standard_t(2, size=(300, 8)),
}


# The tree of density.


def test_two_blobs_are_two_parts_that_join_last():
    draw = np.random.default_rng(0)
    points = draw.normal(size=(80, 2))
    points[40:] += 30.0
    tree = DensityTree.of(points, points, 30)
    last = tree.parts[-1]
    assert len(last) == 80
    assert {frozenset(tree.parts[child].rows.tolist()) for child in last.children} == {
        frozenset(range(40)),
        frozenset(range(40, 80)),
    }
    assert tree.splits() == [len(tree.parts) - 1]
    assert last.start == pytest.approx(float(np.linalg.norm(points[:40].mean(0) - points[40:].mean(0))))
    peaks = max(tree.parts[child].start for child in last.children)
    assert tree.fall(tree.splits()[0]) == pytest.approx(math.log(last.start / peaks))


def test_parts_hold_their_children_and_small_ones_can_be_dropped():
    draw = np.random.default_rng(1)
    points = draw.normal(size=(200, 2)) + np.repeat([[0, 0], [12, 0], [40, 0], [40, 9]], [80, 20, 60, 40], axis=0)
    tree = DensityTree.of(points, points, 10)
    for part in tree.parts:
        for child in part.children or ():
            assert set(tree.parts[child].rows) <= set(part.rows)
            assert tree.parts[child].leaves < part.leaves
            assert tree.parts[child].start <= part.start
    everything = tree.parts[-1].leaves
    sizes = sorted(len(part) for part in tree.parts_within(everything, 30))
    assert sizes == [40, 60, 100]  # the 20 no longer count, so the 80 and they are one
    assert tree.parts_within(everything, 150) == [tree.parts[-1]]
    apart = [part for part in tree.parts if part.children is None and len(part) in (20, 60)]
    two = frozenset().union(*(part.leaves for part in apart))
    found = tree.parts_within(two, 30)
    assert [len(part) for part in found] == [60]  # of a group of both, the part that is large enough
    (both,) = tree.parts_within(two, 70)  # neither is
    assert both.leaves == two
    assert both.start == min(part.start for part in apart)
    assert len(both) == 80


def test_each_generation_of_splits_comes_after_its_children():
    draw = np.random.default_rng(1)
    points = draw.normal(size=(200, 2)) + np.repeat([[0, 0], [12, 0], [40, 0], [40, 9]], 50, axis=0)
    tree = DensityTree.of(points, points, 10)
    done = {number for number, part in enumerate(tree.parts) if part.children is None}
    for numbers in tree.generations():
        assert all(set(tree.parts[number].children) <= done for number in numbers)
        done |= set(numbers)
    assert done == set(range(len(tree.parts)))


def test_pieces_of_an_embedding_join_in_the_order_in_which_they_are_near_in_the_data():
    draw = np.random.default_rng(2)
    group = np.repeat([0, 1, 2], 60)
    points = draw.normal(size=(180, 2)) + np.array([[0.0, 0.0], [90.0, 0.0], [30.0, 0.0]])[group]
    places = draw.normal(size=(180, 4)) + np.array([0.0, 30.0, 60.0])[group, None]
    tree = DensityTree.of(points, places, 30)
    first = frozenset().union(*(tree.parts[k].leaves for k in tree.parts[tree.splits()[0]].children))
    of = {leaf: int(group[tree.parts[leaf].rows[0]]) for leaf in first}
    assert set(of.values()) != {0, 2}  # nearest in the embedding, and farthest apart in the data
    starts = [tree.parts[number].start for number in tree.splits()]
    assert starts == sorted(starts)
    tiny = DensityTree.of(points * 2.0**-40, places * 2.0**-90, 30)  # metres between atoms, kilograms of them
    assert [part.leaves for part in tiny.parts] == [part.leaves for part in tree.parts]


@pytest.mark.parametrize("unit", [2.0**-90, 2.0**-33, 2.0**90])
def test_clusters_do_not_depend_on_the_unit(unit):
    draw = np.random.default_rng(0)
    X = draw.normal(size=(300, 5)) + np.repeat(10.0 * draw.normal(size=(3, 5)), 100, axis=0)
    one, other = gn.find_clusters(X), gn.find_clusters(X * unit)
    assert len(one) == 3
    np.testing.assert_array_equal(other.labels, one.labels)
    assert other.summary() == one.summary()


# Which groups are neighbours.


def test_a_group_between_two_others_keeps_them_from_being_neighbors():
    draw = np.random.default_rng(0)
    places = draw.normal(size=(150, 3)) + np.repeat([0.0, 12.0, 24.0], 50)[:, None]
    groups = [np.arange(50), np.arange(100, 150), np.arange(50, 100)]  # the middle one comes last
    near = reaches(places, groups)
    assert np.array_equal(near, near.T)
    assert np.array_equal(np.diag(near), np.zeros(3))
    distances = np.linalg.norm(places[groups[0]][:, None] - places[groups[2]], axis=2)
    expected = min(np.quantile(distances.min(axis=axis), 0.02) for axis in (0, 1))
    assert near[0, 2] == pytest.approx(expected, rel=1e-6)
    assert np.array_equal(are_neighbors(near), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])


def test_neighbors_are_those_of_the_relative_neighborhood_graph():
    near = np.triu(np.random.default_rng(3).uniform(1.0, 2.0, size=(9, 9)), 1)
    near += near.T
    found = are_neighbors(near)
    for i, j in np.argwhere(~np.eye(9, dtype=bool)):
        third = [k for k in range(9) if k not in (i, j)]
        assert found[i, j] == all(max(near[i, k], near[j, k]) >= near[i, j] for k in third)
    assert connected_components(csr_array(found))[0] == 1


def test_a_border_of_hardly_any_row_is_open_and_that_of_a_thread_is_not():
    draw = np.random.default_rng(0)
    thread = np.sort(draw.uniform(size=400))[:, None] ** 3  # however thin it gets
    border = HeldOutNeighbors.of(thread[::2], thread[1::2])
    falls = [border.fall(np.arange(k), np.arange(k, 200))[0] for k in range(30, 170, 10)]
    assert not border.is_open(np.arange(100), np.arange(100, 200), 1e6, 1e-9)
    assert np.isfinite(falls).all()
    assert np.median(falls) < 0.5
    gap = np.where(np.arange(400) < 200, 0.0, 1.0)[:, None] + thread
    border = HeldOutNeighbors.of(gap[::2] * [1.0, 1.0], gap[1::2] * [1.0, 1.0])
    assert border.fall(np.arange(100), np.arange(100, 200))[0] == math.inf
    assert border.is_open(np.arange(100), np.arange(100, 200), 1e6, 0.05)


def test_two_groups_of_few_rows_far_apart_have_no_border():
    draw = np.random.default_rng(0)
    learned = draw.normal(size=(30, 4)) + 20.0 * (np.arange(30) < 10)[:, None]
    held_out = draw.normal(size=(30, 4)) + 20.0 * (np.arange(30) < 20)[:, None]  # few learned, many held out
    border = HeldOutNeighbors.of(learned, held_out)
    assert border.fall(np.arange(10), np.arange(10, 30)) == (math.inf, 0.0)


def test_a_border_in_wide_neighborhoods_asks_for_a_fall_or_a_sure_split():
    draw = np.random.default_rng(0)
    angle = 2.0 * np.pi * np.arange(60) / 60
    ring = np.c_[np.cos(angle), np.sin(angle)] + 0.01 * draw.normal(size=(60, 2))
    border = HeldOutNeighbors.of(ring[::2], ring[1::2])
    left, right = np.arange(15), np.arange(15, 30)
    apart = float(np.linalg.norm(ring[::2][left].mean(axis=0) - ring[::2][right].mean(axis=0)))
    fall, radius = border.fall(left, right)
    assert abs(fall) < 0.2
    assert 0.5 * apart < radius < 1.7 * apart
    assert not border.is_open(left, right, 1.01 * radius, 0.01)
    assert border.is_open(left, right, 1.01 * radius, 1e-4)
    assert border.is_open(left, right, 0.99 * radius, 0.01)


def test_rows_in_no_peak_are_around_the_peak_that_is_nearest():
    draw = np.random.default_rng(4)
    points = draw.normal(size=(90, 2)) + np.repeat([[0, 0], [4, 0], [2, 40]], [40, 40, 10], axis=0)
    tree = DensityTree.of(points, points, 20)
    peaks = [part for part in tree.parts if part.children is None]
    ground = _Ground(tree, points, points, HeldOutNeighbors.of(points, points))
    around = [ground._around(Group(part.rows, part.leaves, part.start)) for part in peaks]
    loose = np.setdiff1d(np.arange(90), np.concatenate([part.rows for part in peaks]))
    assert len(loose) > 10
    assert np.array_equal(np.sort(np.concatenate(around)), np.arange(90))
    for row in loose:
        far = [np.linalg.norm(points[part.rows] - points[row], axis=1).min() for part in peaks]
        assert row in around[int(np.argmin(far))]


# The check in rows held out.


def test_the_p_value_is_binomial_where_counts_are_known():
    a, b = np.full((20, 1), -1.0) + np.linspace(-0.1, 0.1, 20)[:, None], np.full((20, 1), 1.0)
    b = b + np.linspace(-0.1, 0.1, 20)[:, None]
    held_out = np.concatenate([np.full(12, -1.0), np.full(9, 1.0), [0.0]])[:, None]
    got = thinning(a, b, np.empty((0, 1)), held_out)
    assert got.n_rows == (12, 10)
    assert got.p_value == pytest.approx(3 * binom.cdf(1, 10, 2 / 3))  # a window twice as wide as those of the peaks
    assert got.share == pytest.approx(1 / 9 / 2)
    got = thinning(a, b, np.empty((0, 1)), held_out[:-1])
    assert got.p_value == pytest.approx(3 * binom.cdf(0, 9, 2 / 3))
    assert got.share == 0.0


def test_rows_near_other_groups_and_aside_do_not_count():
    draw = np.random.default_rng(0)
    a, b, other = (draw.normal(size=(60, 3)) * 0.3 + center for center in ([0, 0, 0], [6, 0, 0], [3, 4, 0]))
    held_out = np.concatenate([a, b, other])
    alone = thinning(a, b, np.empty((0, 3)), held_out)
    beside = thinning(a, b, other.mean(axis=0)[None], held_out)
    assert sum(alone.n_rows) <= 130
    assert sum(beside.n_rows) <= 120
    assert beside.p_value < 1e-6


def test_p_values_of_one_cloud_are_valid():
    """Wherever its learned half is cut in two, its held-out half thins out at most as often as stated."""
    low = 0
    for seed in range(80):
        draw = np.random.default_rng(seed)
        X, unseen = draw.uniform(size=(2, 120, 3))
        side = X @ draw.normal(size=3)
        left = side < np.quantile(side, draw.uniform(0.3, 0.7))
        low += thinning(X[left], X[~left], np.empty((0, 3)), unseen).p_value <= 0.2
    assert low <= 0.2 * 80


def test_splits_not_yet_shown_take_over_the_share_of_alpha_of_those_that_are():
    draw = np.random.default_rng(0)
    center = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 31.0]])
    learned = draw.normal(size=(60, 2)) + center[np.arange(60) % 3]
    held_out = np.r_[draw.normal(size=(60, 2)) + center[np.arange(60) % 2], 0.1 * draw.normal(size=(6, 2)) + center[2]]
    tree = DensityTree.of(learned, learned, 10)
    p_value = 3 * binom.cdf(0, 6, 2 / 3)  # of the six rows against none between
    groups, splits = shown_splits(
        tree, learned, held_out, alpha=1.1 * p_value
    )  # of two splits half would be too little
    assert len(groups) == 3
    assert max(split.p_value for split in splits) == pytest.approx(p_value)
    assert len(shown_splits(tree, learned, held_out, alpha=0.9 * p_value)[0]) == 2


# Levels and names.


def test_levels_are_the_lasting_joins_of_means():
    means = np.array([[0.0], [1.0], [10.0], [11.0], [100.0], [101.0]])
    levels = nested_levels(means, 0.1)
    groups = [sorted(np.flatnonzero(of == one).tolist() for one in np.unique(of)) for of, _ in levels]
    assert groups == [[[0, 1, 2, 3], [4, 5]], [[0, 1], [2, 3], [4, 5]], [[0], [1], [2], [3], [4], [5]]]
    lasts = [95.0 / 10.0, 10.0 / 1.0, 1.0 / 0.1]  # distance of the means at the next join, over that at the last one
    assert [last for _, last in levels] == pytest.approx([math.log(one) for one in lasts])


def test_the_default_is_the_finest_level_whose_colours_can_be_told_apart():
    assert default_level([3, 12, 40]) == 1
    assert default_level([3]) == 0
    assert default_level([30, 50]) == 0


def test_names_are_made_unique():
    named = [("high a", None), ("high a", None), ("", None), ("low b", None), ("low b", None)]
    names = [name for name, _ in _made_unique(named, [0, 1, None, 2, 2], ["p", "q", "r"])]
    assert names == ["p: high a", "q: high a", "cluster 3", "r: low b (1)", "r: low b (2)"]
    named = [
        ("p", None),
        ("low p", None),
        ("q", None),
        ("p", None),
    ]  # of a coarser level, q is the one cluster in its own
    names = [name for name, _ in _made_unique(named, [0, 0, 1, 2], ["p", "q", "r"])]
    assert names == ["p: p", "low p", "q", "r: p"]
    rows = {"alpha": 0.05, "n_phrases": 2, "feature_names": ["a"], "image_shape": None}  # held out: all in one cluster
    assert name_level(np.zeros((9, 1)), np.zeros(9, dtype=np.int64), [None] * 2, [], **rows) == [
        ("cluster 1", None),
        ("cluster 2", None),
    ]


# What is found.


def test_planted_levels_are_found_and_named_by_what_was_planted(found):
    clusters, _, fine = found
    assert [len(level) for level in clusters.levels] in ([3, 4], [4])
    assert adjusted_rand_score(fine, clusters.labels) > 0.98
    drivers = {0: {"feature 0", "feature 3"}, 1: {"feature 1"}, 2: {"feature 2"}, 3: {"feature 0", "feature 3"}}
    known = {f"feature {j}" for j in range(4)}
    for cluster in clusters.level().clusters:
        truth = int(np.bincount(fine[clusters.labels == cluster.number]).argmax())
        assert set(cluster.caption.features) & drivers[truth]
        assert set(cluster.caption.features) <= known
        assert cluster.p_value < 1e-4
        assert cluster.share < 0.3
        assert cluster.persistence > 0


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kind", ["line", "grid"])
def test_clouds_in_a_row_or_a_grid_are_all_found(kind, seed):
    draw = np.random.default_rng(seed)
    number = draw.integers(9 if kind == "grid" else 4, size=900)
    X = draw.normal(size=(900, 5))
    X[:, 0] += 7.0 * (number % 3 if kind == "grid" else number)
    X[:, 1] += 7.0 * (number // 3 if kind == "grid" else 0)
    found = gn.find_clusters(X, random_state=seed)
    assert len(found.level()) == number.max() + 1
    assert adjusted_rand_score(number, found.labels) > 0.97


def test_each_cluster_lies_in_its_parent_and_names_differ(found):
    clusters, _, _ = found
    for coarse, level in zip(clusters.levels, clusters.levels[1:], strict=False):
        for cluster in level.clusters:
            rows = level.labels == cluster.number
            assert set(coarse.labels[rows].tolist()) <= {cluster.parent, -1}
    for level in clusters.levels:
        assert len({cluster.name for cluster in level.clusters}) == len(level)
        assert [cluster.size for cluster in level.clusters] == np.bincount(level.labels[level.labels >= 0]).tolist()
        assert np.all(np.diff([cluster.size for cluster in level.clusters]) <= 0)
        for cluster in level.clusters:
            assert set(level.names[level.labels == cluster.number]) == {cluster.name}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_blobs_of_twenty_rows_far_apart_are_found(seed):
    draw = np.random.default_rng(seed)
    group = np.arange(80) % 4
    X = draw.normal(size=(80, 4)) + 12.0 * np.eye(4)[group]
    found = gn.find_clusters(X, random_state=seed)
    assert len(found) >= 3
    assert adjusted_rand_score(group, found.labels) > 0.6


def test_rows_far_from_all_are_in_no_cluster_but_have_a_nearest():
    X, _, _ = _nested(n=400)
    draw = np.random.default_rng(3)
    X[:6] = draw.normal(size=(6, 12)) * 60
    clusters = gn.find_clusters(X)
    assert np.all(clusters.labels[:6] == -1)
    assert np.mean(clusters.labels[6:] == -1) < 0.02
    assert np.all(clusters.nearest >= 0)
    assert np.all((clusters.margin >= 0) & (clusters.margin <= 1))
    inside = clusters.labels >= 0
    assert np.array_equal(clusters.labels[inside], clusters.nearest[inside])


@pytest.mark.parametrize("kind", list(_NOISE))
def test_nothing_is_claimed_in_one_cloud(kind):
    clusters = gn.find_clusters(_NOISE[kind](np.random.default_rng(5)))
    assert len(clusters) == 0
    assert clusters.levels == ()
    assert np.all(clusters.labels == -1)
    assert np.all(clusters.nearest == -1)
    assert np.all(np.isnan(clusters.margin))
    assert clusters.summary().startswith("No clusters: none of")
    assert set(clusters.names) == {""}
    level = clusters.level()
    assert (len(level), level.persistence) == (0, 0.0)
    assert level.labels.tolist() == [-1] * len(clusters.nearest)
    assert set(level.names) == {""}
    assert level.to_dict()["clusters"] == []
    with pytest.raises(ValueError, match=r"level=0 must be left out \(no clusters could be shown\)"):
        clusters.level(0)


_STEPS = {
    "rounded": lambda draw: np.round(draw.normal(size=(1000, 3))),
    "coarse beside fine": lambda draw: np.c_[np.round(draw.normal(size=600)), draw.normal(size=(600, 3))],
    "counts": lambda draw: np.log1p(draw.poisson(1, size=(1000, 5))),
    "sparse counts": lambda draw: sp.csr_array(1.0 + draw.binomial(4, 0.5, size=(1000, 5))),
    "two values": lambda draw: draw.integers(0, 2, size=(600, 4)).astype(np.float32),
}


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("kind", list(_STEPS))
def test_steps_of_one_cloud_are_no_clusters(kind, metric):
    X = _STEPS[kind](np.random.default_rng(0))
    assert len(gn.find_clusters(X, metric=metric)) == 0


def test_two_rounded_clouds_are_two_clusters():
    draw = np.random.default_rng(0)
    first = np.arange(600) < 300
    rounded = np.round(draw.normal(size=(600, 3)) + 6.0 * np.c_[first, np.zeros((600, 2))])
    assert adjusted_rand_score(first, gn.find_clusters(rounded).labels) > 0.98
    counts = draw.poisson(np.where(first[:, None], [0.5, 0.5, 6.0, 6.0], [6.0, 6.0, 0.5, 0.5]))
    found = gn.find_clusters(np.log1p(counts))
    assert len(found) == 2
    assert adjusted_rand_score(first, found.labels) > 0.9


def test_values_are_spread_half_way_to_the_next_but_not_into_holes():
    values = np.repeat([0.0, 1.0, 2.0, 9.0, 11.0], 400)
    moved = values + noise_of_steps([values[:, None]], np.eye(1), 0)[0][:, 0]
    ends = [(-0.5, 0.5), (0.5, 1.5), (1.5, 2.5), (8.0, 10.0), (10.0, 12.0)]
    for value, (low, high) in zip(np.unique(values), ends, strict=True):
        some = np.sort(moved[values == value])
        assert low <= some[0] < low + 0.05 * (high - low)
        assert high - 0.05 * (high - low) < some[-1] <= high
        assert some.mean() == pytest.approx((low + high) / 2, abs=0.1 * (high - low))


def test_noise_is_along_the_components_and_that_of_stepped_features_alone():
    draw = np.random.default_rng(0)
    fine, coarse = draw.normal(size=(200, 1)), np.round(draw.normal(size=(200, 2)))
    turned = np.linalg.qr(draw.normal(size=(3, 3)))[0]
    assert noise_of_steps([fine], np.eye(1), 0) is None
    assert noise_of_steps([np.ones((200, 1))], np.eye(1), 0) is None
    parts = np.split(np.c_[fine, coarse], [80])
    plain, other = noise_of_steps(parts, np.eye(3), 0), noise_of_steps(parts, turned, 0)
    assert [len(part) for part in plain] == [80, 120]
    for one, two in zip(plain, other, strict=True):
        assert not one[:, 0].any()
        assert one[:, 1:].all()
        np.testing.assert_allclose(two, one @ turned.T, atol=1e-12)
    assert not np.array_equal(plain[0], noise_of_steps(parts, np.eye(3), 1)[0])
    assert noise_of_steps(parts, np.array([[1.0, 0.0, 0.2]]), 0) is None  # too little of the feature to matter


@pytest.mark.parametrize("seed", [0, 3])
def test_a_ring_is_one_piece_though_its_arcs_lie_apart(seed):
    draw = np.random.default_rng(seed)
    angle = 2.0 * np.pi * draw.uniform(0, 1, 1000)
    ring = np.c_[np.cos(angle), np.sin(angle)] + draw.normal(size=(1000, 2)) * 0.08
    assert len(gn.find_clusters(ring, random_state=seed)) == 0


def _path(seed, switches=20, width=0.05):
    """Rows even in time along a path that has a gap nowhere: features switch one after the other."""
    draw = np.random.default_rng(seed)
    late = (draw.random(600)[:, None] - np.linspace(-0.1, 1.1, switches)) / width
    return 1.0 / (1.0 + np.exp(-np.clip(late, -50.0, 50.0))) + 0.2 * draw.normal(size=(600, switches))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_path_that_winds_through_many_dimensions_is_one_piece(seed):
    assert len(gn.find_clusters(_path(seed), random_state=seed)) == 0


@pytest.mark.parametrize("seed", [0, 1])
def test_a_type_of_few_rows_is_in_no_cluster_and_told(seed):
    X = np.random.default_rng(seed).normal(size=(818, 12))
    X[:400, 0] += 16.0
    X[800:, 1] += 14.0
    found = gn.find_clusters(X, random_state=seed)
    assert len(found) == 2
    assert set(found.apart.tolist()) == set(range(800, 818))
    assert all(np.all(level.labels[800:] == -1) for level in found.levels)
    assert np.count_nonzero(found.labels[:800] < 0) <= 4
    assert "  18 rows lie with few others apart from every cluster, too few to be shown one" in found.summary()
    assert found.to_dict()["apart"] == found.apart.tolist()


def test_nearer_parts_are_those_by_distances_to_the_other_group():
    draw = np.random.default_rng(0)
    a, b = draw.normal(size=(40, 3)), draw.normal(size=(21, 3)) + 4.0
    parts = list(_nearer_parts(a, b))
    assert [(len(one), len(other)) for one, other in parts] == [(20, 15), (15, 15)]
    far = np.sort(np.linalg.norm(a[:, None] - b, axis=2), axis=1)[:, :15].mean(axis=1)
    for one, _ in parts:
        np.testing.assert_array_equal(one, a[np.argsort(far)[: len(one)]])


def test_clusters_that_are_not_empty_between_may_be_stages():
    draw = np.random.default_rng(1)
    near, far = (draw.normal(size=(1000, 10)) for _ in range(2))
    near[:500, 0] += 4.0
    far[:500, 0] += 12.0
    found = gn.find_clusters(near)
    assert len(found) == 2
    assert min(cluster.share for cluster in found.level().clusters) > 0.25
    assert found.continuum == (
        "Between each and the nearest there is more than 25 % of the density of the sparser side: "
        "all may be stages of a continuum."
    )
    first, second = (one.name for one in found.level().clusters)
    level = replace(found.level(), clusters=[found.level().clusters[0], replace(found.level().clusters[1], share=0.1)])
    some = replace(found, levels=[*found.levels[: found.default], level, *found.levels[found.default + 1 :]])
    assert some.continuum.endswith(f"and so maybe stages of a continuum: {first!r}.")
    assert second not in some.continuum.replace(first, "")
    assert some.summary().startswith("2 clusters, 1 of them maybe stages of a continuum, checked in ")
    many = replace(level, clusters=[*[level.clusters[0]] * 31, level.clusters[1]])
    listed = replace(found, levels=[*found.levels[: found.default], many, *found.levels[found.default + 1 :]]).summary()
    assert listed.count(f"  {first}") == 30
    assert "  and 2 more" in listed.splitlines()
    first, second, *_ = found.summary().splitlines()  # the doubt leads
    assert first.startswith("2 clusters, maybe all stages of a continuum, checked in ")
    assert second == found.continuum
    assert found.summary().count(found.continuum) == 1
    assert found.to_dict()["continuum"] == found.continuum
    apart = gn.find_clusters(far)
    assert len(apart) == 2
    assert apart.continuum == ""
    assert "continuum" not in apart.summary()
    assert gn.find_clusters(draw.normal(size=(200, 4))).continuum == ""


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(_NOISE))
def test_the_false_positive_rate_holds(kind):
    claimed = [
        len(gn.find_clusters(_NOISE[kind](np.random.default_rng(seed)), random_state=seed)) > 0 for seed in range(40)
    ]
    assert sum(claimed) <= 2


def test_the_same_bytes_for_any_number_of_threads():
    X, _, _ = _nested(n=300)
    one, two = (gn.find_clusters(X, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.to_dict() == two.to_dict()


def test_sparse_cosine_and_other_features_for_names():
    X, _, fine = _nested(n=300)
    words = np.zeros((300, 4))
    words[np.arange(300), fine] = np.random.default_rng(0).poisson(9, 300) + 1
    clusters = gn.find_clusters(
        sp.csr_array(np.abs(X)), metric="cosine", features=sp.csr_array(words), feature_names=["a", "b", "c", "d"]
    )
    assert adjusted_rand_score(fine, clusters.labels) > 0.5
    assert {name for level in clusters.levels for one in level.clusters for name in one.caption.features} <= set("abcd")


def test_clusters_are_named_by_words_and_by_columns_of_any_kind():
    X = np.random.default_rng(0).normal(size=(200, 4))
    X[:100] += 15
    texts = [f"{'sea' if i < 100 else 'rose'} {'leaf' if i % 2 else 'soil'}" for i in range(200)]
    columns = {"kind": ["u"] * 100 + ["v"] * 100, "size": X[::-1, 3]}
    for features, words in ((texts, ("sea", "rose")), (columns, ("kind = u", "kind = v"))):
        names = gn.find_clusters(X, features=features).level().names
        assert all(any(word in name for word in words) for name in names)


def test_features_that_are_not_numbers_are_called_by_their_argument():
    X = np.random.default_rng(0).normal(size=(80, 4))
    for features, text in (
        (
            np.full((80, 2), np.nan),
            "features must be finite (160 values are NaN or infinite, the first in row 0, column 0)",
        ),
        (np.full((80, 2), "a"), "features of type <U1 must be of real numbers"),
    ):
        with pytest.raises((TypeError, ValueError), match=re.escape(text)):
            gn.find_clusters(X, features=features)


def test_results_are_plain_for_json_and_for_a_frame(found):
    clusters, _, _ = found
    document = json.loads(json.dumps(clusters.to_dict()))
    assert document["n_clusters"] == len(clusters) == 4
    assert len(document["levels"][-1]["labels"]) == 600
    assert document["levels"][-1]["clusters"][0]["features"][0]["feature"].startswith("feature ")
    frame = clusters.to_frame()
    assert len(frame) == sum(len(level) for level in clusters.levels)
    assert "4 clusters, checked in 300 rows held out" in str(clusters)
    assert repr(clusters).startswith("Clusters(n_samples=600, clusters by level: ")
    with pytest.raises(ValueError, match=r"level=7 must be in \[0, "):
        clusters.level(7)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"X": np.zeros((59, 2))}, "find_clusters: X with 59 rows must be of at least 60 rows"),
        ({"alpha": 0.0}, "find_clusters: alpha=0.0 must be a number > 0 and < 0.5"),
        ({"min_size": 5}, "find_clusters: min_size=5 must be .*12"),
        ({"n_phrases": 0}, "find_clusters: n_phrases=0 must be .*1"),
        ({"features": np.zeros((3, 2))}, "find_clusters: features with 3 rows must be of n_samples=70 rows"),
    ],
)
def test_bad_input_is_refused_with_its_reason(given, text):
    given = {"X": np.random.default_rng(0).normal(size=(70, 3)), **given}
    with pytest.raises(ValueError, match=text):
        gn.find_clusters(given.pop("X"), **given)


def test_rows_that_are_all_but_equal_have_no_clusters():
    X = np.zeros((100, 3))
    X[0, 0] = 1.0
    assert len(gn.find_clusters(X)) == 0


def test_rows_of_a_sampled_table_find_their_neighbours_by_cells(monkeypatch):
    X, _, fine = _nested(1500)
    asked = []
    of = RowSearch.of
    monkeypatch.setattr(RowSearch, "of", lambda *given, **how: asked.append(how.get("method")) or of(*given, **how))
    for module in (votes, halves):
        monkeypatch.setattr(module, "MOST_ROWS", 700)
    sampled = gn.find_clusters(X)
    assert "approximate" in asked
    assert adjusted_rand_score(fine, sampled.levels[-1].labels) > 0.99
    asked.clear()
    for module in (votes, halves):
        monkeypatch.setattr(module, "MOST_ROWS", 750)
    gn.find_clusters(X)
    assert "approximate" not in asked


@pytest.mark.parametrize("step", [0.1, 1.0, 1e6])
def test_levels_of_counted_values_are_those_of_sorted_ones(step):
    values = step * np.random.default_rng(0).integers(-5, 250, size=1000)
    for found, sorted_ones in zip(_levels(values), np.unique(values, return_inverse=True), strict=True):
        np.testing.assert_array_equal(found, sorted_ones)


def test_distances_are_refused_by_name():
    with pytest.raises(ValueError, match="find_clusters: metric='precomputed' must be a metric between rows"):
        gn.find_clusters(np.zeros((80, 80)), metric="precomputed")


# Rows that come several times.


@pytest.mark.parametrize(("times", "noise"), [(5, 0.0), (6, 0.05)])
def test_one_cloud_whose_rows_come_several_times_has_no_clusters(times, noise):
    """Copies in both halves would confirm each other: with them 5 and 6 of these 8 tables have clusters."""
    claimed = 0
    for seed in range(8):
        draw = np.random.default_rng(seed)
        X = np.repeat(draw.normal(size=(100, 5)), times, axis=0) + noise * draw.normal(size=(100 * times, 5))
        with pytest.warns(DataWarning, match="one row of each set counts"):
            found = gn.find_clusters(X, random_state=seed)
        claimed += len(found.levels) > 0
        assert 100 * (times - 1) * 0.85 < found.n_repeats <= 100 * (times - 1) * 1.1
        assert f"{found.n_repeats:,} rows repeat others, or nearly, and one of each set counts" in found.summary()
        assert found.to_dict()["n_repeats"] == found.n_repeats
    assert claimed <= 1


def test_copies_of_rows_of_steps_are_seen_and_answers_alike_by_chance_count_each():
    draw = np.random.default_rng(0)
    bits = draw.integers(0, 2, size=(200, 16)).astype(float)
    with pytest.warns(DataWarning, match="one row of each set counts"):
        assert 200 <= gn.find_clusters(np.repeat(bits, 2, axis=0)).n_repeats <= 210
    levels = draw.integers(0, 4, size=(400, 5))
    for answers in (levels.astype(float), (levels[:, :, None] == np.arange(4)).reshape(400, 20).astype(float)):
        assert gn.find_clusters(answers).n_repeats == 0


def test_clusters_of_repeated_rows_are_found_and_hold_all_of_them():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(200, 5))
    X[:100, 0] += 12.0
    X = np.repeat(X, 3, axis=0) + 0.05 * draw.normal(size=(600, 5))
    with pytest.warns(DataWarning, match="Where you know the sets, pass one row of each"):
        found = gn.find_clusters(X)
    assert sorted(cluster.size for cluster in found.level().clusters) == pytest.approx([300, 300], abs=15)


def test_too_few_sets_of_repeated_rows_have_no_clusters():
    draw = np.random.default_rng(0)
    X = np.repeat(draw.normal(size=(30, 5)), 5, axis=0) + 0.01 * draw.normal(size=(150, 5))
    with pytest.warns(DataWarning):
        found = gn.find_clusters(X)
    assert (len(found), found.n_splits) == (0, 0)


def _series(n, d, tau, seed):
    """Return an Ornstein-Uhlenbeck process in one well, of a correlation time of tau rows."""
    rng, kept = np.random.default_rng(seed), np.exp(-1.0 / tau)
    X = rng.normal(size=(n, d))
    for i in range(1, n):
        X[i] = kept * X[i - 1] + np.sqrt(1.0 - kept**2) * X[i]
    return X


def test_clusters_of_a_time_series_in_one_well_come_with_a_caution():
    """Of frames of one cloud, 30 rows alike, clusters were claimed without a word."""
    with pytest.warns(DataWarning, match=r"may be stretches of one way .* every \d+(st|nd|rd|th) row, .* too few"):
        found = gn.find_clusters(_series(600, 20, 30.0, 0))
    assert len(found) > 1
    assert found.caution in found.summary()
    assert found.to_dict()["caution"] == found.caution
    assert 30 <= found.succession.step <= 150


def test_no_clusters_have_no_caution_and_neither_have_clusters_that_are_sorted():
    cloud = gn.find_clusters(_series(600, 3, 8.0, 0))
    assert cloud.succession is not None
    assert len(cloud) == 0
    assert cloud.caution == ""
    X = np.random.default_rng(0).normal(size=(300, 5))
    X[:100, 0] += 14.0
    X[100:200, 1] += 14.0
    found = gn.find_clusters(X)
    assert len(found) == 3
    assert found.succession is None


def test_rows_apart_are_told_where_there_is_no_cluster():
    X = 0.3 * np.random.default_rng(0).normal(size=(1500, 5))
    X[:20, 0] += 4.0
    found = gn.find_clusters(X)
    assert len(found) == 0
    assert found.apart.tolist() == list(range(20))
    assert found.labels.tolist() == [-1] * 1500
    assert "20 rows lie with few others apart from the rest, too few to be shown a cluster (apart)" in str(found)
    assert len(gn.find_clusters(X[20:]).apart) == 0


def test_rows_of_zeros_do_not_lie_apart_where_they_have_no_direction():
    X = 1.0 + np.random.default_rng(0).random((400, 8))
    X[:20] = 0.0
    found = gn.find_clusters(X, metric="cosine")
    assert len(found) == 0
    assert len(found.apart) == 0


@pytest.mark.parametrize(("n", "sizes"), [(7, (3, 4)), (8, (4, 4)), (20, (10, 10)), (30, (10, 10))])
def test_rows_are_parted_into_halves_of_so_many_rows_at_most(n, sizes, monkeypatch):
    monkeypatch.setattr(halves, "MOST_ROWS", 10)
    rows = np.arange(100, 100 + 2 * n, 2)
    parted = halves.Halves.of(rows, 0)
    assert (len(parted.learned), len(parted.held_out)) == sizes
    both = np.concatenate([parted.learned, parted.held_out])
    assert len(np.unique(both)) == sum(sizes)
    assert np.isin(both, rows).all()


@pytest.mark.parametrize(("n", "smallest"), [(60, 24), (120, 24), (300, 40)])
def test_where_there_is_none_the_smallest_group_that_is_shown_is_told(n, smallest):
    X = np.random.default_rng(0).normal(size=(n, 6))
    none = gn.find_clusters(X)
    assert none.smallest == none.to_dict()["smallest"] == smallest
    told = f"Groups of fewer than about {smallest} rows can hardly be shown in {n} rows, however clear."
    assert told in none.summary()
    assert gn.find_clusters(X, min_size=15).smallest == 30
    X[:smallest, 0] += 12
    seen = gn.find_clusters(X)
    assert len(seen) == 2
    assert "can hardly be shown" not in seen.summary()
    X[smallest // 2 - 1 : smallest, 0] -= 12
    assert len(gn.find_clusters(X)) == 0
