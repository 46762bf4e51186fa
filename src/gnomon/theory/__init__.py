"""The papers' claims as functions that can be tried on any data."""

from gnomon.theory.metric_separation import metric_separation
from gnomon.theory.separation import MetricSeparation

__all__ = ["MetricSeparation", "metric_separation"]
