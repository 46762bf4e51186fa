"""Islands of a map, as what moves its groups of points is told of them."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon.evaluation.islands import find_islands


def _clouds(centers, n=80, seed=0):
    draw = np.random.default_rng(seed)
    return np.concatenate([draw.normal(size=(n, 2)) + center for center in centers])


@pytest.mark.parametrize("centers", [[(0, 0), (20, 0)], [(0, 0), (20, 0), (70, 5)], [(0, 0), (9, 0), (60, 0), (70, 0)]])
def test_clouds_far_from_each_other_are_islands_also_those_within_a_larger_one(centers):
    Y = _clouds(centers)
    cloud = np.repeat(np.arange(len(centers)), 80)
    rows, island = find_islands(Y)
    assert len(rows) >= 0.95 * len(Y)  # a few lie on the way to another
    np.testing.assert_array_equal(island, cloud[rows])
    order = np.random.default_rng(1).permutation(len(Y))
    again, found = find_islands(3.0 * Y[order][:, ::-1] - 7.0)
    np.testing.assert_array_equal(np.sort(order[again]), rows)
    pairs = np.unique(np.column_stack([cloud[order[again]], found]), axis=0)
    assert len(pairs) == len(centers)
    first = [np.flatnonzero(found == number)[0] for number in range(len(centers))]
    assert first == sorted(first)


def test_rows_without_a_place_are_in_none_and_of_many_rows_a_thousand_are_looked_at():
    Y = _clouds([(0, 0), (20, 0)], n=1500)
    Y[::3] = np.nan
    rows, island = find_islands(Y)
    assert 950 <= len(rows) <= 1000
    assert (rows % 3 > 0).all()
    np.testing.assert_array_equal(island, rows >= 1500)


def test_one_cloud_few_rows_and_one_place_have_none():
    clouds = [_clouds([(0, 0)], n=300, seed=seed) for seed in range(10)]
    few = _clouds([(0, 0), (50, 0)], n=29)
    for Y in (*clouds, few, np.zeros((100, 2)), np.full((100, 2), np.nan)):
        assert [len(one) for one in find_islands(Y)] == [0, 0]
    small = np.concatenate([clouds[0], _clouds([(50, 0)], n=29)])
    assert not len(find_islands(small)[0])  # too few of them for a density of their own
