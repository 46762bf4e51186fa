"""The triplets of TriMap: which they are, how they are weighted, and the same for any number of threads."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from tests.threads import on_threads

from gnomon.affinities import trimap_triplets


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(150, 5)) * rng.uniform(0.3, 2.0, (150, 1))


def scaled_squares(X):
    D = cdist(X, X)
    scales = np.sort(D, axis=1)[:, 4:7].mean(axis=1)
    return D**2 / np.outer(scales, scales)


def test_inliers_are_nearest_by_scaled_distance_and_outliers_are_none(rows, neighbor_graph):
    found = trimap_triplets(rows, neighbor_graph(rows, 149))
    u = scaled_squares(rows)
    np.fill_diagonal(u, -1.0)
    inliers = np.argsort(u, axis=1)[:, 1:13]
    np.testing.assert_array_equal(found.others[:, :12], inliers)
    assert found.others.shape == (150, 12 + 12 * 4 + 2 * 3)
    assert found.weights.shape == (150, 12 * 4 + 3)
    for i in range(150):
        assert not {i, *inliers[i]} & set(found.others[i, 12:60])
        for rank in range(12):
            assert len(set(found.others[i, 12 + 4 * rank : 16 + 4 * rank])) == 4
        assert len({i, *found.others[i, 60:]}) == 7


def test_triplets_join_each_inlier_with_its_outliers_and_random_points_in_order(rows, neighbor_graph):
    found = trimap_triplets(rows, neighbor_graph(rows, 60))
    triplets = found.to_array().reshape(150, 51, 3)
    np.testing.assert_array_equal(triplets[..., 0], np.arange(150)[:, None].repeat(51, 1))
    np.testing.assert_array_equal(triplets[:, :48, 1], found.others[:, :12].repeat(4, axis=1))
    np.testing.assert_array_equal(triplets[:, :48, 2], found.others[:, 12:60])
    u = scaled_squares(rows)
    i, j, k = triplets[:, 48:].reshape(-1, 3).T
    assert np.all(u[i, j] <= u[i, k])


@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0])
def test_weights_are_the_compressed_gaps_of_scaled_squares(temperature, rows, neighbor_graph):
    found = trimap_triplets(rows, neighbor_graph(rows, 60), temperature=temperature)
    u = scaled_squares(rows)
    i, j, k = found.to_array().T
    gaps = (u[i, k] - u[i, j]).reshape(150, 51)
    gaps[:, 48:] *= 0.1
    excess = gaps - gaps.min()
    expected = {0.0: excess, 0.5: 2 * (np.sqrt(1 + excess) - 1), 1.0: np.log1p(excess)}[temperature]
    np.testing.assert_allclose(found.weights, expected, rtol=1e-4, atol=1e-4)
    assert found.weights.min() == 0


def test_the_same_bytes_for_any_number_of_threads_and_others_for_another_seed(rows, neighbor_graph):
    X = np.tile(rows, (5, 1)) + np.random.default_rng(1).normal(size=(750, 5))
    graph = neighbor_graph(X, 60)

    def bits(**parameters):
        found = trimap_triplets(X, graph, **parameters)
        return found.others.tobytes() + found.weights.tobytes()

    one = on_threads(1, bits)(seed=1)
    assert {on_threads(n, bits)(seed=1) for n in (2, 3, 5)} == {one}
    assert bits(seed=2) != one


@pytest.mark.parametrize("n_samples", [2, 3, 5, 9])
def test_few_points_have_fewer_triplets(n_samples, neighbor_graph):
    X = np.random.default_rng(n_samples).normal(size=(n_samples, 3))
    n_inliers = max(1, (n_samples - 1) // 2)
    found = trimap_triplets(X, neighbor_graph(X, n_samples - 1), n_inliers=n_inliers)
    n_outliers = min(4, n_samples - 1 - n_inliers)
    assert found.weights.shape == (n_samples, n_inliers * n_outliers + min(3, (n_samples - 1) // 2))
    i, j, k = found.to_array().T
    assert np.all((i != j) & (i != k) & (j != k))


def test_three_points_on_a_line(neighbor_graph):
    # 0, 1, 3: all scales are the farthest distances 3, 2, 3 (there are no fourth neighbours).
    X = np.array([[0.0], [1.0], [3.0]])
    found = trimap_triplets(X, neighbor_graph(X, 2), n_inliers=1, n_random=0, temperature=0.0)
    np.testing.assert_array_equal(found.to_array(), [[0, 1, 2], [1, 0, 2], [2, 1, 0]])
    gaps = np.array([9 / 9 - 1 / 6, 4 / 6 - 1 / 6, 9 / 9 - 4 / 6])
    np.testing.assert_allclose(found.weights[:, 0], gaps - gaps.min(), rtol=1e-6)


def test_more_inliers_than_the_graph_has_neighbours_is_an_error(rows, neighbor_graph):
    with pytest.raises(ValueError, match="n_inliers=12 must be at most 8, those of the graph"):
        trimap_triplets(rows, neighbor_graph(rows, 8))
