"""The benchmark of mixed tables: what it measures."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.mixed import agreement, gower_distances, trustworthiness

pd = pytest.importorskip("pandas")


def test_gower_distances_are_means_of_ranges_and_matches():
    frame = pd.DataFrame({"x": [0.0, 4.0, 1.0], "kind": ["a", "b", "a"]})
    np.testing.assert_allclose(gower_distances(frame), [[0, 1, 0.125], [1, 0, 0.875], [0.125, 0.875, 0]])


def test_trustworthiness_is_that_of_scikit_learn_without_ties():
    from sklearn.manifold import trustworthiness as theirs
    from sklearn.metrics import pairwise_distances

    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(80, 4)), rng.normal(size=(80, 2))
    distances = pairwise_distances(X)
    assert trustworthiness(distances, Y) == pytest.approx(theirs(X, Y, n_neighbors=15))
    assert trustworthiness(np.zeros((80, 80)), Y) == 1.0  # all as near as any


def test_agreement_counts_votes_of_neighbours():
    Y = np.vstack([np.random.default_rng(0).normal(size=(60, 2)), 50.0 + np.random.default_rng(1).normal(size=(20, 2))])
    assert agreement(Y, np.repeat(["a", "b"], [60, 20])) == (1.0, 1.0)
    accuracy, balanced = agreement(Y[:60], np.tile(["a", "b", "b"], 20))
    assert 0.4 < accuracy < 0.8
    assert 0.2 < balanced < 0.7
