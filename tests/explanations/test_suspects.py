"""Rows whose neighbours in the data disagree with their label."""

import json

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

import gnomon as gn
from gnomon.explanations.suspects import Suspects, find_suspects
from gnomon.neighbors import NeighborGraph, compute_neighbors
from gnomon.viewer import PageContent
from gnomon.viewer.document import Document


def line_of(n):
    return np.arange(n, dtype=np.float32)[:, None] ** 1.1


def two_clusters(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 5)).astype(np.float32)
    X[100:, 0] += 12.0
    return X, np.repeat(["left", "right"], 100)


def test_the_score_is_the_weight_of_neighbours_with_other_labels():
    distances = np.array([[1.0, 2.0, 4.0]] * 4, dtype=np.float32)
    indices = np.array([[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]], dtype=np.int32)
    found = find_suspects(NeighborGraph(indices, distances), ["a", "a", "b", "b"])
    near, middle, far = np.exp(-0.5 * np.array([1 / 4, 2 / 4, 1.0]) ** 2)
    total = near + middle + far
    expected = [1 - near / total, 1 - near / total, 1 - far / total, 1 - far / total]
    np.testing.assert_allclose(found.scores, expected, rtol=1e-12)
    assert found.rows.tolist() == [2, 3, 0, 1]  # of equal scores the lower row number first
    assert (found.labels, found.votes) == (["b", "b", "a", "a"], ["a", "a", "b", "b"])
    np.testing.assert_allclose(found.share, 2 / 3)


def test_the_vote_is_that_of_scikit_learn_with_the_row_left_out():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(80, 3)).astype(np.float32), rng.integers(0, 3, 80)
    graph = compute_neighbors(X, 7)
    found = find_suspects(graph, labels, 80)
    for row in range(80):
        kept = np.arange(80) != row
        model = KNeighborsClassifier(7, weights=lambda d: np.exp(-0.5 * (d / d.max(axis=1, keepdims=True)) ** 2))
        model.fit(X[kept], labels[kept])
        chances = dict(zip(model.classes_, model.predict_proba(X[[row]])[0], strict=True))
        assert found.scores[row] == pytest.approx(1 - chances.get(labels[row], 0.0), abs=1e-5)
        listed = np.flatnonzero(found.rows == row)
        assert len(listed) == (model.predict(X[[row]])[0] != labels[row])
        if len(listed):
            assert found.votes[listed[0]] == str(model.predict(X[[row]])[0])


def test_planted_errors_are_listed_first_and_nothing_else():
    X, labels = two_clusters()
    wrong = np.array([3, 50, 120])
    given = labels.copy()
    given[wrong] = np.where(labels[wrong] == "left", "right", "left")
    found = gn.Map(X, X[:, :2], labels=given, point_names=[f"p{i}" for i in range(200)]).suspects()
    assert sorted(found.rows) == wrong.tolist()
    assert found.n_suspects == len(found) == 3
    assert sorted(found.names) == ["p120", "p3", "p50"]
    assert roc_auc_score(given != labels, found.scores) == 1.0
    assert str(found).startswith("3 of 200 labelled rows have another label than their 15 neighbours")
    document = json.loads(json.dumps(found.to_dict()))
    assert document["rows"][0].keys() == {"row", "name", "score", "share", "label", "vote"}
    assert len(found.head(1)) == len(found.columns()["row"][:1]) == 1


def test_the_data_are_asked_and_not_the_map():
    X, labels = two_clusters()
    scattered = np.random.default_rng(1).normal(size=(200, 2))
    assert len(gn.Map(X, scattered, labels=labels).suspects()) == 0
    assert "0 of 200" in str(gn.Map(X, scattered, labels=labels).suspects())


def test_rows_without_a_label_have_no_score_and_no_vote():
    X, labels = two_clusters()
    gaps = labels.astype(object)
    gaps[::2] = None
    gaps[1] = "right"
    found = gn.Map(X, X[:, :2], labels=gaps).suspects()
    assert np.isnan(found.scores[::2]).all()
    assert np.isfinite(found.scores[1::2]).all()
    assert found.rows.tolist() == [1]
    assert found.share.tolist() == [1.0]
    alone = find_suspects(compute_neighbors(line_of(8), 2), ["a", None, None, None, None, None, None, "b"])
    assert np.isnan(alone.scores).all()
    assert len(alone) == 0


def test_copies_and_neighbours_that_are_not_there():
    copies = find_suspects(compute_neighbors(np.zeros((6, 2), np.float32), 3), [0, 0, 0, 0, 0, 1])
    assert copies.rows.tolist() == [5]
    assert copies.scores[5] == 1.0
    indices = np.array([[1, 2, 2], [0, 2, 3], [0, 1, 3], [2, 1, 0]], np.int32)
    distances = np.array([[1, 2, np.inf], [1, 2, 3], [2, 3, 4], [1, 2, 3]], np.float32)
    mask = np.isfinite(distances)
    found = find_suspects(NeighborGraph(indices, distances, mask), ["a", "a", "b", "b"])
    near, far = np.exp(-0.5 * np.array([1 / 2, 1.0]) ** 2)
    assert found.scores[0] == pytest.approx(far / (near + far))  # the entry that repeats a neighbour has no vote


def test_a_score_colours_the_page():
    X, labels = two_clusters()
    labels[3] = "right"
    made = gn.Map(X, X[:, :2], labels=labels)
    made.metadata["suspect"] = made.suspects().scores
    payload = Document.of(PageContent.of(made), None).payload
    (column,) = (one for one in payload.header["columns"] if one["name"] == "suspect")
    assert column["role"] == "metadata"
    (shown,) = (columns[column["key"]] for columns in payload.groups.values() if column["key"] in columns)
    np.testing.assert_array_equal(shown, made.suspects().scores)
    assert shown[3] == 1.0
    assert shown.min() == 0.0


def test_maps_without_classes_are_refused():
    X, _ = two_clusters()
    with pytest.raises(ValueError, match=r"^suspects: a map must be one with labels"):
        gn.Map(X, X[:, :2]).suspects()
    with pytest.raises(ValueError, match=r"^suspects: .*classes.*numpy\.digitize"):
        gn.Map(X, X[:, :2], labels=X[:, 0].astype(np.float64)).suspects()
    with pytest.raises(ValueError, match=r"n_top=0 must be"):
        gn.Map(X, X[:, :2], labels=np.repeat([0, 1], 100)).suspects(0)
    with pytest.raises(ValueError, match="2 rows"):
        gn.Map(X[:1], X[:1, :2], labels=[0]).suspects()


def test_the_share_counts_the_neighbours_that_vote_and_ties_go_to_the_nearer():
    indices = np.array([[1, 2, 3], [0, 2, 3], [3, 0, 1], [2, 0, 1]], np.int32)
    distances = np.array([[1, 2, 2], [1, 1, 1], [1, 1, 2], [1, 1, 2]], np.float32)
    found = find_suspects(NeighborGraph(indices, distances), ["a", "b", None, "c"])
    assert found.rows.tolist() == [0, 1, 3]
    assert found.votes == ["b", "a", "a"]  # row 1: a and c have the same weight, and a is nearer
    np.testing.assert_allclose(found.share, [0.5, 0.5, 0.5])  # of two that have a label
    np.testing.assert_allclose(found.scores, [1.0, 1.0, np.nan, 1.0])
    assert find_suspects(NeighborGraph(indices, distances), ["a", "b", None, "c"], 2).rows.tolist() == [0, 1]


def test_a_row_whose_own_label_has_as_much_weight_is_no_suspect():
    indices = np.array([[1, 2], [0, 2], [0, 1]], np.int32)
    found = find_suspects(NeighborGraph(indices, np.ones((3, 2), np.float32)), ["a", "b", "a"])
    np.testing.assert_allclose(found.scores, [0.5, 1.0, 0.5])
    assert found.rows.tolist() == [1]


def test_suspects_are_printed_and_given_as_records():
    found = Suspects(
        rows=np.array([7, 11]),
        names=None,
        score=np.array([1.0, 0.625]),
        scores=np.array([1.0, 0.625, np.nan, 0.0]),
        n_neighbors=3,
        labels=["a", "b"],
        votes=["b", "c"],
        share=np.array([1.0, 2 / 3]),
        n_suspects=2000,
    )
    assert str(found).splitlines() == [
        "2,000 of 3 labelled rows have another label than their 3 neighbours in the data vote for",
        "row  label  neighbours say  their share  score",
        "7        a               b            1      1",
        "11       b               c       0.6667  0.625",
    ]
    assert found.to_dict() == {
        "question": "suspects",
        "n_neighbors": 3,
        "rows": [
            {"row": 7, "score": 1.0, "share": 1.0, "label": "a", "vote": "b"},
            {"row": 11, "score": 0.625, "share": 2 / 3, "label": "b", "vote": "c"},
        ],
        "n_suspects": 2000,
        "n_labelled": 3,
    }


def test_twenty_suspects_are_listed_the_most_doubtful_first():
    rng = np.random.default_rng(0)
    graph, labels = compute_neighbors(rng.normal(size=(90, 2)).astype(np.float32), 9), rng.integers(0, 2, 90)
    found, every = find_suspects(graph, labels), find_suspects(graph, labels, 90)
    assert len(found) == 20 < len(every) == found.n_suspects == every.n_suspects
    assert (np.diff(every.score) <= 0).all()
    np.testing.assert_array_equal(found.rows, every.rows[:20])
