"""Distances between given pairs of rows, in the metric of a neighbour graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import message
from gnomon.exceptions import DataWarning
from gnomon.neighbors import cosine, euclidean, library
from gnomon.neighbors.compute import NATIVE_METRICS

__all__ = ["pair_distances"]

_WHO = "pair_distances"
Float32Array = npt.NDArray[np.float32]


def pair_distances(
    X: Any,
    others: npt.NDArray[np.int32],
    *,
    metric: str | Callable[..., float] = "euclidean",
    metric_params: Mapping[str, Any] | None = None,
    n_threads: int = 1,
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
        As for `compute_neighbors`. Euclidean and cosine distances of dense rows are computed here, others row by row
        through scikit-learn.
    metric_params : mapping, default=None
        Further arguments of a scikit-learn metric or callable.
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    ndarray of shape (n_samples, n_others), float32
    """
    others = np.ascontiguousarray(others, dtype=np.int32)
    if others.ndim != 2 or others.shape[0] != X.shape[0]:
        raise ValueError(message(_WHO, f"others of shape {others.shape}", f"of {X.shape[0]} rows"))
    if others.size == 0:
        return np.empty(others.shape, dtype=np.float32)
    if int(others.min()) < 0 or int(others.max()) >= X.shape[0]:
        raise ValueError(message(_WHO, "others", f"row numbers in [0, {X.shape[0]})"))
    if metric == "precomputed":
        return _given(X, others)
    with warnings.catch_warnings():  # of rows of zeros under cosine: the search for neighbours has said it
        warnings.simplefilter("ignore", DataWarning)
        native = NATIVE_METRICS.get(metric) if isinstance(metric, str) else None
        if native is None or not isinstance(X, np.ndarray):
            return _through_library(X, others, native or metric, metric_params)
        values = euclidean.as_values(X)
        if native == "cosine":
            return cosine.from_chords(_euclidean(cosine.unit_rows(values, who=_WHO), others, n_threads))
        return _euclidean(values, others, n_threads)


def _euclidean(values: euclidean.Values, others: npt.NDArray[np.int32], n_threads: int) -> Float32Array:
    """Rank the others by distance, then undo the ranking: both orders meet in the order of row numbers."""
    indices, ranked = euclidean.Points.of(values, n_threads=n_threads).rank(others, others.shape[1])
    distances = np.empty_like(ranked)
    by_number = np.take_along_axis(ranked, np.argsort(indices, axis=1), axis=1)
    np.put_along_axis(distances, np.argsort(others, axis=1), by_number, axis=1)
    return distances


def _given(X: Any, others: npt.NDArray[np.int32]) -> Float32Array:
    rows = np.arange(others.shape[0])[:, None]
    if isinstance(X, np.ndarray):
        return np.asarray(X[rows, others], dtype=np.float32)
    stored = sp.csr_array(X)
    place = sp.csr_array((np.arange(1, stored.nnz + 1), stored.indices, stored.indptr), shape=stored.shape)
    found = np.asarray(place[np.broadcast_to(rows, others.shape).ravel(), others.ravel()]).reshape(others.shape)
    values = np.concatenate(([np.inf], stored.data))
    return np.asarray(values[found], dtype=np.float32)


def _through_library(
    X: Any, others: npt.NDArray[np.int32], metric: Any, params: Mapping[str, Any] | None
) -> Float32Array:
    from sklearn.metrics import pairwise_distances
    from sklearn.metrics.pairwise import PAIRED_DISTANCES

    chords = metric == "cosine"
    if chords:  # as in the search for neighbours
        (X, _), metric = library.unit_rows(X, None, _WHO), "euclidean"
    X, _ = library.rows_for_metric(metric, params, X, None, _WHO)
    distances = np.empty(others.shape, dtype=np.float32)
    if isinstance(metric, str) and metric in PAIRED_DISTANCES and not params:
        for j in range(others.shape[1]):
            distances[:, j] = PAIRED_DISTANCES[metric](X, X[others[:, j]])
    else:
        for i, row in enumerate(others):
            distances[i] = pairwise_distances(X[[i]], X[row], metric=metric, **(params or {}))[0]
    return cosine.from_chords(distances) if chords else distances
