"""Which group every row goes with: rows of less noise do not outvote the others, and no cluster is empty."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

import gnomon as gn
from gnomon.clusters.splits import Group
from gnomon.clusters.votes import Assigned, _noise, assign, rows_apart


def _quiet(seed, n, p, shift, every=10):
    """Four groups; every tenth row, or so, has less noise."""
    draw = np.random.default_rng(seed)
    group = np.arange(n) % 4
    quiet = np.arange(n) // 4 % every == 0
    means, noise = draw.normal(scale=shift, size=(4, p)), draw.normal(size=(n, p))
    return means[group] + noise * np.where(quiet, 0.7, 1.0)[:, None], group


def _groups(labels):
    return [Group(np.flatnonzero(labels == k), frozenset([k]), 1.0) for k in range(labels.max() + 1)]


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_of_less_noise_do_not_outvote_the_others(metric, form):
    X, group = _quiet(0, 320, 1000, 0.35, every=20)
    learned = np.arange(320)[np.arange(320) // 4 % 2 == 0]
    held_out = np.setdiff1d(np.arange(320), learned)
    assigned = assign(form(X), learned, _groups(group[learned]), metric)
    assert np.mean(assigned.votes[held_out].argmax(axis=1) == group[held_out]) > 0.99
    nearest = learned[np.argsort(np.linalg.norm(X[held_out][:, None] - X[learned], axis=2), axis=1)[:, :15]]
    assert np.mean(group[nearest] == group[held_out, None]) < 0.5  # as they would


@pytest.mark.parametrize("seed", [0, 1])
def test_groups_in_many_columns_hold_their_rows_though_some_have_less_noise(seed):
    X, group = _quiet(seed, 600, 1000, 0.35)
    found = gn.find_clusters(X, random_state=seed)
    assert [cluster.size for cluster in found.level().clusters] == [150] * 4
    assert adjusted_rand_score(group, found.labels) == 1.0


def test_the_noise_of_a_row_is_its_squared_distance_to_the_mean_of_its_nearest_rows():
    X = np.random.default_rng(0).normal(size=(40, 30))
    X[:5] *= 0.5
    rows = np.arange(3, 40)
    for metric, places in (("euclidean", X), ("cosine", normalize(X))):
        expected = []
        for row in rows:
            far = np.sum((places[rows] - places[row]) ** 2, axis=1)
            near = rows[np.argsort(far)[1:16]]
            expected.append(min(np.sum((places[row] - places[near].mean(axis=0)) ** 2), np.sort(far)[1]))
        for form in (np.asarray, sp.csr_array):
            np.testing.assert_allclose(_noise(form(X), rows, metric), expected, rtol=1e-5)


def test_in_few_columns_the_nearest_rows_vote():
    draw = np.random.default_rng(1)
    X = draw.normal(size=(200, 2)) + np.where(np.arange(200) < 100, 0.0, 3.0)[:, None]
    learned, rest = np.arange(0, 200, 2), np.arange(1, 200, 2)
    labels = (learned >= 100).astype(int)
    votes = assign(X, learned, _groups(labels), "euclidean").votes[rest]
    near = np.argsort(np.linalg.norm(X[rest][:, None] - X[learned], axis=2), axis=1)[:, :15]
    assert np.mean(votes.argmax(axis=1) == (labels[near].mean(axis=1) > 0.5)) > 0.97


def test_learned_rows_stay_in_their_group_whatever_their_neighbours_say():
    X = np.random.default_rng(2).normal(size=(80, 3))
    learned = np.arange(0, 80, 2)
    labels = (np.arange(40) % 20 == 0).astype(int)  # two rows, among those of the other group
    for metric in ("euclidean", "manhattan"):
        assigned = assign(X, learned, _groups(labels), metric)
        assert np.array_equal(assigned.best(np.arange(2))[0][learned], labels)
        assert set(assigned.labels(np.arange(2))[learned[labels == 0]].tolist()) <= {0, -1}
        np.testing.assert_allclose(assigned.votes.sum(axis=1), 1.0)
        own = assigned.votes[learned, labels]
        np.testing.assert_allclose(31 * own, np.rint(31 * own))  # of 15 neighbours, and 16 for itself
        assert own.min() >= 16 / 31


@pytest.mark.parametrize("n_group", [10, 40])
def test_rows_lie_apart_beyond_the_inner_fence_of_their_group_and_the_outer_one_of_their_mates(n_group):
    """Some rows of a line are a group and all have voted for it; six more lie farther and farther out."""
    told = []
    for out in np.geomspace(25.0, 200.0, 10):
        X = np.concatenate([1.08 ** np.arange(40.0), out + 0.1 * np.arange(6.0)])[:, None]
        group = Group(np.arange(0, 40, 40 // n_group), frozenset([0]), 1.0)
        apart = rows_apart(X, np.arange(46), [group], "euclidean", Assigned.of_one(46), few=6)
        between = np.sort(np.abs(X - X.T), axis=1)  # of which the first is that of a row to itself
        in_group = np.sort(np.where(np.eye(46)[:, group.rows] > 0, np.inf, np.abs(X - X[group.rows].T)), axis=1)
        far, near = np.log(in_group[:, 5]), np.log(between[:, 5])
        beyond = [
            values > np.quantile(values, 0.75) + times * np.ptp(np.quantile(values, [0.25, 0.75]))
            for values, times in ((far, 1.5), (far - near, 3.0))
        ]
        expected = beyond[0] & beyond[1] & (n_group > 11)  # of so few the sixth nearest is no other than a mate
        assert np.array_equal(apart, expected)
        told.append(apart.sum())
    assert set(told) == ({0, 6} if n_group > 11 else {0})


def test_no_cluster_is_empty_though_all_its_rows_lie_apart():
    votes = np.repeat([[1.0, 0.0], [0.0, 1.0]], 10, axis=0)
    apart = np.arange(20) >= 10
    labels = Assigned(votes, np.zeros(20), apart).labels(np.arange(2))
    assert np.array_equal(labels, np.repeat([0, 1], 10))
    apart[10] = False
    labels = Assigned(votes, np.zeros(20), apart).labels(np.arange(2))
    assert np.array_equal(labels, [*[0] * 10, 1, *[-1] * 9])
