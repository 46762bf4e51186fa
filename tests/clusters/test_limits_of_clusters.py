"""Each limit that clusters are judged by: what lies on either side of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import cdist

from gnomon._run import running
from gnomon.clusters import votes
from gnomon.clusters.agreeing import columns_told
from gnomon.clusters.along import rows_beyond_gaps
from gnomon.clusters.border import HeldOutNeighbors
from gnomon.clusters.halves import PlacedHalves
from gnomon.clusters.levels import default_level, nested_levels
from gnomon.clusters.sets import has_many_members
from gnomon.clusters.splits import Group
from gnomon.clusters.thinning import Thinning, thinning
from gnomon.clusters.votes import Assigned, without_tails
from gnomon.neighbors import RowSearch

# Columns that clusters tell.


@pytest.mark.parametrize(
    ("n_classes", "kind", "is_told"),
    [(2, int, True), (10, int, True), (11, int, False), (50, str, True), (51, str, False)],
)
def test_columns_of_so_many_classes_are_looked_at(n_classes, kind, is_told):
    codes = np.arange(1020) % n_classes
    assert bool(columns_told(codes, {"batch": codes.astype(kind)})) == is_told


def test_columns_are_told_of_thirty_rows_that_have_a_class_and_a_cluster():
    for n, is_told in ((29, False), (30, True)):
        labels, batch = np.full(60, -1), np.where(np.arange(60) % 2, "a", "b")
        labels[:n] = np.arange(n) % 2
        assert bool(columns_told(labels, {"batch": batch})) == is_told
        some = np.where(labels < 0, None, batch)  # or that have none of both
        assert bool(columns_told(np.arange(60) % 2, {"batch": some})) == is_told


def test_a_column_of_one_class_within_the_clusters_is_not_told():
    labels = np.where(np.arange(90) < 60, np.arange(90) % 2, -1)
    assert columns_told(labels, {"batch": np.where(labels < 0, "out", "in")}) == ""


@pytest.mark.parametrize(("wrong", "percent"), [(0, "100"), (1, "99.9"), (10, "99.5"), (11, "99"), (400, "80")])
def test_shares_below_one_are_not_said_to_be_all(wrong, percent):
    labels = np.arange(2000) % 2
    batch = np.where(np.arange(2000) < wrong, 1 - labels, labels)
    assert f"'batch' of {percent} % of rows (5" in columns_told(labels, {"batch": batch})


# Levels.


def test_levels_are_at_most_three_beside_the_finest_that_last_longest_and_differ_enough():
    seen = set()
    for seed in range(40):
        draw = np.random.default_rng(seed)
        means = np.cumsum(np.exp(draw.normal(scale=3.0 * draw.uniform(), size=(draw.integers(2, 30), 2))), axis=0)
        spread = float(np.exp(draw.normal(scale=2.0)))
        tree = linkage(means, "average")
        begins = [min(spread, tree[0, 2]), *tree[:, 2]]
        lasts = np.log(tree[:, 2] / begins[:-1])
        kept = [0]
        for joins in np.argsort(-lasts, kind="stable"):
            left = [len(means) - joins, *(len(means) - other for other in kept)]
            apart = all(min(left[0], other) <= max(left[0], other) * 2 / 3 for other in left[1:])
            if joins and apart and lasts[joins] >= 0.1 and len(kept) < 4:
                kept.append(joins)
        expected = [len(means) - joins for joins in sorted(kept, reverse=True)]
        levels = nested_levels(means, spread)
        assert [len(np.unique(of)) for of, _ in levels] == expected
        for (of, last), size in zip(levels, expected, strict=True):
            assert (of.min(), of.max()) == (0, size - 1)
            assert last == pytest.approx(lasts[len(means) - size], rel=1e-9, abs=1e-12)
            cut = cut_tree(tree, size)[:, 0]
            assert len(np.unique(of * size + cut)) == size  # the same rows together
        seen.add(len(levels))
    assert {1, 4} <= seen


def test_the_default_level_has_twenty_clusters_at_most():
    assert default_level([3, 19, 20, 21]) == 2


# The check in rows held out.


@pytest.mark.parametrize(("left", "is_judged"), [(4, False), (5, True)])
def test_a_side_of_fewer_than_five_rows_shows_nothing(left, is_judged):
    a, b = -1.0 + 0.1 * np.linspace(-1, 1, 20)[:, None], 1.0 + 0.1 * np.linspace(-1, 1, 20)[:, None]
    for sides in ((a[:left], b), (a, b[:left])):
        found = thinning(a, b, np.empty((0, 1)), np.concatenate(sides))
        assert found.n_rows == (len(sides[0]), len(sides[1]))
        assert (found.p_value < 1.0, found.share < 1.0) == (is_judged, is_judged)
    assert thinning(a, a, np.empty((0, 1)), a) == Thinning(1.0, 1.0, (0, 0))


def test_density_at_rows_held_out_is_that_of_the_eighth_nearest_in_as_many_dimensions_as_they_have():
    draw = np.random.default_rng(0)
    turn = np.linalg.qr(draw.normal(size=(7, 7)))[0]
    for d in (1, 3):
        X = draw.uniform(size=(600, d)) @ turn[:d]
        with running(seed=0):
            found = HeldOutNeighbors.of(X[::2], X[1::2])
        far = np.sort(cdist(X[1::2], X[1::2]), axis=1)
        np.testing.assert_allclose(found.radii, far[:, 15], rtol=1e-5)
        dimensions = -found.densities / np.log(far[:, 8])
        np.testing.assert_allclose(dimensions, dimensions[0], rtol=1e-4)
        assert 0.8 * d <= dimensions[0] <= 1.2 * d
        assert np.array_equal(found.neighbors, np.argsort(cdist(X[1::2], X[::2]), axis=1)[:, :15])
    with running(seed=0):
        found = HeldOutNeighbors.of(np.zeros((40, 2)), np.zeros((40, 2)))
    np.testing.assert_allclose(found.densities, -np.log(np.finfo(np.float32).tiny))  # one dimension at least


def bordered(shares, densities, radius=1.0):
    """Return rows held out of whose 15 neighbours so many each are in groups of 100 rows, the others in neither."""
    neighbors = [[*range(a), *range(100, 100 + b), *range(200, 215 - a - b)] for a, b in shares]
    radii, densities = np.full(len(shares), radius), np.asarray(densities, dtype=np.float64)
    return HeldOutNeighbors(np.array(neighbors), radii, densities, 300)


A, B = np.arange(100), np.arange(100, 200)


def test_rows_with_a_fifth_of_their_neighbours_in_both_groups_are_a_border_and_two_of_them_are_none():
    inside = [(12, 0)] * 5 + [(0, 12)] * 5
    for both, is_border in (((3, 3), True), ((12, 3), True), ((2, 3), False), ((3, 2), False)):
        fall, radius = bordered([*inside, *[both] * 3], [0.0] * 13).fall(A, B)
        assert (fall, radius) == ((0.0, 1.0) if is_border else (math.inf, 0.0))
    assert bordered([*inside, *[(3, 3)] * 2], [0.0] * 12).fall(A, B) == (math.inf, 0.0)


def test_density_falls_from_the_sparser_side_of_rows_with_four_fifths_of_their_neighbours_in_one_group():
    shares = [(12, 0)] * 3 + [(0, 15)] * 3 + [(3, 3)] * 3 + [(11, 0)] * 5
    found = bordered(shares, [5.0, 6.0, 9.0, 4.0, 5.0, 5.0, 1.0, 2.0, 4.0, *[-9.0] * 5])
    assert found.fall(A, B) == (3.0, 1.0)  # medians: 6 and 5 inside, 2 on the border
    assert found.fall(B, A) == (3.0, 1.0)
    assert bordered([(15, 0)] * 3 + [(3, 3)] * 3, [5.0] * 6).fall(A, B) == (0.0, 1.0)  # no row inside the other


@pytest.mark.parametrize(
    ("radius", "fall", "p_value", "is_open"),
    [
        (0.49, math.log(2.51), 1.0, True),
        (0.49, math.log(2.49), 1e-9, False),
        (0.5, math.log(1.51), 1.0, True),
        (0.5, math.log(1.49), 1.0, False),
        (0.5, 0.0, 0.001, True),
        (0.5, 0.0, 0.0011, False),
        (0.99, 0.0, 0.0011, False),
        (1.0, 0.0, 1.0, True),
    ],
)
def test_what_is_asked_of_a_border_depends_on_how_wide_neighbourhoods_are(radius, fall, p_value, is_open):
    shares = [(12, 0)] * 3 + [(0, 12)] * 3 + [(3, 3)] * 3
    found = bordered(shares, [fall] * 6 + [0.0] * 3, 2.0 * radius)
    assert found.is_open(A, B, 2.0, p_value) == is_open


def test_halves_of_an_odd_number_of_rows_and_more_columns_have_places():
    X = np.random.default_rng(0).normal(size=(61, 80))
    with running(seed=0):
        found = PlacedHalves.of(X, "euclidean")
    assert (found.learned.shape, found.held_out.shape) == ((30, 30), (31, 30))


@pytest.mark.parametrize(("n_columns", "many"), [(49, False), (50, True)])
def test_fifty_columns_of_equal_variance_are_many(n_columns, many):
    assert has_many_members(np.tile([[0], [1]], (20, n_columns))) is many
    assert has_many_members(np.zeros((20, n_columns))) is False


# Few rows apart.


def beyond(n, few, gap, spread=0.0):
    """Rows of a column evenly spaced from 0 to 1, and a few beyond a gap."""
    return np.concatenate([np.linspace(0.0, 1.0, n - few), 1.0 + gap + np.linspace(0.0, spread, few)])[:, None]


def test_a_gap_is_as_wide_as_six_fifths_of_the_group_and_of_the_others_from_the_middle_on():
    for n, few in ((100, 6), (100, 20)):
        X = beyond(n, few, 1.0)
        others = 1.0 - np.median(X)
        assert rows_beyond_gaps(beyond(n, few, 1.19 * others, 0.01), n).tolist() == []
        assert rows_beyond_gaps(beyond(n, few, 1.21 * others, 0.01), n).tolist() == list(range(n - few, n))
        assert rows_beyond_gaps(beyond(n, few, 1.19, 1.0), n).tolist() == []
        assert rows_beyond_gaps(beyond(n, few, 1.21, 1.0), n).tolist() == list(range(n - few, n))
    assert rows_beyond_gaps(beyond(100, 21, 9.0, 0.01), 100).tolist() == []  # more than a fifth
    assert len(rows_beyond_gaps(beyond(2000, 10, 9.0, 0.01), 100)) == 10
    assert len(rows_beyond_gaps(beyond(2001, 10, 9.0, 0.01), 100)) == 0


def test_columns_of_two_rows_of_each_value_take_no_part():
    X = np.repeat(beyond(60, 6, 3.0, 0.01), 2, axis=0)
    assert rows_beyond_gaps(X, 24).tolist() == []
    X[::2] += 1e-6
    assert rows_beyond_gaps(X, 24).tolist() == list(range(108, 120))


def test_rows_apart_stay_where_the_nearest_other_is_six_fifths_as_far_as_the_fifth_of_them():
    group = np.linspace(0.0, 1.0, 6)
    for gap, stays in ((1.19, False), (1.21, True)):
        X = np.concatenate([np.linspace(-9.0, -gap, 50), group])[:, None]
        kept = without_tails(X, np.arange(56), np.arange(50, 56), "euclidean")
        assert kept.tolist() == (list(range(50, 56)) if stays else [])


# Votes.


def test_rows_are_in_the_cluster_of_half_of_their_votes_unless_these_are_far():
    votes = np.array([[1.0, 0.0]] * 8 + [[0.5, 0.5], [0.49, 0.51], [0.3, 0.3]] + [[0.0, 1.0]] * 2)
    votes = np.column_stack([votes, 1.0 - votes.sum(axis=1)])
    far = np.zeros(13)
    far[:8] = np.arange(8.0)
    labels = Assigned(votes, far).labels(np.array([0, 1, 1]))
    assert labels.tolist() == [0] * 9 + [1] * 4
    best, margin = Assigned(votes, far).best(np.array([0, 1, 2]))
    assert best.tolist() == [0] * 9 + [1, 2, 1, 1]
    np.testing.assert_allclose(margin[[0, 8, 9, 10]], [1.0, 0.0, 0.02, 0.1])
    labels = Assigned(votes, far).labels(np.array([0, 1, 2]))
    assert labels.tolist() == [0] * 9 + [1, -1, 1, 1]  # no three have half of one
    low, high = np.quantile(far[:9], [0.25, 0.75])
    for beyond, expected in ((0.99, 0), (1.01, -1)):
        far[7] = high + 3.0 * (high - low) * beyond
        assert Assigned(votes, far).labels(np.array([0, 1, 2]))[7] == expected


def test_more_than_twice_as_many_rows_as_are_learned_look_by_cells(monkeypatch):
    asked, of = [], RowSearch.of
    monkeypatch.setattr(RowSearch, "of", lambda *given, **how: asked.append(how.get("method")) or of(*given, **how))
    monkeypatch.setattr(votes, "MOST_ROWS", 50)
    X = np.random.default_rng(0).normal(size=(101, 3))
    for n in (100, 101):
        with running(seed=0):
            votes._nearest(X[:n], np.arange(n), np.arange(0, n, 2), 4, "euclidean")
    assert asked == [None, "approximate"]


@pytest.mark.parametrize("k", [1, 7])
def test_the_nearest_learned_rows_are_asked_and_never_the_row_itself(k):
    X, learned = np.random.default_rng(0).normal(size=(60, 20)), np.arange(0, 60, 3)
    apart = cdist(X, X)
    np.fill_diagonal(apart, np.inf)
    for rows in (np.arange(60), np.arange(20, 40)):  # also as many as there are columns
        with running(seed=0):
            found, distances = votes._nearest(X, rows, learned, k, "euclidean")
        order = np.argsort(apart[rows][:, learned], axis=1)[:, :k]
        assert np.array_equal(found, order)
        np.testing.assert_allclose(distances, np.take_along_axis(apart[rows][:, learned], order, axis=1), rtol=1e-5)


def test_rows_not_learned_lie_apart_where_most_of_their_five_mates_do():
    X = np.concatenate([1.08 ** np.arange(40.0), 200.0 + 0.1 * np.arange(6.0), [200.05, 200.33, 20.5]])[:, None]
    group = Group(np.arange(40), frozenset([0]), 1.0)
    with running(seed=0):
        found = votes.rows_apart(X, np.arange(46), [group], "euclidean", Assigned.of_one(49), few=6)
    assert np.flatnonzero(found).tolist() == list(range(40, 48))
