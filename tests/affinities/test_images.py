"""Where columns have a period neighbours count at their nearest images: weights and tangents do not feel the seam."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.threads import on_threads

from gnomon.affinities import alignment_matrix, reconstruction_weights, weights_of_new_rows
from gnomon.neighbors import compute_neighbors, images

PATCH = np.random.default_rng(0).uniform(-40, 40, (90, 2))  # neighbours are nearer than half a turn
RING = np.random.default_rng(1).uniform(-180, 180, (120, 1)) * [[1.0, 0.0]] + PATCH[:1]
METRIC = "periodic(360, 360)"


def turned(rows, by=(150.0, 170.0)):
    return (rows + np.array(by) + 180.0) % 360.0 - 180.0


def graph_of(rows, metric=METRIC):
    return compute_neighbors(rows, 9, metric=metric)


FORMS = {
    **{
        weights: lambda X, graph, weights=weights: reconstruction_weights(X, graph, weights=weights).W
        for weights in ("signed", "non_negative")
    },
    **{
        variant: lambda X, graph, variant=variant: alignment_matrix(X, graph, 2, variant=variant).matrix
        for variant in ("ltsa", "hessian", "modified")
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_across_the_seam_they_are_those_of_the_same_rows_elsewhere(form):
    expected = FORMS[form](PATCH, graph_of(PATCH, "euclidean")).toarray()
    found = FORMS[form](turned(PATCH), graph_of(turned(PATCH))).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-9)
    found = FORMS[form](sp.csr_array(turned(PATCH)), graph_of(turned(PATCH))).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_on_a_ring_they_do_not_depend_on_where_angles_start(form):
    rows = RING + np.random.default_rng(2).normal(0, 3, RING.shape)
    expected = FORMS[form](rows, graph_of(rows)).toarray()
    np.testing.assert_allclose(FORMS[form](turned(rows), graph_of(turned(rows))).toarray(), expected, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_blocks_and_threads_change_nothing(form, monkeypatch):
    rows, graph = turned(PATCH), graph_of(turned(PATCH))
    whole = FORMS[form](rows, graph)
    for n_threads in (1, 3):
        np.testing.assert_array_equal(on_threads(n_threads, FORMS[form])(rows, graph).data, whole.data)
    monkeypatch.setattr(images, "_BLOCK", 7 * 10 * 2)
    np.testing.assert_allclose(FORMS[form](rows, graph).data, whole.data, atol=1e-12)


def test_longitudes_have_images_too():
    places = np.deg2rad(0.01 * PATCH)
    across = places + np.array([0.0, np.pi])
    across[:, 1] = (across[:, 1] + np.pi) % (2.0 * np.pi) - np.pi
    graph = graph_of(across, "haversine")
    found, expected = (reconstruction_weights(rows, graph).W.toarray() for rows in (across, places))
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_new_rows_are_put_together_across_the_seam():
    new, near = PATCH[:20] + 0.5, graph_of(PATCH, "euclidean").indices[:20]
    expected = weights_of_new_rows(PATCH, new, near)
    found = weights_of_new_rows(turned(PATCH), turned(new), near, metric=METRIC)
    np.testing.assert_allclose(found, expected, atol=1e-9)
