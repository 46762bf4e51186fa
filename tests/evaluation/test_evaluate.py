"""Scores of a map: scikit-learn's numbers, the reference values, bounds, and what is said about samples."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from gnomon.evaluation import evaluate, scorecard
from gnomon.evaluation.scores import neighbor_ranks, rank_agreement, trust_of_random_map
from gnomon.neighbors import NeighborGraph

_OF_SIZE = ("trustworthiness", "continuity", "neighborhood_preservation")


def neighbor_graph(X, n_neighbors=15):
    distances, indices = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    return NeighborGraph(indices.astype(np.int32), distances.astype(np.float32))


@pytest.fixture(scope="module")
def iris():
    bunch = load_iris()
    i, j = np.arange(150)[:, None], np.arange(4)
    X = bunch.data + 1e-3 * np.sin(1 + 7 * i + 3 * j)
    return X, PCA(2).fit_transform(X), bunch.target


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 6)) * [5, 4, 1, 1, 1, 1]
    return X, X[:, :2] + 0.5 * rng.normal(size=(700, 2)), (X[:, 0] > 0).astype(int)


REFERENCE = {
    5: (0.9784882629, 0.9902723005, 0.6373333333),
    10: (0.9829938042, 0.9908748451, 0.734),
    30: (0.9935353535, 0.9961637427, 0.9155555556),
}


@pytest.mark.parametrize("k", [5, 10, 30])
def test_reproduces_the_reference_values(iris, k):
    X, Y, _ = iris
    found = evaluate(X, Y, n_neighbors=k)
    trust, continuity, preserved = REFERENCE[k]
    assert found.trustworthiness == pytest.approx(trust, rel=1e-6)
    assert found.continuity == pytest.approx(continuity, rel=1e-6)
    assert found.neighborhood_preservation == pytest.approx(preserved, rel=1e-6)
    assert found.shepard == pytest.approx(0.9958003737, rel=1e-6)


@pytest.mark.parametrize("k", [1, 7, 60])
def test_agrees_with_scikit_learn(noisy, k):
    X, Y, _ = noisy
    found = evaluate(X, Y, n_neighbors=k)
    assert found.trustworthiness == pytest.approx(trustworthiness(X, Y, n_neighbors=k), abs=1e-12)
    assert found.continuity == pytest.approx(trustworthiness(Y, X, n_neighbors=k), abs=1e-12)
    assert found.shepard == pytest.approx(spearmanr(pdist(X), pdist(Y)).statistic, abs=1e-9)


def test_accuracy_is_that_of_a_leave_one_out_classifier(noisy):
    X, Y, labels = noisy
    near = NearestNeighbors(n_neighbors=10).fit(Y).kneighbors(return_distance=False)
    expected = np.mean((labels[near].mean(axis=1) > 0.5) == labels)
    assert evaluate(X, Y, labels=labels).knn_accuracy == pytest.approx(expected)
    names = np.array(["left", "right"])[labels]
    assert evaluate(X, Y, labels=names).knn_accuracy == pytest.approx(expected)
    held_out = KNeighborsClassifier(10).fit(Y, labels)
    assert abs(held_out.score(Y, labels) - expected) < 0.05


def test_rows_without_a_label_are_not_scored_and_have_no_vote(noisy):
    X, Y, labels = noisy
    rng = np.random.default_rng(3)
    known = rng.random(len(labels)) < 0.7
    given = np.where(known, labels.astype(object), None)
    found = evaluate(X, Y, labels=given)
    near = NearestNeighbors(n_neighbors=10).fit(Y).kneighbors(return_distance=False)
    votes = np.stack([np.sum(known[near] & (labels[near] == k), axis=1) for k in (0, 1)])
    right = votes.argmax(axis=0) == labels
    scored = known & (votes.sum(axis=0) > 0)
    assert found.knn_accuracy == pytest.approx(right[scored].mean())
    assert np.isnan(found.per_point["knn_accuracy"][~known]).all()
    shares = np.bincount(labels[known]) / known.sum()
    assert found.random_map["knn_accuracy"] == pytest.approx(np.sum(shares**2))


@pytest.mark.parametrize("form", ["rows", "graph", "sparse", "some placed"])
@pytest.mark.parametrize("times", [2, 3, 10])
def test_copies_of_a_row_do_not_vote_on_its_label(times, form):
    rng = np.random.default_rng(2)
    n = 300 // times
    once, measured = rng.normal(size=(n, 8)), rng.normal(size=n)
    classes = rng.integers(0, 5, n).astype(str)
    X = np.repeat(once, times, axis=0)
    for labels, name in ((classes, "knn_accuracy"), (measured, "knn_r2")):
        given = {"graph": neighbor_graph(X, 25)} if form == "graph" else {}
        rows = sp.csr_array(X) if form == "sparse" else X
        Y = X[:, :2].copy()
        if form == "some placed":
            Y[:times] = np.nan
        found = evaluate(rows, Y, labels=np.repeat(labels, times), n_neighbors=5, **given)
        part = slice(1, None) if form == "some placed" else slice(None)
        alone = evaluate(once[part], once[part, :2], labels=labels[part], n_neighbors=5)
        assert getattr(found, name) == pytest.approx(getattr(alone, name))
        assert found.n_repeats == (times - 1) * len(once[part]) == found.to_dict()["n_repeats"]
        assert f"{found.n_repeats} rows repeat others, or nearly: each set has one vote" in found.summary()
        assert (alone.n_repeats, evaluate(rows, Y, n_neighbors=5).n_repeats) == (0, 0)
        assert found.random_map == pytest.approx(alone.random_map | {key: found.random_map[key] for key in _OF_SIZE})
        names = [name, "neighborhood_hit"] if name == "knn_accuracy" else [name]
        options = {"measures": names, "n_neighbors": 5}
        card = scorecard(rows, Y, labels=np.repeat(labels, times), **options, **given)
        expected = scorecard(once[part], once[part, :2], labels=labels[part], **options)
        for one in names:
            assert card.scores[one].value == pytest.approx(expected.scores[one].value)
            assert card.scores[one].chance == pytest.approx(expected.scores[one].chance)


def test_rows_that_few_values_make_equal_and_distances_vote_as_they_are():
    rng = np.random.default_rng(0)
    bits = (rng.random((300, 9)) < 0.5).astype(float)
    Y, labels = rng.normal(size=(300, 2)), rng.integers(0, 3, 300).astype(str)
    assert evaluate(bits, Y, labels=labels).n_repeats == 0
    twice = np.repeat(rng.normal(size=(100, 6)), 2, axis=0)
    assert evaluate(twice, Y[:200], labels=labels[:200]).n_repeats == 100
    distances = pairwise_distances(twice)
    assert evaluate(distances, Y[:200], labels=labels[:200], metric="precomputed").n_repeats == 0


def test_measured_labels_are_told_by_the_mean_of_the_neighbours(noisy):
    X, Y, _ = noisy
    value = Y[:, 0] + np.random.default_rng(1).normal(size=len(Y))
    found = evaluate(X, Y, labels=value)
    near = NearestNeighbors(n_neighbors=10).fit(Y).kneighbors(return_distance=False)
    errors = value[near].mean(axis=1) - value
    assert found.knn_r2 == pytest.approx(1.0 - np.mean(errors**2) / value.var())
    np.testing.assert_allclose(found.per_point["knn_error"], np.abs(errors))
    assert found.knn_accuracy is None
    assert "knn r2" in found.summary()
    shuffled = evaluate(X, Y, labels=np.random.default_rng(2).permutation(value))
    assert shuffled.knn_r2 == pytest.approx(found.random_map["knn_r2"], abs=0.05)  # -1 / 10


@pytest.mark.parametrize("labels", [np.zeros(700), np.full(700, None), ["a"] * 350 + [None] * 350])
def test_a_single_class_is_not_scored(noisy, labels):
    X, Y, _ = noisy
    found = evaluate(X, Y, labels=labels)
    assert found.knn_accuracy is None
    assert "knn accuracy" not in found.summary()


@pytest.mark.parametrize(("n", "k"), [(3, 1), (5, 2), (30, 14), (31, 15), (700, 15)])
def test_few_rows_have_smaller_neighbourhoods(noisy, n, k):
    X, Y, _ = noisy
    assert evaluate(X[:n], Y[:n]).n_neighbors == k


def test_a_perfect_map_has_perfect_scores(noisy):
    X, _, _ = noisy
    found = evaluate(X, 3 * X + 1)
    assert found.trustworthiness == found.continuity == found.neighborhood_preservation == 1
    assert found.triplet_accuracy == 1
    assert found.shepard == pytest.approx(1)


def test_a_random_map_gets_what_is_stated_for_it():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(1500, 5)), rng.normal(size=(1500, 2))
    found = evaluate(X, Y, labels=rng.integers(0, 2, 1500), n_neighbors=15)
    assert trust_of_random_map(1500, 15) == found.random_map["trustworthiness"]
    for name, value in found.scores().items():
        assert value == pytest.approx(found.random_map[name], abs=0.03), name


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "precomputed"])
def test_the_metric_of_the_data_is_respected(noisy, metric):
    X, Y, _ = noisy
    distances = pairwise_distances(X, metric="euclidean" if metric == "precomputed" else metric)
    expected = trustworthiness(distances, Y, n_neighbors=9, metric="precomputed")
    given = distances if metric == "precomputed" else X
    assert evaluate(given, Y, n_neighbors=9, metric=metric).trustworthiness == pytest.approx(expected, abs=1e-12)


def test_scores_of_anchors_are_those_of_the_full_ranking(noisy):
    X, Y, labels = noisy
    full, part = evaluate(X, Y, labels=labels), evaluate(X, Y, labels=labels, n_anchors=100, graph=neighbor_graph(X))
    assert (part.n_anchors, full.n_anchors) == (100, 700)
    for name in ("trustworthiness", "continuity", "triplet_accuracy"):
        known = np.isfinite(part.per_point[name])
        assert known.sum() == 100
        np.testing.assert_allclose(part.per_point[name][known], full.per_point[name][known], atol=1e-6)
        assert getattr(part, name) == pytest.approx(np.mean(part.per_point[name][known]))
    for name in ("neighborhood_preservation", "knn_accuracy"):  # known for all rows
        np.testing.assert_array_equal(part.per_point[name], full.per_point[name])
    assert "ranks of 100 of 700 rows" in part.summary()
    assert "ranks of all rows" in full.summary()
    assert "random_state=0" in part.summary()
    alone = evaluate(X, Y, labels=labels, n_anchors=100)
    assert np.isfinite(alone.per_point["neighborhood_preservation"]).sum() == 100
    np.testing.assert_array_equal(alone.per_point["knn_accuracy"], full.per_point["knn_accuracy"])


def test_standard_errors_of_a_sample_are_the_spread_over_samples(noisy):
    X, Y, labels = noisy
    found = [evaluate(X, Y, labels=labels, n_anchors=120, random_state=seed) for seed in range(60)]
    for name in ("trustworthiness", "continuity"):
        spread = np.std([one.scores()[name] for one in found], ddof=1)
        assert np.mean([one.errors()[name] for one in found]) == pytest.approx(spread, rel=0.35), name
    assert {"standard error" in found[0].summary(), *found[0].to_dict()["errors"]} >= {True, "triplet_accuracy"}
    exact = evaluate(X, Y, labels=labels)
    assert exact.errors() == {}
    assert "standard error" not in exact.summary()


def test_overall_scores_are_means_over_points(noisy):
    X, Y, labels = noisy
    found = evaluate(X, Y, labels=labels)
    for name, scores in found.per_point.items():
        assert scores.shape == (700,)
        assert getattr(found, name) == pytest.approx(np.mean(scores))


def test_moving_a_point_away_lowers_its_own_score():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    Y = X.copy()
    Y[5] = -X[5] + [3, 3]
    found = evaluate(X, Y)
    assert np.argmin(found.per_point["trustworthiness"]) == 5
    assert np.argmin(found.per_point["triplet_accuracy"]) == 5


def test_triplets_are_of_three_different_rows():
    """Reversing the order of all distances makes every triplet wrong; one that repeats a row would be right."""
    Y = np.array([0.0, 1.0, 2.5, 4.7, 8.1, 15.9])[:, None]
    reversed_distances = 20 - np.abs(Y - Y.T)
    np.fill_diagonal(reversed_distances, 0)
    found = evaluate(reversed_distances, Y, metric="precomputed", n_neighbors=1, n_triplets=500)
    assert found.triplet_accuracy == 0


def test_rows_without_a_place_are_left_out_and_counted(noisy):
    X, Y, labels = noisy
    holes = np.array([0, 17, 699])
    torn = Y.copy()
    torn[holes, 0] = np.nan
    kept = np.setdiff1d(np.arange(700), holes)
    found = evaluate(X, torn, labels=labels)
    expected = evaluate(X[kept], Y[kept], labels=labels[kept])
    assert found.n_left_out == 3
    assert found.n_samples == 697
    assert "3 rows have no place in the map and are left out" in found.summary()
    assert found.scores() == expected.scores()
    for name, scores in found.per_point.items():
        assert np.isnan(scores[holes]).all()
        np.testing.assert_array_equal(scores[kept], expected.per_point[name])
    with_graph = evaluate(X, torn, graph=neighbor_graph(X))
    assert abs(with_graph.neighborhood_preservation - found.neighborhood_preservation) < 0.01
    distances = pairwise_distances(X)
    assert evaluate(distances, torn, metric="precomputed").trustworthiness == pytest.approx(found.trustworthiness)


def test_sparse_bytes_and_floats_agree():
    rng = np.random.default_rng(0)
    X = (rng.random((300, 20)) < 0.3) * rng.integers(1, 200, (300, 20))
    X = X + 0.0
    Y = PCA(2).fit_transform(X)
    expected = evaluate(X, Y).scores()
    for form in (X.astype(np.uint8), X.astype(np.float32), sp.csr_matrix(X), X.astype(np.int64)):
        # Rounding decides between equal distances of integers.
        assert evaluate(form, Y).scores() == pytest.approx(expected, abs=1e-6)
        assert evaluate(form, Y, n_anchors=80).scores() == pytest.approx(
            evaluate(X, Y, n_anchors=80).scores(), abs=1e-3
        )


def test_a_large_offset_between_clusters_does_not_blur_the_ranks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5)) + 1e6 * (np.arange(600) % 2)[:, None]
    Y = X[:, :2] - 1e6 * (np.arange(600) % 2)[:, None] + 50 * (np.arange(600) % 2)[:, None]
    full, part = evaluate(X, Y), evaluate(X, Y, n_anchors=200)
    known = np.isfinite(part.per_point["trustworthiness"])
    np.testing.assert_allclose(
        part.per_point["trustworthiness"][known], full.per_point["trustworthiness"][known], atol=1e-9
    )


@pytest.mark.parametrize("scale", [1e-30, 1e30])
@pytest.mark.parametrize("n_anchors", [None, 60])
def test_the_unit_of_the_data_does_not_matter(noisy, scale, n_anchors):
    X, Y, _ = noisy
    scores = evaluate(X.astype(np.float32), Y, n_anchors=n_anchors).scores()
    assert evaluate((scale * X).astype(np.float32), Y, n_anchors=n_anchors).scores() == pytest.approx(scores, abs=1e-4)


@pytest.mark.parametrize("n_anchors", [None, 60])
def test_same_bits_for_any_number_of_threads_and_the_same_seed(noisy, n_anchors):
    X, Y, labels = noisy
    one = evaluate(X, Y, labels=labels, n_anchors=n_anchors, n_jobs=1)
    for n_jobs in (2, 3, 5):
        many = evaluate(X, Y, labels=labels, n_anchors=n_anchors, n_jobs=n_jobs)
        assert one.to_dict() == many.to_dict()
        for name in one.per_point:
            assert one.per_point[name].tobytes() == many.per_point[name].tobytes()
    other = evaluate(X, Y, n_anchors=n_anchors, random_state=1)
    assert other.random_state == 1
    assert other.triplet_accuracy != one.triplet_accuracy


def test_permuting_the_rows_permutes_the_scores(noisy):
    X, Y, labels = noisy
    order = np.random.default_rng(0).permutation(700)
    plain, moved = evaluate(X, Y, labels=labels), evaluate(X[order], Y[order], labels=labels[order])
    for name in ("trustworthiness", "continuity", "neighborhood_preservation", "knn_accuracy"):
        np.testing.assert_allclose(moved.per_point[name], plain.per_point[name][order], atol=1e-12)


@pytest.mark.filterwarnings("ignore:.* places? of the map:gnomon.exceptions.DataWarning")
def test_duplicates_and_collapsed_maps_give_finite_scores():
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 3)), 12, axis=0)
    for Y in (X[:, :2], np.zeros((120, 2))):
        for n_anchors in (None, 40):
            labels = np.repeat(np.arange(10), 12)
            found = evaluate(X, Y, labels=labels, n_anchors=n_anchors, graph=neighbor_graph(X))
            assert all(np.isfinite(value) for value in found.scores().values())
    assert found.shepard == 0
    assert found.triplet_accuracy == pytest.approx(0.5, abs=0.07)  # ties on both sides agree


def test_wrong_arguments_are_refused(noisy):
    X, Y, labels = noisy
    with pytest.raises(ValueError, match="X with 700 rows and Y with 699 must be of the same length"):
        evaluate(X, Y[:-1])
    with pytest.raises(
        ValueError, match=r"n_neighbors=350 must be below half the number of rows in the map \(700 rows\)"
    ):
        evaluate(X, Y, n_neighbors=350)
    with pytest.raises(ValueError, match="n_neighbors=20 must be at most the graph's n_neighbors=15"):
        evaluate(X, Y, n_neighbors=20, graph=neighbor_graph(X))
    with pytest.raises(ValueError, match="3 labels, 700 rows"):
        evaluate(X, Y, labels=labels[:3])
    with pytest.raises(ValueError, match="n_triplets=0 must be an integer >= 1"):
        evaluate(X, Y, n_triplets=0)


@pytest.mark.parametrize("k", [1, 5, 19])
def test_agreement_of_ranks_is_scikit_learns_trustworthiness_and_shares_of_neighbours(k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    Y = X[:, :2] + 0.5 * rng.normal(size=(40, 2))
    ranks = [neighbor_ranks(pairwise_distances(table)) for table in (X, Y)]
    found = rank_agreement(*ranks, k)
    assert found.trustworthiness == pytest.approx(trustworthiness(X, Y, n_neighbors=k), abs=1e-12)
    near = [ranked <= k for ranked in ranks]
    shared = (near[0] & near[1] & ~np.eye(40, dtype=bool)).sum() / (40 * k)
    assert found.neighborhood_preservation == pytest.approx(shared)
    same = rank_agreement(ranks[0], ranks[0], k)
    assert (same.trustworthiness, same.neighborhood_preservation) == (1.0, 1.0)
    assert same.auc_rnx == pytest.approx(1.0)


def test_the_shepard_score_takes_all_pairs_of_few_rows_and_a_sample_of_many(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = X[:, :2] + rng.normal(size=(60, 2))
    exact = spearmanr(pdist(X), pdist(Y)).statistic
    assert evaluate(X, Y, n_neighbors=5).shepard == pytest.approx(exact, abs=1e-6)
    monkeypatch.setattr("gnomon.evaluation.anchors._ALL_PAIRS_BELOW", 60 * 59 // 2)
    assert evaluate(X, Y, n_neighbors=5).shepard == pytest.approx(exact, abs=1e-6)
    monkeypatch.setattr("gnomon.evaluation.anchors._ALL_PAIRS_BELOW", 60 * 59 // 2 - 1)
    sampled = evaluate(X, Y, n_neighbors=5).shepard
    assert sampled != pytest.approx(exact, abs=1e-6)
    assert sampled == pytest.approx(exact, abs=0.15)


def test_neighbourhoods_are_below_half_of_the_rows_that_have_a_place(noisy):
    X, Y = noisy[:2]
    few = np.where(np.arange(len(X))[:, None] < 11, Y, np.nan)
    assert evaluate(X, few).n_neighbors == 5
    assert evaluate(X, few, n_neighbors=5).n_neighbors == 5
    with pytest.raises(ValueError, match=r"n_neighbors=6 must be below half .* \(11 rows\). Use n_neighbors=5 or less"):
        evaluate(X, few, n_neighbors=6)
    graph = NeighborGraph(*compute(X, 4))
    assert evaluate(X, few, graph=graph, n_neighbors=4).n_neighbors == 4
    with pytest.raises(ValueError, match=r"n_neighbors=5 must be at most the graph's n_neighbors=4"):
        evaluate(X, few, graph=graph, n_neighbors=5)
    with pytest.raises(ValueError, match=r"X of shape \(\d+, \d+\) must be square"):
        evaluate(X, Y, metric="precomputed")


def compute(X, k):
    """Return the k nearest rows of each, and how far they are."""
    distances, indices = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    return indices.astype(np.int32), distances.astype(np.float32)


def test_standard_errors_are_those_of_a_sample_without_replacement(noisy):
    X, Y = noisy[:2]
    found = evaluate(X, Y, n_anchors=40)
    n = len(X)
    assert set(found.errors()) == {"trustworthiness", "continuity", "neighborhood_preservation", "triplet_accuracy"}
    for name, error in found.errors().items():
        values = found.per_point[name]
        values = values[np.isfinite(values)]
        assert len(values) == 40
        assert error == pytest.approx(values.std(ddof=1) / np.sqrt(40) * np.sqrt(1 - 40 / n))
    assert evaluate(X, Y).errors() == {}
    assert evaluate(X, Y, n_anchors=1).errors() == {}
    assert len(evaluate(X, Y, n_anchors=2).errors()) == 4


def test_a_surface_is_no_name():
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(TypeError, match=r"surface='sphere' must be a gnomon\.surfaces\.Surface or None \(found str\)"):
        evaluate(X, X[:, :2], surface="sphere")
