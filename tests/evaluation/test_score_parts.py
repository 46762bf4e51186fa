"""Votes, residuals, classes, layouts, sizes and rows of distances, on a few rows worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.metrics import silhouette_samples

from gnomon._run import running
from gnomon.evaluation import POINT_SCORES, PointChanges, evaluate, scorecard
from gnomon.evaluation.anchors import DistanceRows, ProductDistances, mixed, pairs_among, unit_of
from gnomon.evaluation.classes import centroids, distance_consistency, hit_of_random_map, silhouette
from gnomon.evaluation.layout import places_of
from gnomon.evaluation.ranks import neighborhood_sizes, rank_anchors
from gnomon.evaluation.scores import label_hits, label_residuals, nearest_in_map, shared_neighbors, spearman
from gnomon.evaluation.subject import Subject, Truth
from gnomon.neighbors import NeighborGraph, compute_neighbors
from gnomon.surfaces import Hyperboloid, Sphere


def test_the_majority_of_those_that_vote_decides_and_ties_go_to_the_lowest_class():
    codes = np.array([0, 1, 2, -1, 2, 1])
    nearest = np.array([[1, 2, 4], [0, 2, 3], [1, 0, 3], [0, 1, 2], [3, 3, 3], [3, 1, 3]])
    found = label_hits(codes, 3, np.arange(6), nearest)
    # 2 wins; 0 and 2 tie and 0 wins; 1 and 0 tie and 0 wins; no label; no vote; its class
    np.testing.assert_array_equal(found, [0.0, 0.0, 0.0, np.nan, np.nan, 1.0])
    np.testing.assert_array_equal(label_hits(codes, 3, np.array([2, 0]), np.array([[4, 1, 4], [0, 1, 3]])), [1.0, 1.0])


def test_residuals_are_those_of_the_mean_of_neighbours_that_are_known():
    values = np.array([1.0, 2.0, np.nan, 7.0])
    nearest = np.array([[1, 3], [0, 2], [0, 1], [2, 2]])
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(label_residuals(values, np.arange(4), nearest), [3.5, -1.0, np.nan, np.nan])


def test_shared_neighbours_count_once_and_only_where_they_are_known():
    a, b = np.array([[1, 2, 3], [0, 2, 3]]), np.array([[3, 9, 1], [4, 5, 6]])
    assert shared_neighbors(a, b, None).tolist() == [2, 0]
    mask = np.array([[True, True, False], [True, True, True]])
    assert shared_neighbors(a, b, mask).tolist() == [1, 0]


def test_a_row_among_many_copies_has_other_rows_as_neighbours():
    Y = np.zeros((40, 2))
    found = nearest_in_map(Y, 3)
    assert (found != np.arange(40)[:, None]).all()
    assert all(len(set(row)) == 3 for row in found.tolist())
    assert spearman(np.zeros(5), np.arange(5.0)) == 0.0


def test_labels_of_fewer_than_two_values_tell_nothing():
    assert not Truth.of(None)
    assert not Truth.of(np.array(["a", "a"], dtype=object))
    two = Truth.of(np.array(["a", "b", "b", None], dtype=object))
    assert two
    assert two.expected_of_random_map(3) == {"knn_accuracy": pytest.approx(5 / 9)}
    assert two.explained(np.zeros(4)) is None
    assert Truth().score(np.arange(2), np.array([[1], [0]])) == Truth().expected_of_random_map(5) == {}
    measured = Truth(values=np.array([1.0, 2.0, 6.0, 3.0]))
    assert measured
    assert measured.expected_of_random_map(4) == {"knn_r2": -0.25}
    assert measured.explained(np.array([0.0, 1.0, 2.0, np.nan])) == pytest.approx(1 - 5 / 14)
    assert measured.explained(np.full(4, np.nan)) is None
    assert Truth(values=np.ones(3)).explained(np.zeros(3)) is None


def test_maps_of_two_rows_have_no_neighbourhoods_below_half_of_them():
    X = np.random.default_rng(0).normal(size=(6, 2))
    Y = np.where(np.arange(6)[:, None] < 2, X, np.nan)
    with pytest.raises(
        ValueError, match=r"n_neighbors=1 must be below half the number of rows in the map \(2 rows\)\.$"
    ):
        evaluate(X, Y)
    Y[2] = 0.0
    assert evaluate(X, Y).n_neighbors == 1
    with pytest.raises(ValueError, match=r"\(3 rows\)\. Use n_neighbors=1 or less\."):
        evaluate(X, Y, n_neighbors=2)
    short = NeighborGraph(np.array([[1], [0], [0], [0], [0], [0]], np.int32), np.ones((6, 1), np.float32))
    assert Subject.of(X, X, None, short, 1, "euclidean").graph.n_neighbors == 1


@pytest.mark.parametrize("columns", [8, 9])
def test_neighbours_in_the_map_are_found_for_all_rows_where_a_tree_finds_them(columns):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, columns)), np.arange(60) % 2
    graph, everywhere = compute_neighbors(X, 15), 60 if columns == 8 else 20
    given = {"labels": labels, "n_anchors": 20}
    for how, names in (({"graph": graph}, ["neighborhood_preservation"]), ({}, [])):
        found = evaluate(X, X, **given, **how)
        for name in [*names, "knn_accuracy"]:
            assert np.isfinite(found.per_point[name]).sum() == everywhere
    with_graph = scorecard(X, X, **given, graph=graph, measures=["neighborhood_preservation", "knn_accuracy"])
    for one in with_graph.values():
        assert (one.n_rows, one.exact) == (everywhere, everywhere == 60)


def test_of_rows_at_few_places_those_of_lower_number_vote():
    rng = np.random.default_rng(0)
    Y, labels = rng.integers(0, 3, (90, 2)).astype(float), rng.integers(0, 2, 90)
    away = cdist(Y, Y, "sqeuclidean") + np.diag(np.full(90, -1.0))
    near = np.argsort(away, axis=1, kind="stable")[:, 1:11]
    expected = np.mean((2 * labels[near].sum(axis=1) > 10) == labels)  # a tie goes to the lower class
    assert evaluate(Y, Y, labels=labels).knn_accuracy == pytest.approx(expected)
    assert scorecard(Y, Y, labels, measures="knn_accuracy")["knn_accuracy"].value == pytest.approx(expected)


def test_neighbours_that_a_graph_lacks_are_not_kept():
    X = np.random.default_rng(0).normal(size=(40, 2))
    whole = compute_neighbors(X, 6)
    mask = np.ones((40, 6), bool)
    mask[3, 2:], mask[5] = False, False
    graph = NeighborGraph(whole.indices, np.where(mask, whole.distances, np.inf).astype(np.float32), mask)
    expected = np.ones(40)
    expected[[3, 5]] = 1 / 3, 0.0
    given = {"graph": graph, "n_neighbors": 6}
    np.testing.assert_allclose(evaluate(X, X, **given).per_point["neighborhood_preservation"], expected)
    found = scorecard(X, X, **given, measures="neighborhood_preservation")["neighborhood_preservation"]
    np.testing.assert_allclose(found.by_row, expected)
    assert found.value == pytest.approx(expected.mean())


def test_silhouettes_of_classes_of_one_row_and_of_equal_places_are_zero():
    rng = np.random.default_rng(0)
    Y, codes = rng.normal(size=(30, 2)), np.repeat([0, 1, 2], [15, 14, 1])
    rows = np.array([29, 3, 20])
    np.testing.assert_allclose(silhouette(Y, codes, rows), silhouette_samples(Y, codes)[rows])
    assert silhouette(Y, codes, rows)[0] == 0.0
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(silhouette(np.zeros((4, 2)), np.array([0, 0, 1, 1]), np.arange(4)), 0.0)


def test_centres_of_classes_are_means_and_a_row_is_consistent_with_the_nearest():
    Y, codes = np.array([[0.0], [2.0], [9.0], [5.9], [30.0]]), np.array([0, 0, 1, 0, 1])
    expected = np.array([[7.9 / 3], [19.5]])
    for form in (Y, sp.csr_array(Y), Y.astype(np.float32)):
        np.testing.assert_allclose(centroids(form, codes), expected, rtol=1e-6)
    np.testing.assert_array_equal(distance_consistency(Y, codes), [1.0, 1.0, 0.0, 1.0, 1.0])
    assert hit_of_random_map(np.array([0, 0, 0, 1, 1, -1])) == pytest.approx((6 + 2) / 20)


@pytest.mark.parametrize("surface", [None, Sphere(2.0), Hyperboloid(1.5)])
def test_layouts_know_the_distances_of_pairs_the_nearest_rows_and_their_axes(surface):
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(30, 2 if surface is None else surface.width))
    Y = Y if surface is None else surface.coordinates(surface.start(Y))
    layout = places_of(Y, surface)
    away = cdist(Y, Y) if surface is None else surface.distances(Y)
    others = rng.integers(0, 30, (30, 4)).astype(np.int32)
    found, expected = layout.pair_distances(others), np.take_along_axis(away, others, axis=1)
    straight = 2 * 2.0 * np.sin(expected / 4) if isinstance(surface, Sphere) else expected
    np.testing.assert_allclose(found, straight, atol=1e-7)
    assert (layout.n_samples, layout.n_components) == (30, 3 if isinstance(surface, Sphere) else 2)
    assert (layout.flat is None) == isinstance(surface, Hyperboloid)
    for first, last, places in layout.seen_from(np.array([7, 3])):
        for row in (7, 3)[first:last]:
            order = np.argsort(cdist(places[[row]], places)[0], kind="stable")
            np.testing.assert_array_equal(order, np.argsort(away[row], kind="stable"))


def test_sizes_of_curves_are_every_one_of_few_rows_and_about_a_hundred_of_many():
    assert neighborhood_sizes(2).tolist() == neighborhood_sizes(3).tolist() == [1]
    assert neighborhood_sizes(128).tolist() == list(range(1, 127))
    for n in (129, 3000):
        expected = np.unique(np.round(np.geomspace(1, n - 2, 96)))
        assert neighborhood_sizes(n).tolist() == expected.tolist()
    assert neighborhood_sizes(3000, 501, 700).tolist() == sorted({*expected.astype(int).tolist(), 501, 700})


@pytest.mark.parametrize(("m", "groups"), [(40, 25), (9, 9)])
def test_anchors_are_counted_in_groups_of_about_the_same_size(m, groups):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    given = {"metric": "euclidean", "sizes": np.array([3]), "n_nearest": 3, "n_pairs": 5, "seed": 1}
    with running(n_threads=1):
        found = rank_anchors(X, X[:, :2].copy(), np.arange(m), **given)
    assert found.coranked.shape == (groups, 50)
    sizes = found.coranked[:, 1:].sum(axis=1) / 49
    assert sizes.sum() == m
    assert np.ptp(sizes) <= 1


def test_rows_of_distances_come_in_chunks_of_a_bounded_size():
    for n, together in ((100, 512), (2**15, 512), (2**16, 256), (2**19, 32), (2**20, 16), (2**21, 16)):
        rows = DistanceRows(np.broadcast_to(0.0, (n, n)), "precomputed", 1, np.arange(2))
        assert rows.n_together == together
    X = np.random.default_rng(0).normal(size=(700, 2))
    chunks = [some.tolist() for some, _ in DistanceRows(X, "euclidean", 3, np.arange(600)[::-1])]
    assert chunks == [list(range(599, 87, -1)), list(range(87, -1, -1))]
    chunks = [
        some.tolist() for some, _ in DistanceRows(np.broadcast_to(0.0, (700, 700)), "precomputed", 1, np.arange(600))
    ]
    assert chunks == [list(range(512)), list(range(512, 600))]


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint8, "sparse"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "precomputed"])
def test_rows_of_distances_are_those_of_scipy_in_their_unit(kind, metric):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 250, (90, 7)).astype(np.uint8 if kind == "sparse" else kind)
    expected = cdist(
        X.astype(float),
        X.astype(float),
        "cityblock" if metric == "manhattan" else metric.replace("precomputed", "euclidean"),
    )
    given = expected if metric == "precomputed" else sp.csr_array(X.astype(float)) if kind == "sparse" else X
    for anchors in (np.arange(90), np.arange(5, 47)):
        rows = DistanceRows(given, metric, 3, anchors)
        found = np.concatenate([block.astype(float) for _, block in rows])
        found = rows.unit * np.sqrt(np.maximum(found, 0.0)) if rows.squared else found
        assert rows.squared == (metric == "euclidean")
        itself = np.arange(len(anchors)), anchors
        assert found[itself].max() < 0.1  # products of rows leave some of their rounding
        found[itself] = 0.0
        np.testing.assert_allclose(found, expected[anchors], rtol=1e-4, atol=2e-4 if metric == "cosine" else 1e-4)


def test_rows_of_nothing_are_as_far_as_can_be_from_all_by_the_cosine():
    X = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 2.0]])
    for dtype in (np.float32, np.float64):
        distances = ProductDistances("cosine", dtype, None)
        rows, out = distances.prepare(X), np.empty((3, 3), dtype)
        np.testing.assert_allclose(rows, [[0, 0], [0.6, 0.8], [0, 1]], atol=1e-7)
        distances.between(rows, rows, out)
        np.testing.assert_allclose(out, [[1, 1, 1], [1, 0, 0.2], [1, 0.2, 0]], atol=1e-6)


def test_prepared_rows_keep_the_digits_of_a_table_far_from_zero():
    """Means are taken off in double precision where the table has it, and only then are rows rounded."""
    X = 1e9 + np.random.default_rng(0).normal(size=(20, 3))
    means = X.mean(axis=0)
    unit = unit_of(X, means)
    rows = ProductDistances("euclidean", np.float32, means, unit).prepare(X)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, unit * (X - means), rtol=1e-6)
    out, squares = np.empty((2, 20), np.float32), np.einsum("ij,ij->i", rows, rows)
    distances = ProductDistances("euclidean", np.float32, means, unit)
    for known in (None, squares):
        distances.between(rows[:2], rows, out, known)
        np.testing.assert_allclose(out, unit**2 * cdist(X[:2], X) ** 2, atol=1e-5)


def test_anchors_are_mixed_and_pairs_counted_once():
    anchors = np.arange(10, 60, 2)
    assert sorted(mixed(anchors, 3).tolist()) == anchors.tolist()
    assert mixed(anchors, 3).tolist() != anchors.tolist()
    assert mixed(anchors, 3).tolist() != mixed(anchors, 4).tolist()
    Y = np.random.default_rng(0).normal(size=(5, 2))
    away, in_map = pairs_among(10.0 * np.arange(10).reshape(2, 5), Y, np.array([1, 3]))
    assert away.tolist() == [20.0, 30.0, 40.0, 90.0]
    np.testing.assert_allclose(in_map, [np.sum((Y[i] - Y[j]) ** 2) for i, j in ((1, 2), (1, 3), (1, 4), (3, 4))])


def test_rows_that_changed_as_much_are_told_apart_by_the_other_measure_and_then_by_number():
    nothing = np.nan
    changes = PointChanges(
        np.array([0.5, nothing, 0.5, 0.5, 0.9, 0.1]),
        np.array([2.0, 9.0, 3.0, 2.0, nothing, 2.0]),
        5,
        np.eye(2),
        np.zeros(2),
    )
    assert changes.most().tolist() == [4, 2, 0, 3, 5]
    assert changes.most(by="shift").tolist() == [1, 2, 0, 3, 5]
    assert changes.most(2).tolist() == [4, 2]
    assert changes.chance == 1 - 5 / 4


def test_points_have_titles_and_two_valued_ones_flags():
    assert POINT_SCORES["knn_accuracy"].title == "Labels from neighbours"
    assert POINT_SCORES["knn_error"].title == "kNN error"
    assert POINT_SCORES["false_neighbors"].title == "False neighbours"
    assert {name for name, one in POINT_SCORES.items() if one.scale == "flags"} == {"knn_accuracy", "torn"}
    assert {name for name, one in POINT_SCORES.items() if one.scale == "diverging"} == {
        "knn_error",
        "radius_ratio",
        "stretch",
    }
