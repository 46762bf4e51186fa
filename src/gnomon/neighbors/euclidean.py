"""Exact Euclidean neighbours: candidates by float32 products, then accurate distances, then a check of each row."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._progress import Reporter
from gnomon._run import current_run
from gnomon._validation import warn
from gnomon.exceptions import PrecisionWarning
from gnomon.linalg import largest_deviation

__all__ = [
    "Distances",
    "Indices",
    "Points",
    "Values",
    "as_values",
    "exact_search",
    "far_rows",
    "lead_with",
    "n_candidates",
    "nearest_of_new",
    "search_far",
]

Values = npt.NDArray[Any]
"""C-contiguous rows, float32 or float64."""
Indices = npt.NDArray[np.int32]
Distances = npt.NDArray[np.float32]

_MEAN_ROWS = 4096  # rows that give the centre: it need only be near the data
_SAFE_EXPONENT = 40  # squares of numbers within 2^-40 .. 2^40, and sums of many, are normal float32 numbers
_SCAN_COORDINATES = 2e11  # most coordinates compared again for rows that the products could not settle: about 5 s


def as_values(X: npt.NDArray[Any]) -> Values:
    """Return a contiguous float32 or float64 array, `X` itself if it is one."""
    if X.dtype == np.float32:
        return np.ascontiguousarray(X, dtype=np.float32)
    return np.ascontiguousarray(X, dtype=np.float64)


def n_candidates(n_neighbors: int, n_others: int) -> int:
    """Return how many candidates float32 products keep, so that their rounding rarely loses a neighbour."""
    return min(n_others, n_neighbors + max(8, n_neighbors // 8))


@dataclass(frozen=True)
class Points:
    """A table with what makes float32 safe for it.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64, C-contiguous
    mean : ndarray of shape (n_features,), float64
        A point among the data, subtracted before any cast.
    scale : float
        A power of two; 1 unless squares could leave the range of float32.
    """

    X: Values
    mean: npt.NDArray[np.float64]
    scale: float

    @classmethod
    def of(cls, X: Values) -> Points:
        """Find centre and scale of a table."""
        step = -(-X.shape[0] // _MEAN_ROWS)
        some = X[::step]
        mean = (some * (1.0 / len(some))).sum(axis=0, dtype=np.float64)  # divided first: a sum could overflow
        return cls(X, mean, _scale_for(largest_deviation(X, mean), X.dtype))

    def centred(self, X: Values | None = None) -> npt.NDArray[np.float32]:
        """Return a centred and scaled float32 copy of the table, or of rows given."""
        return _core.center_rows(self.X if X is None else X, self.mean, self.scale, current_run().n_threads)

    def scan(self, queries: Values, own: Indices, k: int) -> tuple[Indices, Distances]:
        """Return the k nearest rows of each query by accurate distances, row own[i] (-1: none) left out."""
        return _core.scan_rows(self.X, queries, own, self.scale, k, current_run().n_threads)

    def rank(
        self, candidates: Indices, k: int, queries: Values | None = None, order: Indices | None = None
    ) -> tuple[Indices, Distances]:
        """Return the k nearest candidates of each row by accurate distances."""
        rows = self.X if queries is None else queries
        if order is None:
            order = np.arange(len(rows), dtype=np.int32)
        return _core.rank_candidates(self.X, rows, candidates, order, self.scale, k, current_run().n_threads)


def _scale_for(deviation: float, dtype: np.dtype[Any]) -> float:
    """Return a power of two that brings `deviation` to about 1; 1 if its square is harmless."""
    exponent = math.frexp(deviation)[1]
    if deviation == 0.0 or abs(exponent) <= _SAFE_EXPONENT:
        return 1.0
    return math.ldexp(1.0, min(-exponent, 120 if dtype == np.float32 else 1000))  # itself a number of that type


def exact_search(
    points: Points, n_neighbors: int, *, keep: int = 0, reporter: Reporter | None = None
) -> tuple[Indices, Distances]:
    """Find the neighbours of every row among all rows.

    Parameters
    ----------
    points : Points of n_samples rows
    n_neighbors : int in [1, n_samples - 1]
    keep : int, default=0
        Return so many neighbours if they are more, the first n_neighbors of each row those found without.
    reporter : Reporter, default=None

    Returns
    -------
    indices, distances : ndarray of shape (n_samples, n_neighbors or keep)
        Ascending by (distance, index).
    """
    n = points.X.shape[0]
    centred = points.centred()
    search = _core.AllPairs(centred, n_candidates(max(n_neighbors, keep), n - 1), current_run().n_threads)
    for done in range(search.n_rounds):
        search.run_round(done)
        if reporter is not None:
            reporter.update(n * (done + 1) // search.n_rounds, n)
    candidates, cutoffs = search.finish()
    del search

    def nearest(k: int) -> tuple[Indices, Distances]:
        indices, distances = points.rank(candidates, k)
        if candidates.shape[1] < n - 1:
            unsettled = _unsettled(centred, distances[:, -1] * points.scale, cutoffs)
            _settle(points, unsettled, unsettled.astype(np.int32), points.X, indices, distances)
        return indices, distances

    first = nearest(n_neighbors)
    return first if keep <= n_neighbors else lead_with(first, nearest(keep))


def lead_with(first: tuple[Indices, Distances], more: tuple[Indices, Distances]) -> tuple[Indices, Distances]:
    """Return the second of two results of one search, each row beginning with that of the first, which is narrower.

    Rows differ where distances are equal in float32 only: which of them are nearest is settled in float64, their order
    by row number.
    """
    indices, distances = more
    k = first[0].shape[1]
    for row in np.flatnonzero((indices[:, :k] != first[0]).any(axis=1)):
        others = np.flatnonzero(~np.isin(indices[row], first[0][row]))[: indices.shape[1] - k]
        indices[row] = np.concatenate([first[0][row], indices[row, others]])
        distances[row] = np.concatenate([first[1][row], distances[row, others]])
    return indices, distances


def nearest_of_new(points: Points, X_new: Values, n_neighbors: int) -> tuple[Indices, Distances]:
    """Find the neighbours of new rows among the rows of `points`; a row's result does not depend on the other rows."""
    n = len(points.X)
    centred = points.centred(X_new)
    far = far_rows(centred)
    centred[far] = 0
    k = n_candidates(n_neighbors, n)
    candidates, cutoffs = _core.nearest_rows(points.centred(), centred, k, current_run().n_threads)
    indices, distances = points.rank(candidates, n_neighbors, X_new)
    if k < n:
        unsettled = _unsettled(centred, distances[:, -1] * np.float32(points.scale), cutoffs)
        unsettled = unsettled[~far[unsettled]]
        _settle(points, unsettled, np.full(len(unsettled), -1, np.int32), X_new, indices, distances)
    search_far(points, X_new, far, indices, distances)
    return indices, distances


def far_rows(centred: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Return which new rows lie so far out that squares may leave the range of float32 at the table's scale."""
    far: npt.NDArray[np.bool_] = np.abs(centred).max(axis=1) > 2.0 ** (_SAFE_EXPONENT + 1)
    return far


def search_far(
    points: Points, X_new: Values, far: npt.NDArray[np.bool_], indices: Indices, distances: Distances
) -> None:
    """Compare such rows with all others, each at a scale of its own, in place."""
    for row in np.flatnonzero(far):
        deviation = float(np.abs(X_new[row] - points.mean).max())
        alone = replace(points, scale=_scale_for(deviation, X_new.dtype))
        own = np.full(1, -1, np.int32)
        indices[row], distances[row] = alone.scan(X_new[row : row + 1], own, indices.shape[1])


def _unsettled(
    centred: npt.NDArray[np.float32], farthest: Distances, cutoffs: npt.NDArray[np.float32]
) -> npt.NDArray[np.intp]:
    """Return the rows where rounding may have hidden a neighbour.

    A product form |a|^2 + |b|^2 - 2ab of D terms errs by about (4 + sqrt(D)) eps (|a| + |b|)^2, and a missed neighbour
    has |b| <= |a| + its distance. If the largest true distance kept plus this error stays below the smallest product
    form left out, nothing was missed. A distance of zero cannot be improved upon.
    """
    n_features = centred.shape[1]
    norms = np.sqrt(np.einsum("ij,ij->i", centred, centred, dtype=np.float64))
    far = farthest.astype(np.float64)
    error = (4 + math.sqrt(n_features)) * 2.0**-24 * (2 * norms + far) ** 2
    settled = (far**2 + error <= cutoffs) | (far == 0)
    return np.flatnonzero(~settled)


def _settle(
    points: Points,
    rows: npt.NDArray[np.intp],
    own: Indices,
    queries: Values,
    indices: Indices,
    distances: Distances,
) -> None:
    """Search the given rows again by differences of coordinates, in place; warn where these are too many."""
    if len(rows) == 0:
        return
    if float(len(rows)) * points.X.size > _SCAN_COORDINATES:
        share = len(rows) / len(queries)
        text = (
            f"distances are below working precision for {share:.1%} of rows: neighbours at equal distance may be missed"
        )
        warn(text, PrecisionWarning)
        return
    indices[rows], distances[rows] = points.scan(queries[rows], own, indices.shape[1])
