"""Which rows have the same values in two tables, and how many of its neighbours a row keeps from one to the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._run import current_run
from gnomon.evaluation.scores import shared_neighbors
from gnomon.neighbors import among_rows, compute_neighbors, pair_distances

__all__ = [
    "KeptInTables",
    "Nearest",
    "Rows",
    "distances_to",
    "farther_apart",
    "kept_neighbors",
    "nearest_rows",
    "same_values",
    "shares_kept",
    "usual_share",
]

Float64Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Nearest = npt.NDArray[np.int32]
_NEIGHBORS, _WIDER = (15, 45, 135), 3  # compared; times as many are searched for
_FEWEST = 5  # neighbours of which a share means something
_ENOUGH = 0.5  # of them, kept by a usual row


def usual_share(shares: Float64Array) -> float:
    """Return the mean of the larger half, which tells of rows that did not move if these are half of them at least."""
    known = np.sort(shares[np.isfinite(shares)])
    return float(known[len(known) // 2 :].mean()) if known.size else 1.0


class KeptInTables:
    """Which share of its nearest shared rows in the one table is nearest in the other as well, for each row.

    15 are compared, 45 or 135 where a usual row keeps less than half of fewer: in tables of much noise who is nearest
    means little, and who is among the nearer still tells groups apart. At most half of the rows are; none of fewer than
    three.

    Parameters
    ----------
    estimators : of the two tables, whose metric counts
    values : ndarray or csr_array of shape (n_rows, n_features) of each table
    rows : ndarray of shape (n_shared, 2)
        The number of each shared row in the one and in the other.

    Attributes
    ----------
    nearest : list of two ndarrays of shape (n_shared, n_near), int32
        The nearest shared rows of each in either table, more than are compared; none of fewer than three rows.
    distances : list of two lists of two ndarrays of shape (n_shared, k)
        ``distances[t][s]`` are those in table t to the k nearest of table s that are compared.
    """

    def __init__(self, estimators: tuple[Any, Any], values: tuple[Any, Any], rows: Rows) -> None:
        self.n, self.k = len(rows), 0
        self.nearest = [np.empty((self.n, 0), np.int32)] * 2
        self._find_nearest(estimators, values, rows)
        near = [nearest[:, : self.k] for nearest in self.nearest]
        self.distances = [[distances_to(estimators[t], values[t], rows[:, t], own) for own in near] for t in (0, 1)]

    def _find_nearest(self, estimators: tuple[Any, Any], values: tuple[Any, Any], rows: Rows) -> None:
        most = max(0, (len(rows) - 1) // 2)
        for k in _NEIGHBORS:
            if self.k == min(k, most):
                return
            self.k = min(k, most)
            width = min(_WIDER * self.k, self.n - 1)  # more than count, as some may be left out
            self.nearest = [nearest_rows(estimators[t], values[t], rows[:, t], width) for t in (0, 1)]
            if usual_share(self(np.zeros(self.n, dtype=np.bool_))) >= _ENOUGH:
                return

    def __call__(self, left_out: npt.NDArray[np.bool_]) -> Float64Array:
        """Return the shares, in [0, 1], if some rows are nobody's neighbours; NaN where a row has too few others."""
        if not self.k:
            return np.full(self.n, np.nan)
        one, two = (self._counted(nearest, left_out) for nearest in self.nearest)
        fewer = np.minimum((one >= 0).sum(axis=1), (two >= 0).sum(axis=1))
        same = shared_neighbors(one, two, one >= 0)
        return np.where(fewer >= min(self.k, _FEWEST), same / np.maximum(fewer, 1), np.nan)

    def farther(self, left_out: npt.NDArray[np.bool_]) -> Float64Array:
        """Return `farther_apart` if some rows are nobody's neighbours.

        A row thrown out where nobody is may keep the neighbours it is nearest to, but not how near they are.
        """
        near = [nearest[:, : self.k] for nearest in self.nearest]
        return farther_apart([np.where((J >= 0) & ~left_out[J], J, np.int32(-1)) for J in near], self.distances)

    def _counted(self, nearest: Nearest, left_out: npt.NDArray[np.bool_]) -> Nearest:
        """Return the k nearest of the others; -1 for those behind them."""
        counts = (nearest >= 0) & ~left_out[nearest]
        counts &= np.cumsum(counts, axis=1) <= self.k
        return np.where(counts, nearest, np.int32(-1))


def shares_kept(kept: Callable[[npt.NDArray[np.bool_]], Float64Array], n: int) -> Float64Array:
    """Return the shares of `KeptInTables` if rows that keep less than half of the usual share are nobody's neighbours.

    Rows that moved to another group leave gaps around all rows that they left, which are not those rows' own.
    """
    shares = kept(np.zeros(n, dtype=np.bool_))
    return np.fmax(shares, kept(shares < _ENOUGH * usual_share(shares)))


def farther_apart(nearest: Sequence[Nearest], distances: Sequence[Sequence[Float64Array]]) -> Float64Array:
    """Return how much farther rows lie from their neighbours of either table in the other, against a usual row.

    How far a row lies from its neighbours is the median distance to them, over the median of that by which they lie
    from their own. What counts is this in the other table over that in the table whose neighbours they are, and of both
    tables the larger.

    Parameters
    ----------
    nearest : two ndarrays of shape (n_rows, n_near)
        Neighbours of the same rows in either table; -1 is none.
    distances : two of two ndarrays of shape (n_rows, n_near)
        ``distances[t][s]`` are those in table t to the neighbours of table s.

    Returns
    -------
    ndarray of shape (n_rows,)
        A usual row has 1; NaN of rows of fewer than five neighbours.
    """
    own = [_medians(distances[t][t], np.isfinite(distances[t][t])) for t in (0, 1)]
    found = np.full(len(nearest[0]), np.nan)
    for s, near in enumerate(nearest):
        there, here = (
            _medians(distances[t][s], (near >= 0) & np.isfinite(distances[t][s])) / _medians(own[t][near], near >= 0)
            for t in (1 - s, s)
        )
        found = np.fmax(found, np.divide(there, here, out=np.full(len(near), np.nan), where=here > 0))
    known = np.isfinite(found)
    usual = float(np.median(found[known])) if known.any() else 1.0
    return np.where(known, found / usual, np.nan) if usual > 0 else np.full(len(found), np.nan)


def _medians(values: Float64Array, counted: npt.NDArray[np.bool_]) -> Float64Array:
    """Return the median, the lower of two, of what counts in each row; NaN of fewer than five and of zero."""
    ordered, n = np.sort(np.where(counted, values, np.inf), axis=1), counted.sum(axis=1)
    if not ordered.shape[1]:
        return np.full(len(values), np.nan)
    middle = np.take_along_axis(ordered, np.maximum(n - 1, 0)[:, None] // 2, axis=1)[:, 0]
    return np.where((n >= _FEWEST) & (middle > 0), middle, np.nan)


def distances_to(estimator: Any, values: Any, rows: Rows, nearest: Nearest) -> Float64Array:
    """Return the distances of some rows to neighbours among them in a table; NaN to -1 and those not stored."""
    if not nearest.size:
        return np.full(nearest.shape, np.nan)
    n, k = nearest.shape
    others = (np.arange(n)[:, None] + np.arange(1, k + 1)) % n  # different rows, for those that lack a neighbour
    known: npt.NDArray[np.bool_] = np.asarray((nearest >= 0).all(axis=1))
    own = among_rows(values, rows, estimator.metric)
    found = pair_distances(
        own,
        np.where(known[:, None], nearest, others).astype(np.int32),
        metric=estimator.metric,
        metric_params=estimator.metric_params,
    ).astype(np.float64)
    return np.where(known[:, None] & np.isfinite(found), found, np.nan)


def kept_neighbors(one: Nearest, two: Nearest) -> Float64Array:
    """Return which share of the entries of each row of the one, -1 not counted, are in the other's."""
    counted = one >= 0
    shares: Float64Array = shared_neighbors(one, two, counted) / np.maximum(counted.sum(axis=1), 1)
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


def nearest_rows(estimator: Any, values: Any, rows: Rows, k: int) -> Nearest:
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
