"""Rows are laid so that straight distances are those of the metric, and what divides them is known."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from gnomon.neighbors import cross_distances
from gnomon.neighbors.straight import (
    DIRECTIONS,
    STRAIGHT,
    direction_lengths,
    has_straight_rows,
    squared_chords,
    straight_rows,
)

FORMS = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
SPREAD = 10.0 ** np.linspace(-3, 3, 40)[:, None]  # what rows are multiplied by


def amounts():
    X = np.random.default_rng(0).gamma(0.5, size=(40, 7))
    X[X < 0.05] = 0.0
    return X * SPREAD


def plain(rows):
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


@FORMS
@pytest.mark.parametrize("metric", ["euclidean", *DIRECTIONS])
def test_squared_chords_are_squared_straight_distances_of_the_rows(metric, form):
    X = form(amounts())
    straight = plain(straight_rows(X, metric))
    chords = squared_chords(cross_distances(X, X, metric=metric), metric)
    np.testing.assert_allclose(cdist(straight, straight) ** 2, chords, rtol=1e-5, atol=1e-9)


@FORMS
@pytest.mark.parametrize("metric", DIRECTIONS)
def test_rows_are_divided_by_their_lengths(metric, form):
    X = amounts()
    before = {"cosine": X, "hellinger": np.sqrt(X), "correlation": X - X.mean(axis=1, keepdims=True)}[metric]
    lengths = direction_lengths(form(X), metric)
    np.testing.assert_allclose(lengths, np.linalg.norm(before, axis=1), rtol=1e-9)
    np.testing.assert_allclose(plain(straight_rows(form(X), metric)), before / lengths[:, None], atol=1e-12)


def test_correlations_that_are_not_written_out_are_those_along_centred_directions():
    X = amounts()
    directions = np.random.default_rng(1).normal(size=(7, 3))
    directions -= directions.mean(axis=0)
    sparse = straight_rows(sp.csr_array(X), "correlation", written_out=False)
    assert sparse.shape == X.shape
    assert sp.issparse(sparse)
    np.testing.assert_allclose(sparse @ directions, straight_rows(X, "correlation") @ directions, atol=1e-12)


@FORMS
@pytest.mark.parametrize("metric", ["cosine", "hellinger"])
def test_rows_of_zeros_stay_and_are_divided_by_one(metric, form):
    X = form(np.array([[0.0, 0.0], [3.0, 4.0]]))
    assert plain(straight_rows(X, metric))[0].tolist() == [0.0, 0.0]
    assert direction_lengths(X, metric)[0] == 1.0


def test_rows_without_a_place_are_refused_and_types_are_kept():
    with pytest.raises(ValueError, match="metric='hellinger' must be used with values >= 0"):
        straight_rows(-amounts(), "hellinger")
    with pytest.raises(ValueError, match="metric='correlation' must be defined for all rows"):
        straight_rows(np.ones((3, 4)), "correlation")
    for metric in DIRECTIONS:
        assert straight_rows(amounts().astype(np.float32), metric, dtype=np.float32).dtype == np.float32


def test_which_metrics_have_such_rows():
    assert all(has_straight_rows("periodic(360, inf)" if name == "periodic" else name) for name in STRAIGHT)
    assert not any(has_straight_rows(name) for name in ("manhattan", "jaccard", "precomputed"))
