"""The metrics that are searched here, each by name."""

from gnomon.neighbors.metrics.base import NativeMetric, refuse_negative, tell_of_numbers
from gnomon.neighbors.metrics.lifted import count_merged_zeros, untold_zeros
from gnomon.neighbors.metrics.registry import (
    NATIVE_METRICS,
    as_sets,
    asks_equality,
    meant_metric,
    metric_name,
    native_metric,
    reads_sets,
)

__all__ = [
    "NATIVE_METRICS",
    "NativeMetric",
    "as_sets",
    "asks_equality",
    "count_merged_zeros",
    "meant_metric",
    "metric_name",
    "native_metric",
    "reads_sets",
    "refuse_negative",
    "tell_of_numbers",
    "untold_zeros",
]
