"""Under metrics of directions clusters are those of the directions, whatever rows are multiplied by or moved along."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from gnomon import find_clusters
from gnomon._run import running
from gnomon.clusters.halves import Halves, PlacedHalves
from gnomon.clusters.splits import Group
from gnomon.clusters.votes import _noise, assign

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


def spectra(seed=0, n=240, gain=True):
    """Three kinds of spectra, each row with an intensity of its own over three decades."""
    draw = np.random.default_rng(seed)
    peaks = [draw.choice(60, 12, replace=False) for _ in range(3)]
    kind, X = draw.integers(0, 3, n), 0.01 * draw.random((n, 60))
    for row in range(n):
        X[row, peaks[kind[row]]] += 10 ** draw.normal(-1.5, 0.3, 12)
    return X * (10 ** draw.uniform(3, 6, (n, 1)) if gain else 1.0), kind


def directions(X, metric):
    if metric == "hellinger":
        return np.sqrt(X / X.sum(axis=1, keepdims=True))
    return normalize(X - X.mean(axis=1, keepdims=True) if metric == "correlation" else X)


@FORMS
@pytest.mark.parametrize("metric", ["cosine", "correlation", "hellinger"])
def test_spectra_of_unlike_intensity_fall_into_their_kinds(metric, form):
    X, kind = spectra()
    found = find_clusters(form(X), metric=metric)
    assert len(found) == 3
    assert all(len(set(kind[found.labels == k])) == 1 for k in range(3))
    assert np.mean(found.labels >= 0) > 0.9


@FORMS
@pytest.mark.parametrize("metric", ["cosine", "correlation", "hellinger"])
def test_halves_lie_as_far_from_each_other_as_their_directions(metric, form):
    X = spectra(n=80)[0][:, :30]
    with running(seed=0):
        ground = PlacedHalves.of(form(X), metric)
    rows = np.concatenate([ground.halves.learned, ground.halves.held_out])
    places, whole = np.concatenate([ground.learned, ground.held_out]), directions(X, metric)[rows]
    far = [np.linalg.norm(one[:, None] - one, axis=2) for one in (places, whole)]
    np.testing.assert_allclose(far[0], far[1], atol=1e-5)


@FORMS
@pytest.mark.parametrize("metric", ["cosine", "correlation", "hellinger"])
def test_the_noise_of_steps_is_shorter_where_rows_are_divided_by_more(metric, form):
    draw = np.random.default_rng(0)
    counts = draw.integers(0, 5, size=(800, 8)).astype(float)
    long = np.arange(800) % 2 == 0
    X = np.column_stack([counts, draw.normal(np.where(long, 1e4, 10.0))])  # counted the same, beside what is measured
    with running(seed=0):
        ground, places = PlacedHalves._of(form(X), Halves.of(np.arange(800), 0), metric, 800)
    noise = np.linalg.norm(ground.learned - places[0], axis=1)
    assert noise.min() > 0.0
    given = X[ground.halves.learned]
    if metric == "correlation":
        given = given - given.mean(axis=1, keepdims=True)
    by = np.linalg.norm(np.sqrt(given) if metric == "hellinger" else given, axis=1)
    long = long[ground.halves.learned]
    assert by[long].mean() > 15 * by[~long].mean()
    assert 0.95 < (noise * by)[long].mean() / (noise * by)[~long].mean() < 1.05
    roots = np.sqrt(np.arange(5)) if metric == "hellinger" else np.arange(5.0)
    half = np.diff(roots) / 2
    above, below = np.append(half, half[-1]), np.insert(half, 0, half[0])  # half-way to the values beside each
    squares = np.mean((above**3 + below**3) / (above + below)) / 3
    kept = 8 / 9 if metric == "correlation" else 1.0  # centring takes one of nine directions
    np.testing.assert_allclose(np.mean((noise * by) ** 2), 8 * squares * kept, rtol=0.1)


@FORMS
@pytest.mark.parametrize("metric", ["correlation", "hellinger"])
def test_steps_of_one_cloud_of_counts_are_no_clusters(metric, form):
    X = 1.0 + np.random.default_rng(0).binomial(4, 0.5, size=(600, 5))
    X = X[X.max(axis=1) > X.min(axis=1)]
    assert len(find_clusters(form(X), metric=metric)) == 0


@FORMS
@pytest.mark.parametrize("metric", ["correlation", "hellinger"])
def test_rows_vote_as_those_near_in_their_directions_do(metric, form):
    draw = np.random.default_rng(0)
    X, kind = draw.gamma(1.0, size=(200, 6)) * 10 ** draw.uniform(0, 3, (200, 1)), draw.integers(0, 3, 200)
    straight, rows = directions(X, metric), np.arange(200)
    groups = [Group(np.flatnonzero(kind[:120] == k), frozenset([k]), 1.0) for k in range(3)]
    of_metric = assign(form(X), np.arange(120), groups, metric).votes
    if metric == "correlation" and sp.issparse(form(X)):  # written out for a search alone: the nearest vote
        far = np.linalg.norm(straight[:, None] - straight[:120], axis=2)
        far[rows[:120], rows[:120]] = np.inf
        near = np.argsort(far, axis=1)[:, :15]
        expected = np.stack([(kind[near] == k).sum(axis=1) for k in range(3)], axis=1) / 15.0
        np.testing.assert_allclose(of_metric[120:], expected[120:])
        return
    np.testing.assert_array_equal(of_metric, assign(straight, np.arange(120), groups, "euclidean").votes)
    np.testing.assert_allclose(_noise(form(X), rows, metric), _noise(straight, rows, "euclidean"), atol=1e-5)
