"""Local fits reach no farther than rows that are held out ask for: far in noise, near where the data are clean."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import spearmanr
from tests.threads import on_threads

import gnomon as gn
from gnomon.explanations import explain
from gnomon.explanations.reach import (
    _choose_ridges,
    _profile_scores,
    _tests,
    choose_neighbors,
    choose_pooling,
    fit_forward,
    fits_around,
    median_r2,
)
from gnomon.geometry import local_jacobians
from gnomon.geometry.expansion import expand_axes_of_rows
from gnomon.neighbors import NeighborGraph, compute_neighbors


def turning(noise, n_views=72, n_features=90):
    """Views of something that turns, each feature by waves of its own; their places, and how fast each changes."""
    draw = np.random.default_rng(0)
    angle = 2 * np.pi * np.arange(n_views) / n_views
    waves, phase = draw.integers(1, 8, n_features), draw.uniform(0, 2 * np.pi, n_features)
    light = np.sin(waves * angle[:, None] + phase) / waves
    X = light + noise * draw.normal(size=light.shape)
    return X, np.column_stack([np.cos(angle), np.sin(angle)]), np.abs(np.cos(waves * angle[:, None] + phase))


def likeness(explanation, change):
    return np.mean([spearmanr(explanation.importance[i], change[i]).statistic for i in range(len(change))])


def test_views_without_noise_are_explained_by_the_nearest_alone():
    X, Y, change = turning(0.0)
    found, wide = explain(X, Y), explain(X, Y, n_neighbors=15, pooling=3)
    assert found.n_neighbors <= 6
    assert found.graph.n_neighbors == 15  # other questions walk along all of them
    assert likeness(found, change) > likeness(wide, change) + 0.2
    assert found.distortion.tear.shape == (72,)
    assert f"over {found.n_neighbors} neighbours in the data" in found.summary()


def test_fits_around_some_rows_average_to_those_of_fits_to_all():
    rng = np.random.default_rng(3)
    X, rows = rng.normal(size=(400, 6)), np.array([7, 100, 399])
    places, graph = X[:, :2] + 0.1 * rng.normal(size=(400, 2)), compute_neighbors(X, 6)
    weights = (rng.random((400, 6)) < 0.7).astype(np.float32)
    some = fits_around(X, places, graph, weights, rows.tolist(), ridge=0.1, rounds=2)
    every = local_jacobians(X, places, graph, weights=weights, ridge=0.1, variance_share=1.0, pooling=2)
    np.testing.assert_array_equal(expand_axes_of_rows(X, some, rows), expand_axes_of_rows(X, every, rows))
    assert not some.mask.all()


def test_few_neighbours_are_taken_only_if_they_predict_places_as_well():
    rng = np.random.default_rng(0)
    # Near rows are of the same categories, so that few neighbours say best which features differ.
    categories = rng.integers(0, (2, 2, 2, 3), (300, 4)) * (1.4, 1.4, 1.4, 1.2)
    X = np.column_stack([categories, rng.normal(size=(300, 3))])
    graph = compute_neighbors(X, 15)
    assert choose_neighbors(X, graph) < 15
    Y = gn.UMAP(random_state=0).fit_transform(X)
    assert explain(X, Y).n_neighbors == 15


def test_in_noise_all_neighbours_are_taken_and_averaged():
    X, Y, _ = turning(0.5, n_views=300)
    found, wide = explain(X, Y, fit="forward"), explain(X, Y, n_neighbors=15, pooling=3, fit="forward")
    assert (found.n_neighbors, found.pooling) == (15, 3)
    assert found.importance.tobytes() == wide.importance.tobytes()


def test_where_all_neighbours_change_alike_all_are_taken():
    rng = np.random.default_rng(1)
    t = np.sort(rng.uniform(0, 40, 400))
    straight = t[:, None] * np.ones(5)
    assert choose_neighbors(straight, compute_neighbors(straight, 15)) == 15  # all features change alike everywhere
    blob = rng.normal(size=(400, 5))
    assert choose_neighbors(blob, compute_neighbors(blob, 15)) == 15
    few = compute_neighbors(blob[:4], 3)
    assert choose_neighbors(blob[:4], few) == 3


def test_fits_are_not_averaged_where_that_leaves_more_of_held_out_rows_unpredicted():
    X, Y, change = turning(0.0, n_views=200)
    found, wide = explain(X, Y), explain(X, Y, n_neighbors=15, pooling=3)
    assert (found.n_neighbors, found.pooling) == (15, 0)
    assert likeness(found, change) > likeness(wide, change) + 0.2


@pytest.mark.parametrize(("noise", "wanted"), [(0.0, 0), (0.3, 3)])
def test_the_choice_of_rounds_does_not_depend_on_threads(noise, wanted):
    X, Y, _ = turning(noise, n_views=200)
    graph = compute_neighbors(X, 15)
    for threads in (1, 3):
        found = on_threads(threads, choose_pooling)(X, Y, graph, 15, ridge=1e-2, pooled_ridge=0.1)
        assert found == wanted


@pytest.mark.parametrize(("noise", "wanted"), [(0.0, 0), (0.3, 3)])
def test_neighbours_that_a_mask_leaves_out_take_no_part_in_the_choice_of_rounds(noise, wanted):
    X, Y, _ = turning(noise, n_views=200)
    graph = compute_neighbors(X, 20)
    mask = np.broadcast_to(np.arange(20) < 15, graph.indices.shape).copy()
    indices, distances = graph.indices.copy(), np.where(mask, graph.distances, np.inf).astype(np.float32)
    indices[:, 15:] = (graph.indices[:, :5] + 100) % 200  # the other side of the circle
    masked = NeighborGraph(indices, distances, mask, metric=graph.metric)
    assert choose_pooling(X, Y, masked, 20, ridge=1e-2, pooled_ridge=0.1) == wanted


def test_rows_without_a_place_take_no_part_in_the_choice():
    X, Y, _ = turning(0.0, n_views=200)
    Y[::3] = np.nan
    found = explain(X, Y)
    assert np.isnan(found.r2[::3]).all()
    assert np.isfinite(found.r2[found.mask]).all()


def test_what_is_given_is_taken():
    X, Y, _ = turning(0.0)
    found = explain(X, Y, n_neighbors=12, pooling=2)
    assert (found.n_neighbors, found.pooling, found.graph.n_neighbors) == (12, 2, 12)
    with pytest.raises(ValueError, match=r"n_neighbors=1 must be an integer >= 2 or"):
        explain(X, Y, n_neighbors=1)
    with pytest.raises((ValueError, TypeError), match="pooling='all' must be an integer >= 0 or"):
        explain(X, Y, pooling="all")


def neighbors_written_out(X, graph):
    counts = [k for k in (4, 6, 8, 10) if k < graph.n_neighbors] + [graph.n_neighbors]
    scores = []
    n = len(X)
    for i in np.unique(np.linspace(0, n - 1, min(n, 200)).astype(int)):
        squares = (X[graph.indices[i]] - X[i]) ** 2
        for left in range(2):
            away = np.sqrt(squares[left])
            others = [np.sqrt(np.delete(squares[:k], left, axis=0).sum(axis=0)) for k in counts]
            scores.append([(one @ away) ** 2 / (one @ one) / (away @ away) for one in others])
    scores = np.array(scores)
    best = scores.mean(axis=0).argmax()
    gain = 0.95 * scores[:, best] - scores[:, -1]
    if gain.mean() <= 2 * gain.std(ddof=1) / np.sqrt(len(gain) / 2):
        return graph.n_neighbors
    means = scores.mean(axis=0)
    return max(k for k, mean in zip(counts, means, strict=True) if mean >= 0.95 * means.max())


@pytest.mark.parametrize("n_neighbors", [9, 15])
def test_the_number_of_neighbours_is_that_of_the_rule_written_out(n_neighbors):
    found = set()
    for number, noise in enumerate(np.geomspace(0.003, 1.0, 24)):
        X = turning(noise, n_views=40 + 10 * number, n_features=12)[0]
        graph = compute_neighbors(X, n_neighbors)
        chosen = choose_neighbors(X, graph)
        assert chosen == neighbors_written_out(X, graph), noise
        found.add(chosen)
    assert len(found) > 1


def rounds_written_out(X, Y, graph, ridge, pooled_ridge):
    n = len(Y)
    held = np.zeros(n, dtype=bool)
    held[np.random.default_rng((0, 314)).permutation(n)[: n // 4]] = True
    free = np.flatnonzero(~held)
    tests = []
    for i in free[np.unique(np.linspace(0, len(free) - 1, min(len(free), 100)).astype(int))]:
        tested = [j for j in graph.indices[i] if held[j]][:3]
        if tested:
            tests.append((i, tested))
    weights = (~held[graph.indices]).astype(float)
    rows = np.array([i for i, _ in tests])
    sums = []
    for rounds in range(4):
        given = {"ridge": pooled_ridge if rounds else ridge, "rounds": rounds}
        fits = fits_around(X, Y, graph, weights, rows.tolist(), **given)
        axes = expand_axes_of_rows(X, fits, rows)
        one = []
        for axis, (i, tested) in zip(axes, tests, strict=True):
            steps, told = Y[tested] - Y[i], (X[tested] - X[i]) @ axis.T
            one.append([1.0, np.sum(steps * told) / np.sum(steps**2), np.sum(told**2) / np.sum(steps**2)])
        sums.append(np.array(one))

    def left(sums):
        total, product, square = np.moveaxis(sums, -1, 0)
        return 1 - np.maximum(product, 0) ** 2 / (total * square)

    best = min(sums, key=lambda one: left(one.sum(axis=0)))

    def clearly_worse(one):
        without = left(one.sum(axis=0) - one) - 4 / 3 * left(best.sum(axis=0) - best)
        m = len(without)
        error = np.sqrt((m - 1) / m * np.sum((without - without.mean()) ** 2))
        return left(one.sum(axis=0)) - 4 / 3 * left(best.sum(axis=0)) > 2 * error

    return max(rounds for rounds, one in enumerate(sums) if not clearly_worse(one))


def test_the_number_of_rounds_is_that_of_the_rule_written_out():
    found = set()
    for number, noise in enumerate(np.geomspace(0.002, 0.5, 10)):
        X, Y, _ = turning(noise, n_views=60 + 10 * number, n_features=20)
        graph = compute_neighbors(X, 8)
        rounds = choose_pooling(X, Y, graph, 8, ridge=1e-2, pooled_ridge=0.1)
        assert rounds == rounds_written_out(X, Y, graph, 1e-2, 0.1), noise
        found.add(rounds)
    assert len(found) > 1


def test_the_scores_of_numbers_of_neighbours_are_those_of_two_hundred_rows():
    X = np.random.default_rng(0).normal(size=(450, 3))
    X[0] = X[5] = X[9]  # a neighbour that does not differ says nothing
    graph, counts = compute_neighbors(X, 12), (4, 6, 8, 10, 12)
    expected = []
    for i in np.linspace(0, 449, 200).astype(int):
        squares = (X[graph.indices[i]] - X[i]) ** 2
        for left in range(2):
            if squares[left].any():
                others = [np.sqrt(np.delete(squares[:k], left, axis=0).sum(axis=0)) for k in counts]
                away = np.sqrt(squares[left])
                expected.append([(one @ away) ** 2 / (one @ one) / (away @ away) for one in others])
    assert 390 < len(expected) < 400
    np.testing.assert_allclose(_profile_scores(X, graph, counts), expected, rtol=1e-5)
    mask = np.ones(graph.indices.shape, bool)
    mask[:449, -1] = False  # rows with fewer neighbours are not looked at
    masked = NeighborGraph(graph.indices, graph.distances, mask)
    np.testing.assert_allclose(_profile_scores(X, masked, counts), expected[-2:], rtol=1e-5)


def test_scores_of_a_wide_sparse_table_are_those_of_the_dense_one_without_writing_its_rows_out():
    rng = np.random.default_rng(0)
    few = sp.random(60, 40, density=0.2, format="csr", random_state=0, data_rvs=rng.random)
    wide = sp.csr_array((few.data, few.indices * 5000, few.indptr), shape=(60, 200_000))
    graph, counts = compute_neighbors(few, 12), (4, 8, 12)
    tracemalloc.start()
    found = _profile_scores(wide, graph, counts)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(found, _profile_scores(few.toarray(), graph, counts), rtol=1e-10)
    assert len(found) == 120
    assert peak < 8 * 200_000  # one row written out


def test_tests_are_the_three_nearest_held_out_rows_of_a_hundred_others():
    rng = np.random.default_rng(1)
    places, held = rng.normal(size=(400, 2)), rng.random(400) < 0.3
    places[::7] = np.nan
    graph = compute_neighbors(rng.normal(size=(400, 3)), 12)
    free = [i for i in range(400) if not held[i] and i % 7]
    expected = {}
    for at in np.linspace(0, len(free) - 1, 100).astype(int):
        tested = [int(j) for j in graph.indices[free[at]] if held[j] and j % 7][:3]
        if tested:
            expected[free[at]] = tested
    found = {i: tested.tolist() for i, tested in _tests(places, graph, held)}
    assert found == expected
    assert {len(tested) for tested in found.values()} == {1, 2, 3}


@pytest.mark.parametrize(
    ("alone", "stretched", "wanted"),
    [
        ([0.2, 0.3, 0.5, 0.4, 0.1], [0.1, 0.2, 0.3, 0.4, 0.0], (0.1, 1.0)),  # the strongest within 4/3 of the best
        ([0.9, 0.3, 0.5, 0.4, 0.1], [0.7, 0.61, 0.59, 0.0, 0.0], (1e-3, 1e-2)),
        ([0.1, 0.3, 0.1, 0.4, 0.5], [0.1, 0.2, 0.1, 0.1, 0.1], (10.0, 10.0)),
        ([0.1, 0.3, 0.1, 0.2, 0.1], [0.99, 0.9, 0.9, 0.9, 0.9], (1e-2, 1e-3)),
        ([np.nan, 0.2, np.nan, 0.3, np.nan], [np.nan, 0.2, np.nan, 0.1, np.nan], (1.0, 1.0)),
    ],
)
def test_the_ridges_are_chosen_by_medians_over_a_thousand_rows(alone, stretched, wanted, monkeypatch):
    ridges, asked = [1e-3, 1e-2, 1e-1, 1.0, 10.0], []

    def fits(X, Y, graph, *, rows, ridge, variance_share):
        asked.append((rows.tolist(), ridge, variance_share))
        k = ridges.index(ridge)
        mask = np.full(3, not np.isnan(alone[k]))
        mask[2] = False
        three = np.array([alone[k], alone[k], 9.0])
        return SimpleNamespace(mask=mask, predicted_r2=three, stretched_r2=lambda: three - alone[k] + stretched[k])

    monkeypatch.setattr("gnomon.explanations.reach.local_jacobians", fits)
    assert _choose_ridges(None, np.zeros((2500, 2)), None) == wanted
    assert [ridge for _, ridge, _ in asked] == ridges
    assert all(rows == np.linspace(0, 2499, 1000).astype(int).tolist() and share == 1.0 for rows, _, share in asked)


def test_fewer_neighbours_may_cost_a_quarter_of_the_median_r2(monkeypatch):
    graph, counts = compute_neighbors(np.random.default_rng(0).normal(size=(30, 2)), 15), []

    def fit_over(scores):
        def fit(X, places, graph, n_neighbors, pooling):
            counts.append(n_neighbors)
            return SimpleNamespace(held_out_r2=lambda: np.full(2, scores[n_neighbors]), mask=np.array([True, False]))

        return fit

    monkeypatch.setattr("gnomon.explanations.reach.choose_neighbors", lambda X, graph: 6)
    for wide, taken in ((0.7, 6), (0.75, 6), (0.76, 15)):
        scores = {6: 0.5, 15: wide}
        monkeypatch.setattr("gnomon.explanations.reach._fit_over", fit_over(scores))
        assert fit_forward(None, None, graph, "auto", 0).held_out_r2()[0] == scores[taken]
    monkeypatch.setattr("gnomon.explanations.reach.choose_neighbors", lambda X, graph: 15)
    counts.clear()
    assert fit_forward(None, None, graph, "auto", 0).held_out_r2()[0] == 0.76
    fit_forward(None, None, graph, 6, 0)
    assert counts == [15, 6]


def test_the_median_r2_of_no_fits_is_none():
    fits = SimpleNamespace(held_out_r2=lambda: np.array([0.1, 0.2, 0.9]), mask=np.array([True, False, True]))
    assert median_r2(fits) == 0.5
    assert np.isnan(median_r2(SimpleNamespace(held_out_r2=fits.held_out_r2, mask=np.zeros(3, bool))))


@pytest.mark.parametrize("median", [0.49, 0.5, 0.6])
@pytest.mark.parametrize("rounds", [0, 2, 3])
def test_how_often_is_asked_of_fits_that_predict_half(median, rounds, monkeypatch):
    graph = compute_neighbors(np.random.default_rng(0).normal(size=(30, 2)), 8)
    X, Y = np.random.default_rng(0).normal(size=(30, 2)), np.random.default_rng(1).normal(size=(30, 2))
    monkeypatch.setattr("gnomon.explanations.reach._choose_ridges", lambda *_: (0.01, 10.0))
    monkeypatch.setattr("gnomon.explanations.reach.choose_pooling", lambda *_, ridge, pooled_ridge: rounds)
    monkeypatch.setattr("gnomon.explanations.reach.median_r2", lambda fits: median)
    found = fit_forward(X, Y, graph, 8, "auto")
    expected = (10.0, 3) if median < 0.5 else (10.0, rounds) if rounds else (0.01, 0)
    assert (found.ridge, found.pooling) == expected
    assert [(fit.ridge, fit.pooling) for fit in (fit_forward(X, Y, graph, 8, k) for k in (0, 1))] == [
        (0.01, 0),
        (10.0, 1),
    ]
