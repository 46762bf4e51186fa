"""Clusters of sets are checked by places whose distances are those of the sets, however many members these have."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from gnomon import find_clusters
from gnomon._run import running
from gnomon.clusters.sets import OF_SETS, SetPlaces, has_many_members
from gnomon.neighbors import cross_distances

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


def kinds(seed=0, n=300):
    """Three kinds of sets of 10 to 60 members of 600, most of them those of the kind."""
    draw = np.random.default_rng(seed)
    shares = 0.7 * np.stack([draw.dirichlet(np.full(600, 0.15)) for _ in range(3)]) + 0.3 / 600
    kind, X = draw.integers(0, 3, n), np.zeros((n, 600))
    for row in range(n):
        X[row, draw.choice(600, draw.integers(10, 60), p=shares[kind[row]], replace=False)] = 1.0
    return X, kind


@FORMS
@pytest.mark.parametrize("metric", OF_SETS)
def test_squared_distances_of_places_are_twice_those_of_the_sets(metric, form):
    X = form(kinds(n=60)[0])
    with running(seed=0):
        places = SetPlaces.of(X, metric, 60).transform(X)
    np.testing.assert_allclose(cdist(places, places) ** 2, 2.0 * cross_distances(X, X, metric=metric), atol=1e-9)


def test_places_of_other_rows_are_projections_on_those_of_the_landmarks():
    X = kinds(n=90)[0]
    with running(seed=0):
        of_sets = SetPlaces.of(X[:60], "jaccard", 60)
        places = of_sets.transform(X)
        np.testing.assert_allclose(of_sets.transform(X[70:]), places[70:], atol=1e-12)
    near = np.linalg.lstsq(places[:60] @ places[:60].T, places[:60] @ places[60:].T, rcond=None)[0]
    np.testing.assert_allclose(near.T @ places[:60], places[60:], atol=1e-9)
    np.testing.assert_allclose(places[:60].mean(axis=0), 0.0, atol=1e-9)
    assert np.all(np.linalg.norm(places[60:], axis=1) <= 1.5)


@FORMS
def test_columns_of_which_few_are_common_are_few(form):
    draw = np.random.default_rng(0)
    assert has_many_members(form(draw.random((400, 60)) < 0.5))
    assert not has_many_members(form(draw.random((400, 40)) < 0.5))
    rare = np.column_stack([draw.random((400, 5)) < 0.5, draw.random((400, 300)) < 0.005])
    assert not has_many_members(form(rare))
    assert not has_many_members(form(np.ones((4, 80))))


def test_kinds_of_sets_of_unlike_size_are_found():
    X, kind = kinds(n=300)
    found = find_clusters(X, metric="jaccard")
    assert len(found) == 3
    inside = found.labels >= 0
    assert np.mean(inside) > 0.8
    assert sum(np.bincount(kind[found.labels == k]).max() for k in range(3)) > 0.97 * np.count_nonzero(inside)


@pytest.mark.parametrize(("n_columns", "n"), [(8, 500), (120, 200)])
def test_sets_of_members_drawn_alike_have_no_clusters(n_columns, n):
    draw = np.random.default_rng(0)
    X = (draw.random((n, n_columns)) < draw.beta(1.5, 3, n_columns)).astype(float)
    assert len(find_clusters(X, metric="jaccard")) == 0
