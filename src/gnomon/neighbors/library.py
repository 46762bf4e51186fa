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
from gnomon._validation import message
from gnomon.neighbors.callables import Pairs, naming_pairs, try_metric, warn_of_calls
from gnomon.neighbors.graph import NeighborGraph
from gnomon.neighbors.metrics import NATIVE_METRICS, meant_metric, refuse_negative, tell_of_numbers

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

# Of truth values: scikit-learn would turn numbers into these with a warning for every block of rows.
_BOOLEAN_METRICS = ("russellrao", "yule")

_LEARNED = {"seuclidean": "V", "mahalanobis": "VI"}  # what a metric takes from the table

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
    taken, X, X_new = rows_for_metric(metric, metric_params, X, X_new)
    search = NearestNeighbors(
        n_neighbors=n_neighbors,
        metric=taken,
        metric_params=dict(metric_params) if metric_params else None,
        p=None if metric_params and "p" in metric_params else 2,
        algorithm="auto" if metric in _TREE_METRICS and not scipy.sparse.issparse(X) else "brute",
        n_jobs=current_run().n_threads,
    )
    asked, numbers = X if X_new is None else X_new, np.arange(X.shape[0])
    pairs = Pairs(np.arange(asked.shape[0]), numbers, None if X_new is None else ("X_new", "X"))
    with naming_params(metric, metric_params), naming_pairs(taken, metric_params, asked, X, pairs):
        distances, indices = search.fit(X).kneighbors(X_new)
    if np.isnan(distances).any():
        rows = np.flatnonzero(np.isnan(distances).any(axis=1))
        fact = f"NaN for {len(rows):,} rows, first: {', '.join(map(str, rows[:5]))}"
        raise ValueError(message(f"metric={metric!r}", "defined for all rows", fact=fact))
    order = np.lexsort((indices, distances), axis=1)
    with np.errstate(over="ignore"):  # told where it is
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
        fact, remedy = "for sparse rows" if is_sparse else "", meant_metric(str(metric), valid)
        raise ValueError(message(f"metric={metric!r}", rule, fact=fact, remedy=remedy))


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


def rows_for_metric(
    metric: Metric, params: Mapping[str, Any] | None, X: Any, X_new: Any, named: npt.NDArray[Any] | None = None
) -> tuple[Metric, Any, Any]:
    """Return the metric and both tables as they go together, or raise ValueError if they do not.

    A callable is tried on a few rows of the first table, whose numbers errors name, and is watched then. Numbers
    become truth values for a metric of these. The order of Minkowski distances is above 0. Bray-Curtis distances are of
    amounts: libraries define them differently for negative numbers.
    """
    tables = [table for table in (X, X_new) if table is not None]
    if metric == "braycurtis":
        for table in tables:
            refuse_negative(metric, table)
    if callable(metric):
        watched = try_metric(metric, params, X, np.arange(X.shape[0]) if named is None else named)
        warn_of_calls(metric, int(X.shape[0]) * int((X if X_new is None else X_new).shape[0]))
        return watched, X, X_new
    if metric in _BOOLEAN_METRICS and all(isinstance(table, np.ndarray) for table in tables):
        for table in tables:
            tell_of_numbers(str(metric), table)
        return metric, X != 0, None if X_new is None else X_new != 0
    if metric == "minkowski" and params and "p" in params:  # which scikit-learn does not check everywhere
        order = params["p"]
        if not isinstance(order, numbers.Real) or not float(order) > 0.0:
            raise ValueError(message(f"metric_params={dict(params)!r:.60}", "of a number p > 0"))
    return metric, X, X_new


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
