"""Walks, clusters and distortions of steadiness and cohesiveness, on a few rows worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gnomon.evaluation.steadiness import (
    N_WALKS,
    SharedNeighbors,
    _clusters_among,
    cluster_distortions,
    distortions,
    growth_range,
    score_of,
    walk,
)


def test_walks_are_a_hundred_and_fifty_and_of_three_tenths_of_the_rows(monkeypatch):
    X = np.random.default_rng(0).normal(size=(40, 2))
    near = SharedNeighbors.of(np.argsort(cdist(X, X), axis=1)[:, 1:7])
    steps = []
    monkeypatch.setattr(
        "gnomon.evaluation.steadiness.walk", lambda graph, n, draws: steps.append(n) or np.empty(0, np.int64)
    )
    sums = distortions("steadiness", near, near, 0)
    assert steps == [12] * 150
    np.testing.assert_array_equal(sums, np.zeros((150, 2)))
    assert N_WALKS == 150
    np.testing.assert_array_equal(score_of(np.array([[1.0, 4.0], [0.0, 0.0], [3.0, 0.0]])), [0.75, 1.0, 1.0])


def test_similarities_are_by_the_places_of_shared_neighbours():
    """Rows 0 and 1 share 2 and 3 at places 1, 2 and 2, 1; of two neighbours the weights are 3 and 2."""
    indices = np.array([[2, 3], [3, 2], [0, 1], [4, 0], [3, 1]])
    found = SharedNeighbors.of(indices)
    raw = np.zeros((5, 5))
    weights = np.zeros((5, 5))
    for row, near in enumerate(indices):
        weights[row, near] = 3.0, 2.0
    raw = weights @ weights.T
    np.fill_diagonal(raw, 0.0)
    assert raw[0, 1] == 12.0
    np.testing.assert_allclose(found.similarity, raw / raw.max())
    np.testing.assert_allclose(found.near(3), found.similarity[3, [4, 0]])
    nothing = SharedNeighbors.of(np.array([[1], [0]]))
    np.testing.assert_array_equal(nothing.similarity, 0.0)


class _Said:
    """Random numbers that are said."""

    def __init__(self, starts, uniform):
        self.starts, self.numbers = list(starts), uniform

    def integer(self, high):
        return self.starts.pop(0)

    def uniform(self, count):
        return np.full(count, self.numbers)


def test_a_walk_spreads_to_those_that_are_similar_until_it_has_its_steps():
    similarity = np.zeros((6, 6))
    for i, j, value in ((0, 1, 1.0), (0, 2, 0.4), (1, 3, 1.0), (3, 4, 1.0)):
        similarity[i, j] = similarity[j, i] = value
    graph = SharedNeighbors(np.array([[1, 2], [0, 3], [0, 4], [1, 4], [3, 1], [0, 1]]), similarity)
    for n_steps, uniform, members in (
        (1, 0.5, [0, 1]),
        (2, 0.5, [0, 1, 3]),  # 0 is found again, which is a step too
        (4, 0.5, [0, 1, 3]),
        (5, 0.5, [0, 1, 3, 4]),
        (1, 0.6, [0, 1]),
        (1, 0.7, [0, 1, 2]),
    ):
        assert sorted(walk(graph, n_steps, _Said([5, 0], uniform)).tolist()) == members
    nobody = SharedNeighbors(graph.indices, np.zeros((6, 6)))
    draws = _Said([1] * 100, 0.5)
    assert len(walk(nobody, 3, draws)) == 0
    assert draws.starts == []  # a hundred starts are tried
    alone = SharedNeighbors(np.array([[1], [0]] * 20), np.zeros((40, 40)))
    draws = _Said([1] * 400, 0.5)
    walk(alone, 3, draws)
    assert draws.starts == []
    tries = []

    class Never(_Said):
        def uniform(self, count):
            tries.append(count)
            return np.zeros(count)

    with pytest.raises(IndexError):  # asks for another start
        walk(SharedNeighbors(graph.indices, 0.5 * similarity), 3, Never([0], None))
    assert len(tries) == 1000


def test_distortions_of_a_cluster_are_weighed_by_the_rows_of_its_parts():
    """Of four rows, two are a part and two alone; distances of parts are 1 / (mean similarity + 0.1)."""
    rng = np.random.default_rng(0)
    apart, together = (np.triu(rng.random((5, 5)), 1) for _ in range(2))
    apart, together = 0.2 * (apart + apart.T), together + together.T
    members, labels = np.array([4, 0, 2, 1]), np.array([0, -1, 0, -1])
    parts = [[4, 2], [0], [1]]

    def distance(similarity, a, b):
        return 1 / (np.mean([similarity[i, j] for i in a for j in b]) + 0.1)

    low, high = growth_range(apart, together)
    growths = 1 / (apart + 0.1) - 1 / (together + 0.1)
    assert (low, high) == (max(growths.min(), 0.0), max(growths.max(), 0.0))
    total = weight = 0.0
    for one in range(3):
        for two in range(one):
            growth = distance(apart, parts[one], parts[two]) - distance(together, parts[one], parts[two])
            if growth > 0:
                total += (growth - low) / (high - low) * len(parts[one]) * len(parts[two])
                weight += len(parts[one]) * len(parts[two])
    assert weight > 0
    found = cluster_distortions(members, labels, apart, together, low, high)
    np.testing.assert_allclose(found, [total, weight])
    np.testing.assert_allclose(cluster_distortions(members, labels, apart, together, 0.0, 2.0)[1], weight)
    for nothing in ((1.0, 1.0), (2.0, 1.0)):
        np.testing.assert_array_equal(cluster_distortions(members, labels, apart, together, *nothing), [0.0, 0.0])
    assert growth_range(together + 1.0, together) == (0.0, 0.0)
    whole = cluster_distortions(members, np.zeros(4, int), apart, together, low, high)
    np.testing.assert_array_equal(whole, [0.0, 0.0])


def test_clusters_of_five_rows_or_fewer_are_none_and_of_more_those_of_hdbscan():
    assert _clusters_among(np.arange(5), np.ones((5, 5))).tolist() == [-1] * 5
    two = np.kron(np.eye(2), np.ones((6, 6)))
    noise = 0.01 * np.random.default_rng(0).random((12, 12))
    labels = _clusters_among(np.arange(12), two + noise + noise.T)
    assert len(set(labels[:6].tolist())) == len(set(labels[6:].tolist())) == 1
    assert labels[0] != labels[6]
    assert _clusters_among(np.arange(6), np.ones((6, 6))).tolist() == [0] * 6
