"""Exact and approximate Euclidean search."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors
from tests.threads import on_threads

from gnomon import _core
from gnomon._progress import Reporter
from gnomon.exceptions import PrecisionWarning
from gnomon.neighbors import (
    NeighborGraph,
    RowSearch,
    cell_plans,
    cells,
    compute_neighbors,
    euclidean,
    graph_fault,
    query_neighbors,
)
from gnomon.neighbors.cells import PROJECT_ABOVE
from gnomon.neighbors.euclidean import Points, lead_with


def blobs(n_samples=6000, n_features=20, dtype=np.float32):
    return make_blobs(n_samples, n_features, centers=30, random_state=0)[0].astype(dtype)


def noise(n_samples, n_features, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal((n_samples, n_features)).astype(dtype)


def reference(X, k, X_new=None):
    search = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(X.astype(np.float64))
    distances, indices = search.kneighbors(X_new)
    return indices, distances


def check_invariants(graph: NeighborGraph):
    """Self is no neighbour, rows are unique and ascend by (distance, index)."""
    n, k = graph.indices.shape
    assert graph.indices.dtype == np.int32
    assert graph.distances.dtype == np.float32
    assert np.isfinite(graph.distances).all()
    assert (graph.indices != np.arange(n)[:, None]).all()
    assert (graph.indices >= 0).all()
    assert (graph.indices < n).all()
    assert all(len(set(row)) == k for row in graph.indices.tolist())
    rows = np.repeat(np.arange(n), k)
    order = np.lexsort((graph.indices.ravel(), graph.distances.ravel(), rows))
    np.testing.assert_array_equal(order, np.arange(n * k))


def same_bits(a: NeighborGraph, b: NeighborGraph) -> bool:
    return a.indices.tobytes() == b.indices.tobytes() and a.distances.tobytes() == b.distances.tobytes()


def test_points_on_a_line_have_their_neighbours_beside_them():
    graph = compute_neighbors(np.array([[0.0], [1.0], [3.0], [3.5]]), 2)
    np.testing.assert_array_equal(graph.indices, [[1, 2], [0, 2], [3, 1], [2, 1]])
    np.testing.assert_array_equal(graph.distances, [[1, 3], [1, 2], [0.5, 2], [0.5, 2.5]])
    assert (graph.metric, graph.method, graph.recall, graph.mask) == ("euclidean", "exact", 1.0, None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n", "d", "k"), [(2, 1, 1), (3, 2, 2), (40, 1, 39), (97, 7, 5), (1500, 33, 15), (700, 300, 30)]
)
def test_exact_search_agrees_with_scikit_learn(n, d, k, dtype):
    X = noise(n, d, dtype)
    graph = compute_neighbors(X, k, method="exact")
    indices, distances = reference(X, k)
    check_invariants(graph)
    np.testing.assert_array_equal(graph.indices, indices)
    np.testing.assert_allclose(graph.distances, distances, rtol=1e-5)


def test_l2_is_another_name_of_euclidean():
    X = noise(50, 3)
    assert same_bits(compute_neighbors(X, 5, metric="l2"), compute_neighbors(X, 5))
    assert compute_neighbors(X, 5, metric="l2").metric == "euclidean"


@pytest.mark.parametrize("method", ["exact", "approximate"])
@pytest.mark.parametrize("n_features", [20, 150])
def test_the_number_of_threads_does_not_change_a_bit(method, n_features):
    X = blobs(3000, n_features)
    first = on_threads(1, compute_neighbors)(X, 15, method=method)
    for n_threads in (2, 3, 5):
        assert same_bits(first, on_threads(n_threads, compute_neighbors)(X, 15, method=method))


@pytest.mark.parametrize("n_features", [3, 20, 150])
def test_approximate_search_reaches_its_target_on_clusters(n_features):
    X = blobs(5000, n_features)
    exact = compute_neighbors(X, 15, method="exact")
    graph = compute_neighbors(X, 15, method="approximate", target_recall=0.95)
    check_invariants(graph)
    assert graph.method == "cells"
    true_recall = (graph.distances <= exact.distances[:, -1:]).mean()
    assert abs(graph.recall - true_recall) <= 3 * graph.recall_error
    assert true_recall >= 0.949
    found = (graph.indices[:, :, None] == exact.indices[:, None, :]).any(axis=2).mean()
    assert found >= 0.94
    shared = graph.indices == exact.indices
    np.testing.assert_array_equal(graph.distances[shared], exact.distances[shared])


@pytest.mark.parametrize(("n_features", "rounded"), [(PROJECT_ABOVE, False), (PROJECT_ABOVE + 1, True)])
def test_cells_round_rows_only_where_many_features_are_projected(n_features, rounded, monkeypatch):
    asked, join = [], _core.CellJoin

    def noted(*arguments):
        asked.append(arguments[5])
        return join(*arguments)

    monkeypatch.setattr(_core, "CellJoin", noted)
    X = blobs(4000, n_features)
    compute_neighbors(X, 5, method="approximate")
    RowSearch.of(X, 5, method="approximate")
    assert len(asked) >= 2
    assert set(asked) == {rounded}


def test_approximate_search_turns_to_all_pairs_where_cells_do_not_help():
    X = noise(3000, 100)
    graph = compute_neighbors(X, 15, method="approximate", target_recall=0.99)
    assert (graph.method, graph.recall) == ("exact", 1.0)
    assert same_bits(graph, compute_neighbors(X, 15, method="exact"))


def test_a_higher_target_gives_a_higher_recall():
    X = noise(6000, 12)
    exact = compute_neighbors(X, 10, method="exact")
    recalls = []
    for target in (0.3, 0.6, 0.9):
        graph = compute_neighbors(X, 10, method="approximate", target_recall=target)
        assert graph.method == "cells"
        recalls.append((graph.distances <= exact.distances[:, -1:]).mean())
        assert abs(recalls[-1] - graph.recall) < 0.05
    assert recalls == sorted(recalls)


def test_a_plan_that_misses_the_target_is_widened(monkeypatch):
    monkeypatch.setattr(cell_plans, "_cheapest", lambda *_: cells.Plan(n_probes=1, n_candidates=18))
    graph = compute_neighbors(noise(6000, 6), 10, method="approximate", target_recall=0.9)
    assert graph.method == "cells"
    assert graph.recall >= 0.9


def test_all_neighbours_are_asked_for_when_the_target_is_one():
    assert compute_neighbors(blobs(1000), 5, method="approximate", target_recall=1.0).method == "exact"


def test_auto_is_exact_for_few_operations_only(monkeypatch):
    X = blobs(2000)
    assert compute_neighbors(X, 5).method == "exact"
    for spare, used in ((0, "exact"), (-1, "cells")):  # the choice of the nearest counts as ten columns
        monkeypatch.setattr("gnomon.neighbors.compute.EXACT_FLOPS", 2000 * 2000 * (20 + 10) + spare)
        assert compute_neighbors(X, 5).method == used


def test_the_seed_chooses_the_cells():
    X = noise(4000, 10)
    graphs = [compute_neighbors(X, 10, method="approximate", target_recall=0.8, seed=seed) for seed in (0, 0, 1)]
    assert same_bits(graphs[0], graphs[1])
    assert not same_bits(graphs[0], graphs[2])


@pytest.mark.parametrize("method", ["exact", "approximate"])
def test_rows_with_few_companions_in_their_cells_still_have_neighbours(method):
    X = np.concatenate([blobs(2000, 5), 1e3 * noise(12, 5, seed=1)])
    graph = compute_neighbors(X, 30, method=method, target_recall=0.9)
    check_invariants(graph)


@pytest.mark.parametrize("method", ["exact", "approximate"])
def test_copies_of_a_row_are_at_distance_zero_in_order_of_index(method):
    X = np.repeat(noise(300, 8, seed=2), 10, axis=0)
    graph = compute_neighbors(X, 9, method=method)
    check_invariants(graph)
    assert (graph.distances == 0).all()
    copies = np.arange(3000) // 10 * 10
    expected = [[j for j in range(c, c + 10) if j != i] for i, c in enumerate(copies)]
    np.testing.assert_array_equal(graph.indices, expected)


def test_squares_that_differ_with_roots_that_do_not_are_a_tie():
    graph = compute_neighbors(np.array([[0, 0], [1, 2**-11.5], [1, 0]], dtype=np.float32), 2)
    np.testing.assert_array_equal(graph.distances[0], [1, 1])
    np.testing.assert_array_equal(graph.indices[0], [1, 2])


def test_constant_data_have_the_first_rows_as_neighbours():
    graph = compute_neighbors(np.full((500, 3), 0.1), 4)
    check_invariants(graph)
    assert (graph.distances == 0).all()
    np.testing.assert_array_equal(graph.indices[10], [0, 1, 2, 3])


def test_small_differences_on_a_large_offset_are_kept():
    X = noise(400, 4, np.float64)
    near, far = compute_neighbors(X, 8), compute_neighbors(X + 1e6, 8)
    np.testing.assert_array_equal(near.indices, far.indices)
    np.testing.assert_allclose(near.distances, far.distances, rtol=1e-5)


def test_small_differences_within_far_clusters_are_kept():
    """Float32 products cannot tell these rows apart; differences of coordinates can."""
    X = noise(600, 4, np.float64) + 1e5 * np.repeat(noise(6, 4, np.float64, seed=1), 100, axis=0)
    graph = compute_neighbors(X, 8)
    difference = X[:, None] - X[None]
    distances = np.sqrt((difference**2).sum(axis=2))
    np.fill_diagonal(distances, np.inf)
    np.testing.assert_array_equal(graph.indices, np.argsort(distances, axis=1)[:, :8])
    np.testing.assert_allclose(graph.distances, np.sort(distances, axis=1)[:, :8], rtol=1e-5)


def test_rows_beyond_working_precision_are_reported_when_there_are_too_many(monkeypatch):
    X = noise(600, 4, np.float64) + 1e5 * np.repeat(noise(6, 4, np.float64, seed=1), 100, axis=0)
    monkeypatch.setattr(euclidean, "_SCAN_COORDINATES", 100)
    with pytest.warns(PrecisionWarning, match=r"below working precision for .*% of rows"):
        compute_neighbors(X, 8)


@pytest.mark.parametrize("method", ["exact", "approximate"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("power", [100, -100])
def test_scaling_by_a_power_of_two_scales_distances(power, dtype, method):
    X = blobs(2000, 6, dtype)
    plain = compute_neighbors(X, 7, method=method)
    scaled = compute_neighbors(np.ldexp(X, power), 7, method=method)
    np.testing.assert_array_equal(plain.indices, scaled.indices)
    np.testing.assert_allclose(np.ldexp(scaled.distances.astype(np.float64), -power), plain.distances, rtol=1e-6)


def test_huge_values_give_finite_distances():
    graph = compute_neighbors(np.array([[1e30, 0], [2e30, 0], [-1e30, 1e30]], dtype=np.float32), 2)
    np.testing.assert_allclose(graph.distances[0], [1e30, 5**0.5 * 1e30], rtol=1e-6)


def test_permuting_rows_permutes_the_graph():
    X = noise(800, 6)
    order = np.random.default_rng(1).permutation(800)
    graph, permuted = compute_neighbors(X, 6), compute_neighbors(X[order], 6)
    np.testing.assert_array_equal(order[permuted.indices], graph.indices[order])


def test_more_neighbours_than_other_rows_are_refused():
    text = r"compute_neighbors: n_neighbors=5 must be at most 4, the number of other rows. Pass n_neighbors=4"
    with pytest.raises(ValueError, match=text):
        compute_neighbors(noise(5, 2), 5)
    with pytest.raises(ValueError, match="Pass more rows"):
        compute_neighbors(noise(1, 2), 1)


@pytest.mark.parametrize("method", ["exact", "approximate"])
def test_progress_ends_with_all_rows(method):
    seen = []
    reporter = Reporter(lambda progress: seen.append((progress.done, progress.total)))
    compute_neighbors(blobs(2000), 5, method=method, reporter=reporter)
    assert seen[-1] == (2000, 2000)
    assert seen == sorted(seen)


def test_the_input_is_not_written():
    X = blobs(500)
    before = X.tobytes()
    X.flags.writeable = False
    compute_neighbors(X, 5)
    compute_neighbors(X, 5, method="approximate")
    query_neighbors(X, X, 5)
    assert X.tobytes() == before


def test_queries_agree_with_scikit_learn():
    X, X_new = noise(5000, 12), noise(700, 12, seed=1)
    indices, distances = query_neighbors(X, X_new, 10)
    expected_indices, expected_distances = reference(X, 10, X_new)
    np.testing.assert_array_equal(indices, expected_indices)
    np.testing.assert_allclose(distances, expected_distances, rtol=1e-5)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_query_is_a_function_of_its_row(metric, n_threads):
    X, X_new = blobs(3000, 9), noise(200, 9, seed=1) * np.float32(5)
    X_new[7] *= 1e20  # would leave the range of float32 under the scale of the others
    whole = on_threads(n_threads, query_neighbors)(X, X_new, 5, metric=metric)
    assert np.isfinite(whole[1]).all()
    for rows in ([3], [7], [199, 7, 50], range(60, 90)):
        part = on_threads(1, query_neighbors)(X, X_new[list(rows)], 5, metric=metric)
        assert part[0].tobytes() == whole[0][list(rows)].tobytes()
        assert part[1].tobytes() == whole[1][list(rows)].tobytes()


def test_a_far_query_finds_the_nearest_row():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    indices, distances = query_neighbors(X, np.array([[1e30, 1e30], [1e3, 0.0], [0.2, 0.1]]), 1)
    np.testing.assert_array_equal(indices[1:, 0], [1, 0])
    np.testing.assert_allclose(distances[:, 0], [2**0.5 * 1e30, 999, 0.05**0.5], rtol=1e-6)


def test_queries_check_their_shapes():
    X = noise(5, 2)
    assert query_neighbors(X, X[:0], 3)[0].shape == (0, 3)
    np.testing.assert_array_equal(query_neighbors(X, X, 5)[0][:, 0], np.arange(5))
    with pytest.raises(ValueError, match="query_neighbors: n_neighbors=6 must be at most 5"):
        query_neighbors(X, X, 6)
    with pytest.raises(ValueError, match="X_new with 1 features must be of 2 features"):
        query_neighbors(X, X[:, :1], 3)


def test_the_number_of_cells_grows_slower_than_the_rows():
    assert cells.n_cells(1000) < 25
    assert 200 < cells.n_cells(70_000) < 300
    assert cells.n_cells(1_000_000) < 2000


@pytest.mark.parametrize(
    ("X", "method"),
    [
        pytest.param(np.round(noise(500, 3), 1), "exact", id="exact, with ties"),
        pytest.param(blobs(), "approximate", id="cells"),
        pytest.param(noise(20000, 4) @ noise(4, 200), "approximate", id="cells of leading directions"),
    ],
)
def test_more_neighbours_of_the_same_search_leave_the_first_as_they_are(X, method):
    plain = compute_neighbors(X, 10, method=method)
    more = compute_neighbors(X, 10, method=method, keep=17)
    assert (plain.method == "exact") == (method == "exact")
    assert more.method == plain.method
    assert more.n_neighbors == 17
    assert graph_fault(more) == ""
    assert same_bits(more.nearest(10), plain)
    some = np.linspace(0, len(X) - 1, 400).astype(int)
    true = (
        NearestNeighbors(n_neighbors=18, algorithm="brute").fit(X).kneighbors(X[some])[0][:, 17]
    )  # itself is the first
    share = float((more.distances[some] <= true[:, None] * (1 + 1e-5)).mean())
    assert abs(more.recall - share) < 0.02


def test_kept_neighbours_are_at_most_all_others_and_at_least_those_asked_for():
    X = noise(12, 3)
    assert compute_neighbors(X, 5, keep=50).n_neighbors == 11
    assert compute_neighbors(X, 5, keep=2).n_neighbors == 5
    assert compute_neighbors(X, 5, keep=9, metric="canberra").n_neighbors == 5


def test_a_row_with_few_candidates_narrows_what_is_kept(monkeypatch):
    X = blobs()
    plain = compute_neighbors(X, 10, method="approximate")
    rank = euclidean.Points.rank_leading

    def short(self, candidates, lead, k, order):
        indices, distances = rank(self, candidates, lead, k, order)
        indices[3, 12:], distances[3, 12:] = -1, np.inf
        return indices, distances

    monkeypatch.setattr(euclidean.Points, "rank_leading", short)
    more = compute_neighbors(X, 10, method="approximate", keep=17)
    assert more.n_neighbors == 12
    assert same_bits(more.nearest(10), plain)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_features", [1, 33, 784])
def test_bytes_are_as_far_apart_as_the_same_numbers(dtype, n_features):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, size=(60, n_features)).astype(dtype)
    candidates = np.stack([rng.permutation(60)[:20] for _ in range(60)]).astype(np.int32)
    points = Points.of(X)
    floats = replace(points, bytes=None)
    assert points.bytes is not None
    for queries in (None, X[:60] + dtype(0.5), X[::-1].copy()):
        found, expected = (one.rank(candidates, 7, queries) for one in (points, floats))
        assert all(a.tobytes() == b.tobytes() for a, b in zip(found, expected, strict=True))
    assert Points.of(X / 256).bytes is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n_features", "largest"), [(2, 255), (33, 4), (785, 255)])
def test_searches_of_bytes_find_what_those_of_the_same_numbers_find(n_features, largest, dtype):
    X = np.random.default_rng(0).integers(0, largest + 1, size=(700, n_features)).astype(dtype)
    points = Points.of(X)
    floats, queries = replace(points, bytes=None), X[::9] + (np.arange(n_features) == 1)
    queries = np.minimum(queries, largest).astype(dtype)
    for n_threads in (1, 3):
        for ask in (
            lambda one: one.search_all(12, 0, None),
            lambda one: one.search_all(5, 12, None),
            lambda one: one.nearest(queries, 12),
            lambda one: one.nearest(queries + dtype(0.5), 12),  # not bytes
        ):
            found, expected = (on_threads(n_threads, ask)(one) for one in (points, floats))
            assert all(a.tobytes() == b.tobytes() for a, b in zip(found, expected, strict=True))
    assert points.exact_width == floats.exact_width / 4


@pytest.mark.parametrize("n_features", [1, 33, 300])
def test_rows_that_are_centred_when_they_are_looked_at_have_the_same_neighbours(n_features):
    pixels = np.random.default_rng(0).integers(0, 256, size=(5000, n_features)).astype(np.uint8)
    queries = pixels[::40] + np.float32(0.25)
    mean, scale = pixels[:100].mean(axis=0), 0.5
    for rows in (pixels, pixels.astype(np.float32), pixels.astype(np.float64)):
        wide = rows.astype(np.float32) if rows.dtype == np.uint8 else rows
        asked = _core.center_rows(queries, mean, scale, 1)
        expected = _core.nearest_rows(_core.center_rows(wide, mean, scale, 1), asked, 9, 1)
        for n_threads in (1, 2, 5):
            found = _core.nearest_centered_rows(rows, mean, scale, asked, 9, n_threads)
            assert all(a.tobytes() == b.tobytes() for a, b in zip(found, expected, strict=True))


def test_ranks_in_one_go_begin_with_those_of_fewer():
    X = np.repeat(noise(12, 3), 5, axis=0) + 1e-4 * noise(60, 3, seed=1)
    X[7:12] = X[3]  # ties
    candidates = np.stack([np.roll(np.arange(60), -i)[1:31] for i in range(60)]).astype(np.int32)
    candidates[4, 3:] = -1  # fewer than are asked for
    points, order = Points.of(X), np.arange(60, dtype=np.int32)
    found = points.rank_leading(candidates, 6, 11, order)
    first, more = points.rank(candidates, 6), points.rank(candidates, 11)
    for a, b in zip(found, lead_with(first, (more[0].copy(), more[1].copy())), strict=True):
        assert a.tobytes() == b.tobytes()
    assert np.array_equal(found[0][:, :6], first[0])
    # The squares 1 and 1 + 2^-23 have one root: alone the nearer is first, of two the one of the lower number.
    X = np.array([[0.0, 0.0], [1.0, 3.45e-4], [1.0, 0.0]], np.float32)
    points, candidates, order = Points.of(X), np.array([[1, 2]] * 3, np.int32), np.arange(3, dtype=np.int32)
    assert points.rank(candidates, 2)[0][0].tolist() == [1, 2]
    assert points.rank_leading(candidates, 1, 2, order)[0][0].tolist() == [2, 1]
