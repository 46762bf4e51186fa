"""Dense rows that are compared by a metric of their own: all pairs by compiled tiles, or candidates near a proxy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._cached import cached_property
from gnomon._run import current_run
from gnomon.neighbors.euclidean import Distances, Indices, Points, Values
from gnomon.neighbors.searched import MetricRows

__all__ = ["PAIR_COST", "MeasuredRows"]

PAIR_COST = 4
"""Cost of a coordinate of a pair: each pair is met twice, and differences cost more than products."""
_CANDIDATE_COST = 16  # of a coordinate of a candidate, which is packed for one comparison


@dataclass(frozen=True)
class MeasuredRows(MetricRows):
    """Dense rows of which a compiled metric knows the distances.

    Attributes
    ----------
    metric : str
        The name of the kernel, such as "manhattan" or "wrapped".
    X : ndarray of shape (n_samples, n_columns), float32, float64, or uint64 of 64 truth values each
    parameters : ndarray of shape (n_columns,) or (0,), of the same type
    scale : float
        A power of two that keeps distances inside the range of float32.
    to_proxy : callable
        From such rows to rows of float32 or float64 for a Euclidean search.
    """

    rows_at_once = 8192
    metric: str
    X: Values
    parameters: Values
    scale: float
    to_proxy: Callable[[Values], Values]

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.X)

    @property
    def exact_width(self) -> float:
        """Cost of comparing all pairs, for each pair."""
        return float(PAIR_COST * self.X.shape[1])

    @property
    def rank_width(self) -> float:
        """Cost of ranking one candidate."""
        return float(_CANDIDATE_COST * self.X.shape[1])

    @cached_property
    def proxy(self) -> Points:
        """Points among which candidates are sought."""
        return Points.of(self.to_proxy(self.X))

    def take(self, rows: npt.NDArray[np.integer]) -> Values:
        """Return some of the rows."""
        taken: Values = self.X[rows]
        return taken

    def proxy_of(self, rows: Values) -> Values:
        """Return the proxies of rows."""
        return self.to_proxy(rows)

    def rank(
        self, candidates: Indices, k: int, queries: Values | None = None, order: Indices | None = None
    ) -> tuple[Indices, Distances]:
        """Return the k nearest candidates of each row."""
        rows = self.X if queries is None else queries.astype(self.X.dtype, copy=False)
        order = np.arange(len(rows), dtype=np.int32) if order is None else order
        return _core.metric_rank(
            self.metric, self.X, rows, candidates, order, self.parameters, self.scale, k, current_run().n_threads
        )

    def scan(self, queries: Values, own: Indices, k: int) -> tuple[Indices, Distances]:
        """Return the k nearest rows of each query, row own[i] (-1: none) left out."""
        return _core.metric_neighbors(
            self.metric,
            self.X,
            queries.astype(self.X.dtype, copy=False),
            own,
            self.parameters,
            self.scale,
            k,
            current_run().n_threads,
        )
