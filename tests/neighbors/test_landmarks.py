"""Landmarks and their cells."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gnomon.neighbors import choose_landmarks

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4)) + 50.0


@pytest.mark.parametrize("method", ["maxmin", "random"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "precomputed", "callable"])
def test_every_row_knows_its_nearest_landmark(method, metric):
    name = metric if metric in ("manhattan", "cosine") else "euclidean"
    D = cdist(X, X, {"manhattan": "cityblock"}.get(name, name))
    if metric == "callable":
        found = choose_landmarks(lambda row: D[row], 20, method=method, n_samples=300, seed=3)
    else:
        found = choose_landmarks(D if metric == "precomputed" else X, 20, method=method, metric=metric, seed=3)
    assert len(set(found.indices)) == 20
    between = D[:, found.indices]
    np.testing.assert_allclose(found.distances, between.min(axis=1), atol=1e-7)
    np.testing.assert_array_equal(found.nearest, between.argmin(axis=1))
    np.testing.assert_array_equal(found.nearest[found.indices], np.arange(20))
    assert found.counts.sum() == 300


def test_each_landmark_is_the_row_farthest_from_those_before_it():
    D = cdist(X, X)
    indices = choose_landmarks(X, 30, seed=5).indices
    for k in range(1, 30):
        reach = D[:, indices[:k]].min(axis=1)
        assert reach[indices[k]] == pytest.approx(reach.max(), rel=1e-9)


def test_no_landmark_is_taken_twice_where_rows_are_equal():
    copies = np.repeat(X[:7], 9, axis=0)
    found = choose_landmarks(copies, 20, seed=0)
    assert len(found.indices) == 7
    np.testing.assert_array_equal(found.counts, 9)
    assert len(choose_landmarks(np.full((20, 3), 1 / 3), 5).indices) == 1


def test_each_piece_that_cannot_be_reached_gets_a_landmark():
    D = np.where(np.equal.outer(np.arange(30) // 10, np.arange(30) // 10), 1.0, np.inf)
    found = choose_landmarks(lambda row: D[row], 3, n_samples=30)
    assert sorted(found.indices // 10) == [0, 1, 2]
    assert np.isfinite(found.distances).all()


def test_the_seed_decides():
    assert choose_landmarks(X, 20, method="random", seed=1).indices.tolist() == (
        choose_landmarks(X, 20, method="random", seed=1).indices.tolist()
    )
    assert set(choose_landmarks(X, 20, method="random", seed=1).indices) != set(
        choose_landmarks(X, 20, method="random", seed=2).indices
    )


def test_more_landmarks_than_rows_are_refused():
    with pytest.raises(ValueError, match="choose_landmarks: n_landmarks=301 must be at most n_samples=300"):
        choose_landmarks(X, 301)


def test_of_landmarks_equally_near_the_first_chosen_counts():
    found = choose_landmarks(lambda row: np.ones(12), 4, n_samples=12)
    others = np.setdiff1d(np.arange(12), found.indices)
    np.testing.assert_array_equal(found.nearest[others], 0)
