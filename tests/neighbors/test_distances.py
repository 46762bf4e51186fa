"""Distances between all rows, and matrices of distances that were given."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from gnomon.neighbors import cross_distances, distance_matrix

rng = np.random.default_rng(0)
X = rng.normal(size=(1100, 6)).astype(np.float32)
CLOSE = cdist(X[:40], X[:40])


@pytest.mark.parametrize(
    ("metric", "form"),
    [
        *((metric, np.asarray) for metric in ("euclidean", "cosine", "manhattan", "chebyshev")),
        *((metric, sp.csr_array) for metric in ("euclidean", "cosine", "manhattan")),
    ],
)
def test_matrices_hold_the_distances_of_all_pairs(metric, form):
    matrix, unit = distance_matrix(form(X), metric=metric)
    expected = pairwise_distances(X.astype(np.float64), metric=metric)
    np.testing.assert_allclose(unit * matrix, expected, rtol=1e-5, atol=2e-7 * expected.max())
    np.testing.assert_array_equal(matrix, matrix.T)
    assert not matrix.diagonal().any()
    assert 0.5 < matrix.max() <= 1.0


@pytest.mark.parametrize("factor", [1e-30, 1e-9, 1e30, 1e150])
def test_units_far_from_one_lose_nothing(factor):
    rows = X[:600].astype(np.float64)
    for metric in ("euclidean", "manhattan"):
        matrix, unit = distance_matrix(rows * factor, metric=metric)
        plain, plain_unit = distance_matrix(rows, metric=metric)
        np.testing.assert_allclose(matrix * (unit / factor), plain * plain_unit, rtol=1e-5)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", lambda a, b: float(abs(a[0] - b[0]))])
def test_a_row_of_distances_depends_on_its_row_alone(metric):
    together = cross_distances(X[:50], X[50:120], metric=metric)
    alone = np.concatenate([cross_distances(X[i : i + 1], X[50:120], metric=metric) for i in range(50)])
    assert together.tobytes() == alone.tobytes()


def test_f61_a_complete_sparse_matrix_is_a_dense_one():
    dense = distance_matrix(CLOSE, metric="precomputed")
    rows, columns = np.nonzero(~np.eye(40, dtype=bool))
    entries = CLOSE.copy()
    entries[0, 1] = entries[1, 0] = 0.0  # stored zeros are distances of zero
    complete = sp.csr_array((CLOSE[rows, columns], (rows, columns)), shape=(40, 40))
    np.testing.assert_array_equal(distance_matrix(complete, metric="precomputed")[0], dense[0])
    with pytest.raises(ValueError, match=r"W: a sparse distance matrix must be complete \(2 of 1560 entries"):
        distance_matrix(sp.csr_array(entries), metric="precomputed", who="W")


def test_f57_f58_f59_rounding_is_mended():
    rough = CLOSE + 1e-7 * rng.uniform(-1, 1, size=CLOSE.shape)
    rough[3, 4] = rough[4, 3] = -1e-7
    np.fill_diagonal(rough, 5.0)
    matrix, _ = distance_matrix(rough, metric="precomputed")
    np.testing.assert_array_equal(matrix, matrix.T)
    assert matrix[3, 4] == 0.0
    assert not matrix.diagonal().any()
    assert rough[3, 4] == -1e-7  # the input is not changed


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda D: D[:, :30], r"a distance matrix of shape \(40, 30\) must be square"),
        (lambda D: np.where(D[2, 3] == D, -1.0, D), r"distances must be >= 0 \(the smallest is -1\)"),
        (lambda D: np.triu(D), r"a distance matrix must be symmetric \(the largest gap is .*, at row \d+ and column"),
        (lambda D: np.where(D[2, 3] == D, np.nan, D), r"distances must be finite \(nan at row 2 and column 3\)"),
        (lambda D: np.where(D[2, 3] == D, np.inf, D), r"distances must be finite \(inf at row 2 and column 3\)"),
    ],
)
def test_f57_f58_f60_f66_what_is_no_distance_matrix_is_refused(change, text):
    with pytest.raises(ValueError, match=f"W: {text}"):
        distance_matrix(change(CLOSE), metric="precomputed", who="W")


def test_metrics_without_a_value_are_refused():
    with pytest.raises(ValueError, match="metric='magic' must be a callable or one of"):
        cross_distances(X[:3], X[:3], metric="magic")
    with pytest.raises(ValueError, match=r"metric=<function .* must be a number >= 0 for all rows \(nan"):
        cross_distances(X[:3], X[:3], metric=lambda a, b: float("nan"))
    with pytest.raises(ValueError, match=r"metric_params=.* must be empty for metric='euclidean'"):
        cross_distances(X[:3], X[:3], metric_params={"p": 3})


def test_a_matrix_beyond_the_memory_is_refused_before_it_is_made():
    rows = np.broadcast_to(np.zeros((1, 1), dtype=np.float32), (3_000_000, 1))
    with pytest.raises(MemoryError, match=r"W: X of 3000000 rows must be .* 3000000 x 3000000 pairs take 36,000 GB"):
        distance_matrix(rows, who="W")
