"""Which names mean which metric."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy

from gnomon._validation import near_miss
from gnomon.neighbors.metrics.base import NativeMetric
from gnomon.neighbors.metrics.lifted import Correlation, Cosine, Euclidean, Haversine, Hellinger
from gnomon.neighbors.metrics.measured import (
    Chebyshev,
    Dice,
    Hamming,
    Jaccard,
    Manhattan,
    Periodic,
    RogersTanimoto,
    Ruzicka,
    SokalSneath,
)

__all__ = ["NATIVE_METRICS", "as_sets", "asks_equality", "meant_metric", "metric_name", "native_metric", "reads_sets"]

_METRICS: dict[str, type[NativeMetric]] = {
    metric.name: metric
    for metric in (
        Euclidean,
        Cosine,
        Correlation,
        Hellinger,
        Haversine,
        Manhattan,
        Chebyshev,
        Periodic,
        Hamming,
        RogersTanimoto,
        Jaccard,
        Dice,
        SokalSneath,
        Ruzicka,
    )
}
_OTHER_NAMES = {
    "l2": "euclidean",
    "l1": "manhattan",
    "cityblock": "manhattan",
    "linfinity": "chebyshev",
    "sokalmichener": "rogerstanimoto",
    "tanimoto": "ruzicka",
}

_MEANT = {
    **dict.fromkeys(("linf", "linfty", "inf", "infinity", "max", "maximum", "supremum"), "chebyshev"),
    **dict.fromkeys(("taxicab", "taxi"), "manhattan"),
    **dict.fromkeys(("angular", "true_angular", "angle"), "cosine"),
    "pearson": "correlation",
    **dict.fromkeys(("sorensen", "sorensen_dice"), "dice"),
    **dict.fromkeys(("bray", "czekanowski"), "braycurtis"),
    "matching": "hamming",
}
_NO_MORE = {
    "kulsinski": "SciPy and scikit-learn have given it up: 'jaccard' is near, or pass a callable.",
    "wminkowski": "'minkowski' takes weights: metric_params={'p': 2, 'w': weights}.",
    "aitchison": "It is 'euclidean' of np.log(X) - np.log(X).mean(axis=1, keepdims=True), of amounts above 0.",
    "spearman": "It is 'correlation' of ranks: pass scipy.stats.rankdata(X, axis=1).",
}

_SETS = ("russellrao", "yule")  # of scikit-learn

_PERIODIC = re.compile(r"periodic\(([^()]*)\)")

NATIVE_METRICS = {name: name for name in _METRICS} | _OTHER_NAMES
"""From every name of a metric that is searched here to the one that a graph carries."""


def native_metric(metric: object, params: Mapping[str, Any] | None = None) -> NativeMetric | None:
    """Return the metric of a name, with its arguments.

    Parameters
    ----------
    metric : str or callable
        A name, or one with its arguments in brackets as graphs carry it: "periodic(360)", "periodic(360, 24, inf)".
    params : mapping or None, default=None
        Arguments of a name without brackets.

    Returns
    -------
    NativeMetric or None
        None if it is not searched here.

    Raises
    ------
    ValueError
        If the arguments are not those of the metric.
    """
    if not isinstance(metric, str):
        return None
    bracketed = _PERIODIC.fullmatch(metric.strip())
    if bracketed and not params:
        periods = bracketed.group(1).split(",")
        metric, params = "periodic", {"period": periods if len(periods) > 1 else periods[0]}
    name = NATIVE_METRICS.get(metric)
    return None if name is None else _METRICS[name].of(params or {})


def metric_name(metric: object, params: Mapping[str, Any] | None = None) -> str | None:
    """Return the name that says all about a metric: the one its graphs carry.

    Parameters
    ----------
    metric : str or callable
        As for `compute_neighbors`.
    params : mapping or None, default=None
        Its arguments.

    Returns
    -------
    str or None
        None for a callable, and for arguments of a metric that is not searched here.
    """
    native = native_metric(metric, params)
    if native is not None:
        return native.name
    return metric if isinstance(metric, str) and not params else None


def meant_metric(metric: str, known: Iterable[str]) -> str:
    """Return what stands here for a metric that has this name elsewhere, as a sentence; "" if nothing is known of it.

    Parameters
    ----------
    metric : str
        None of the known names.
    known : iterable of str
        What may be taken.

    Returns
    -------
    str
    """
    name, known = metric.strip().lower().replace("-", "_").replace(" ", "_"), set(known)
    if name in _NO_MORE:
        return _NO_MORE[name]
    if _MEANT.get(name) in known:
        return f"Here it is {_MEANT[name]!r}."
    return near_miss(metric, known)


def asks_equality(metric: str) -> bool:
    """Say whether all that counts of a column is if two values are equal, or are 0: means of rows are then no rows.

    Parameters
    ----------
    metric : str
        As for `compute_neighbors`.

    Returns
    -------
    bool
    """
    native = native_metric(metric)
    return metric in _SETS if native is None else native.asks_equality


def reads_sets(metric: str) -> bool:
    """Say whether all that a metric reads of a value is if it is 0.

    Parameters
    ----------
    metric : str
        As a graph carries it.

    Returns
    -------
    bool
    """
    native = native_metric(metric)
    return metric in _SETS if native is None else native.compares_sets


def as_sets(X: Any, metric: str) -> Any:
    """Return a table as a metric of sets reads it, zeros and ones; the table itself if it is so, or is read as it is.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_rows, n_features)
        Finite numbers.
    metric : str
        As a graph carries it.

    Returns
    -------
    ndarray or CSR of shape (n_rows, n_features), of the type of X
    """
    if not reads_sets(metric):
        return X
    values = X if isinstance(X, np.ndarray) else X.data
    if not ((values != 0) & (values != 1)).any():
        return X
    ones = (values != 0).astype(values.dtype)
    return ones if isinstance(X, np.ndarray) else scipy.sparse.csr_array((ones, X.indices, X.indptr), shape=X.shape)
