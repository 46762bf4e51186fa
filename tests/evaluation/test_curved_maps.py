"""Scores of maps on surfaces are those of geodesic distances, by an implementation that knows these alone."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.manifold import trustworthiness

import gnomon as gn
from gnomon.evaluation.layout import places_of
from gnomon.neighbors import compute_neighbors
from gnomon.surfaces import Hyperboloid, Sphere

SURFACES = [Sphere(2.0), Hyperboloid(1.5)]
BOTH = pytest.mark.parametrize("surface", SURFACES, ids=lambda one: one.name)


@pytest.fixture(scope="module", params=SURFACES, ids=lambda one: one.name)
def curved(request):
    """A map that says something of the data: its points, moved."""
    surface, rng = request.param, np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    Y = surface.coordinates(surface.start(X[:, : surface.width] + 0.2 * rng.normal(size=(150, surface.width))))
    return surface, X, Y


def test_scores_are_those_of_geodesic_distances(curved):
    surface, X, Y = curved
    found = gn.evaluate(X, Y, n_neighbors=7, surface=surface)
    D, data = surface.distances(Y), np.linalg.norm(X[:, None] - X, axis=2)
    assert found.continuity == pytest.approx(_trust(D, data, 7), abs=1e-12)
    assert found.trustworthiness == pytest.approx(_trust(data, D, 7), abs=1e-12)
    pairs = np.triu_indices(150, 1)
    assert found.shepard == pytest.approx(spearmanr(D[pairs], data[pairs])[0], abs=1e-9)


def _trust(one, other, k):
    """Trustworthiness of the order of the distances `other` by the ranks of `one`."""
    n = len(one)
    ranks = np.argsort(np.argsort(one + np.diag(np.full(n, -1.0)), axis=1), axis=1)
    near = np.argsort(other + np.diag(np.full(n, np.inf)), axis=1)[:, :k]
    excess = np.maximum(np.take_along_axis(ranks, near, axis=1) - k, 0).sum()
    return 1.0 - 2.0 / (n * k * (2.0 * n - 3.0 * k - 1.0)) * excess


def test_the_yardstick_is_scikit_learns():
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(80, 4)), rng.normal(size=(80, 2))
    one, other = (np.linalg.norm(table[:, None] - table, axis=2) for table in (X, Y))
    assert _trust(one, other, 6) == pytest.approx(trustworthiness(X, Y, n_neighbors=6), abs=1e-12)


def test_few_anchors_and_all_nearest_agree(curved):
    surface, X, Y = curved
    labels = (X[:, 0] > 0).astype(int)
    graph = compute_neighbors(X.astype(np.float32), 15)
    whole = gn.evaluate(X, Y, labels=labels, graph=graph, surface=surface)
    some = gn.evaluate(X, Y, labels=labels, graph=graph, surface=surface, n_anchors=40)
    assert some.knn_accuracy == whole.knn_accuracy
    assert some.neighborhood_preservation == pytest.approx(whole.neighborhood_preservation)
    known = np.isfinite(some.per_point["trustworthiness"])
    np.testing.assert_array_equal(some.per_point["trustworthiness"][known], whole.per_point["trustworthiness"][known])


def test_nearest_rows_are_those_of_the_distances(curved):
    surface, _, Y = curved
    D = surface.distances(Y) + np.diag(np.full(len(Y), np.inf))
    found = places_of(Y, surface).nearest(9)
    np.testing.assert_allclose(np.take_along_axis(D, found, axis=1), np.sort(D, axis=1)[:, :9])


@BOTH
def test_rows_without_a_place_are_left_out(surface):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    Y = surface.coordinates(surface.start(X[:, : surface.width]))
    Y[5] = np.nan
    found, without = (
        gn.evaluate(X, Y, surface=surface),
        gn.evaluate(np.delete(X, 5, 0), np.delete(Y, 5, 0), surface=surface),
    )
    assert found.n_left_out == 1
    assert found.trustworthiness == without.trustworthiness


def test_a_map_off_the_surface_is_refused():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.raises(ValueError, match="inside the unit circle"):
        gn.evaluate(X, X[:, :2] * 3, surface=Hyperboloid())
    with pytest.raises(ValueError, match=r"of two columns, longitude and latitude"):
        gn.evaluate(X, X, surface=Sphere())
