"""Neighbours through scikit-learn, in the metrics that are not searched here."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._run import current_run
from gnomon._validation import message, warn
from gnomon.exceptions import CostWarning
from gnomon.linalg.table import evenly_spaced
from gnomon.neighbors.graph import NeighborGraph
from gnomon.neighbors.metrics import NATIVE_METRICS

__all__ = [
    "check_metric",
    "learned_params",
    "library_neighbors",
    "library_query",
    "naming_params",
    "rows_for_metric",
]

# Trees rely on the triangle inequality, which scikit-learn does not check: Bray-Curtis, for one, does not keep it.
_TREE_METRICS = ("minkowski",)

# Of truth values: scikit-learn turns other numbers into these with a warning.
_BOOLEAN_METRICS = ("dice", "rogerstanimoto", "russellrao", "sokalmichener", "sokalsneath", "yule")

_LEARNED = {"seuclidean": "V", "mahalanobis": "VI"}  # what a metric takes from the table

_MANY_CALLS = 20_000_000  # of a Python function: half a minute at least
_TRIED = 6  # rows between which a callable is tried
_FORGIVEN = 1e-7  # below zero, as the rounding of 1 - cos is
_ROUNDING = 1e-6  # of the largest distance between them

Metric = str | Callable[..., float]


def library_neighbors(
    X: Any, n_neighbors: int, metric: Metric, metric_params: Mapping[str, Any] | None
) -> NeighborGraph:
    """Find the neighbours of every row with `sklearn.neighbors.NearestNeighbors`.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Sparse rows are never made dense.
    n_neighbors : int in [1, n_samples - 1]
    metric : str or callable
    metric_params : mapping or None

    Returns
    -------
    NeighborGraph
    """
    distances, indices = _search(X, None, n_neighbors, metric, metric_params)
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", "callable")
    return NeighborGraph(indices, distances, None, name, "scikit-learn")


def library_query(
    X: Any, X_new: Any, n_neighbors: int, metric: Metric, metric_params: Mapping[str, Any] | None = None
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Find the neighbours of new rows among the rows of `X`."""
    distances, indices = _search(X, X_new, n_neighbors, metric, metric_params)
    return indices, distances


def _search(
    X: Any, X_new: Any, n_neighbors: int, metric: Metric, metric_params: Mapping[str, Any] | None
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    from sklearn.neighbors import NearestNeighbors

    check_metric(metric, scipy.sparse.issparse(X))
    metric_params = learned_params(metric, metric_params, X)
    X, X_new = rows_for_metric(metric, metric_params, X, X_new)
    search = NearestNeighbors(
        n_neighbors=n_neighbors,
        metric=_measured(metric) if callable(metric) else metric,
        metric_params=dict(metric_params) if metric_params else None,
        p=None if metric_params and "p" in metric_params else 2,
        algorithm="auto" if metric in _TREE_METRICS and not scipy.sparse.issparse(X) else "brute",
        n_jobs=current_run().n_threads,
    )
    with naming_params(metric, metric_params):
        distances, indices = search.fit(X).kneighbors(X_new)
    if np.isnan(distances).any():
        rows = np.flatnonzero(np.isnan(distances).any(axis=1))
        fact = f"NaN for {len(rows)} rows, first: {', '.join(map(str, rows[:5]))}"
        raise ValueError(message(f"metric={metric!r}", "defined for all rows", fact=fact))
    order = np.lexsort((indices, distances), axis=1)
    distances = np.take_along_axis(distances, order, axis=1).astype(np.float32)
    indices = np.take_along_axis(indices, order, axis=1).astype(np.int32)
    return distances, indices


def check_metric(metric: Metric, is_sparse: bool) -> None:
    """Raise ValueError for a metric that neither is searched here nor known to scikit-learn, with the names of those.

    Parameters
    ----------
    metric : str or callable
        A callable is not looked at.
    is_sparse : bool
        Whether it is to measure sparse rows, which fewer metrics do.
    """
    if callable(metric):
        return
    from sklearn.neighbors import VALID_METRICS, VALID_METRICS_SPARSE

    valid = sorted(
        set(VALID_METRICS_SPARSE["brute"] if is_sparse else VALID_METRICS["brute"])
        | NATIVE_METRICS.keys()
        | {"precomputed"}
    )
    if metric not in valid:
        rule = "a callable or one of " + ", ".join(repr(name) for name in valid)
        raise ValueError(message(f"metric={metric!r}", rule, fact="for sparse rows" if is_sparse else ""))


def learned_params(metric: Metric, params: Mapping[str, Any] | None, X: Any) -> Mapping[str, Any] | None:
    """Return the arguments of a metric, with those that it takes from the table where they are not given.

    The variances of "seuclidean" and the inverse covariance of "mahalanobis", as scikit-learn takes them: of the fitted
    table, also where new rows are compared with it.

    Raises
    ------
    ValueError
        If the table has none that the metric could divide by.
    """
    name = _LEARNED.get(metric) if isinstance(metric, str) else None
    if name is None or not isinstance(X, np.ndarray) or {"V", "VI"} & set(params or {}):
        return params
    rows, width = X.astype(np.float64, copy=False), int(X.shape[1])
    if metric == "seuclidean":
        found = rows.var(axis=0, ddof=1)
        constant = np.flatnonzero(~(found > 0.0))
        if constant.size:
            fact = f"constant, first: columns {', '.join(map(str, constant[:5]))}"
            remedy = "Leave them out, or pass metric_params={'V': ...}, a variance for each column."
            raise ValueError(message("X", "of varying columns where metric='seuclidean'", fact=fact, remedy=remedy))
        return {**(params or {}), name: found}
    covariance = np.atleast_2d(np.cov(rows.T))
    units = np.sqrt(covariance.diagonal())
    units = np.where(units > 0.0, units, 1.0)  # columns of unlike units are no less independent
    rank = int(np.linalg.matrix_rank(covariance / units / units[:, None], hermitian=True))
    if rank < width:
        fact = f"the {width} columns have a covariance of rank {rank}"
        remedy = "Leave columns out, or pass metric_params={'VI': numpy.linalg.pinv(numpy.cov(X.T))}."
        raise ValueError(message("X", "of independent columns where metric='mahalanobis'", fact=fact, remedy=remedy))
    return {**(params or {}), name: np.linalg.inv(covariance)}


def rows_for_metric(metric: Metric, params: Mapping[str, Any] | None, X: Any, X_new: Any) -> tuple[Any, Any]:
    """Return both tables as the metric takes them, or raise ValueError if it does not take them.

    A callable is tried on a few rows: it must be symmetric, and 0 between a row and itself. Zeros and ones become truth
    values for a metric of these. The order of Minkowski distances is above 0.
    """
    tables = [table for table in (X, X_new) if table is not None]
    if callable(metric):
        _try_metric(metric, params, X)
        _warn_of_calls(metric, int(X.shape[0]) * int((X if X_new is None else X_new).shape[0]))
    elif metric in _BOOLEAN_METRICS and all(isinstance(table, np.ndarray) and _is_binary(table) for table in tables):
        return X.astype(bool), None if X_new is None else X_new.astype(bool)
    elif metric == "minkowski" and params and "p" in params:  # which scikit-learn does not check everywhere
        order = params["p"]
        if not isinstance(order, numbers.Real) or not float(order) > 0.0:
            raise ValueError(message(f"metric_params={dict(params)!r:.60}", "of a number p > 0"))
    return X, X_new


@contextmanager
def naming_params(metric: Metric, params: Mapping[str, Any] | None) -> Iterator[None]:
    """Name the arguments of a metric in what scikit-learn and SciPy say of them."""
    try:
        yield
    except (TypeError, ValueError) as error:
        if callable(metric) or not params:
            raise
        text = message(f"metric_params={dict(params)!r:.60}", f"what metric={metric!r} takes", fact=str(error))
        raise (TypeError if isinstance(error, TypeError) else ValueError)(text) from None


def _measured(metric: Callable[..., float]) -> Callable[..., float]:
    """Return a callable that refuses what is no distance: scikit-learn drops NaN, and takes what is negative."""

    def measure(a: Any, b: Any, **params: Any) -> float:
        distance = metric(a, b, **params)
        if distance >= 0.0:
            return distance
        if distance > -_FORGIVEN:
            return 0.0
        rule, fact = "a number >= 0 for all rows", f"{distance:g} for a pair of rows"
        raise ValueError(message(f"metric={getattr(metric, '__name__', metric)!r}", rule, fact=fact))

    return measure


def _warn_of_calls(metric: Callable[..., float], n_calls: int) -> None:
    """Warn if a Python function is called so often that it takes minutes."""
    if n_calls >= _MANY_CALLS:
        what = f"metric={getattr(metric, '__name__', metric)!r} is a function of Python, called some {n_calls:,} times"
        warn(f"{what}, each a microsecond or more. A metric given by its name takes a small part of that.", CostWarning)


def _try_metric(metric: Callable[..., float], params: Mapping[str, Any] | None, X: Any) -> None:
    some = X[evenly_spaced(X.shape[0], _TRIED)]
    rows = [some[i] if isinstance(some, np.ndarray) else some[[i]] for i in range(some.shape[0])]
    distances = np.array([[float(metric(a, b, **(params or {}))) for b in rows] for a in rows])
    if not np.isfinite(distances).all():
        return  # said of all rows, with their numbers, once they are measured
    what, largest = f"metric={getattr(metric, '__name__', metric)!r}", float(np.abs(distances).max())
    if distances.min() < 0.0:
        raise ValueError(message(what, ">= 0 for all rows", fact=f"found {distances.min():g}"))
    own, gap = float(distances.diagonal().max()), float(np.abs(distances - distances.T).max())
    if own > _ROUNDING * largest:
        raise ValueError(message(what, "0 between a row and itself", fact=f"found {own:g}"))
    if gap > _ROUNDING * largest:
        fact = f"two rows are {gap:g} nearer in one direction, of distances up to {largest:g}"
        remedy = "Take the mean or the larger of both directions."
        raise ValueError(message(what, "the same in both directions", fact=fact, remedy=remedy))


def _is_binary(X: npt.NDArray[Any]) -> bool:
    return bool(((X == 0) | (X == 1)).all())
