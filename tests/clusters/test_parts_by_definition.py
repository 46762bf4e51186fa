"""Which parts there are at every density, and which are neighbours, computed anew from the definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist, squareform

from gnomon._run import running
from gnomon.clusters.reach import are_neighbors, reaches
from gnomon.clusters.tree import DensityTree


def reachability(points):
    """Return mutual reachability distances, by the distance of each point to its fifth nearest other one."""
    apart = cdist(points, points)
    core = np.sort(apart, axis=1)[:, 5]
    far = np.maximum(apart, np.maximum(core[:, None], core))
    np.fill_diagonal(far, 0.0)
    return far


def starts_by_definition(far, min_size):
    """Return at which distances peaks of so many points begin, and at which two parts join."""
    size, is_part, peaks, joins = [1] * len(far), [False] * len(far), [], []
    for a, b, length, _ in linkage(squareform(far, checks=False), "single").tolist():
        sides = is_part[int(a)], is_part[int(b)]
        size.append(size[int(a)] + size[int(b)])
        is_part.append(any(sides) or size[-1] >= min_size)
        joins += [length] if all(sides) else []
        peaks += [length] if is_part[-1] and not any(sides) else []
    return peaks, joins


@pytest.mark.parametrize("min_size", [5, 12])
def test_parts_are_those_of_single_linkage_of_mutual_reachability(min_size):
    for seed in range(4):
        draw = np.random.default_rng(seed)
        points = draw.normal(size=(150, 2)) + 4.0 * draw.integers(0, 3, (150, 2))
        tree = DensityTree.of(points, points, min_size)
        far = reachability(points)
        peaks, joins = starts_by_definition(far, min_size)
        for starts, of_peaks in ((peaks, True), (joins, False)):
            found = [part.start for part in tree.parts if (part.children is None) == of_peaks]
            np.testing.assert_allclose(sorted(found), sorted(starts))
        assert len(joins) > 2
        assert sorted(tree.parts[-1].rows.tolist()) == list(range(150))
        for number in tree.splits():
            length = tree.parts[number].start
            joined = far < length - 1e-9, far < length + 1e-9
            below, up_to = (connected_components(csr_array(one))[1] for one in joined)
            for part in (tree.parts[k] for k in tree.parts[number].children):
                assert len(set(up_to[part.rows])) == 1
                shares = np.bincount(below, np.isin(np.arange(150), part.rows)) / np.bincount(below)
                assert set(shares.tolist()) == {0.0, 1.0}  # what is nearer together is all in it, or none
        height = {}
        for number, part in enumerate(tree.parts):
            height[number] = 1 + max(height[k] for k in part.children) if part.children else 0
        assert tree.generations() == [
            [k for k in height if height[k] == level] for level in range(1, max(height.values()) + 1)
        ]
        for number in tree.splits():
            peaks = [min(tree.parts[leaf].start for leaf in tree.parts[k].leaves) for k in tree.parts[number].children]
            assert tree.fall(number) == pytest.approx(math.log(tree.parts[number].start / max(peaks)))


def test_points_of_no_part_have_no_split():
    tree = DensityTree(())
    assert tree.splits() == tree.generations() == []


def test_groups_come_as_near_as_a_fiftieth_of_the_rows_of_one_to_the_nearest_of_the_other():
    draw = np.random.default_rng(0)
    sizes = [450, 60, 30, 30, 30, 30, 30, 30, 30]
    places = draw.normal(size=(sum(sizes), 3)) + np.repeat(6.0 * np.arange(9), sizes)[:, None] * [1.0, 0.1, 0.0]
    groups = np.split(np.arange(len(places)), np.cumsum(sizes)[:-1])
    parts = [places[rows[:: max(1, len(rows) // 200)]] for rows in groups]  # so many rows tell
    means = np.stack([places[rows].mean(axis=0) for rows in groups])
    apart = cdist(means, means)
    near = np.argsort(apart, axis=1)[:, :7]  # the own one, and six others
    expected = apart.copy()
    for i in range(9):
        for j in range(9):
            if i != j and (j in near[i] or i in near[j]):
                between = cdist(parts[i], parts[j])
                expected[i, j] = min(np.quantile(between.min(axis=axis), 0.02) for axis in (0, 1))
    with running(seed=0):
        found = reaches(places, groups)
        alone = reaches(np.zeros((8, 2)), [np.arange(4), np.arange(4, 8)])
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert found[0, 8] == apart[0, 8]
    assert 0.0 < alone[0, 1] < 1e-30  # positive where they coincide


def test_groups_equally_near_to_each_other_are_all_neighbours():
    near = 1.0 - np.eye(4)
    assert np.array_equal(are_neighbors(near), near.astype(bool))
