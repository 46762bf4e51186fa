"""Neighbours through scikit-learn: sparse rows, and the metrics that are not searched here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._validation import message
from gnomon.neighbors import cosine
from gnomon.neighbors.graph import NeighborGraph

__all__ = ["library_neighbors", "library_query", "unit_rows"]

# Trees rely on the triangle inequality, which scikit-learn does not check: Bray-Curtis, for one, does not keep it.
_TREE_METRICS = ("manhattan", "cityblock", "l1", "chebyshev", "minkowski", "haversine")

Metric = str | Callable[..., float]


def library_neighbors(
    X: Any, n_neighbors: int, metric: Metric, metric_params: Mapping[str, Any] | None, *, n_threads: int, who: str
) -> NeighborGraph:
    """Find the neighbours of every row with `sklearn.neighbors.NearestNeighbors`.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Sparse rows are never made dense.
    n_neighbors : int in [1, n_samples - 1]
    metric : str or callable
    metric_params : mapping or None
    n_threads : int
    who : str
        Opens the texts of errors.

    Returns
    -------
    NeighborGraph
    """
    distances, indices = _search(X, None, n_neighbors, metric, metric_params, n_threads, who)
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", "callable")
    return NeighborGraph(indices, distances, None, {"l2": "euclidean"}.get(name, name), "scikit-learn")


def library_query(
    X: Any,
    X_new: Any,
    n_neighbors: int,
    metric: Metric,
    metric_params: Mapping[str, Any] | None = None,
    *,
    n_threads: int,
    who: str,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Find the neighbours of new rows among the rows of `X`."""
    distances, indices = _search(X, X_new, n_neighbors, metric, metric_params, n_threads, who)
    return indices, distances


def _search(
    X: Any,
    X_new: Any,
    n_neighbors: int,
    metric: Metric,
    metric_params: Mapping[str, Any] | None,
    n_threads: int,
    who: str,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    from sklearn.neighbors import NearestNeighbors

    _check_metric(metric, sp.issparse(X), who)
    chords = metric == "cosine"
    if chords:  # as elsewhere: half the squared distance of unit rows, zeros apart
        X, X_new, metric = *unit_rows(X, X_new, who), "euclidean"
    search = NearestNeighbors(
        n_neighbors=n_neighbors,
        metric=metric,
        metric_params=dict(metric_params) if metric_params else None,
        p=None if metric_params and "p" in metric_params else 2,
        algorithm="auto" if metric in _TREE_METRICS and not sp.issparse(X) else "brute",
        n_jobs=n_threads,
    )
    distances, indices = search.fit(X).kneighbors(X_new)
    if np.isnan(distances).any():
        rows = np.flatnonzero(np.isnan(distances).any(axis=1))
        fact = f"NaN for {len(rows)} rows, first: {', '.join(map(str, rows[:5]))}"
        raise ValueError(message(who, f"metric={metric!r}", "defined for all rows", fact=fact))
    order = np.lexsort((indices, distances), axis=1)
    distances = np.take_along_axis(distances, order, axis=1).astype(np.float32)
    indices = np.take_along_axis(indices, order, axis=1).astype(np.int32)
    return cosine.from_chords(distances) if chords else distances, indices


def _check_metric(metric: Metric, is_sparse: bool, who: str) -> None:
    """Raise ValueError for a metric that scikit-learn does not know, with the names of those it does."""
    if callable(metric):
        return
    from sklearn.neighbors import VALID_METRICS, VALID_METRICS_SPARSE

    valid = sorted(set(VALID_METRICS_SPARSE["brute"] if is_sparse else VALID_METRICS["brute"]) | {"precomputed"})
    if metric not in valid:
        rule = "a callable or one of " + ", ".join(repr(name) for name in valid)
        raise ValueError(message(who, f"metric={metric!r}", rule, fact="for sparse rows" if is_sparse else ""))


def unit_rows(X: Any, X_new: Any, who: str) -> tuple[Any, Any]:
    """Scale sparse rows to length one; rows of zeros get a coordinate of their own."""
    from sklearn.preprocessing import normalize

    tables = [sp.csr_array(table, dtype=np.float64) for table in (X, X_new) if table is not None]
    tables = [normalize(table) for table in tables]
    zero = [sp.csr_array((abs(table).sum(axis=1) == 0).astype(np.float64)[:, None]) for table in tables]
    cosine.warn_zero_rows(sum(column.nnz for column in zero), who)
    tables = [sp.hstack([table, column], format="csr") for table, column in zip(tables, zero, strict=True)]
    return tables[0], tables[1] if len(tables) > 1 else None
