"""Curvatures are those of the loss written out, and responses those of points placed anew after a change of a row."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import NotFittedError
from tests.threads import on_threads

from gnomon import sensitivity
from gnomon.evaluation import singularities
from gnomon.evaluation.singularities import Singularities, check_rows, upper_share
from gnomon.methods import PCA, TSNE, UMAP


@pytest.fixture(name="X", scope="module")
def some_table():
    rng = np.random.default_rng(1)
    return np.vstack([1.5 * rng.normal(size=4) + rng.normal(size=(20, 4)) for _ in range(3)])


@pytest.fixture(name="tsne", scope="module")
def polished_map(X):
    method = TSNE(perplexity=15, random_state=0, max_iter=300).fit(X)
    return method, sensitivity(method, X, rows=[0], polish=True, max_iter=5000).embedding


def test_curvatures_are_those_of_the_divergence_in_one_place(X, tsne):
    """By finite differences of sum p log(p / q), q over all pairs."""
    method, Y = tsne
    P = method.affinities_.matrix.toarray().astype(float)
    P /= P.sum()
    found = singularities(method, X, embedding=Y)

    def loss(y, i):
        Z = Y.copy()
        Z[i] = y
        W = 1.0 / (1.0 + np.sum((Z[:, None] - Z[None]) ** 2, axis=2))
        np.fill_diagonal(W, 0.0)
        np.fill_diagonal(log := np.log(W + np.eye(len(W))), 0.0)
        return -np.sum(P * log) + np.log(W.sum())

    step = 1e-3
    E = step * np.eye(2)
    for i in (0, 25, 59):
        H = [
            [sum(s * t * loss(Y[i] + s * E[a] + t * E[b], i) for s in (1, -1) for t in (1, -1)) for b in (0, 1)]
            for a in (0, 1)
        ]
        expected = np.linalg.eigvalsh(np.array(H) / (4 * step**2))
        np.testing.assert_allclose(found.curvatures[i], expected, rtol=2e-3, atol=1e-5)
        np.testing.assert_allclose(found.scores[i], 1.0 / found.curvatures[i, 0])


@pytest.mark.parametrize("i", [3, 41])
def test_the_response_is_that_of_a_point_placed_anew(X, tsne, i):
    """A row is moved each way along each feature, and its point alone goes to the least loss."""
    method, Y = tsne
    step, moved = 1e-3, []

    def place(table):
        loss = method._loss_of_data(table)

        def value(y):
            Z = Y.copy()
            Z[i] = y
            value, gradient = loss.loss_and_gradient(Z)
            return value, gradient[i]

        return minimize(value, Y[i], jac=True, method="BFGS", options={"gtol": 1e-12}).x

    for j in range(X.shape[1]):
        sides = []
        for sign in (1, -1):
            table = X.copy()
            table[i, j] += sign * step
            sides.append(place(table))
        moved.append((sides[0] - sides[1]) / (2 * step))
    found = singularities(method, X, embedding=Y, rows=[i])
    assert found.pull[i] < 1e-4
    np.testing.assert_allclose(found.response[0], np.linalg.norm(np.array(moved), ord=2), rtol=1e-2)


def test_a_point_between_two_clusters_alike_is_loosest():
    """A row halfway between two clusters has the least curvature of all in the map."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(30, 4)), rng.normal(size=(30, 4)) + np.array([14.0, 0, 0, 0]), [[7.0, 0, 0, 0]]])
    method = TSNE(perplexity=8, random_state=0, max_iter=500).fit(X)
    scores = singularities(method, X).scores
    assert scores[60] > 3 * np.median(scores)


def test_losses_of_other_methods(X):
    method = UMAP(n_neighbors=8, random_state=0).fit(X)
    found = singularities(method, X, rows=range(5))
    assert found.scores.shape == (60,)
    assert (found.curvatures[:, 0] <= found.curvatures[:, 1]).all()
    assert np.isinf(found.scores).sum() == (found.curvatures[:, 0] <= 0).sum()
    assert "singularity" in found.columns()


def test_same_bytes_on_any_number_of_threads(X, tsne):
    one, two = (on_threads(n, singularities)(tsne[0], X, rows=[5, 1]) for n in (1, 2))
    assert one.to_dict() == two.to_dict()
    np.testing.assert_array_equal(one.columns()["response to its row"][[5, 1]], one.response)


def test_bad_input_is_named(X, tsne):
    with pytest.raises(TypeError, match="singularities: estimator=PCA must be a neighbour embedding"):
        singularities(PCA().fit(X), X)
    with pytest.raises(ValueError, match="X with 59 rows must be the data of the fit, of 60 rows"):
        singularities(tsne[0], X[1:])
    with pytest.raises(ValueError, match=r"rows with 60 must be in \[0, 60\)"):
        singularities(tsne[0], X, rows=[60])
    with pytest.raises(ValueError, match=r"embedding of shape \(3, 2\) must be of shape \(60, 2\)"):
        singularities(tsne[0], X, embedding=np.zeros((3, 2)))
    with pytest.raises(ValueError, match="metric='cosine' must be 'euclidean'"):
        singularities(TSNE(metric="cosine", perplexity=6, max_iter=20).fit(X), X)


def test_the_largest_scores_are_a_share_of_those_that_are_known():
    scores = np.array([3.0, np.nan, 9.0, 1.0, np.inf, 9.0, 2.0, np.nan, 0.0, 5.0])
    assert upper_share(scores, 0.5).tolist() == [4, 2, 5, 9]
    assert upper_share(scores, 0.125).tolist() == [4]
    assert upper_share(scores, 0.12).tolist() == []
    for share in (0.0, 1.0):
        with pytest.raises(ValueError, match="largest: share="):
            upper_share(scores, share)


def test_rows_asked_for_are_rows_that_there_are():
    assert check_rows(None, 5).tolist() == []
    assert check_rows([], 5).tolist() == []
    assert check_rows([4, 0, 4], 5).dtype == np.int64
    for rows, found in (([0, 5], 5), ([-1], -1)):
        with pytest.raises(ValueError, match=rf"rows with {found} must be in \[0, 5\)"):
            check_rows(rows, 5)
    for rows in ([[1]], [0.5], [True]):
        with pytest.raises(ValueError, match="must be a list of row numbers"):
            check_rows(rows, 5)


def test_columns_hold_what_is_known_of_each_row():
    empty = np.empty(0)
    two = Singularities(np.array([1.0, np.inf, 2.0]), np.zeros((3, 2)), np.zeros(3), np.array([2]), np.array([7.0]))
    np.testing.assert_array_equal(two.columns()["singularity"], [1.0, np.nan, 2.0])
    np.testing.assert_array_equal(two.columns()["response to its row"], [np.nan, np.nan, 7.0])
    none = Singularities(np.ones(3), np.zeros((3, 2)), np.zeros(3), empty.astype(int), empty)
    assert list(none.columns()) == ["singularity"]
    assert repr(none) == "Singularities(n_samples=3)"


def test_a_method_must_be_fitted(X):
    with pytest.raises(NotFittedError, match="TSNE"):
        singularities(TSNE(), X)


def test_points_at_no_minimum_have_no_pull_and_no_response(monkeypatch):
    """Of three points one is held by 2 and 8 along its axes, one not at all, one is at a saddle."""
    blocks = np.array([np.diag([8.0, 2.0]), np.zeros((2, 2)), np.diag([3.0, -1.0])])
    gradient = np.array([[4.0, 3.0], [1.0, 1.0], [1.0, 1.0]])
    expansion = SimpleNamespace(own_blocks=lambda: blocks, gradient=gradient)
    push = np.stack([np.array([[0.0, 8.0, 0.0], [6.0, 0.0, 0.0]])] * 3)
    loss = SimpleNamespace(expand=lambda Y: expansion, push=lambda Y, i: push)
    monkeypatch.setattr(
        sys.modules["gnomon.evaluation.singularities"], "loss_of_map", lambda *_: (loss, np.zeros((3, 2)))
    )
    found = singularities(None, None, rows=[2, 0])
    np.testing.assert_allclose(found.curvatures, [[2.0, 8.0], [0.0, 0.0], [-1.0, 3.0]])
    np.testing.assert_allclose(found.scores, [0.5, np.inf, np.inf])
    np.testing.assert_allclose(found.pull, [np.hypot(0.5, 1.5), np.nan, np.nan])
    np.testing.assert_allclose(found.response, [np.nan, 3.0])
    assert found.rows.tolist() == [2, 0]
    assert found.largest(0.5).tolist() == [1]
    assert found.to_dict()["response"][1] == pytest.approx(3.0)


def test_what_a_map_is_looked_at_in_must_have_a_place_for_all_points(X, tsne):
    places = tsne[0].embedding_.astype(float)
    places[3, 1] = np.nan
    for wrong in (places, places[:, :1]):
        with pytest.raises(ValueError, match=r"embedding of shape \(60, \d\) must be of shape \(60, 2\), without NaN"):
            singularities(tsne[0], X, embedding=wrong)
