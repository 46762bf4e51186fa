"""Distances in any metric: between all rows of two tables, and between given pairs of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import product, squared_lengths
from gnomon._entrance import entrance, part
from gnomon._memory import require_memory
from gnomon._progress import Reporter
from gnomon._threads import single_threaded_blas
from gnomon._validation import message, unsaid
from gnomon.data import given_rows
from gnomon.exceptions import DataWarning
from gnomon.neighbors import library
from gnomon.neighbors.callables import Pairs, naming_pairs, refuse
from gnomon.neighbors.euclidean import Points
from gnomon.neighbors.metrics import native_metric
from gnomon.neighbors.precomputed import check_distance_matrix
from gnomon.neighbors.searched import SearchedRows

__all__ = ["cross_distances", "distance_matrix", "nearest_among", "pair_distances", "row_distances"]

Float64Array = npt.NDArray[np.float64]
Metric = str | Callable[..., float]
Rows = npt.NDArray[np.integer] | slice

_BLOCK = 512  # rows measured at a time
Float32Array = npt.NDArray[np.float32]


@part("cross_distances")
def cross_distances(
    A: Any, B: Any, *, metric: Metric = "euclidean", metric_params: Mapping[str, Any] | None = None
) -> Float64Array:
    """Measure from every row of one table to every row of another; each row of the result depends on its row alone.

    Parameters
    ----------
    A, B : ndarray or CSR of shape (n_rows, n_features) and (n_others, n_features)
        The two tables; what "seuclidean" and "mahalanobis" are not given is that of the second.
    metric : str or callable, default="euclidean"
        As for `compute_neighbors`, without "precomputed".
    metric_params : mapping or None, default=None
        Arguments of the metric: ``period`` of "periodic", or those of a scikit-learn metric or callable.

    Returns
    -------
    ndarray of shape (n_rows, n_others), float64

    Raises
    ------
    ValueError
        If the metric is unknown, takes no such arguments, or is not a number >= 0 for some rows.
    """
    first = given_rows(A, name="A")
    measure = _measure(metric, metric_params, first, first if B is A else given_rows(B, name="B"))
    return measure(slice(None), slice(None))


def row_distances(
    X: Any, *, metric: Metric = "euclidean", metric_params: Mapping[str, Any] | None = None
) -> Callable[[Rows], Float64Array]:
    """Make a table ready to be asked for the distances of some of its rows to all of them.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        The table.
    metric : str or callable, default="euclidean"
        As for `cross_distances`.
    metric_params : mapping or None, default=None
        Arguments of the metric.

    Returns
    -------
    callable
        From row numbers, or a slice, to distances of shape (n_rows, n_samples), float64.
    """
    if native_metric(metric, metric_params) is None:  # a callable is tried on rows of the first table
        params = library.learned_params(metric, metric_params, X)
        all_rows = np.arange(X.shape[0])

        def to_all(rows: Rows) -> Float64Array:
            return _through_library(X, X[rows], metric, params, Pairs(all_rows, all_rows[rows])).T

        return to_all
    measure = _measure(metric, metric_params, X, X)
    return lambda rows: measure(rows, slice(None))


def _measure(metric: Metric, params: Mapping[str, Any] | None, A: Any, B: Any) -> Callable[[Rows, Rows], Float64Array]:
    """Return a function from some rows of A and of B to their distances; what both tables need is done once."""
    native = native_metric(metric, params)
    if native is None:
        learned = library.learned_params(metric, params, B)
        a, b = np.arange(A.shape[0]), np.arange(B.shape[0])
        tables = None if A is B else ("A", "B")

        def between(rows: Rows, others: Rows) -> Float64Array:
            return _through_library(A[rows], B[others], metric, learned, Pairs(a[rows], b[others], tables))

        return between
    if scipy.sparse.issparse(B) and not scipy.sparse.issparse(A):
        A = scipy.sparse.csr_array(A)
    elif scipy.sparse.issparse(A) and not scipy.sparse.issparse(B):
        B = scipy.sparse.csr_array(B)
    a = native.rows(A)
    b = a if A is B else native.rows(B)
    return lambda rows, others: native.between(a[rows], b[others])


def _through_library(A: Any, B: Any, metric: Metric, params: Mapping[str, Any] | None, pairs: Pairs) -> Float64Array:
    from sklearn.metrics import pairwise_distances

    library.check_metric(metric, not isinstance(A, np.ndarray))
    taken, A, B = library.rows_for_metric(metric, params, A, B, pairs.rows)
    with library.naming_params(metric, params), naming_pairs(taken, params, A, B, pairs):
        distances = np.asarray(pairwise_distances(A, B, metric=taken, **(params or {})), dtype=np.float64)
    valid = distances >= 0.0
    if not valid.all():
        i, j = (int(place) for place in np.argwhere(~valid)[0])
        refuse(metric, float(distances[i, j]), pairs, i, j)
    return distances


@part("distance_matrix")
def distance_matrix(
    X: Any,
    *,
    metric: Metric = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    dtype: type = np.float32,
    reporter: Reporter | None = None,
) -> tuple[npt.NDArray[Any], float]:
    """Measure between all rows of a table; the matrix is scaled so that float32 holds it and squares of it.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        With metric="precomputed" the distances, see `check_distance_matrix`.
    metric, metric_params : as for `cross_distances`
        Or "precomputed".
    dtype : {float32, float64}, default=float32
        Of the matrix.
    reporter : Reporter, default=None
        Told about progress in rows.

    Returns
    -------
    matrix : ndarray of shape (n_samples, n_samples)
        Symmetric, not negative, with a diagonal of zeros; the largest entry is in (0.5, 1], or all are zero. Euclidean
        distances of dense rows come from products of centred rows in float64: absolute errors of about 1e-8.
    unit : float
        A power of two: the distances are ``unit * matrix``.

    Raises
    ------
    MemoryError
        If the matrix, 4 or 8 n_samples^2 bytes, is larger than the memory that is free.
    """
    X = given_rows(X, distances=isinstance(metric, str) and metric == "precomputed")
    n = int(X.shape[0])
    n_bytes = float(np.dtype(dtype).itemsize) * n * n
    pairs = f"distances of {n} x {n} pairs"
    require_memory(f"X of {n:,} rows", n_bytes, fact=pairs, remedy="Use LandmarkMDS, or fewer rows.")
    if isinstance(metric, str) and metric == "precomputed":
        given = check_distance_matrix(X)
        unit = _unit(float(given.max(initial=0.0)))
        given /= unit
        return given.astype(dtype, copy=False), unit
    plain = metric in ("euclidean", "l2") and isinstance(X, np.ndarray) and not metric_params
    blocks = _euclidean_blocks(X) if plain else _other_blocks(X, metric, metric_params)
    matrix: npt.NDArray[Any] = np.zeros((n, n), dtype=dtype)
    unit = 1.0
    with single_threaded_blas():
        for begin, rows in blocks:
            if begin == 0:
                unit = _unit(float(rows.max()))
            rows /= unit
            own = rows[:, : len(rows)]
            lower = np.tril_indices(len(rows), -1)
            own[lower] = own.T[lower]
            np.fill_diagonal(own, 0.0)
            matrix[begin : begin + _BLOCK, begin:] = rows
            matrix[begin:, begin : begin + _BLOCK] = rows.T
            if reporter is not None:
                reporter.update(_worth(min(begin + _BLOCK, n), n), n)
    factor = _unit(float(matrix.max()))
    if factor != 1.0:
        matrix /= matrix.dtype.type(factor)
    return matrix, unit * factor


def _worth(done: int, n_samples: int) -> int:
    """Return how many rows the distances of the first rows to all after them are worth: each pair counts once."""
    left = n_samples - done
    return n_samples - left * left // n_samples


def _unit(largest: float) -> float:
    """Return the power of two by which a largest entry comes into (0.5, 1]."""
    return 2.0 ** math.ceil(math.log2(largest)) if largest > 0.0 else 1.0


def _euclidean_blocks(X: npt.NDArray[Any]) -> Iterator[tuple[int, Float64Array]]:
    """Yield row numbers and the distances of some rows to those from them on."""
    rows = X.astype(np.float64)
    rows -= rows.mean(axis=0)
    unit = _unit(float(np.abs(rows).max()))
    rows /= unit
    squares = squared_lengths(rows)
    for begin in range(0, len(rows), _BLOCK):
        block = product(rows[begin : begin + _BLOCK], -2.0 * rows[begin:].T)
        block += squares[begin : begin + _BLOCK, None]
        block += squares[begin:]
        np.maximum(block, 0.0, out=block)
        np.sqrt(block, out=block)
        block *= unit
        yield begin, block


def _other_blocks(X: Any, metric: Metric, params: Mapping[str, Any] | None) -> Iterator[tuple[int, Float64Array]]:
    measure = _measure(metric, params, X, X)
    for begin in range(0, int(X.shape[0]), _BLOCK):
        yield begin, measure(slice(begin, begin + _BLOCK), slice(begin, None))


@entrance("pair_distances")
def pair_distances(
    X: Any,
    others: npt.NDArray[np.int32],
    *,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
) -> Float32Array:
    """Measure from every row to a few others.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, or CSR matrix
        As for `compute_neighbors`; with ``metric="precomputed"`` the distances, where what a sparse matrix does not
        store is infinitely far.
    others : ndarray of shape (n_samples, n_others), int32
        Row numbers, different from each other within a row.
    metric : str or callable, default="euclidean"
        As for `compute_neighbors`. Those of metrics that are not searched here go through scikit-learn, row by row.
    metric_params : mapping, default=None
        Arguments of the metric: ``period`` of "periodic", or those of a scikit-learn metric or callable.

    Returns
    -------
    ndarray of shape (n_samples, n_others), float32
    """
    X = given_rows(X, distances=isinstance(metric, str) and metric == "precomputed")
    others = np.ascontiguousarray(others, dtype=np.int32)
    if others.ndim != 2 or others.shape[0] != X.shape[0]:
        raise ValueError(message(f"others of shape {others.shape}", f"of {X.shape[0]:,} rows"))
    if others.size == 0:
        return np.empty(others.shape, dtype=np.float32)
    if int(others.min()) < 0 or int(others.max()) >= X.shape[0]:
        raise ValueError(message("others", f"row numbers in [0, {X.shape[0]})"))
    if metric == "precomputed":
        return _given_pairs(X, others)
    with unsaid(DataWarning):  # of rows of zeros under cosine: the search for neighbours has said it
        native = native_metric(metric, metric_params)
        if native is None:
            return _pairs_through_library(X, others, metric, metric_params)
        table = native.searched(native.rows(X, alone=True))
        return native.distances(
            table.distances_to(others) if isinstance(table, Points) else _ranked_pairs(table, others)
        )


def nearest_among(
    X: Any, rows: npt.NDArray[np.integer], candidates: npt.NDArray[np.int32], n_neighbors: int, *, metric: str
) -> npt.NDArray[np.int32] | None:
    """Return the nearest of some candidates for some rows of a table.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, or CSR matrix
        As for `compute_neighbors`.
    rows : ndarray of shape (m,)
        Row numbers.
    candidates : ndarray of shape (m, n_candidates), int32
        Row numbers, different from each other within a row; -1 where there is none.
    n_neighbors : int in [1, n_candidates]
    metric : str
        As for `compute_neighbors`.

    Returns
    -------
    ndarray of shape (m, n_neighbors), int32, or None
        Ascending by (distance, index), -1 where there are fewer; None if the metric is not one that is searched here.
    """
    native = None if metric == "precomputed" else native_metric(metric)
    if native is None:
        return None
    with unsaid(DataWarning):  # of rows of zeros under cosine: the search for neighbours has said it
        table = native.searched(native.rows(given_rows(X), alone=True))
        return table.rank(np.ascontiguousarray(candidates), n_neighbors, table.take(rows))[0]


def _ranked_pairs(table: SearchedRows, others: npt.NDArray[np.int32]) -> Float32Array:
    """Rank the others by distance, then undo the ranking: both orders meet in the order of row numbers."""
    indices, ranked = table.rank(others, others.shape[1])
    distances = np.empty_like(ranked)
    by_number = np.take_along_axis(ranked, np.argsort(indices, axis=1), axis=1)
    np.put_along_axis(distances, np.argsort(others, axis=1), by_number, axis=1)
    return distances


def _given_pairs(X: Any, others: npt.NDArray[np.int32]) -> Float32Array:
    rows = np.arange(others.shape[0])[:, None]
    if isinstance(X, np.ndarray):
        return np.asarray(X[rows, others], dtype=np.float32)
    stored = scipy.sparse.csr_array(X)
    place = scipy.sparse.csr_array((np.arange(1, stored.nnz + 1), stored.indices, stored.indptr), shape=stored.shape)
    found = np.asarray(place[np.broadcast_to(rows, others.shape).ravel(), others.ravel()]).reshape(others.shape)
    values = np.concatenate(([np.inf], stored.data))
    return np.asarray(values[found], dtype=np.float32)


def _pairs_through_library(
    X: Any, others: npt.NDArray[np.int32], metric: Any, params: Mapping[str, Any] | None
) -> Float32Array:
    from sklearn.metrics import pairwise_distances
    from sklearn.metrics.pairwise import PAIRED_DISTANCES

    params = library.learned_params(metric, params, X)
    taken, X, _ = library.rows_for_metric(metric, params, X, None)
    distances = np.empty(others.shape, dtype=np.float32)
    if isinstance(metric, str) and metric in PAIRED_DISTANCES and not params:
        for j in range(others.shape[1]):
            distances[:, j] = PAIRED_DISTANCES[metric](X, X[others[:, j]])
    else:
        with library.naming_params(metric, params):
            for i, row in enumerate(others):
                one, some = X[[i]], X[row]
                with naming_pairs(taken, params, one, some, Pairs(np.array([i]), row)):
                    distances[i] = pairwise_distances(one, some, metric=taken, **(params or {}))[0]
    return distances
