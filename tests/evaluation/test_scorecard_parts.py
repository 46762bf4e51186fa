"""What single measures of a scorecard rest on: rows, pairs, groups and neighbours, by their definitions."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.spatial.distance import cdist
from scipy.stats import pearsonr, spearmanr
from scipy.stats import t as student

from gnomon.evaluation import evaluate, scorecard, taking
from gnomon.evaluation.intervals import Estimate, Sampling
from gnomon.evaluation.pairs import (
    _groups,
    non_metric_stress,
    of_pairs,
    optimal_scale,
    raw_stress,
    scale_optimal_stress,
    shepard_diagram,
)
from gnomon.evaluation.paths import path_lengths, straight_distances
from gnomon.evaluation.subject import Subject
from gnomon.evaluation.taking import Taking
from gnomon.evaluation.topology import joining_agreement
from gnomon.geometry import intrinsic_dimension, local_jacobians
from gnomon.neighbors import NeighborGraph, compute_neighbors

GIVEN = {"metric": "euclidean", "graph": None, "n_anchors": None, "n_pairs": None, "confidence": 0.95, "seed": 3}


@pytest.fixture(name="X", scope="module")
def some_table():
    return np.random.default_rng(0).normal(size=(60, 4)) * [3, 2, 1, 1]


def _taking(X, Y, labels=None, **given):
    return Taking(Subject.of(X, Y, labels, given.get("graph"), 5, "euclidean"), **{**GIVEN, **given})


def test_of_more_than_5000_rows_2000_are_anchors():
    X = np.random.default_rng(0).normal(size=(5001, 2))
    assert len(_taking(X, X).anchors) == 2000
    assert len(_taking(X[1:], X[1:]).anchors) == 5000
    assert len(_taking(X, X, n_anchors=7).anchors) == 7


def test_dimensions_are_those_of_the_data_with_their_interval(X):
    names = ["intrinsic_dimension", "dimension_ratio"]
    for n in (60, 50):
        found = scorecard(X[:n], X[:n, :2], measures=names, n_neighbors=1, confidence=0.9, n_anchors=5, random_state=3)
        expected = intrinsic_dimension(X[:n], confidence=0.9, random_state=3)
        dimension, ratio = found["intrinsic_dimension"], found["dimension_ratio"]
        assert (dimension.value, dimension.interval) == (expected.value, (expected.low, expected.high))
        assert ratio.value == 2 / expected.value
        assert ratio.interval == (2 / expected.high, 2 / expected.low)
    few = scorecard(X[:6], X[:6, :2], measures=names, n_neighbors=1)
    assert few.skipped == dict.fromkeys(names, "the neighbours tell no dimension")  # and no interval
    few = scorecard(X[:3], X[:3, :2], measures=names)
    assert few.skipped == dict.fromkeys(names, "it needs four rows")
    same = scorecard(np.repeat(X[:2], 6, axis=0), X[:12, :2], measures=names, n_neighbors=3)
    assert same.skipped == dict.fromkeys(names, "the neighbours tell no dimension")


def test_linear_fits_are_those_of_twenty_neighbours(X):
    rows = np.arange(0, 60, 7)
    for n_anchors in (None, 9):
        found = scorecard(X, X[:, :2] ** 2, measures="local_r2", n_anchors=n_anchors, random_state=5)["local_r2"]
        fits = local_jacobians(X, X[:, :2] ** 2, compute_neighbors(X, 20), rows=np.arange(60))
        shares = np.clip(fits.predicted_r2, 0.0, 1.0)
        rows = np.arange(60) if n_anchors is None else _taking(X, X, n_anchors=9, seed=5).anchors
        assert found.value == pytest.approx(shares[rows].mean(), abs=1e-5)
        np.testing.assert_allclose(found.by_row, shares[rows], atol=1e-5)
        assert (found.n_rows, found.chance) == (len(rows), 0.0)
    same = scorecard(np.zeros((12, 2)), X[:12, :2], measures="local_r2")
    assert same.skipped == {"local_r2": "no row has neighbours that differ"}


def test_sums_over_pairs_have_the_interval_of_the_jackknife_over_anchors(X):
    Y = X[:, :2] + np.random.default_rng(1).normal(size=(60, 2))
    found = scorecard(X, Y, measures=["pearson", "stress", "raw_stress"], n_anchors=12, confidence=0.9, random_state=3)
    anchors = _taking(X, Y, n_anchors=12).anchors
    sides = [np.array([np.delete(cdist(A[[i]], A)[0], i) for i in anchors]) for A in (X, Y)]

    def statistics(kept):
        x, y = (side[kept].ravel() for side in sides)
        scale = np.sum(x * y) / np.sum(y * y)
        stresses = (np.sqrt(np.sum((x - a * y) ** 2) / np.sum(x * x)) for a in (scale, 1.0))
        return [pearsonr(x, y).statistic, *stresses]

    values = statistics(np.arange(12))
    without = np.array([statistics(np.delete(np.arange(12), one)) for one in range(12)])
    halves = student.ppf(0.95, 11) * np.sqrt(without.var(axis=0) * 11 * (1 - 12 / 60))
    for one, value, half in zip(found.values(), values, halves, strict=True):
        assert one.value == pytest.approx(value, rel=1e-6)
        assert one.interval == pytest.approx((value - half, value + half), rel=1e-5)
        assert (one.n_rows, one.n_pairs, one.exact) == (12, 12 * 59, False)


def test_radii_count_where_both_are_above_zero():
    rng = np.random.default_rng(0)
    X, Y = rng.exponential(size=(40, 3)), rng.exponential(size=(40, 2))
    X[:5], Y[30:35] = 9.0, 9.0
    found = scorecard(X, Y, n_neighbors=4, measures="local_radius_correlation")["local_radius_correlation"]
    squares = [np.mean(np.sort(cdist(A, A), axis=1)[:, 1:5] ** 2, axis=1) for A in (X, Y)]
    known = (squares[0] > 1e-12) & (squares[1] > 1e-12)
    assert found.n_rows == known.sum() == 30
    assert found.value == pytest.approx(pearsonr(*(np.log(one[known]) for one in squares)).statistic, abs=1e-6)


def test_pieces_of_a_large_table_are_those_of_five_samples_of_a_thousand_rows(monkeypatch):
    X = np.random.default_rng(0).normal(size=(1001, 2))
    seen = []
    monkeypatch.setattr(taking, "_distances", lambda A, metric: seen.append((A, metric)) or np.ones((2, 2)))
    monkeypatch.setattr(taking.topology, "joining_agreement", lambda a, b: float(len(seen)))
    found = _taking(X, 2 * X).take("topology_h0")
    assert len(seen) == 10
    for number in range(5):
        rows = np.sort(np.random.default_rng((3, 0x726F, 1 + number)).choice(1001, 1000, replace=False))
        for (A, metric), side in zip(seen[2 * number : 2 * number + 2], (X, 2 * X), strict=True):
            np.testing.assert_array_equal(A, side[rows])
            assert metric == "euclidean"
    half = student.ppf(0.975, 4) * np.std([2, 4, 6, 8, 10], ddof=1) / np.sqrt(5)
    assert found.estimate.value == 6.0
    assert found.estimate.interval == pytest.approx((6 - half, 6 + half))
    assert (found.n_rows, found.exact, found.chance) == (1000, False, 0.0)
    seen.clear()
    found = _taking(X[1:], X[1:]).take("topology_h0")
    assert (found.estimate, found.n_rows, found.exact) == (Estimate(2.0), 1000, True)
    monkeypatch.setattr(taking.topology, "loop_agreement", lambda a, b: 0.5)
    for n, n_rows, exact in ((300, 300, True), (301, 300, False)):
        found = _taking(X[:n], X[:n]).take("topology_h1")
        assert (found.n_rows, found.exact, found.chance) == (n_rows, exact, None)


def test_silhouettes_are_of_anchors_with_a_label_and_their_chance_of_five_hundred(monkeypatch):
    asked = []
    monkeypatch.setattr(
        taking.classes, "silhouette", lambda Y, codes, rows: asked.append((codes, rows)) or np.ones(len(rows))
    )
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(1700, 2)), (np.arange(1700) % 2).astype(object)
    labels[:100] = None
    for n, step in ((1700, 3), (1099, 1), (1100, 2)):
        asked.clear()
        found = _taking(X[:n], X[:n], labels[:n]).take("silhouette")
        (codes, rows), (shuffled, some) = asked
        assert rows.tolist() == list(range(n - 100))
        assert some.tolist() == list(range(0, n - 100, step))
        assert np.bincount(shuffled).tolist() == np.bincount(codes).tolist()
        assert np.mean(shuffled == codes) < 0.6
        assert (found.n_rows, found.exact) == (n - 100, True)
    anchors = _taking(X[:60], X[:60], n_anchors=3).anchors
    known = np.where(np.isin(np.arange(60), anchors), None, (np.arange(60) % 2).astype(object))
    assert _taking(X[:60], X[:60], known, n_anchors=3).take("silhouette") == "no anchor has a label"


def test_a_graph_that_was_searched_approximately_makes_no_exact_score(X):
    whole = compute_neighbors(X, 5)
    for recall in (1.0, 0.9):
        graph = NeighborGraph(whole.indices, whole.distances, recall=recall)
        found = _taking(X, X[:, :2], graph=graph).take("neighborhood_preservation")
        assert found.exact == (recall == 1.0)
        assert (found.n_rows, found.chance) == (60, 5 / 59)


def test_the_chance_of_few_dates_is_that_of_as_many_neighbours_as_there_are(X):
    days = np.datetime64("2020-01-01") + np.array([3, 1, 8, 20, 5, 2, 40, 9])
    found = scorecard(X[:8], X[:8, :2], days, measures="knn_r2", n_neighbors=2)["knn_r2"]
    assert found.chance == evaluate(X[:8], X[:8, :2], labels=days, n_neighbors=2).random_map["knn_r2"] == -1 / 7
    numbers = days.astype(float)
    errors = numbers - (numbers.sum() - numbers) / 7
    assert found.value == pytest.approx(1 - np.sum(errors**2) / np.sum((numbers - numbers.mean()) ** 2))
    known = np.where(np.arange(8) < 6, days, np.datetime64("NaT", "D"))
    assert scorecard(X[:8], X[:8, :2], known, measures="knn_r2", n_neighbors=2)["knn_r2"].n_rows == 6


def test_stresses_are_none_below_zero_and_unknown_without_distances():
    moments = np.array([3.0, 3.0, 5.0, 5.0, 5.0 + 1e-15])
    assert raw_stress(moments) == scale_optimal_stress(moments) == 0.0
    moments = np.array([[1.0, 2.0, 4.0, 9.0, 5.0], [1.0, 1.0, 1.0, 1.0, 1.0]])
    assert optimal_scale(moments) == pytest.approx(6 / 10)
    assert np.isnan(optimal_scale(0.0 * moments))
    assert np.isnan(non_metric_stress(np.arange(3.0), np.zeros(3)))


@pytest.mark.parametrize("unseen", [True, False])
def test_what_rests_on_pairs_has_the_interval_of_twenty_groups(unseen):
    """Pairs of an anchor stay together, or where every row is one, pairs of the same number."""
    rng = np.random.default_rng(0)
    m, each = (44, 30) if unseen else (50, 47)
    x = rng.gamma(2.0, size=m * each)
    y = x + rng.gamma(1.0, size=m * each)
    n = 90 if unseen else m
    ranks = SimpleNamespace(pairs_data=x, pairs_map=y, all_pairs=False, anchors=np.arange(m), n_samples=n)
    found = of_pairs(ranks, Sampling(n, m, 0.9), 4)
    groups = _groups(ranks, 4)
    drawn = Sampling(n if unseen else 10**18, m, 0.9)  # of all rows the pairs are a sample of nearly endless many
    for name, measure in (
        ("shepard", lambda *sides: spearmanr(*sides).statistic),
        ("non_metric_stress", non_metric_stress),
    ):
        expected = drawn.of_groups(measure(x, y), [measure(x[group], y[group]) for group in groups])
        assert found[name].value == pytest.approx(expected.value)
        assert found[name].interval == pytest.approx(expected.interval)
    exact = of_pairs(SimpleNamespace(**{**vars(ranks), "all_pairs": True}), Sampling(n, m), 4)
    assert exact["shepard"] == Estimate(found["shepard"].value)
    assert len(groups) == 20
    whole = np.arange(m * each).reshape(m, each)
    whole = whole if unseen else whole.T
    assert sorted(np.concatenate(groups).tolist()) == list(range(m * each))
    for group in groups:
        rows = np.unique(group // each if unseen else group % each)
        np.testing.assert_array_equal(np.sort(group), np.sort(whole[rows].ravel()))
        assert len(rows) in (len(whole) // 20, len(whole) // 20 + 1)
    short = SimpleNamespace(**{**vars(ranks), "pairs_data": x[: 3 * m], "pairs_map": y[: 3 * m]})
    assert len(_groups(short, 4)) == (20 if unseen else 3)


def test_a_shepard_diagram_shows_five_thousand_pairs_and_two_hundred_steps_of_the_curve():
    rng = np.random.default_rng(0)
    x = rng.gamma(2.0, size=5003)
    y = x + rng.gamma(1.0, size=5003)
    ranks = SimpleNamespace(pairs_data=x, pairs_map=y, moments=np.array([[1.0, 1.0, 2.0, 4.0, 3.0]]))
    found = shepard_diagram(ranks, 4)
    assert len(found.data) == len(found.map) == 5000
    assert set(zip(found.data, found.map, strict=True)) <= set(zip(x, y, strict=True))
    order = np.argsort(x)
    levels = isotonic_regression(y[order]).x
    assert len(found.levels) == 200
    np.testing.assert_allclose(found.levels[[0, -1]], [[x.min(), levels[0]], [x.max(), levels[-1]]])
    places = np.linspace(0, 5002, 200).astype(int)
    np.testing.assert_allclose(found.levels, np.column_stack([x[order], levels])[places])
    assert found.scale == 0.75
    few = shepard_diagram(SimpleNamespace(pairs_data=x[:40], pairs_map=y[:40], moments=ranks.moments), 4)
    np.testing.assert_array_equal(few.data, x[:40])
    assert len(few.levels) == 40


def test_paths_go_along_the_nearest_or_the_shortest_tree_also_among_equal_rows():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(8, 2)) + 40.0])
    X[3] = X[4]
    away = straight_distances(X)
    np.testing.assert_allclose(away, cdist(X, X), atol=1e-6)
    np.testing.assert_array_equal(away, away.T)
    assert np.all(np.diag(away) == 0.0)
    found = path_lengths(X)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.isfinite(found), True)
    assert np.all(found >= away - 1e-6)
    assert 0 < found[3, 4] < 1e-6
    np.testing.assert_allclose(path_lengths(X[:5]), cdist(X[:5], X[:5]), atol=1e-6)  # fewer rows than neighbours
    near = np.argsort(away, axis=1)[:, :11]
    steps = np.full(away.shape, np.inf)
    np.put_along_axis(steps, near, np.take_along_axis(away, near, axis=1), axis=1)
    steps = np.minimum(steps, steps.T)
    i, j = np.unravel_index(np.argmin(away[:30, 30:]), (30, 8))
    steps[i, 30 + j] = steps[30 + j, i] = away[i, 30 + j]
    for k in range(38):
        steps = np.minimum(steps, steps[:, [k]] + steps[[k]])
    np.testing.assert_allclose(found, steps, atol=1e-6)


def test_trees_that_differ_by_rounding_alone_join_at_one_scale():
    ones = 1.0 - np.eye(5)
    other = cdist(*[np.arange(5.0)[:, None] ** 2] * 2)
    assert np.isnan(joining_agreement(ones * (1.0 + 1e-11 * other), other))
    assert np.isfinite(joining_agreement(ones * (1.0 + 1e-7 * other), other))
