"""HDBSCAN of written-out distances against scikit-learn's, and equal distances in one order."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.cluster import HDBSCAN
from sklearn.metrics import pairwise_distances

from gnomon import _core


def _same_parts(found, expected):
    pairs = set(zip(found.tolist(), expected.tolist(), strict=True))
    return len(pairs) == len(set(found)) == len(set(expected)) and ((found < 0) == (expected < 0)).all()


def _blobs(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 60, rng.integers(1, 6))
    return np.concatenate([rng.normal(size=2) * 6.0 + rng.gamma(2.0, 0.4) * rng.normal(size=(n, 2)) for n in sizes])


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize(("n_core", "min_size"), [(6, 5), (1, 2), (3, 9)])
def test_clusters_are_those_of_scikit_learn(seed, n_core, min_size, monkeypatch):
    monkeypatch.setattr(np, "argsort", partial(np.argsort, kind="stable"))  # how scikit-learn orders equal distances
    distances = pairwise_distances(_blobs(seed))
    n_core, min_size = (min(value, len(distances)) for value in (n_core, min_size))
    how = {"metric": "precomputed", "allow_single_cluster": True, "copy": True}
    expected = HDBSCAN(min_cluster_size=min_size, min_samples=n_core, **how).fit_predict(distances)
    assert _same_parts(_core.density_clusters(distances, n_core, min_size), expected)


def test_rows_in_two_places_are_two_clusters_and_one_far_away_is_in_none():
    places = np.concatenate([np.zeros(7), np.full(6, 9.0), [100.0]]) + 0.01 * np.arange(14)
    labels = _core.density_clusters(np.abs(places[:, None] - places), 3, 5)
    assert labels.tolist() == [labels[0]] * 7 + [labels[7]] * 6 + [-1]
    assert len(set(labels.tolist())) == 3


def test_of_equal_distances_those_of_the_rows_first_reached_count():
    # A run of six rows and two of three, with equal gaps between them. From the long run's side the gap beside it is
    # reached first: a run of three joins it, then the other. From the other side the runs of three join first, to a
    # cluster as large as the long run.
    places = np.cumsum([0, 1, 1, 1, 1, 1, 5, 1, 1, 5, 1, 1]).astype(float)
    forward = _core.density_clusters(np.abs(places[:, None] - places), 1, 5)
    backward = _core.density_clusters(np.abs(places[::-1, None] - places[::-1]), 1, 5)
    assert forward.tolist() == [0] * 6 + [-1] * 6
    assert backward.tolist() == [0] * 6 + [1] * 6


def test_fewer_rows_than_a_cluster_has_are_in_none():
    assert _core.density_clusters(1.0 - np.eye(4), 2, 5).tolist() == [-1] * 4
    assert _core.density_clusters(np.zeros((1, 1)), 1, 2).tolist() == [-1]
