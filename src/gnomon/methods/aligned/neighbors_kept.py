"""Which rows have the same values in two tables, and how many of its neighbours a row keeps from one to the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._run import current_run
from gnomon.evaluation.scores import nearest_in_map, shared_neighbors
from gnomon.neighbors import among_rows, compute_neighbors

__all__ = ["KeptInTables", "count_of_neighbors", "kept_in_maps", "same_values"]

Float64Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
_NEIGHBORS, _WIDER = 15, 3  # compared; times as many are searched for
_FEWEST = 5  # neighbours of which a share means something


def count_of_neighbors(n_shared: int) -> int:
    """Return how many neighbours are compared: 15, fewer of few rows, none of fewer than three."""
    return max(0, min(_NEIGHBORS, (n_shared - 1) // 2))


class KeptInTables:
    """Which share of its nearest shared rows in the one table is nearest in the other as well, for each row.

    Parameters
    ----------
    estimators : of the two tables, whose metric counts
    values : ndarray or csr_array of shape (n_rows, n_features) of each table
    rows : ndarray of shape (n_shared, 2)
        The number of each shared row in the one and in the other.
    """

    def __init__(self, estimators: tuple[Any, Any], values: tuple[Any, Any], rows: Rows) -> None:
        self.n, self.k = len(rows), count_of_neighbors(len(rows))
        width = min(_WIDER * self.k, self.n - 1)  # more than count, as some may be left out
        self.nearest = [_nearest(estimators[t], values[t], rows[:, t], width) for t in (0, 1)] if self.k else []

    def __call__(self, left_out: npt.NDArray[np.bool_]) -> Float64Array:
        """Return the shares, in [0, 1], if some rows are nobody's neighbours; NaN where a row has too few others."""
        if not self.k:
            return np.full(self.n, np.nan)
        one, two = (self._counted(nearest, left_out) for nearest in self.nearest)
        fewer = np.minimum((one >= 0).sum(axis=1), (two >= 0).sum(axis=1))
        same = shared_neighbors(one, two, one >= 0)
        return np.where(fewer >= min(self.k, _FEWEST), same / np.maximum(fewer, 1), np.nan)

    def _counted(self, nearest: npt.NDArray[np.int32], left_out: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
        """Return the k nearest of the others; -1 for those behind them."""
        counts = (nearest >= 0) & ~left_out[nearest]
        counts &= np.cumsum(counts, axis=1) <= self.k
        return np.where(counts, nearest, np.int32(-1))


def kept_in_maps(one: npt.NDArray[Any], two: npt.NDArray[Any]) -> Float64Array:
    """Return the same share for two maps, of shape (n_shared, n_components), of these rows."""
    k = count_of_neighbors(len(one))
    if not k:
        return np.full(len(one), np.nan)
    first, second = (nearest_in_map(Y.astype(np.float64), k) for Y in (one, two))
    shares: Float64Array = shared_neighbors(first, second, None) / k
    return shares


def same_values(estimator: Any, values: tuple[Any, Any], rows: Rows) -> npt.NDArray[np.bool_]:
    """Return which shared rows have the same values in both tables; none where features differ or values are distances.

    Parameters
    ----------
    estimator : of either table
    values, rows : as in `KeptInTables`
    """
    one, two = values
    if estimator.metric == "precomputed" or one.shape[1] != two.shape[1] or not len(rows):
        return np.zeros(len(rows), dtype=np.bool_)
    one, two = one[rows[:, 0]], two[rows[:, 1]]
    if scipy.sparse.issparse(one) or scipy.sparse.issparse(two):
        differ: Any = scipy.sparse.csr_array(one) != scipy.sparse.csr_array(two)
        return np.asarray(np.asarray(differ.sum(axis=1)).ravel() == 0, dtype=np.bool_)
    return np.asarray((one == two).all(axis=1))


def _nearest(estimator: Any, values: Any, rows: npt.NDArray[np.int64], k: int) -> npt.NDArray[np.int32]:
    """Return the nearest of these rows to each of them; -1 where distances are stored of too few."""
    own = among_rows(values, rows, estimator.metric)
    own = np.ascontiguousarray(own) if isinstance(own, np.ndarray) else own
    graph = compute_neighbors(
        own,
        k,
        metric=estimator.metric,
        metric_params=estimator.metric_params,
        seed=estimator.seed_,
        reporter=current_run().reporter,
    )
    return graph.indices if graph.mask is None else np.where(graph.mask, graph.indices, np.int32(-1))
