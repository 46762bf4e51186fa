"""The metrics that are searched here, each by name."""

from gnomon.neighbors.metrics.base import NativeMetric
from gnomon.neighbors.metrics.registry import NATIVE_METRICS, metric_name, native_metric

__all__ = ["NATIVE_METRICS", "NativeMetric", "metric_name", "native_metric"]
