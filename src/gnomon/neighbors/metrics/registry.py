"""Which names mean which metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gnomon.neighbors.metrics.base import NativeMetric
from gnomon.neighbors.metrics.lifted import Correlation, Cosine, Euclidean, Haversine, Hellinger
from gnomon.neighbors.metrics.measured import Chebyshev, Hamming, Jaccard, Manhattan, Periodic

__all__ = ["NATIVE_METRICS", "native_metric"]

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
        Jaccard,
    )
}
_OTHER_NAMES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan", "linfinity": "chebyshev"}

NATIVE_METRICS = {name: name for name in _METRICS} | _OTHER_NAMES
"""From every name of a metric that is searched here to the one that a graph carries."""


def native_metric(metric: object, params: Mapping[str, Any] | None = None) -> NativeMetric | None:
    """Return the metric of a name, with its arguments.

    Parameters
    ----------
    metric : str or callable
    params : mapping or None, default=None

    Returns
    -------
    NativeMetric or None
        None if it is not searched here.

    Raises
    ------
    ValueError
        If the arguments are not those of the metric.
    """
    name = NATIVE_METRICS.get(metric) if isinstance(metric, str) else None
    return None if name is None else _METRICS[name].of(params or {})
