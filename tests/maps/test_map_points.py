"""What a map says of each point by itself: all diagnostics as columns, and neighbours that are false or missing."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gnomon as gn
from gnomon.evaluation import POINT_SCORES, anchors, evaluate
from gnomon.maps import Map
from gnomon.maps.points import _graph_among
from gnomon.neighbors import NeighborGraph


@pytest.fixture(scope="module")
def swapped():
    """A plane mapped as it is, but for two points that have changed places."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    X[:2] = [[-2.0, 0.0], [2.0, 0.0]]
    X = np.column_stack([X, 0.01 * X[:, 0]])
    Y = X[:, :2].copy()
    Y[[0, 1]] = Y[[1, 0]]
    names = np.array([f"p{i}" for i in range(300)])
    return Map(X, Y, labels=["a", "b", "c"] * 100, point_names=names, n_jobs=1)


def test_two_points_that_changed_places_have_only_false_and_missing_neighbors(swapped):
    scores = swapped.point_scores()
    assert (scores["false_neighbors"][:2] == 15).all()
    assert (scores["missing_neighbors"][:2] == 15).all()
    assert np.median(scores["false_neighbors"]) == 0
    assert (scores["reach_of_false"][:2] > 2).all()
    assert (scores["trustworthiness"][:2] < 0.7).all()


def test_false_and_missing_neighbors_are_rows_with_names_and_distances(swapped):
    false, missing = swapped.false_neighbors(0), swapped.missing_neighbors(0)
    graph = swapped.neighbors()
    np.testing.assert_array_equal(missing.rows, graph.indices[0, :15])
    np.testing.assert_array_equal(missing.data_distance, graph.distances[0, :15].astype(float))
    assert missing.names == [f"p{i}" for i in missing.rows]
    away = np.linalg.norm(swapped.embedding.astype(float) - swapped.embedding[0].astype(float), axis=1)
    np.testing.assert_array_equal(false.rows, np.argsort(away, kind="stable")[1:16])
    np.testing.assert_allclose(false.map_distance, away[false.rows])
    np.testing.assert_allclose(false.data_distance, np.linalg.norm(swapped.X[false.rows] - swapped.X[0], axis=1), 1e-5)
    assert (false.data_distance > false.data_radius).all()
    assert (missing.map_distance > missing.map_radius).all()
    assert "15 of its 15 neighbours in the map are none in the data" in str(false)
    assert f"p{false.rows[0]}" in str(false)
    assert json.loads(json.dumps(missing.to_dict()))["rows"][0]["row"] == int(missing.rows[0])


def test_every_column_is_told_and_has_a_number_for_each_row(swapped):
    scores = swapped.point_scores()
    assert list(scores) == [name for name in POINT_SCORES if name in scores]
    assert set(POINT_SCORES) - set(scores) == {"knn_error"}
    assert all(values.shape == (300,) and values.dtype == np.float64 for values in scores.values())
    facts = json.loads(json.dumps(scores.to_dict()))["columns"]
    assert set(facts) == set(scores)
    assert facts["stretch"]["median"] == facts["radius_ratio"]["median"] == 0.0  # and no rounding error
    printed = str(scores)
    assert all(POINT_SCORES[name].title in printed for name in scores)
    assert scores is swapped.point_scores()


def test_the_report_has_the_table_of_all_columns(swapped):
    told = swapped.report().split("Point by point\n")[1].split("\n\n")[0]
    assert told == "\n".join(f"  {line}" for line in str(swapped.point_scores()).splitlines())
    assert swapped.to_dict()["points"] == swapped.point_scores().to_dict()


def test_columns_are_those_of_the_parts(swapped):
    scores, explanation = swapped.point_scores(), swapped.explain()
    for name, values in swapped.evaluate().per_point.items():
        np.testing.assert_array_equal(scores[name], values)
    np.testing.assert_array_equal(scores["r2"], explanation.r2)
    np.testing.assert_allclose(scores["stretch"], explanation.distortion.log_area / np.log(2.0))
    np.testing.assert_array_equal(scores["outlier"], swapped.outliers().scores)
    np.testing.assert_array_equal(scores["label_doubt"], swapped.suspects().scores)


def test_beyond_the_anchors_trust_is_estimated_for_all_rows(monkeypatch):
    """With 150 of 600 rows as anchors: these stay exact, the others lie within their standard errors of the truth."""
    X = np.random.default_rng(1).normal(size=(600, 4))
    monkeypatch.setattr(anchors, "_ALL_BELOW", 100)
    monkeypatch.setattr(anchors, "_ANCHORS", 150)
    made = Map(X, X[:, :2], n_jobs=1)
    scores, exact = made.point_scores(), evaluate(X, X[:, :2], n_anchors=600).per_point
    assert scores.n_references == 150
    assert np.isnan(made.evaluate().per_point["trustworthiness"]).sum() == 450
    for name in ("trustworthiness", "continuity"):
        known = np.isfinite(made.evaluate().per_point[name])
        np.testing.assert_array_equal(scores[name][known], made.evaluate().per_point[name][known])
        assert (scores.errors[name][known] == 0).all()
        gaps = (scores[name] - exact[name])[~known]
        assert np.sqrt(np.mean(gaps**2)) == pytest.approx(np.sqrt(np.mean(scores.errors[name] ** 2)), rel=0.25)
        assert abs(np.mean(gaps)) < 0.01
    assert np.isfinite(scores["triplet_accuracy"]).all()
    assert "standard error" in str(scores)


def test_scores_and_trust_come_of_one_look_and_are_those_of_two(monkeypatch):
    monkeypatch.setattr(anchors, "_ALL_BELOW", 100)
    monkeypatch.setattr(anchors, "_ANCHORS", 50)
    X = np.random.default_rng(6).normal(size=(301, 4)).astype(np.float32)
    apart = Map(X, X[:, :2], n_jobs=1)
    apart.evaluate()
    looks = []
    form = anchors.DistanceRows.__init__
    monkeypatch.setattr(anchors.DistanceRows, "__init__", lambda self, *given: (looks.append(1), form(self, *given))[1])
    at_once = Map(X, X[:, :2], n_jobs=1)
    scores = at_once.point_scores()
    assert at_once.evaluate().scores() == apart.evaluate().scores()
    assert len(looks) == 1
    for name, values in apart.point_scores().items():
        assert scores[name].tobytes() == values.tobytes()
    assert all(scores.errors[name].tobytes() == apart.point_scores().errors[name].tobytes() for name in scores.errors)


def test_rows_without_a_place_have_no_scores_and_are_nobody_s_neighbor():
    X = np.random.default_rng(2).normal(size=(200, 3))
    Y = X[:, :2].copy()
    Y[[5, 7]] = np.nan
    made = Map(X, Y, n_jobs=1)
    scores = made.point_scores()
    for name in ("trustworthiness", "false_neighbors", "radius_ratio"):
        assert np.flatnonzero(np.isnan(scores[name])).tolist() == [5, 7]
    assert len(made.false_neighbors(5)) == 0
    assert len(made.missing_neighbors(7)) == 0
    listed = [row for i in range(200) for row in (*made.false_neighbors(i).rows, *made.missing_neighbors(i).rows)]
    assert not {5, 7} & set(listed)
    in_data = made.neighbors().indices[:, :15]
    assert all(set(made.missing_neighbors(i).rows) <= set(in_data[i].tolist()) for i in range(200))


def test_distances_given_in_place_of_a_table_are_taken_as_they_are():
    X = np.random.default_rng(3).normal(size=(120, 3))
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    from_rows, given = Map(X, X[:, :2], n_jobs=1), Map(distances, X[:, :2], metric="precomputed", n_jobs=1)
    for i in (0, 50):
        np.testing.assert_array_equal(from_rows.false_neighbors(i).rows, given.false_neighbors(i).rows)
        np.testing.assert_array_equal(from_rows.missing_neighbors(i).rows, given.missing_neighbors(i).rows)


def test_equal_bytes_of_all_columns_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(anchors, "_ALL_BELOW", 100)
    monkeypatch.setattr(anchors, "_ANCHORS", 50)
    X = np.random.default_rng(4).normal(size=(300, 4))
    one, two = (Map(X, X[:, :2], n_jobs=n).point_scores() for n in (1, 2))
    assert list(one) == list(two)
    assert all(one[name].tobytes() == two[name].tobytes() for name in one)


def test_a_figure_of_any_column(swapped):
    ax = swapped.plot_points("reach_of_false").ax_
    assert ax.get_title(loc="left") == "Reach of false"
    assert "arthest false neighbour" in ax.get_xlabel()


@pytest.mark.parametrize("i", [300, -301])
def test_a_row_that_is_not_there_is_refused(swapped, i):
    with pytest.raises(IndexError, match=f"row {i} must be below n_samples=300"):
        swapped.false_neighbors(i)


def test_a_column_that_is_not_there_is_refused_with_those_that_are(swapped):
    with pytest.raises(KeyError, match="trustworthiness"):
        swapped.point_scores()["trustworthines"]
    assert "knn_error" not in swapped.point_scores()
    with pytest.raises(TypeError, match="an integer"):
        swapped.missing_neighbors(1.5)


def test_a_map_on_a_sphere_has_neighbors_along_it():
    X = np.random.default_rng(5).normal(size=(150, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    made = gn.map(X, method="umap", output_metric="sphere", random_state=0, n_jobs=1)
    assert np.isfinite(made.point_scores()["false_neighbors"]).all()


def test_neighbours_without_a_place_and_those_that_are_none_are_left_out():
    indices = np.array([[1, 2], [0, 2], [3, 0], [2, 1]], np.int32)
    mask = np.array([[True, True], [True, True], [True, False], [False, True]])
    graph = NeighborGraph(indices, np.arange(8, dtype=np.float32).reshape(4, 2), mask)
    among = _graph_among(graph, np.array([0, 2, 3]))
    assert among.mask.tolist() == [[False, True], [True, False], [False, False]]
    assert among.indices[among.mask].tolist() == [1, 2]
    assert among.distances[among.mask].tolist() == [1.0, 4.0]
    assert np.isinf(among.distances[~among.mask]).all()
