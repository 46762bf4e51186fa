"""Rows that lie where the data are thin."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy
from sklearn.neighbors import LocalOutlierFactor

import gnomon as gn
from gnomon.explanations.outliers import Outliers, find_outliers
from gnomon.neighbors import NeighborGraph, compute_neighbors


def cloud(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4))
    X[150:] = 0.1 * X[150:] + 10.0  # a dense cluster beside a wide one
    X[7] = 10.0
    X[7, 0] = 12.0  # near the dense cluster, by the measure of the wide one
    return X


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_score_is_the_local_outlier_factor_of_scikit_learn(metric):
    X = cloud()
    found = gn.Map(X, X[:, :2], metric=metric).outliers(5)
    model = LocalOutlierFactor(15, metric=metric).fit(X)
    np.testing.assert_allclose(found.scores, -model.negative_outlier_factor_, rtol=2e-4)
    assert found.rows.tolist() == np.argsort(model.negative_outlier_factor_)[:5].tolist()
    np.testing.assert_array_equal(found.score, found.scores[found.rows])


def test_an_outlier_is_one_by_the_measure_of_its_neighbours():
    X = cloud()
    made = gn.Map(X, X[:, :2], point_names=[f"p{i}" for i in range(300)])
    found = made.outliers()
    assert (found.rows[0], found.names[0], len(found)) == (7, "p7", 20)
    assert found.distance[0] == pytest.approx(made.neighbors().distances[7, 14])
    assert str(found).splitlines()[1].split() == ["row", "name", "score", "distance"]
    assert json.loads(json.dumps(found.to_dict()))["rows"][0].keys() == {"row", "name", "score", "distance"}


def test_the_score_has_no_units():
    X = cloud().astype(np.float32)
    one, other = (find_outliers(compute_neighbors(table, 10)).scores for table in (X, 1024 * X))
    np.testing.assert_allclose(one, other, rtol=1e-6)


def with_copies(seed=0):
    """Two hundred copies among ordinary rows, and one row far out."""
    X = np.random.default_rng(seed).normal(size=(500, 8))
    X[:200] = X[0]
    X[499] = 9 / np.sqrt(8)
    return X


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "precomputed"])
def test_copies_count_as_one_row_and_have_its_score(metric):
    X = with_copies()
    table = scipy.spatial.distance.cdist(X, X) if metric == "precomputed" else X
    found = gn.Map(table, X[:, :2], metric=metric).outliers()
    distinct, inverse = np.unique(X, axis=0, return_inverse=True)
    model = LocalOutlierFactor(15, metric="euclidean" if metric == "precomputed" else metric).fit(distinct)
    np.testing.assert_allclose(found.scores, -model.negative_outlier_factor_[inverse.ravel()], rtol=2e-4)
    assert found.n_copies == 199
    assert "by 15 neighbours in the data, of rows that differ (199 are copies)" in str(found)
    if metric != "cosine":
        assert found.rows[0] == 499
        assert found.scores[:200].max() < 1.5


def test_copies_are_told_apart_from_rows_near_them_where_the_search_is_approximate():
    X = with_copies(1)
    graph = compute_neighbors(X, 15, method="approximate", target_recall=0.9)
    found = find_outliers(graph, X=X)
    assert found.rows[0] == 499
    assert len(np.unique(found.scores[:200])) == 1
    assert found.scores.max() < 4.0


def test_a_graph_without_its_table_tells_what_it_knows_of_rows_that_differ():
    X = with_copies()
    found = find_outliers(compute_neighbors(X, 15))
    assert found.rows[0] == 499
    assert len(np.unique(found.scores[:200])) == 1
    assert np.isfinite(found.scores).all()
    assert found.scores.max() < 4.0


def test_a_few_copies_leave_the_scores_of_rows_far_from_them():
    X = cloud()
    X[3] = X[2]
    found, without = gn.Map(X, X[:, :2]).outliers(), gn.Map(np.delete(X, 3, 0), np.delete(X, 3, 0)[:, :2]).outliers()
    np.testing.assert_allclose(np.delete(found.scores, 3), without.scores, rtol=1e-6)
    assert found.scores[3] == found.scores[2]
    assert "(1 is a copy)" in str(found)


def test_copies_of_one_row_alone_are_ordinary():
    found = find_outliers(compute_neighbors(np.zeros((9, 2), np.float32), 3))
    np.testing.assert_array_equal(found.scores, 1.0)
    assert (found.n_neighbors, found.n_copies) == (3, 8)
    X = np.zeros((9, 2), np.float32)
    X[8] = 1.0
    two = find_outliers(compute_neighbors(X, 3), X=X)
    np.testing.assert_array_equal(two.scores, 1.0)  # two places are each other's only neighbour


def test_neighbours_that_are_not_there_do_not_count():
    indices, mask = np.array([[1, 2], [0, 2], [1, 1]], np.int32), np.array([[True, True], [True, True], [True, False]])
    distances = np.array([[1, 2], [1, 1], [1, np.inf]], np.float32)
    scores = find_outliers(NeighborGraph(indices, distances, mask)).scores
    reach = np.array([(1 + 2) / 2, (2 + 1) / 2, 1.0])  # row 1 is 1 from row 0, whose last neighbour is at 2
    np.testing.assert_allclose(
        scores, [reach[0] / 2 * (1 / reach[1] + 1 / reach[2]), reach[1] / 2 * (1 / reach[0] + 1 / reach[2]), 1 / 1.5]
    )


def test_no_mean_reach_counts_as_less_than_a_thousandth_of_the_median():
    """Three rows that are all but copies, and rows from which others are one away: the median reach is 1."""
    indices = np.array([[1, 2], [0, 2], [0, 1], [0, 1], [3, 5], [3, 4], [3, 4]], np.int32)
    distances = np.array([[1e-9] * 2] * 3 + [[1, 1]] * 4, np.float32)
    found = find_outliers(NeighborGraph(indices, distances), 2)
    np.testing.assert_allclose(found.scores, [1.0, 1.0, 1.0, 1000.0, 1.0, 1.0, 1.0])
    assert found.rows.tolist() == [3, 0]
    np.testing.assert_array_equal(found.distance, np.array([1.0, 1e-9], np.float32))


def test_a_row_without_neighbours_has_no_score_and_is_not_listed():
    mask = np.array([[True, True], [True, True], [True, True], [False, False]])
    indices = np.array([[1, 2], [0, 2], [0, 1], [0, 0]], np.int32)
    distances = np.where(mask, 1.0, np.inf).astype(np.float32)
    found = find_outliers(NeighborGraph(indices, distances, mask))
    np.testing.assert_array_equal(found.scores, [1.0, 1.0, 1.0, np.nan])
    assert found.rows.tolist() == [0, 1, 2]
    assert "that of a typical row is 1.00" in str(found)


def test_outliers_are_printed_and_given_as_columns_and_records():
    scores = np.array([1.0, 2.5, np.nan, 1.5])
    found = Outliers(
        rows=np.array([7, 11]),
        names=["p", "q"],
        score=np.array([2.5, 1.0]),
        scores=scores,
        n_neighbors=15,
        distance=np.array([0.25, 10.0]),
    )
    headline = "local outlier factor by 15 neighbours in the data; that of a typical row is 1.50"
    rows = ["row  name  score  distance", "7       p    2.5      0.25", "11      q      1        10"]
    assert str(found).splitlines() == [headline, *rows]
    columns = {"row": [7, 11], "name": ["p", "q"], "score": [2.5, 1.0], "distance": [0.25, 10.0]}
    assert found.columns() == columns
    records = [{name: column[r] for name, column in columns.items()} for r in (0, 1)]
    assert found.to_dict() == {"question": "outliers", "n_neighbors": 15, "rows": records}
    first = found.head(1)
    assert (first.rows.tolist(), first.names, first.distance.tolist(), len(first.scores)) == ([7], ["p"], [0.25], 4)
    plain = replace(found, names=None)
    assert str(plain).splitlines()[1:] == ["row  score  distance", "7      2.5      0.25", "11       1        10"]
    assert plain.columns() == {name: column for name, column in columns.items() if name != "name"}
    assert plain.head(1).names is None
    for table in (replace(found, distance=found.distance[:1]).to_dict, replace(found, score=found.score[:1]).__str__):
        with pytest.raises(ValueError, match="shorter than"):
            table()
    nobody = replace(found.head(0), scores=np.full(2, np.nan))
    assert (len(nobody), str(nobody)) == (0, headline.replace("1.50", "nan"))
