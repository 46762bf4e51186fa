"""A counterfactual row is like the data and like its target, or the answer says that none was found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon
from gnomon.explanations import explain
from gnomon.explanations.counterfactual import counterfactual
from gnomon.explanations.counterfactual.metric import RowMetric
from gnomon.explanations.counterfactual.plausibility import Plausibility
from gnomon.neighbors import compute_neighbors


@pytest.fixture(scope="module")
def clusters():
    """Two clusters apart in twelve features, of which the map shows only the mean of the first three."""
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 2
    X = rng.normal(size=(300, 12)) + 6.0 * labels[:, None]
    return X, labels


def shown(rows):
    return np.stack([np.asarray(rows)[:, :3].mean(axis=1), np.zeros(len(rows))], axis=1)


def ask(clusters, i=0, **options):
    X, labels = clusters
    explanation = explain(X, shown(X), n_jobs=1)
    return counterfactual(explanation, i, transform=shown, target=1, labels=labels, **options)


def test_features_that_the_map_does_not_show_must_change_too(clusters):
    by_map, plausible = ask(clusters, plausible=False), ask(clusters)
    assert by_map.reached
    assert by_map.n_needed <= 3
    assert by_map.plausible is by_map.target_share is by_map.needed_target_share is None
    assert plausible.reached
    assert plausible.plausible
    assert plausible.n_needed > 6
    assert plausible.target_share == plausible.needed_target_share == 1
    X, labels = clusters
    near = np.argsort(np.linalg.norm(X - plausible.needed_row, axis=1))[:5]
    assert (labels[near] == 1).all()


def test_where_nothing_on_the_paths_is_plausible_it_is_said(clusters):
    found = ask(clusters, novelty=lambda rows: np.full(len(rows), 0.96))
    assert found.reached
    assert found.plausible is False
    assert found.n_needed is found.needed_target_share is found.needed_novelty is None
    assert found.n_paths == 0
    assert not found.needed.any()
    assert "no row on the paths to the target is plausible" in str(found)
    assert ask(clusters, novelty=lambda rows: np.full(len(rows), 0.95)).plausible


def test_a_forest_of_other_rows_agrees():
    from sklearn.datasets import load_digits
    from sklearn.ensemble import RandomForestClassifier

    X, labels = load_digits(return_X_y=True)
    forest = RandomForestClassifier(40, random_state=0).fit(X[600:], labels[600:])
    found = gnomon.map(X[:600], labels=labels[:600], random_state=0, n_jobs=1)
    rows, targets = np.arange(0, 600, 60), (labels[:600:60] + 3) % 10
    answers = [found.counterfactual(int(i), target) for i, target in zip(rows, targets, strict=True)]
    assert all(one.plausible and one.needed_novelty <= 0.95 for one in answers)
    agreed = [forest.predict(one.needed_row[None])[0] == t for one, t in zip(answers, targets, strict=True)]
    assert np.mean(agreed) >= 0.8


@pytest.mark.parametrize("form", [np.uint8, np.float32, sp.csr_array])
def test_bounds_are_those_of_the_target_in_the_metric_of_the_graph(form):
    rng = np.random.default_rng(1)
    dense = rng.integers(1, 200, size=(60, 5)).astype(np.uint8)
    X = form(dense.astype(np.float64)) if form is sp.csr_array else dense.astype(form)
    wanted = np.arange(60) < 20
    graph = compute_neighbors(X if form is not np.uint8 else X.astype(np.float32), 5, metric="cosine")
    asked = Plausibility.of(X, 59, wanted, RowMetric(graph.metric), None)
    unit = dense / np.linalg.norm(dense.astype(float), axis=1)[:, None]
    distance = 1 - unit @ unit.T
    np.fill_diagonal(distance, np.inf)
    distance[:, 59] = np.inf
    near, far = (np.sort(distance[:20][:, part], axis=1)[:, :5] for part in (wanted, ~wanted))
    shares = np.mean(np.argsort(distance[:20], axis=1)[:, :5] < 20, axis=1)
    assert asked.most_ratio == pytest.approx(np.quantile(near.mean(axis=1) / far.mean(axis=1), 0.1), rel=1e-4)
    assert asked.least_share == pytest.approx(np.quantile(shares, 0.9), abs=1e-5)
    holds = asked.holds(X[:20], np.arange(20))
    assert 0 < holds.sum() <= 5


def test_neighbours_that_cannot_be_asked_are_not(clusters):
    X, _ = clusters
    alone = Plausibility.of(X, 0, np.arange(300) == 1, RowMetric("euclidean"), None)
    assert alone.neighbors is None
    assert np.isnan(alone.shares(X[:3])).all()
    assert alone.holds(X[:3]).all()
    one = counterfactual(explain(X, shown(X), n_jobs=1), 2, transform=shown, target=[1])
    assert one.plausible
    assert one.target_share is None


def test_plausible_is_a_truth_value(clusters):
    with pytest.raises(TypeError, match="plausible=2"):
        ask(clusters, plausible=2)


def test_bounds_are_set_by_a_thousand_rows_of_the_target_at_most():
    rng = np.random.default_rng(0)
    X, wanted = rng.normal(size=(1300, 3)), np.arange(1300) < 1200
    X[~wanted, 0] += 3.0
    asked = Plausibility.of(X, 1299, wanted, RowMetric("euclidean"), None)
    rows = np.linspace(0, 1199, 1000).astype(int)
    shares, ratios = asked.neighbors.measure(X[rows], rows)
    assert asked.least_share == pytest.approx(np.quantile(shares, 0.9), abs=1e-5)
    assert asked.most_ratio == pytest.approx(np.quantile(ratios, 0.1), rel=1e-5)
    every = asked.neighbors.measure(X[:1200], np.arange(1200))[1]
    assert asked.most_ratio != pytest.approx(np.quantile(every, 0.1), rel=1e-5)


def test_what_is_asked_of_rows_stops_at_the_bounds(clusters):
    X, labels = clusters
    asked = Plausibility.of(X, 0, labels == 1, RowMetric("euclidean"), None)
    shares, ratios = asked.neighbors.measure(X[:50])
    at = int(np.argsort(ratios)[5])
    for share, ratio, good in (
        (shares[at], ratios[at], True),
        (np.nextafter(shares[at], 2.0), ratios[at], False),
        (shares[at], np.nextafter(ratios[at], 0.0), False),
    ):
        bounded = replace(asked, least_share=share, most_ratio=ratio)
        assert bounded.holds(X[:50])[at] == good
    few = Plausibility.of(X[:6], 0, np.arange(6) >= 3, RowMetric("euclidean"), None)
    assert few.neighbors.n_asked == 2  # three rows of the target, of which one asks, and two others


def test_two_rows_of_a_target_are_asked_one_neighbour_each():
    X = np.random.default_rng(0).normal(size=(9, 2))
    wanted = np.arange(9) < 2
    assert Plausibility.of(X, 8, wanted, RowMetric("euclidean"), None).neighbors.n_asked == 1
    assert Plausibility.of(X, 8, wanted, RowMetric("precomputed"), None).neighbors is None
