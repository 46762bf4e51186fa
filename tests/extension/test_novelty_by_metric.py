"""How far out rows lie is measured in the metric of the map, as whoever placed its rows meant it."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import gnomon as gn
from gnomon.exceptions import DataWarning
from gnomon.extension import AffineAtlas, Novelty, measure_drift
from gnomon.neighbors import compute_neighbors, query_neighbors

RNG = np.random.default_rng(0)
SCAFFOLDS = RNG.random((6, 256)) < 0.1
BITS = np.array([SCAFFOLDS[i % 6] ^ (RNG.random(256) < 0.02) for i in range(240)], dtype=np.float32)
PLACES = np.column_stack([np.arange(240) % 6, np.arange(240) / 240.0])
LIKE = np.array([SCAFFOLDS[i % 6] ^ (RNG.random(256) < 0.02) for i in range(60)], dtype=np.float32)
TINY = np.zeros((30, 256), dtype=np.float32)
for row in TINY:
    row[RNG.choice(256, 3, replace=False)] = 1.0
NOTHING = np.zeros((2, 256), dtype=np.float32)

OF_SCIPY = {"jaccard": "jaccard", "dice": "dice", "ruzicka": "jaccard"}  # the same of zeros and ones


def ranked(metric, k=14):
    """Return which share of the map's rows has a smaller mean distance to its nearest others than each asked row."""
    own = np.sort(cdist(BITS != 0, BITS != 0, metric), axis=1)[:, 1 : k + 1].mean(axis=1)
    asked = np.concatenate([LIKE, TINY, NOTHING]) != 0
    away = np.sort(cdist(asked, BITS != 0, metric), axis=1)[:, :k].mean(axis=1)
    return (own[None] < away[:, None] - 1e-6).mean(axis=1)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("metric", OF_SCIPY)
def test_sets_are_ranked_by_what_they_do_not_have_in_common(metric, form):
    atlas = AffineAtlas(form(BITS), PLACES, metric=metric)
    told = atlas.novelty(form(np.concatenate([LIKE, TINY, NOTHING])))
    np.testing.assert_allclose(told, ranked(OF_SCIPY[metric]), atol=1.5 / len(BITS))
    assert told[60:].min() == 1.0
    assert 0.3 < told[:60].mean() < 0.7


def test_a_row_that_has_nothing_in_common_with_any_is_told_of_where_it_is_placed():
    atlas = AffineAtlas(BITS, PLACES, metric="jaccard")
    with pytest.warns(DataWarning, match="2 of 3 rows lie out of range, with less in common with the rows of the map"):
        atlas.transform(np.concatenate([NOTHING, LIKE[:1]]))
    m = gn.map(BITS, metric="jaccard", max_iter=5, random_state=0)
    for place in (m.transform, m.place):
        with pytest.warns(DataWarning, match="1 of 1 rows lie out of range, with less in common"):
            place(NOTHING[:1])


def test_new_rows_are_compared_in_the_metric_of_the_map():
    asked = np.concatenate([LIKE, TINY, NOTHING])
    drift = measure_drift(BITS, PLACES, asked, np.zeros((len(asked), 2)), metric="jaccard")
    np.testing.assert_array_equal(drift.novelty, AffineAtlas(BITS, PLACES, metric="jaccard").novelty(asked))
    assert drift.out_of_range >= 32 / 92
    assert drift.refit


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "hamming"])
def test_other_distances_are_compared_with_those_of_the_map_as_euclidean_ones_are(metric):
    X, new = np.round(RNG.normal(size=(200, 4)), 1), np.round(RNG.normal(size=(50, 4)), 1)
    Y = X[:, :2]
    graph = compute_neighbors(X, 15, metric=metric)
    known = Novelty.learn(graph.indices, graph.distances, metric=metric)
    expected = known.level(known.score(*query_neighbors(X, new, 15, metric=metric)))
    np.testing.assert_array_equal(AffineAtlas(X, Y, graph=graph).novelty(new), expected)
    assert not known.ends_at_one


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_in_one_column_they_are_the_euclidean_ones(metric):
    X, new = RNG.normal(size=(150, 1)), RNG.normal(size=(40, 1)) * 2.0
    plain, other = (AffineAtlas(X, X, metric=name).novelty(new) for name in ("euclidean", metric))
    np.testing.assert_allclose(other, plain, atol=1.5 / len(X))


def test_a_row_that_the_metric_is_not_defined_of_lies_out_of_range():
    X = RNG.gamma(1.0, size=(100, 5))
    for metric in ("ruzicka", "hellinger"):
        atlas = AffineAtlas(X, X[:, :2], metric=metric)
        told = atlas.novelty(np.concatenate([-X[:1], X]))
        assert told[0] == 1.0
        assert told[1:].max() < 1.0
        assert atlas.novelty(sp.csr_array(-X[:1])).tolist() == [1.0]
