"""Sparse rows: compared through the columns they share, or with candidates near their projections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._cached import cached_property
from gnomon._run import current_run
from gnomon.linalg import principal_components, project_rows
from gnomon.neighbors.euclidean import Distances, Indices, Points, Values
from gnomon.neighbors.searched import MetricRows

__all__ = [
    "SparseRows",
    "canonical",
    "direction_rows",
    "kernel_table",
    "pair_cost",
    "projection_memory",
    "shared_numbers",
]

_PROJECTED = 96  # principal directions along which candidates are sought
_BASIS_ROWS = 20_000  # rows that give them
_BASIS_SEED = 0
_SHARED_COST = 30.0  # of an entry shared by two rows, in coordinates of a Euclidean search
_PAIR_COST = 60.0  # of a pair of rows
_OF_BASIS, _OF_SCORES = 48.0, 16.0  # bytes of a column, and of a row that gives the directions, for each direction
_OF_COORDINATE = 12.0  # bytes
_WALK_COST = 25.0  # of a stored entry of a candidate
_DIRECTION_COST = 120.0  # of a stored entry of a row that gives the directions, for each of these


def canonical(X: Any) -> scipy.sparse.csr_array:
    """Return a sparse table as float64 CSR with ascending columns, every entry once and no stored zeros."""
    rows = scipy.sparse.csr_array(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def kernel_table(rows: scipy.sparse.csr_array) -> _core.Table:
    """Return the table as kernels read it."""
    return _core.Table(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data, rows.shape[1])


def shared_numbers(X: Any) -> float:
    """Return how many columns two rows of a CSR table both store, in the mean over all pairs."""
    stored = np.bincount(X.indices, minlength=1).astype(np.float64)
    return float(stored @ stored) / int(X.shape[0]) ** 2


def pair_cost(n_shared: float) -> float:
    """Return the cost of a pair of rows that share so many numbers, in coordinates of a Euclidean search."""
    return _PAIR_COST + _SHARED_COST * n_shared


def direction_rows(n_samples: int) -> int:
    """Return how many rows give the directions of an approximate search."""
    return min(n_samples, _BASIS_ROWS)


def projection_memory(n_samples: int, n_columns: int) -> tuple[float, float, float]:
    """Return what an approximate search works on: coordinates of each row, their bytes, and those of finding them."""
    width = float(min(_PROJECTED, n_samples, n_columns))
    found = width * (_OF_BASIS * n_columns + _OF_SCORES * direction_rows(n_samples))
    return width, _OF_COORDINATE * width * n_samples, found


@dataclass(frozen=True)
class SparseRows(MetricRows):
    """Sparse rows of which a compiled metric knows the distances.

    Attributes
    ----------
    metric : str
        The name of the kernel: one of dense rows, or "euclidean".
    X : CSR array of shape (n_samples, n_columns), float64
        As `canonical` makes it.
    parameters : ndarray of shape (n_columns,) or (0,), float64
    scale : float
        A power of two that keeps distances inside the range of float32.
    to_proxy : callable
        From such rows to sparse rows whose Euclidean distances follow the metric.
    """

    rows_at_once = 2048
    metric: str
    X: scipy.sparse.csr_array
    parameters: npt.NDArray[np.float64]
    scale: float
    to_proxy: Callable[[scipy.sparse.csr_array], scipy.sparse.csr_array]

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @cached_property
    def exact_width(self) -> float:
        """Cost of comparing all pairs, for each pair."""
        if self.metric == "chebyshev":  # whose pairs are walked through one by one
            return _PAIR_COST + 4.0 * self.rank_width
        return pair_cost(shared_numbers(self.X))

    @cached_property
    def rank_width(self) -> float:
        """Cost of ranking one candidate."""
        return 1.0 + _WALK_COST * self.X.nnz / self.n_samples

    @property
    def proxy_cost(self) -> float:
        """Cost of finding the directions along which candidates are sought."""
        stored = self.X.nnz / self.n_samples * direction_rows(self.n_samples)
        return _DIRECTION_COST * min(_PROJECTED, *self.X.shape) * stored

    @cached_property
    def _table(self) -> _core.Table:
        return kernel_table(self.X)

    @cached_property
    def _columns(self) -> _core.Table:
        return kernel_table(scipy.sparse.csr_array(self.X.T.tocsr()))

    @cached_property
    def _projection(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        rows = self.to_proxy(self.X[:: -(-self.n_samples // _BASIS_ROWS)])
        found = principal_components(rows, min(_PROJECTED, *rows.shape), seed=_BASIS_SEED)
        return found.mean, found.components

    @cached_property
    def proxy(self) -> Points:
        """Points among which candidates are sought: coordinates along the leading principal directions."""
        return Points.of(self.proxy_of(self.X))

    def take(self, rows: npt.NDArray[np.integer]) -> scipy.sparse.csr_array:
        """Return some of the rows."""
        return self.X[rows]

    def proxy_of(self, rows: scipy.sparse.csr_array) -> Values:
        """Return the coordinates of rows along these directions."""
        return np.ascontiguousarray(project_rows(self.to_proxy(rows), *self._projection))

    def rank(
        self, candidates: Indices, k: int, queries: scipy.sparse.csr_array | None = None, order: Indices | None = None
    ) -> tuple[Indices, Distances]:
        """Return the k nearest candidates of each row."""
        asked = self._table if queries is None else kernel_table(queries)
        order = np.arange(len(candidates), dtype=np.int32) if order is None else order
        return _core.sparse_metric_rank(
            self.metric, self._table, asked, candidates, order, self.parameters, self.scale, k, current_run().n_threads
        )

    def scan(self, queries: scipy.sparse.csr_array, own: Indices, k: int) -> tuple[Indices, Distances]:
        """Return the k nearest rows of each query, row own[i] (-1: none) left out."""
        n = self.n_samples
        width = min(n - int(own.max(initial=-1) >= 0), k + max(8, k // 8))
        candidates, _ = _core.sparse_metric_neighbors(
            self.metric,
            self._table,
            self._columns,
            kernel_table(queries),
            own,
            self.parameters,
            self.scale,
            width,
            current_run().n_threads,
        )
        return self.rank(candidates, k, queries)  # by differences, as sums through shared columns lose digits
