"""Moved rows go where the whole loss, minimised in their place alone, would have them; planted points stand out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics import roc_auc_score
from tests.threads import on_threads

from gnomon.affinities import DataAffinities, FuzzyAffinity, GaussianAffinity, MovedRows, gaussian_weights
from gnomon.evaluation import continuity_nulls, perturbations, singularities
from gnomon.evaluation.perturbation import _main_directions
from gnomon.methods import MDS, PCA, SNE, TSNE, UMAP
from gnomon.neighbors import compute_neighbors


@pytest.fixture(name="X", scope="module")
def two_clusters_with_rows_between():
    """Rows 80 to 91 lie between two clusters."""
    rng = np.random.default_rng(1)
    way = np.zeros(6)
    way[0] = 8.0
    middle = rng.normal(size=(12, 6)) + way * rng.uniform(0.35, 0.65, (12, 1))
    return np.vstack([rng.normal(size=(40, 6)), way + rng.normal(size=(40, 6)), middle])


@pytest.fixture(name="tsne", scope="module")
def fitted_map(X):
    return TSNE(perplexity=15, random_state=0, max_iter=1000).fit(X)


def _squared(X, places):
    return np.square(places[:, None] - X).sum(axis=2)


@pytest.mark.parametrize("affinity", [GaussianAffinity(8.0), FuzzyAffinity()], ids=["gaussian", "fuzzy"])
def test_a_row_that_stays_has_the_affinities_it_has(X, affinity):
    graph = compute_neighbors(X, 24)
    known = DataAffinities(X, graph, affinity)
    for i in (0, 50, 85):
        others, weights = MovedRows(known).ties(i, _squared(X, X[[i]]))
        expected = known.matrix.toarray()[i] / known.matrix.sum() * len(X)
        found = np.zeros(len(X))
        found[others[0]] = weights[0]
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-4)
        assert (np.diff(weights[0]) <= 0).all()


def test_affinities_of_a_moved_row_are_those_of_the_changed_table(X):
    """But for the calibration of the others, which is held: to some percent of the largest."""
    graph = compute_neighbors(X, 45)
    known = DataAffinities(X, graph, GaussianAffinity(15.0))
    for i in (3, 86):
        table = X.copy()
        table[i, 0] += 2.0
        others, weights = MovedRows(known).ties(i, _squared(X, table[[i]]))
        anew = DataAffinities(table, compute_neighbors(table, 45), GaussianAffinity(15.0)).matrix.toarray()[i]
        found = np.zeros(len(X))
        found[others[0]] = weights[0] / len(X)
        np.testing.assert_allclose(found, anew, atol=0.08 * anew.max())


def _brute_force(method, X, i, row):
    """Return where the point of a changed row has the least t-SNE loss of the whole changed table, from all places."""
    table = X.copy()
    table[i] = row
    graph = compute_neighbors(table, method.graph_.n_neighbors)
    P = DataAffinities(table, graph, GaussianAffinity(method.perplexity)).matrix.toarray()[i]
    Y = np.delete(method.embedding_.astype(float), i, axis=0)
    p = np.delete(P, i)
    among = 1.0 / (1.0 + _squared(Y, Y))
    rest = among.sum() - len(Y)

    def loss(y):
        w = 1.0 / (1.0 + np.square(y - Y).sum(axis=1))
        total = rest + 2.0 * w.sum()
        slope = 4.0 * ((p * w - w**2 / total)[:, None] * (y - Y)).sum(axis=0)
        return -2.0 * p @ np.log(w) + np.log(total), slope

    starts = Y[np.argsort([loss(y)[0] for y in Y])[:5]]
    return min((minimize(loss, y, jac=True) for y in starts), key=lambda end: end.fun).x


def test_displacements_are_those_of_points_placed_anew_by_brute_force(X, tsne):
    rows = [2, 30, 44, 81, 85, 90]
    found = perturbations(tsne, X, rows=rows, n_directions=1)
    size = found.size
    expected, unmoved = [], []
    for i in rows:
        near = X[tsne.graph_.indices[i]]
        shares = gaussian_weights(tsne.graph_.distances[[i]], perplexity=15)[0][0].astype(float)
        covariance = np.cov(near.T, aweights=shares, ddof=0)
        axis = np.linalg.eigh(covariance)[1][:, -1]
        step = 2.0 * np.sqrt(axis @ covariance @ axis)
        ends = [np.linalg.norm(_brute_force(tsne, X, i, X[i] + s * axis) - tsne.embedding_[i]) for s in (step, -step)]
        expected.append(sorted(ends))
        unmoved.append(np.linalg.norm(_brute_force(tsne, X, i, X[i]) - tsne.embedding_[i]))
    np.testing.assert_allclose(np.sort(found.displacements, axis=1), expected, atol=0.15 * size)
    np.testing.assert_allclose(found.scores[rows], np.max(expected, axis=1), atol=0.15 * size)
    np.testing.assert_allclose(found.unmoved, unmoved, atol=0.05 * size)


def test_rows_between_two_clusters_jump(X, tsne):
    found = perturbations(tsne, X, length=3.0)
    between = np.arange(92) >= 80
    assert roc_auc_score(between, found.scores) > 0.85
    assert np.median(found.unmoved) < 0.02 * found.size
    assert (found.largest(0.1) == np.argsort(-found.scores)[:9]).all()


def test_points_at_the_tears_of_one_cluster_jump_and_are_looser():
    """Without exaggeration a ring tears, at first; rows there have one of their 5 nearest far away in the map."""
    rng = np.random.default_rng(0)
    angle = 2 * np.pi * rng.random(250)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * (1 + 0.05 * rng.normal(size=(250, 1)))
    method = TSNE(perplexity=5, random_state=0, init="random", early_exaggeration_iter=0, max_iter=100).fit(X)
    Y = method.embedding_
    edges = np.linalg.norm(Y[:, None] - Y[compute_neighbors(X, 5).indices], axis=2)
    torn = edges.max(axis=1) > 8 * np.median(edges)
    assert torn.any()
    assert roc_auc_score(torn, perturbations(method, X).scores) > 0.8
    scores = singularities(method, X).scores
    assert np.median(scores[torn]) > np.median(scores[~torn])


def test_moves_without_room_are_left_out_and_the_length_is_in_deviations():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), np.zeros(60)])
    found = perturbations(TSNE(perplexity=5, random_state=0).fit(X), X, rows=[4, 7], length=0.5)
    assert found.steps.shape == (2, 3)
    assert (found.steps[:, 0] > 0).all()
    assert (found.steps[:, 1:] == 0).all()
    assert np.isnan(found.displacements[:, 2:]).all()
    assert np.isfinite(found.scores[[4, 7]]).all()
    assert np.isnan(np.delete(found.scores, [4, 7])).all()


def test_umap_moves_too_and_rows_are_what_was_asked(X):
    method = UMAP(n_neighbors=10, random_state=0, max_iter=100).fit(X)
    found = perturbations(method, X, rows=[85, 0])
    assert found.rows.tolist() == [85, 0]
    assert found.displacements.shape == (2, 6)
    assert found.columns()["perturbation"].shape == (92,)
    assert found.to_dict()["size"] == found.size


def test_large_tables_are_sampled(monkeypatch, X, tsne):
    monkeypatch.setattr("gnomon.evaluation.perturbation._SAMPLE", 10)
    one, two = (perturbations(tsne, X, random_state=seed).rows for seed in (0, 1))
    assert len(one) == len(two) == 10
    assert not np.array_equal(one, two)


def test_of_structureless_data_one_in_twenty_is_dubious():
    flagged = []
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(80, 5))
        found = continuity_nulls(TSNE(perplexity=10, random_state=seed, max_iter=250), X, random_state=seed)
        flagged.append(np.mean(found.verdicts() == "dubious"))
    assert np.mean(flagged) < 0.12
    assert found.name == "perturbation"


def test_rows_between_stand_out_of_the_null_and_singularities_have_one(X, tsne):
    found = continuity_nulls(tsne, X, tsne.embedding_)
    assert np.median(found.p_values[80:]) > np.median(found.p_values[:80]) + 0.2
    np.testing.assert_array_equal(found.embedding, tsne.embedding_)
    again = continuity_nulls(tsne, X, tsne.embedding_, score="singularity")
    assert ((again.p_values >= 0) & (again.p_values <= 1)).all()


def test_same_bytes_on_any_number_of_threads_of_perturbations(X, tsne):
    one, two = (on_threads(n, perturbations)(tsne, X) for n in (1, 2))
    assert one.to_dict() == two.to_dict()


def test_bad_input_of_perturbations_is_named(X, tsne):
    with pytest.raises(TypeError, match="perturbations: estimator=PCA must be a neighbour embedding"):
        perturbations(PCA().fit(X), X)
    with pytest.raises(TypeError, match="perturbations: affinities must be those of neighbours"):
        perturbations(SNE(perplexity=10, max_iter=20).fit(X), X)
    with pytest.raises(TypeError, match="perturbations: affinities must be those of neighbours"):
        perturbations(MDS(max_iter=20).fit(X), X)
    with pytest.raises(ValueError, match=r"rows with 92 must be in \[0, 92\)"):
        perturbations(tsne, X, rows=[92])
    with pytest.raises(ValueError, match="length=0"):
        perturbations(tsne, X, length=0)
    with pytest.raises(ValueError, match="share=1"):
        perturbations(tsne, X, rows=[1]).largest(1.0)
    with pytest.raises(ValueError, match="score='spread'"):
        continuity_nulls(tsne, X, score="spread")


def test_directions_of_rows_on_a_line_are_the_line_and_nothing_else():
    t, weights = np.array([-1.0, 0.0, 2.0]), np.array([1.0, 2.0, 1.0])
    line = np.array([2.0, 0.0, 1.0]) / np.sqrt(5.0)
    directions, deviations = _main_directions(7.0 + t[:, None] * line, weights, 4)
    mean = 0.25
    expected = np.sqrt((1.25**2 + 2 * mean**2 + 1.75**2) / 4)
    np.testing.assert_allclose(deviations, [expected, 0.0, 0.0, 0.0], atol=1e-7)
    np.testing.assert_allclose(np.abs(directions[0]), line, atol=1e-12)
    np.testing.assert_array_equal(directions[1:], np.zeros((3, 3)))
    found, deviations = _main_directions(np.random.default_rng(0).normal(size=(9, 3)), np.ones(9), 2)
    np.testing.assert_allclose(found @ found.T, np.eye(2), atol=1e-12)
    assert deviations[0] > deviations[1] > 0


def test_no_rows_asked_for_are_no_rows_moved(X, tsne):
    found = perturbations(tsne, X, rows=[], n_directions=2)
    assert found.rows.shape == found.unmoved.shape == (0,)
    assert found.displacements.shape == (0, 4)
    assert found.steps.shape == (0, 2)
    assert np.isnan(found.scores).all()
    assert found.scores.shape == (len(X),)
    centred = tsne.embedding_ - tsne.embedding_.mean(axis=0)
    assert found.size == pytest.approx(np.sqrt(np.mean(np.sum(centred**2, axis=1))))
    assert found.columns()["perturbation"].shape == (len(X),)
