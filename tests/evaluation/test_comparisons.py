"""Which group is denser, and which is nearer: every figure against its definition written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import norm
from scipy.stats import t as student

from gnomon.evaluation import comparisons, is_denser, is_nearer
from gnomon.evaluation.comparisons import _difference
from gnomon.evaluation.densities import Densities, apart_balls, compare_equal_shares
from gnomon.evaluation.paths import path_lengths, straight_distances
from gnomon.geometry import intrinsic_dimension


@pytest.fixture(name="rows_chosen")
def _rows_chosen(monkeypatch):
    """What `is_denser` chooses, of both groups."""
    chosen, original = [], apart_balls
    monkeypatch.setattr(comparisons, "apart_balls", lambda *args: chosen.append(original(*args)) or chosen[-1])
    return chosen


@pytest.mark.parametrize(("factor", "answer"), [(0.4, "no"), (2.5, "yes"), (1.0, "cannot be told")])
def test_densities_are_compared_by_the_radii_of_balls_apart(rows_chosen, factor, answer):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3)) * np.where(np.arange(240) < 120, 1.0, factor)[:, None]
    X[120:] += 40.0
    found = is_denser(X, None, range(120), range(120, 240), n_neighbors=6, alpha=0.1, names=("P", "Q"))
    radii = np.sort(cdist(X, X), axis=1)[:, 1:7]
    both = [intrinsic_dimension(X[rows], confidence=0.9) for rows in (slice(120), slice(120, 240))]
    dimension, ends = np.mean([one.value for one in both]), (min(d.low for d in both), max(d.high for d in both))
    one, two = (-np.log(radii[rows, 5]) for rows in rows_chosen)
    variances = [part.var(ddof=1) / len(part) for part in (one, two)]
    freedom = sum(variances) ** 2 / sum(v**2 / (len(p) - 1) for v, p in zip(variances, (one, two), strict=True))
    difference, spread = one.mean() - two.mean(), np.sqrt(sum(variances))
    half = student.ppf(0.95, freedom) * spread
    assert found.answer == answer
    assert found.finding == {"yes": "P is denser", "no": "Q is denser"}.get(answer, "no sure difference")
    assert found.statistic == pytest.approx(dimension * difference, rel=1e-3)
    low, high = (np.multiply(ends, end) for end in (difference - half, difference + half))
    assert found.interval == pytest.approx((low.min(), high.max()), rel=1e-3)
    assert found.p_value == pytest.approx(2 * student.sf(abs(difference) / spread, freedom), rel=1e-4)
    assert found.rests_on == f"{len(one)} and {len(two)} neighbourhoods of 6 rows without common rows"
    ratio = np.exp([found.statistic, *found.interval])
    told = f"{dimension:.2g} [{ends[0]:.2g}, {ends[1]:.2g}] dimensions that is a ratio of densities of "
    assert found.sentence.endswith(f"; in {told}{ratio[0]:.3g} [{ratio[1]:.3g}, {ratio[2]:.3g}].")
    if answer != "cannot be told":
        closer = np.exp(difference)
        assert found.sentence.startswith(f"Neighbours in Q lie {closer:.3g} times as far from each other as in P;")


def test_balls_apart_fill_a_group_without_rows_in_common():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 2))
    rows, mask = np.arange(0, 90, 2), rng.random(45) < 0.7
    near = np.argsort(cdist(X[rows], X), axis=1)[:, 1:6]
    order = np.random.default_rng(2).permutation(np.flatnonzero(mask))
    chosen = apart_balls(order, np.column_stack([rows, near]), 90)
    balls = {one: {rows[one], *near[one]} for one in range(45)}
    taken = set().union(*(balls[one] for one in chosen.tolist()))
    assert len(taken) == 6 * len(chosen) >= 18
    assert mask[chosen].all()
    assert all(balls[one] & taken for one in np.flatnonzero(mask).tolist())


def test_groups_of_equal_radii_differ_by_no_more_than_rounding(rows_chosen):
    """Rows on lattices: the radii are equal, so that no spread is left; rows at one place have a radius of 0."""
    for n in (221, 291, 333):
        m = n // 2 + 13
        X = 0.7 * np.concatenate([np.arange(n), np.arange(m)])[:, None] * [1.0, 0.0]
        X[n:, 1] = 1e4
        found = is_denser(X, None, range(8, n - 8), range(n + 8, n + m - 8), n_neighbors=5)
        assert found.answer == "cannot be told"
        assert found.statistic == pytest.approx(0.0, abs=1e-12)
        assert found.p_value == pytest.approx(1.0)
        assert found.sentence.startswith("Neighbours lie about as far from each other in A as in B")
    rows_chosen.clear()
    X = np.concatenate([np.zeros((40, 2)), X])
    found = is_denser(X, None, range(100), range(n + 48, n + m + 32), n_neighbors=5)
    one, other = rows_chosen
    assert one.min() < 40
    assert found.statistic == pytest.approx(0.0, abs=1e-12)
    assert found.rests_on.startswith(f"{np.sum(one >= 40)} and {len(other)} neighbourhoods")


def test_the_error_of_the_dimension_is_in_the_interval_of_a_ratio_of_densities():
    """Twice as wide in ten columns is 1/1024 as dense: by neighbours alone the dimension would fall short of ten."""
    held = 0
    for seed in range(6):
        X = np.random.default_rng(seed).normal(size=(400, 10)) * np.repeat([2.0, 1.0], 200)[:, None]
        X[:200, 0] += 100.0
        low, high = is_denser(X, None, range(200), range(200, 400)).interval
        held += low <= -10.0 * np.log(2.0) <= high
    assert held == 6


def test_a_small_group_is_not_thinner_for_its_border():
    """Two cubes of one density: of the small one more of the rows lie at its border, and neighbours are farther."""
    for seed in (1, 4):
        rng = np.random.default_rng(seed)
        X = np.concatenate([rng.random((200, 5)), rng.random((1600, 5)) * 8.0**0.2 + 100.0])
        small, large = range(200), range(200, 1800)
        found = is_denser(X, None, large, small)
        assert found.answer == "cannot be told"
        assert found.p_value > 0.2
        assert found.interval[0] < 0.0 < found.interval[1]
        assert found.sentence.endswith("which borders leave alike, it is not sure.")
        X[200:] = 3.0 * X[200:] + 1000.0
        assert is_denser(X, None, small, large).answer == "yes"


def test_groups_whose_dimension_cannot_be_told_have_a_ratio_without_end():
    X = np.random.default_rng(0).normal(size=(70, 2)) * np.repeat([1.0, 9.0], 35)[:, None]
    X[35:] += 200.0
    found = is_denser(X, None, range(35), range(35, 70), n_neighbors=5)
    assert (found.answer, found.interval[1]) == ("yes", np.inf)
    assert found.to_dict()["interval"][1] is None


def test_groups_too_unlike_for_equal_shares_cannot_be_told():
    """As many neighbours as would be the share of three rows, ten of three, are more than there are rows."""
    X = np.sort(np.random.default_rng(0).random((300, 1)), axis=0)
    small = [30, 150, 270]
    found = is_denser(X, None, small, np.setdiff1d(np.arange(300), small))
    assert (found.answer, found.interval) == ("cannot be told", (-np.inf, np.inf))
    assert found.to_dict()["interval"] == [None, None]


def test_a_large_table_is_judged_by_half_as_many_rows_of_each_group_as_may_be_looked_at(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) + 50.0 * (np.arange(300) % 3 == 0)[:, None]
    asked, original = [], comparisons.neighbors_of
    monkeypatch.setattr(
        comparisons, "neighbors_of", lambda values, rows, *rest: asked.append(rows) or original(values, rows, *rest)
    )
    is_denser(X, None, range(0, 300, 3), range(1, 300, 3), n_neighbors=5, max_rows=61)
    (rows,) = asked
    assert np.all(np.diff(rows) > 0)
    assert np.bincount(rows % 3, minlength=3).tolist() == [30, 30, 0]
    is_denser(X, None, range(0, 300, 3), range(1, 300, 3), n_neighbors=5, max_rows=300)
    assert len(asked) == 1


def _between(distances, groups):
    """Distances of the centres of the others from that of the first, and the error of what they differ by."""
    squares = distances**2
    own = [squares[np.ix_(one, one)].sum(axis=1) / (len(one) - 1) for one in groups]
    pairs = [squares[np.ix_(groups[0], one)] for one in groups[1:]]
    found = [pair.mean() - own[0].mean() / 2 - mine.mean() / 2 for pair, mine in zip(pairs, own[1:], strict=True)]
    shares = [pairs[1].mean(axis=1) - pairs[0].mean(axis=1)]
    shares += [pair.mean(axis=0) - mine for pair, mine in zip(pairs, own[1:], strict=True)]
    near, far = np.sqrt(found)
    return (near, far), np.sqrt(sum(one.var(ddof=1) / len(one) for one in shares)) / (near + far)


@pytest.mark.parametrize("along", ["lines", "data", "both"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_distances_of_groups_are_those_of_their_centres_with_their_error(along, metric):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3)) + np.repeat([[3, 0, 0], [3, 2, 0], [0, 5, 3], [2, 2, 2]], [30, 25, 25, 20], axis=0)
    groups = [np.arange(30), np.arange(30, 55), np.arange(55, 80)]
    given = {"along": along, "metric": metric, "alpha": 0.1, "names": ("P", "Q", "R")}
    found = is_nearer(X, None, *groups, **given)
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    rows = units if metric == "cosine" else X
    ways = {"lines": cdist(rows, rows), "data": path_lengths(rows)}
    (near, far), error = _between(ways["data" if along == "data" else "lines"], groups)
    if along != "data":  # the distances of the means, without what their few rows add
        means = [rows[one].mean(axis=0) for one in groups]
        errors = [np.trace(np.cov(rows[one].T)) / len(one) for one in groups]
        for to, told in ((1, near), (2, far)):
            assert told**2 == pytest.approx(np.square(means[0] - means[to]).sum() - errors[0] - errors[to])
    half = norm.isf(0.05) * error
    assert (found.answer, found.finding) == ("yes", "P is nearer to Q")
    assert found.statistic == pytest.approx(far - near)
    assert found.interval == pytest.approx((far - near - half, far - near + half))
    assert found.p_value == pytest.approx(2 * norm.sf((far - near) / error))
    way = "along the data" if along == "data" else "in straight lines"
    told = f"From the centre of P it is {near:.3g} to Q, {far:.3g} to R {way}, in units of the data."
    assert found.sentence == told + " Paths along the data have the same order." * (along == "both")
    assert found.unit == f"difference of the distances {way}"
    assert found.question == "Is P nearer to Q than to R?"
    assert found.null == "Q and R equally far from P"
    assert found.rests_on == "30, 25 and 25 rows, all pairs of them"
    other = is_nearer(X, None, groups[0], groups[2], groups[1], **given)
    assert (other.answer, other.finding) == ("no", "P is nearer to R")


def test_a_wide_group_is_neither_near_nor_far_for_being_wide():
    """Of both centres 10 away the wider one was nearer by energy distances in nine of ten draws."""
    told = []
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(180, 5)) * np.repeat([1, 1, 3], 60)[:, None]
        X[60:120, 0] += 10.0
        X[120:, 1] += 10.0
        told.append(is_nearer(X, None, range(60), range(60, 120), range(120, 180), along="lines").answer)
    assert told.count("cannot be told") >= 16


@pytest.mark.parametrize("unit", [1e-8, 3e-10, 1e-24, 1e12])
def test_distances_along_the_data_are_the_same_in_any_unit(unit):
    X = np.random.default_rng(0).normal(size=(150, 3))
    X[50:100, 0] += 10
    X[100:, 1] += 30
    groups = (range(50), range(50, 100), range(100, 150))
    plain, scaled = (is_nearer(table, X[:, :2], *groups, along="data") for table in (X, unit * X))
    assert scaled.answer == plain.answer == "yes"
    assert scaled.statistic == pytest.approx(unit * plain.statistic, rel=1e-5)


def test_what_cannot_be_told_of_distances_says_so():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 2)) + np.repeat([[0, 0], [5, 0], [0, 5]], 30, axis=0)
    found = is_nearer(X, None, range(30), range(30, 60), range(60, 90), along="lines", alpha=0.001)
    assert (found.answer, found.finding) == ("cannot be told", "no sure difference")
    assert found.sentence.endswith(" The difference is within what so many rows tell.")
    assert found.interval[0] < 0 < found.interval[1]
    same = np.zeros((3, 3)) + 1.0 - np.eye(3)
    nothing = _difference(([np.ones((3, 3))] * 2, [same] * 3))
    assert nothing[0] == (0.0, 0.0)
    assert nothing[1] == 1e-6
    assert _difference(([np.zeros((3, 3))] * 2, [np.zeros((3, 3))] * 3))[1] > 0.0  # a p-value divides by it
    places = np.repeat([[0.0, 0.0], [0.1, 0.2], [0.2, 0.1]], [11, 23, 37], axis=0)
    found = is_nearer(places, None, range(11), range(11, 34), range(34, 71), along="lines")
    assert found.answer == "cannot be told"
    assert found.p_value == pytest.approx(1.0)


def test_paths_go_over_400_rows_of_each_group_and_400_others(monkeypatch):
    sizes = []
    monkeypatch.setattr(comparisons, "path_lengths", lambda X: sizes.append(len(X)) or straight_distances(X))
    X = np.random.default_rng(0).normal(size=(1700, 2))
    X[401:801] += 4.0
    groups = [range(401), range(401, 801), range(801, 820)]
    found = is_nearer(X, None, *groups, along="data", max_rows=500)
    assert sizes == [400 + 400 + 19 + 400]
    assert found.rests_on == "400, 400 and 19 rows, all pairs of them"
    is_nearer(X[:830], None, *groups, along="data", max_rows=500)
    assert sizes[1] == 400 + 400 + 19 + 11  # the row of the first group that was left out is another one


def test_nothing_is_sure_where_as_large_a_share_is_more_rows_than_there_are():
    X, small = np.random.default_rng(0).normal(size=(100, 2)), np.arange(100) < 6
    found = compare_equal_shares(
        X, (small, ~small), [np.zeros(6), np.zeros(9)], "euclidean", 15, np.random.default_rng(0)
    )
    assert found == Densities(0.0, np.inf, 1.0)
