"""What the scores count from the distances to some rows, against loops in NumPy, for any number of threads."""

import numpy as np
import pytest
import scipy
from scipy.spatial.distance import cdist, squareform

from gnomon import _core
from gnomon._run import running
from gnomon.evaluation.anchors import choose_anchors, some_of, stands_above_rounding, unit_of
from gnomon.evaluation.gaps.saddles import Landscape, _principal_variances
from gnomon.evaluation.layout import places_of
from gnomon.evaluation.ranks import rank_anchors
from gnomon.evaluation.scores import entries_among, nearest_in_map, neighbor_ranks, shared_neighbors


def table(n, d, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d", "m"), [(1, 3, 1), (97, 1, 13), (230, 150, 25)])
def test_squares_from_anchors_are_those_of_the_rows(n, d, m, dtype):
    X = 40.0 + table(n, d, dtype)
    X[n // 2] = X[0]
    anchors = np.sort(np.random.default_rng(1).permutation(n)[: m - 1])
    anchors = np.append(anchors, 0).astype(np.int64)
    out = [np.empty((len(anchors), n), np.float32) for _ in range(2)]
    for squares, n_threads in zip(out, (1, 2), strict=True):
        _core.anchor_squares(X, anchors, X.mean(axis=0, dtype=np.float64), 0.5, squares, n_threads)
    exact = 0.25 * cdist(X[anchors].astype(np.float64), X.astype(np.float64), "sqeuclidean")
    assert np.abs(out[0] - exact).max() <= 2e-6 * max(1.0, exact.max())
    assert out[0].tobytes() == out[1].tobytes()
    assert np.all(out[0][np.arange(len(anchors)), anchors] == 0.0)
    assert out[0][-1, n // 2] == 0.0
    alone = np.empty((1, n), np.float32)  # with other anchors or without
    _core.anchor_squares(X, anchors[-1:], X.mean(axis=0, dtype=np.float64), 0.5, alone, 1)
    assert alone[0].tobytes() == out[0][-1].tobytes()


@pytest.mark.parametrize(("n", "d", "m"), [(1, 3, 1), (97, 1, 13), (150, 131, 25), (5, 16400, 4)])
def test_squares_of_bytes_are_those_of_whole_numbers(n, d, m):
    X = np.random.default_rng(0).integers(0, 256, size=(n, d)).astype(np.uint8)
    X[0], X[-1] = 255, 0  # the largest squares
    anchors = np.random.default_rng(1).permutation(n)[:m].astype(np.int64)
    whole = X.astype(np.int64)
    squares = ((whole[anchors, None] - whole[None]) ** 2).sum(axis=2)
    for n_threads in (1, 2):
        found = np.empty((m, n), np.float32)
        _core.anchor_squares(X, anchors, np.zeros(d), 0.5, found, n_threads)
        assert np.array_equal(found, (0.25 * squares).astype(np.float32))


def clouds_and_copies(n, d):
    """Return groups of very unlike size, rows far out, a grid with many equal distances, and copies of a row."""
    rng = np.random.default_rng(d)
    Y = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 3, size=(n, 1))
    Y[: n // 3] = rng.integers(0, 6, size=(n // 3, d))
    Y[n // 2 :: 7] = Y[0]
    Y[-1] = 1e9
    return Y


@pytest.mark.parametrize(("n", "k"), [(2, 1), (17, 16), (33, 5), (700, 15), (700, 64)])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_nearest_places_are_those_of_sorted_distances(n, k, d):
    Y = clouds_and_copies(n, d)
    squares = sum((Y[:, None, c] - Y[None, :, c]) ** 2 for c in range(d))
    ranks = neighbor_ranks(squares)
    expected = np.argsort(ranks, axis=1)[:, 1 : k + 1]  # equal distances by row number
    for n_threads in (1, 2, 3):
        np.testing.assert_array_equal(_core.nearest_places(Y, k, n_threads), expected)


def test_places_whose_squares_overflow_have_neighbours_all_the_same():
    Y = np.array([[0.0, 0.0], [1e300, 0.0], [0.0, 1e300], [1.0, 0.0]])
    np.testing.assert_array_equal(_core.nearest_places(Y, 2, 1), [[3, 1], [0, 2], [0, 1], [0, 1]])


def test_neighbours_in_many_dimensions_are_found_as_well():
    Y = table(300, 6)
    expected = np.argsort(cdist(Y, Y), axis=1)[:, 1:8]
    np.testing.assert_array_equal(nearest_in_map(Y, 7), expected)
    np.testing.assert_array_equal(nearest_in_map(Y[:, :2], 7), np.argsort(cdist(Y[:, :2], Y[:, :2]), axis=1)[:, 1:8])


def test_entries_and_distances_of_many_rows_are_those_of_each_alone():
    rng = np.random.default_rng(3)
    rows, others = rng.integers(0, 40, size=(2, 9000, 7)).astype(np.int32)
    expected = (rows[:, :, None] == others[:, None, :]).any(axis=2)
    np.testing.assert_array_equal(entries_among(rows, others), expected)
    np.testing.assert_array_equal(shared_neighbors(rows, others, rows > 5), (expected & (rows > 5)).sum(axis=1))
    Y = table(9000, 3)
    found = places_of(Y, None).pair_distances(others)
    np.testing.assert_allclose(found, np.linalg.norm(Y[others] - Y[:, None], axis=2), rtol=1e-14)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_counts_in_the_map_are_those_of_its_distances(d):
    Y, rows = table(301, d), np.array([4, 300, 17, 128], np.int64)
    squares = np.stack([sum((Y[:, c] - Y[i, c]) ** 2 for c in range(d)) for i in rows])
    bounds = np.ascontiguousarray(np.sort(squares, axis=0)[:3] + 0.1)
    for n_threads in (1, 2):
        sums, squared = np.full(301, 3), np.full(301, 4)
        _core.count_below_in_map(Y, rows, bounds, sums, squared, n_threads)
        counts = (squares[:, None] < bounds).sum(axis=1)
        assert np.array_equal(sums, 3 + counts.sum(axis=0))
        assert np.array_equal(squared, 4 + (counts**2).sum(axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_agree_as_often_as_their_orders(dtype):
    first, second, rows = np.round(table(301, 2)), np.round(table(301, 2, seed=1)), np.arange(5, dtype=np.int64)
    distances = np.round(np.abs(table(5, 301, dtype, seed=2)))  # with ties
    pairs, expected = np.array([0, 2, 3], np.int64), np.zeros(301, np.int64)
    for at in pairs:
        places = ((first - first[at]) ** 2).sum(axis=1), ((second - second[at + 1]) ** 2).sum(axis=1)
        orders = np.sign(distances[at + 1] - distances[at]), np.sign(places[1] - places[0])
        expected += (2 - np.abs(orders[0] - orders[1])).astype(np.int64)
    for n_threads in (1, 2):
        halves = np.zeros(301, np.int64)
        _core.count_agreeing(distances, first, second, rows, pairs, halves, n_threads)
        assert np.array_equal(halves, expected)


@pytest.mark.parametrize("k", [1, 6, 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_reachability_trees_are_those_that_scipy_finds(dtype, k):
    X = np.round(table(150, 3, dtype), 1)
    X[:7] = X[7]  # radii of 0 are raised
    X[10:20] = X[10]
    squares = np.einsum("ij,ij->i", X, X)
    nearest, radii, tree = _core.reachability_tree(X @ X.T, squares, k, 1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * (X @ X.T), 0).astype(np.float64))
    np.fill_diagonal(distances, 0.0)
    np.testing.assert_allclose(distances, cdist(X, X), atol=5e-3 if dtype is np.float32 else 1e-6)
    np.testing.assert_array_equal(nearest, np.sort(distances, axis=1)[:, 1 : k + 1])
    assert np.array_equal(radii, np.maximum(nearest[:, -1], nearest[:, -1][nearest[:, -1] > 0].min()))
    mutual = squareform(np.maximum(np.maximum(radii[:, None], radii), distances), checks=False)
    expected = scipy.cluster.hierarchy.linkage(mutual, "single")
    assert np.array_equal(tree[:, 2], expected[:, 2])
    assert k != 6 or np.array_equal(tree, expected)  # else merges are equally long


def test_dips_are_those_of_the_merges():
    X, k = np.round(table(90, 3), 1), 6
    landscape = Landscape.of(X, k)
    smaller, falls = landscape.dips()
    parts, peaks = [{i} for i in range(len(X))], list(landscape.radii)
    for at, (i, j, radius) in enumerate(landscape.merges):
        assert smaller[at] == min(len(parts[i]), len(parts[j]))
        assert falls[at] == pytest.approx(landscape.dimension * np.log(radius / max(peaks[i], peaks[j])), rel=1e-12)
        parts.append(parts[i] | parts[j])
        peaks.append(min(peaks[i], peaks[j]))


def test_a_constant_added_to_squared_distances_is_that_of_more_columns():
    X = table(60, 3)
    wide = np.hstack([X, 2.0 * np.eye(60)])  # every two rows are farther apart by a square of 8
    more, expected = Landscape.of(X, 5, rest=8.0), Landscape.of(wide, 5)
    np.testing.assert_allclose(more.radii, expected.radii, rtol=1e-12)
    np.testing.assert_allclose(more.tree[:, 2], expected.tree[:, 2], rtol=1e-12)


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
def test_a_cloud_keeps_its_variance_and_leaves_out_axes_that_add_the_same_to_all_distances(shape):
    X = table(*shape) * 0.8 ** np.arange(shape[1]) + 7.0
    variances, rest = _principal_variances(X)
    every = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / len(X)
    assert len(variances) < min(shape)
    np.testing.assert_allclose(variances, every[: len(variances)], rtol=1e-9)
    assert rest == pytest.approx(2.0 * every[len(variances) :].sum(), rel=1e-6)
    gaps = np.random.default_rng(0).normal(size=(2, 4000, len(every)))
    left_out = ((gaps[0] - gaps[1])[:, len(variances) :] ** 2) @ every[len(variances) :]
    assert left_out.mean() == pytest.approx(rest, rel=0.05)
    assert left_out.std() < 1.1e-3 * 2.0 * every.sum()


def test_anchors_and_probes_are_a_sample_in_order():
    assert choose_anchors(5000, None, 0).tolist() == list(range(5000))
    assert len(choose_anchors(5001, None, 0)) == 1000
    assert len(choose_anchors(5001, None, 0, of_many=2000)) == 2000
    assert choose_anchors(10, 10, 0).tolist() == choose_anchors(10, 99, 0).tolist() == list(range(10))
    some = choose_anchors(100, 40, 3)
    assert len(set(some.tolist())) == 40
    assert np.all(np.diff(some) > 0)
    assert not np.array_equal(some, choose_anchors(100, 40, 4))
    assert some_of(np.arange(10)).tolist() == list(range(10))
    assert some_of(np.arange(40)).tolist() == list(range(0, 32, 2))
    assert len(some_of(np.arange(1000))) == 16


def test_single_precision_is_enough_where_neighbours_stand_a_thousandth_above_the_norms():
    rows = np.array([[3.0, 4.0], [5.0, 0.0]])  # of squared length 25
    assert stands_above_rounding(np.array([1.0, 0.0251]), rows)
    assert not stands_above_rounding(np.array([1.0, 0.0249]), rows)
    for size in (1e-200, 0.3, 1.0, 1e200):
        means = size * np.array([1.0, 1.0])
        scaled = size * np.array([[3.0, 1.0], [0.0, 0.5]]) + means
        unit = unit_of(scaled, means)
        assert 0.7 < unit * np.abs(scaled - means).max() < 1.5
        assert np.log2(unit) == np.round(np.log2(unit))
    assert unit_of(np.ones((2, 2)), np.ones(2)) == 1.0


@pytest.mark.parametrize("n", [40, 41])
def test_scores_of_neighbourhoods_are_known_up_to_their_largest_size(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    Y = X[:, :2] + 0.3 * rng.normal(size=(n, 2))
    sizes = np.array([1, 5, (n - 1) // 2, (n + 1) // 2, n - 2, n - 1])
    with running(n_threads=1):
        found = rank_anchors(X, Y, np.arange(n), metric="euclidean", sizes=sizes, n_nearest=9, n_pairs=None, seed=0)
    assert np.isnan(found.trust()).all(axis=0).tolist() == [False] * 3 + [True] * 3
    assert np.isnan(found.continuity()).all(axis=0).tolist() == [False] * 3 + [True] * 3
    assert np.isnan(found.beyond_chance()).all(axis=0).tolist() == [False] * 5 + [True]
    ranks = [neighbor_ranks(cdist(side, side)) for side in (X, Y)]
    for at, k in enumerate(sizes):
        kept = ((ranks[0] <= k) & (ranks[1] <= k)).sum(axis=1) - 1
        np.testing.assert_allclose(found.kept()[:, at], kept / k)
        np.testing.assert_allclose(
            found.beyond_chance()[:, at], ((n - 1) * kept / k - k) / (n - 1 - k) if k < n - 1 else np.nan
        )
        assert found.at(k) == at
    away = cdist(X, X)[np.triu_indices(n, 1)], cdist(Y, Y)[np.triu_indices(n, 1)]
    assert found.all_pairs
    np.testing.assert_allclose(np.sort(found.pairs_data), np.sort(away[0]))
    np.testing.assert_allclose(np.sort(found.pairs_map), np.sort(away[1]))
    sums = np.array([away[0].sum(), away[1].sum(), away[0] @ away[0], away[1] @ away[1], away[0] @ away[1]])
    np.testing.assert_allclose(found.moments.sum(axis=0), 2 * sums)
