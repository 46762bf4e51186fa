"""Distances from rows of sparse tables: those of the table written out, whatever its width."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import gnomon
from gnomon.evaluation.anchors import DistanceRows

N = 90


def _table(seed: int, *, empty: int = 0) -> sp.csr_array:
    """Return columns that few, some and all rows store, the last far from 0, and others that none does."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 40)) * (rng.random((N, 40)) < np.linspace(0.02, 0.6, 40))
    X[:, 39] = 1e6 + rng.normal(size=N)
    X[5] = X[2]
    places = np.sort(rng.choice(40 + empty, 40, replace=False))
    wide = sp.lil_array((N, 40 + empty))
    wide[:, places] = X
    return sp.csr_array(wide)


def _rows(X: object, metric: str, anchors: np.ndarray) -> tuple[np.ndarray, float]:
    rows = DistanceRows(X, metric, 5, anchors)
    return np.concatenate([block for _, block in rows]), rows.unit


@pytest.mark.parametrize("anchors", [np.arange(N), np.arange(0, N, 4)], ids=["all", "some"])
@pytest.mark.parametrize("seed", range(3))
def test_squared_distances_are_those_of_differences(seed: int, anchors: np.ndarray) -> None:
    X = _table(seed)
    written = X.toarray()
    found, unit = _rows(X, "euclidean", anchors)
    right = np.sum((written[anchors][:, None] - written[None]) ** 2, axis=2)
    np.testing.assert_allclose(found * unit**2, right, rtol=1e-9 if len(anchors) == N else 1e-6, atol=1e-9)
    if 2 in anchors:
        assert found[list(anchors).index(2), 5] == 0.0
    assert not found[np.arange(len(anchors)), anchors].any()


@pytest.mark.parametrize("seed", range(3))
def test_cosine_distances_are_those_of_unit_rows(seed: int) -> None:
    units = _table(seed).toarray()
    units[:, 39] -= 1e6  # angles of all sizes
    X = sp.csr_array(units)
    X.data[X.indptr[7] : X.indptr[8]] = units[7] = 0.0
    lengths = np.linalg.norm(units, axis=1)
    units /= np.where(lengths > 0.0, lengths, 1.0)[:, None]
    found, _ = _rows(X, "cosine", np.arange(N))
    np.testing.assert_allclose(found, 1.0 - units @ units.T, atol=1e-14)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_columns_that_no_row_stores_change_no_bit(metric: str) -> None:
    few, many = (_rows(_table(0, empty=empty), metric, np.arange(N)) for empty in (0, 500))
    np.testing.assert_array_equal(few[0], many[0])
    assert few[1] == many[1]


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_threads_change_no_bit(metric: str) -> None:
    found = []
    for n_threads in (1, 2, 3):
        with gnomon.running(n_threads=n_threads):
            found.append(_rows(_table(1), metric, np.arange(N))[0])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_memory_follows_what_is_stored(metric: str) -> None:
    """Written out, the rows would take 320 MB."""
    rng = np.random.default_rng(0)
    n, width, stored = 200, 200_000, 20
    parts = rng.normal(size=n * stored), (np.repeat(np.arange(n), stored), rng.integers(0, width, n * stored))
    X = sp.csr_array(parts, shape=(n, width))
    tracemalloc.start()
    _rows(X, metric, np.arange(n))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2e7


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_scores_are_those_of_the_table_written_out(metric: str) -> None:
    X = _table(2)
    Y = X.toarray()[:, 37:39]
    sparse, dense = (gnomon.evaluate(one, Y, metric=metric, n_neighbors=5) for one in (X, X.toarray()))
    assert sparse.trustworthiness == pytest.approx(dense.trustworthiness, abs=1e-3)
    assert sparse.triplet_accuracy == pytest.approx(dense.triplet_accuracy, abs=1e-3)
