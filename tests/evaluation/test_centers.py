"""Distances between centres of groups against closed forms, and what maps are said to do with them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist

from gnomon import evaluate
from gnomon.data.labels import sort_into_classes
from gnomon.evaluation.centers import between_centers, drawn_unlike

LABELS = np.repeat(["a", "b", "c"], 60)


def three(n_columns=30, seed=0):
    """Rows of three classes at 0, 10 and 50."""
    X = np.random.default_rng(seed).normal(size=(180, n_columns))
    X[:, 0] += np.repeat([0.0, 10.0, 50.0], 60)
    return X


def test_the_square_of_a_distance_has_no_bias_from_few_rows():
    X = np.random.default_rng(0).normal(size=(9, 4)) * [1, 2, 3, 4]
    a, b = X[:4], X[4:] + 1.0
    found, shares = between_centers(cdist(a, b), cdist(a, a), cdist(b, b))
    errors = sum(np.trace(np.cov(one.T)) / len(one) for one in (a, b))
    assert found == pytest.approx(np.square(a.mean(axis=0) - b.mean(axis=0)).sum() - errors)
    mean = np.mean([_of(seed) for seed in range(400)])
    assert mean == pytest.approx(9.0, abs=0.7)  # four standard errors
    assert [len(one) for one in shares] == [4, 5]


def _of(seed):
    X = np.random.default_rng(seed).normal(size=(12, 6))
    a, b = X[:5], X[5:] + np.array([3, 0, 0, 0, 0, 0])
    return between_centers(cdist(a, b), cdist(a, a), cdist(b, b))[0]


def test_what_rows_add_is_how_much_the_square_changes_with_their_weight():
    """Closed form of a row x of the first: (x - b)² less the mean square to its own, as n grows."""
    X = three(3)
    a, b = X[:60], X[60:120]
    _, (mine, others) = between_centers(cdist(a, b), cdist(a, a), cdist(b, b))
    for share, own, other in ((mine, a, b), (others, b, a)):
        away = 2.0 * (own - own.mean(axis=0)) @ (own.mean(axis=0) - other.mean(axis=0))
        assert np.corrcoef(share, away)[0, 1] > 0.999
        assert share.std() == pytest.approx(away.std(), rel=0.02)


def _unlike(X, Y, labels=LABELS, metric="euclidean"):
    return drawn_unlike(X, np.asarray(Y, dtype=np.float64), sort_into_classes(labels), metric, 0)


def test_a_map_to_scale_draws_all_distances_alike_though_it_leaves_out_columns_of_noise():
    X = three()
    assert _unlike(X, 7.0 * X) == pytest.approx(1.0)
    assert _unlike(X, X[:, :2]) == pytest.approx(1.0, abs=0.03)
    few = np.r_[:10, 60:70, 120:130]
    wide = three(300)[few]  # of 10 rows a square of 60 is chance alone
    for table in (wide, csr_matrix(wide)):
        assert _unlike(table, wide[:, :2], LABELS[few]) == pytest.approx(1.0, abs=0.1)
    assert _unlike(csr_matrix(X), X) == pytest.approx(1.0)
    Y = X[:, :2].copy()
    Y[120:, 0] -= 30.0  # at 20: AB stays, AC shrinks by 2.5 and BC by 4
    assert _unlike(X, Y) == pytest.approx(4.0, rel=0.05)
    order = np.random.default_rng(1).permutation(180)
    assert _unlike(X[order], Y[order], LABELS[order]) == pytest.approx(_unlike(X, Y))


def test_of_the_cosine_centres_are_those_of_directions():
    X = three(5) + 20.0
    lengths = np.random.default_rng(0).uniform(0.5, 2.0, size=(180, 1))
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert _unlike(lengths * X, units, metric="cosine") == pytest.approx(1.0)
    assert _unlike(lengths * X, X, metric="manhattan") is None


def test_one_pair_in_twenty_at_each_end_does_not_count():
    places = np.array([*itertools.product(range(3), range(3))], dtype=float)[:7] * 100.0  # 21 pairs
    rows = np.repeat(places, 6, axis=0) + np.tile([[0.1, 0], [-0.1, 0], [0, 0.1], [0, -0.1], [0, 0], [0, 0]], (7, 1))
    names = np.repeat(np.arange(7), 6)
    drawn = rows.copy()
    drawn[:6] += 0.3 * (drawn[6:12].mean(axis=0) - drawn[:6].mean(axis=0))
    every = cdist(places, places), cdist(*[drawn.reshape(7, 6, 2).mean(axis=1)] * 2)
    ratios = np.sort((every[1] / np.where(every[0] > 0, every[0], np.nan))[np.triu_indices(7, 1)])
    assert _unlike(rows, drawn, names) == pytest.approx(ratios[-2] / ratios[1], rel=1e-4)
    assert _unlike(rows[:36], drawn[:36], names[:36]) > _unlike(rows, drawn, names)  # of 15 pairs all count


def test_what_groups_cannot_tell_is_not_told():
    X = three()
    assert _unlike(X[:120], X[:120], LABELS[:120]) is None  # one pair
    assert _unlike(X, np.zeros((180, 2))) is None
    for seed in range(6):
        noise = np.random.default_rng(seed).normal(size=(180, 30))
        assert _unlike(noise, noise[:, :2]) is None  # no two are apart by more than chance
    few = np.flatnonzero((LABELS != "c") | (np.arange(180) < 124))
    assert _unlike(X[few], X[few], LABELS[few]) is None  # four rows of the third


def test_an_evaluation_tells_how_unlike_distances_between_classes_are_drawn():
    X = three()
    Y = X[:, :2].copy()
    Y[120:, 0] -= 30.0
    found = evaluate(X, Y, labels=LABELS)
    assert found.group_distances == pytest.approx(_unlike(X, Y))
    assert found.to_dict()["group_distances"] == found.group_distances
    assert found.shepard > 0.9  # which says nothing of it
    for labels in (None, np.arange(180) / 7.0):
        assert evaluate(X, Y, labels=labels).group_distances is None
    assert "group_distances" not in evaluate(X, Y).to_dict()
