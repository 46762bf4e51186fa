"""Neighbours on both sides set against each other, and trust of all rows from a sample of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from gnomon._run import running
from gnomon.evaluation import anchors as anchors_of
from gnomon.evaluation import evaluate
from gnomon.evaluation.estimated_ranks import TrustEstimate, estimate_trust
from gnomon.evaluation.evaluation import evaluate_with_trust
from gnomon.evaluation.layout import places_of
from gnomon.evaluation.neighborhoods import compare_neighborhoods
from gnomon.evaluation.row_trust import trust_of_rows
from gnomon.evaluation.scores import rank_penalty_scale, trust_of_random_map
from gnomon.neighbors import compute_neighbors
from gnomon.surfaces import Hyperboloid

SCORES = ("trustworthiness", "continuity")


def _near(X, Y, k=7, metric="euclidean", surface=None):
    layout = places_of(Y, surface)
    return layout, compare_neighborhoods(X, layout, compute_neighbors(X, k, metric=metric), metric=metric)


@pytest.fixture(scope="module")
def made():
    X = np.random.default_rng(0).normal(size=(400, 5))
    return X, np.ascontiguousarray(X[:, :2])


def test_neighborhoods_of_four_points_on_a_line():
    """In the data 0 1 2 3 stand in order; the map exchanges 1 and 3."""
    X, Y = np.array([[0.0], [1.0], [2.1], [3.3]]), np.array([[0.0], [3.3], [2.1], [1.0]])
    _, near = _near(X, Y, k=1)
    assert near.in_data.ravel().tolist() == [1, 0, 1, 2]
    assert near.in_map.ravel().tolist() == [3, 2, 3, 0]
    assert near.false.all()
    assert near.missing.all()
    np.testing.assert_allclose(
        near.data_distances[:, 0, :], [[1.0, 3.3], [1.0, 1.1], [1.1, 1.2], [1.2, 3.3]], rtol=1e-6
    )
    np.testing.assert_allclose(near.map_distances[:, 0, :], [[3.3, 1.0], [3.3, 1.2], [1.2, 1.1], [1.1, 1.0]])
    reach_of_false, reach_of_missing = near.reaches()
    np.testing.assert_allclose(reach_of_false, [3.3, 1.1, 1.2 / 1.1, 3.3 / 1.2], rtol=1e-6)
    np.testing.assert_allclose(reach_of_missing, [3.3, 3.3 / 1.2, 1.2 / 1.1, 1.1])


def test_a_perfect_map_has_neither_false_nor_missing_neighbors(made):
    X, _ = made
    _, near = _near(X, 3.0 * X)
    assert not near.false.any()
    assert not near.missing.any()
    assert np.isnan(near.reaches()[0]).all()
    np.testing.assert_allclose(near.radius_ratio(), 0.0, atol=1e-6)


def test_as_many_neighbors_are_false_as_missing(made):
    _, near = _near(*made)
    false, missing = near.counts()
    np.testing.assert_array_equal(false, missing)
    assert false.max() > 0


def test_a_part_that_the_map_widens_has_a_larger_radius(made):
    X, _ = made
    shifted = np.vstack([X, X + 100.0])
    Y = np.vstack([X, 4.0 * X + 1000.0])
    _, near = _near(shifted, Y)
    ratio = near.radius_ratio()
    np.testing.assert_allclose(ratio[400:] - ratio[:400], 2.0, atol=1e-4)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_with_all_rows_as_the_sample_the_estimate_is_exact(made, metric):
    X, Y = made
    layout, near = _near(X, Y, metric=metric)
    found = estimate_trust(X, layout, near, np.arange(400), metric=metric, seed=0)
    exact = evaluate(X, Y, n_neighbors=7, metric=metric).per_point
    for name in SCORES:
        np.testing.assert_allclose(getattr(found, name), exact[name], atol=1e-12)
        np.testing.assert_array_equal(getattr(found, f"{name}_error"), 0.0)


def test_with_all_rows_the_estimate_on_a_curved_surface_is_exact(made):
    X, Y = made
    surface = Hyperboloid()
    coordinates = surface.read(0.3 * Y / np.abs(Y).max())
    layout, near = _near(X, coordinates, surface=surface)
    found = estimate_trust(X, layout, near, np.arange(400), metric="euclidean", seed=0)
    exact = evaluate(X, coordinates, n_neighbors=7, surface=surface).per_point
    for name in SCORES:
        np.testing.assert_allclose(getattr(found, name), exact[name], atol=1e-12)


def test_the_estimate_is_unbiased_and_its_standard_error_true(made):
    """Over 200 samples of 60 rows: the mean within 4 of its standard errors, the spread within 15 % of that told."""
    X, Y = made
    layout, near = _near(X, Y)
    exact = evaluate(X, Y, n_neighbors=7).per_point
    rng = np.random.default_rng(1)
    runs = [
        estimate_trust(X, layout, near, np.sort(rng.permutation(400)[:60]), metric="euclidean", seed=i)
        for i in range(200)
    ]
    for name in SCORES:
        gaps = np.array([getattr(one, name) for one in runs]) - exact[name]
        told = np.array([getattr(one, f"{name}_error") for one in runs])
        spread = np.sqrt(np.mean(gaps**2))
        assert abs(gaps.mean()) < 4.0 * spread / np.sqrt(200)
        assert np.sqrt(np.mean(told**2)) == pytest.approx(spread, rel=0.15)
    triplets = np.array([one.triplet_accuracy for one in runs]).mean()
    assert triplets == pytest.approx(np.mean(exact["triplet_accuracy"]), abs=0.01)


def test_the_order_of_the_rows_does_not_bias_the_triplets():
    """Pairs of neighbouring row numbers would lie in one cluster each, where the order is harder to keep."""
    rng = np.random.default_rng(2)
    X = np.vstack([rng.normal(size=(100, 3)) + 20.0 * c for c in range(4)])
    Y = np.ascontiguousarray(X[:, :2])
    layout, near = _near(X, Y)
    found = estimate_trust(X, layout, near, np.arange(400), metric="euclidean", seed=0)
    exact = evaluate(X, Y, n_neighbors=7).per_point["triplet_accuracy"]
    assert np.mean(found.triplet_accuracy) == pytest.approx(
        np.mean(exact), abs=0.04
    )  # 199 pairs, the same for all rows


def test_equal_bytes_for_any_number_of_threads(made):
    X, Y = made
    layout, near = _near(X, Y)
    found = []
    for n_threads in (1, 2, 5):
        with running(n_threads=n_threads):
            found.append(estimate_trust(X, layout, near, np.arange(0, 400, 3), metric="euclidean", seed=0))
    for name in (*SCORES, "trustworthiness_error", "continuity_error", "triplet_accuracy"):
        assert len({getattr(one, name).tobytes() for one in found}) == 1


def test_the_estimate_follows_its_formula(made):
    """The excess of a false neighbour is one and the rows nearer than it, estimated from those of the sample."""
    X, Y = made
    n, k, references = 400, 7, np.sort(np.random.default_rng(3).permutation(400)[:30])
    layout, near = _near(X, Y)
    found = estimate_trust(X, layout, near, references, metric="euclidean", seed=0)
    sides = {"trustworthiness": (X, near.in_data, near.in_map), "continuity": (Y, near.in_map, near.in_data)}
    scale, population = 2 / (k * (2 * n - 3 * k - 1)), n - 1 - k
    for name, (side, own, others) in sides.items():
        away = cdist(side, side)
        for i in range(0, n, 9):
            wrong = np.setdiff1d(others[i], own[i])
            seen = np.setdiff1d(references, [i, *own[i]])
            nearer = (away[i, seen][:, None] < away[i, wrong]).sum(axis=1)
            value = 1 - scale * (len(wrong) + population * nearer.mean())
            error = scale * population * np.sqrt(nearer.var(ddof=1) / len(seen) * (1 - len(seen) / population))
            assert getattr(found, name)[i] == pytest.approx(value, abs=1e-12)
            assert getattr(found, f"{name}_error")[i] == pytest.approx(error, abs=1e-12)


def test_rows_of_whom_the_sample_knows_neighbours_alone_have_finite_scores(made):
    """The one row of the sample is near some rows, which have no other to count."""
    X, Y = made
    layout, near = _near(X, Y)
    with np.errstate(all="raise"):
        found = estimate_trust(X, layout, near, np.array([5]), metric="euclidean", seed=0)
    scale, population = 2 / (7 * (800 - 22)), 392
    for i in np.flatnonzero((near.in_data == 5).any(axis=1)):
        wrong = len(np.setdiff1d(near.in_map[i], near.in_data[i]))
        assert found.trustworthiness[i] == pytest.approx(1 - scale * wrong)
        assert found.trustworthiness_error[i] == 0.0
    assert population * scale < 1


def test_trust_of_rows_is_that_of_evaluate_with_neighbourhoods_of_few_rows_too(made):
    X, Y = made
    for n, k in ((400, 15), (31, 15), (30, 14), (5, 2), (4, 1), (3, 1)):
        rows = np.arange(0, n, 2)
        with running(n_threads=1):
            found = trust_of_rows(X[:n], Y[:n], rows, metric="euclidean")
        exact = evaluate(X[:n], Y[:n], n_neighbors=k).per_point["trustworthiness"]
        np.testing.assert_allclose(found, exact[rows], atol=1e-12)


def test_an_evaluation_of_a_sample_lets_trust_be_counted_from_the_same_distances(made, monkeypatch):
    X, Y = (side[:150] for side in made)
    given = {"labels": np.arange(150) % 2, "graph": None, "metric": "euclidean", "surface": None}
    for below, is_asked in ((150, False), (149, True)):
        monkeypatch.setattr(anchors_of, "_ALL_BELOW", below)
        monkeypatch.setattr(anchors_of, "_ANCHORS", 40)
        layout, near = _near(X, Y, k=15)
        trust = TrustEstimate(layout, near)
        found = evaluate_with_trust(X, Y, trust, **given, random_state=3, n_jobs=1)
        expected = evaluate(X, Y, **given, random_state=3)
        assert found.to_dict() == expected.to_dict()
        assert (found.n_anchors, found.n_triplets, found.n_pairs) == (
            (40, 100, 4000) if is_asked else (150, 100, 11175)
        )
        assert hasattr(trust, "_references") == is_asked
    sampled = trust.result()
    assert sampled.n_references == 40
    alone = estimate_trust(
        X, layout, near, np.flatnonzero(np.isfinite(found.per_point["continuity"])), metric="euclidean", seed=3
    )
    for name in SCORES:
        np.testing.assert_allclose(getattr(sampled, name), getattr(alone, name), atol=1e-12)


@pytest.mark.parametrize(("n", "k"), [(9, 3), (30, 14), (4, 1)])
def test_a_random_map_has_the_trust_of_ranks_that_are_all_as_likely(n, k):
    excess = np.maximum(np.arange(1, n) - k, 0).mean()
    assert rank_penalty_scale(n, k) == pytest.approx(2 / (k * (2 * n - 3 * k - 1)))
    assert trust_of_random_map(n, k) == pytest.approx(1 - rank_penalty_scale(n, k) * k * excess)
