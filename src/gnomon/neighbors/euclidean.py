"""Exact Euclidean neighbours: candidates by float32 products, then accurate distances, then a check of each row."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import squared_lengths
from gnomon._progress import Reporter
from gnomon._run import current_run
from gnomon._validation import message, warn
from gnomon.exceptions import DataWarning, PrecisionWarning
from gnomon.linalg import largest_deviation
from gnomon.linalg.table import as_bytes, table_as_bytes

__all__ = [
    "MEAN_ROWS",
    "SELECTION",
    "Distances",
    "Indices",
    "Points",
    "Values",
    "as_values",
    "far_rows",
    "lead_with",
    "n_candidates",
    "scale_for",
]

SELECTION = 10
"""Coordinates of a pair that are compared in the time that the choice of the nearest takes for it."""

Values = npt.NDArray[Any]
"""C-contiguous rows, float32 or float64."""
Indices = npt.NDArray[np.int32]
Distances = npt.NDArray[np.float32]

MEAN_ROWS = 4096  # rows that give the centre: it need only be near the data
_SAFE_EXPONENT = 40  # squares of numbers within 2^-40 .. 2^40, and sums of many, are normal float32 numbers
_LOST_EXPONENT = 60  # squares of numbers below 2^-60 of the largest leave the range of float32
_RANKED, _RANKED_BY = 300.0, 5.0
"""Coordinates of a pair that are compared in the time in which a candidate is ranked, and for each coordinate of it:
fitted to searches of 3,000 to 20,000 rows of MNIST and CIFAR-10 with 15 and 90 neighbours, floats and bytes, in which
79 to 97 % of the time passed before the ranking, 73 to 98 % by this."""
_KEPT = 400.0
"""Coordinates of a pair that are compared in the time in which a row keeps a candidate until nearer ones are found:
fitted to the rounds of 20,000 rows of MNIST in 50 components with 90 neighbours."""
_BYTES_UP_TO = 4096  # columns whose squares of bytes any order of sums in float32 adds exactly, lane by lane
_BYTES_FOR_ONE = 4.0  # coordinates of bytes that are compared in the time of one of float32; measured with AVX-512
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
    bytes : ndarray of shape (n_samples, n_features), uint8, or None
        The same numbers in a quarter of the memory to go through, if they are 0, 1, ..., 255; their squares are exact.
        The scale is then 1.
    """

    X: Values
    mean: npt.NDArray[np.float64]
    scale: float
    bytes: npt.NDArray[np.uint8] | None = None

    @classmethod
    def of(cls, X: Values) -> Points:
        """Find centre and scale of a table, and whether it is one of bytes."""
        step = -(-X.shape[0] // MEAN_ROWS)
        some = X[::step]
        mean = (some * (1.0 / len(some))).sum(axis=0, dtype=np.float64)  # divided first: a sum could overflow
        found = table_as_bytes(X) if X.shape[1] <= _BYTES_UP_TO else X
        if found.dtype == np.uint8:
            return cls(X, mean, 1.0, found)
        return cls(X, mean, scale_for(largest_deviation(X, mean), X.dtype))

    def check_range(self) -> None:
        """Raise ValueError if distances leave the range of float32; warn if one value takes the digits of all others.

        A table whose squares are harmless, as nearly all are, is not looked at.
        """
        if self.scale != 1.0:
            _check_range(self.X, self.mean, largest_deviation(self.X, self.mean))
        if self.scale < 1.0:
            _warn_of_lost_digits(self.X, self.X[:: -(-self.n_samples // MEAN_ROWS)], self.mean, self.scale)

    def centred(self, X: Values | None = None) -> npt.NDArray[np.float32]:
        """Return a centred and scaled float32 copy of the table, or of rows given."""
        return _core.center_rows(self.X if X is None else X, self.mean, self.scale, current_run().n_threads)

    def scan(self, queries: Values, own: Indices, k: int, *, squared: bool = False) -> tuple[Indices, Distances]:
        """Return the k nearest rows of each query by accurate distances, row own[i] (-1: none) left out.

        With `squared` the distances are squares of scaled coordinates.
        """
        return _core.scan_rows(self.X, queries, own, self.scale, k, current_run().n_threads, squared)

    def rank(
        self,
        candidates: Indices,
        k: int,
        queries: Values | None = None,
        order: Indices | None = None,
        *,
        squared: bool = False,
    ) -> tuple[Indices, Distances]:
        """Return the k nearest candidates of each row by accurate distances, or squares as in `scan`."""
        return self._ranked(candidates, k, queries, order, squared=squared)

    def rank_leading(self, candidates: Indices, lead: int, k: int, order: Indices) -> tuple[Indices, Distances]:
        """Return the k nearest candidates of each row, the first `lead` those that `rank` returns of so many."""
        return self._ranked(candidates, k, None, order, lead=lead)

    def _ranked(
        self,
        candidates: Indices,
        k: int,
        queries: Values | None,
        order: Indices | None,
        *,
        squared: bool = False,
        lead: int = 0,
    ) -> tuple[Indices, Distances]:
        rows, asked = self.X, self.X if queries is None else queries
        small = self.bytes if queries is None else self._in_bytes(queries)
        if self.bytes is not None and small is not None:
            rows, asked = self.bytes, small
        if order is None:
            order = np.arange(len(asked), dtype=np.int32)
        n_threads = current_run().n_threads
        return _core.rank_candidates(rows, asked, candidates, order, self.scale, k, n_threads, squared, lead)

    def distances_to(self, others: Indices) -> Distances:
        """Return the accurate distances from each row to a few others, in their order."""
        return _core.pair_distances(self._smallest, others, self.scale, current_run().n_threads)

    @property
    def _smallest(self) -> Values:
        """The table in the form that takes least memory to go through."""
        return self.X if self.bytes is None else self.bytes

    def _in_bytes(self, queries: Values) -> npt.NDArray[np.uint8] | None:
        """Return rows as bytes if both they and the table are such; pairs of them are compared exactly."""
        if self.bytes is None:
            return None
        found = as_bytes(queries)
        return found if found.dtype == np.uint8 else None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.X)

    @property
    def exact_width(self) -> float:
        """Cost of comparing all pairs, for each pair: their coordinates, several of bytes for one of floats."""
        n_features = int(self.X.shape[1])
        return n_features if self.bytes is None else n_features / _BYTES_FOR_ONE

    @property
    def proxy_cost(self) -> float:
        """Cost of making the points among which candidates are sought: these are the rows."""
        return 0.0

    @property
    def rank_width(self) -> float:
        """Cost of ranking one candidate."""
        return int(self.X.shape[1])

    @property
    def proxy(self) -> Points:
        """Points among which candidates are sought: the table itself."""
        return self

    def take(self, rows: npt.NDArray[np.integer]) -> Values:
        """Return some of the rows."""
        taken: Values = self.X[rows]
        return taken

    def proxy_of(self, rows: Values) -> Values:
        """Return rows as they are."""
        return rows

    def search_all(self, k: int, keep: int, reporter: Reporter | None) -> tuple[Indices, Distances]:
        """Find the neighbours of every row among all rows.

        Parameters
        ----------
        k : int in [1, n_samples - 1]
        keep : int in [0, n_samples - 1]
            Return so many neighbours if they are more, the first k of each row those found without.
        reporter : Reporter or None

        Returns
        -------
        indices, distances : ndarray of shape (n_samples, k or keep)
            Ascending by (distance, index).
        """
        n = self.X.shape[0]
        rows: Values = self.centred() if self.bytes is None else self.bytes
        candidates, cutoffs = _all_pairs(rows, n_candidates(max(k, keep), n - 1), 0, reporter)

        def nearest(k: int) -> tuple[Indices, Distances]:
            indices, distances = self.rank(candidates, k)
            if self.bytes is None and candidates.shape[1] < n - 1:
                unsettled = _unsettled(rows, distances[:, -1] * self.scale, cutoffs)
                _settle(self, unsettled, unsettled.astype(np.int32), self.X, indices, distances)
            return indices, distances

        first = nearest(k)
        found = first if keep <= k else lead_with(first, nearest(keep))
        if reporter is not None:
            reporter.update(n, n)
        return found

    def squares_within(self, k: int) -> tuple[Indices, Distances]:
        """Return the k nearest other rows of each and scaled squares of their distances, ascending by (square, index).

        Lists of parts of a table are joined by squares, as different ones may have one root. A row that has fewer than
        k others ends in index -1 and square inf.
        """
        n = self.n_samples
        if n == 1:
            return np.full((1, k), -1, np.int32), np.full((1, k), np.inf, np.float32)
        centred = self.centred()
        candidates, cutoffs = _all_pairs(centred, n_candidates(k, n - 1), 0)
        indices, squares = self.rank(_widened(candidates, k), k, squared=True)
        unsettled = _unsettled(centred, np.sqrt(squares[:, -1]), cutoffs)
        _settle(self, unsettled, unsettled.astype(np.int32), self.X, indices, squares, squared=True)
        return indices, squares

    def squares_across(self, other: Points, k: int) -> tuple[tuple[Indices, Distances], tuple[Indices, Distances]]:
        """Return for each row the k nearest rows of another table of the same centre and scale, and the reverse.

        Each pair of rows is compared once. Indices and squares are those of `squares_within`.
        """
        n, both = self.n_samples, replace(self, X=np.concatenate([self.X, other.X]), bytes=None)
        centred = both.centred()
        candidates, cutoffs = _all_pairs(centred, n_candidates(k, both.n_samples - 1), n)
        indices, squares = both.rank(_widened(candidates, k), k, squared=True)
        unsettled = _unsettled(centred, np.sqrt(squares[:, -1]), cutoffs)
        sides = (indices[:n], squares[:n]), (indices[n:], squares[n:])
        sides[0][0][sides[0][0] >= 0] -= n
        for rows, asking, asked, found in (
            (unsettled[unsettled < n], self, other, sides[0]),
            (unsettled[unsettled >= n] - n, other, self, sides[1]),
        ):
            _settle(asked, rows, np.full(len(rows), -1, np.int32), asking.X, *found, squared=True)
        return sides

    def nearest(self, queries: Values, k: int) -> tuple[Indices, Distances]:
        """Find the neighbours of new rows among all rows; a row's result does not depend on the other rows."""
        n, whole = len(self.X), self._in_bytes(queries)
        if self.bytes is not None and whole is not None:
            candidates, _ = _core.nearest_byte_rows(self.bytes, whole, n_candidates(k, n), current_run().n_threads)
            return self.rank(candidates, k, queries)
        centred = self.centred(queries)
        far = far_rows(centred)
        centred[far] = 0
        kept = n_candidates(k, n)
        candidates, cutoffs = _core.nearest_centered_rows(
            self._smallest, self.mean, self.scale, centred, kept, current_run().n_threads
        )
        indices, distances = self.rank(candidates, k, queries)
        if kept < n:
            unsettled = _unsettled(centred, distances[:, -1] * np.float32(self.scale), cutoffs)
            unsettled = unsettled[~far[unsettled]]
            _settle(self, unsettled, np.full(len(unsettled), -1, np.int32), queries, indices, distances)
        self.search_far(queries, far, indices, distances)
        return indices, distances

    def search_far(self, queries: Values, far: npt.NDArray[np.bool_], indices: Indices, distances: Distances) -> None:
        """Compare the rows marked, which lie far out, with all others, each at a scale of its own, in place."""
        for row in np.flatnonzero(far):
            deviation = float(np.abs(queries[row] - self.mean).max())
            alone = replace(self, scale=scale_for(deviation, queries.dtype))
            own = np.full(1, -1, np.int32)
            indices[row], distances[row] = alone.scan(queries[row : row + 1], own, indices.shape[1])


def _all_pairs(
    rows: npt.NDArray[Any], n_candidates: int, split: int, reporter: Reporter | None = None
) -> tuple[Indices, Distances]:
    """Return the candidates of every row among all others, or those across a split, and the square of the last.

    Rows are centred ones of float32, or bytes.
    """
    n = len(rows)
    search = _core.AllPairs(rows, n_candidates, current_run().n_threads, split)
    width = rows.shape[1] / (_BYTES_FOR_ONE if rows.dtype == np.uint8 else 1.0)
    compared = n * (SELECTION + width) / 2.0  # coordinates; two rows compare a pair once
    share = compared / (compared + n_candidates * (_RANKED + _RANKED_BY * width))  # of the work, before the ranking
    if reporter is not None:
        reporter.expect(0, _round_costs(n, width, n_candidates, search.n_rounds, share))
    for done in range(search.n_rounds):
        search.run_round(done)
        if reporter is not None:
            reporter.update(max(int(n * share * (done + 1) / search.n_rounds), 1), n)
    return search.finish()


def _round_costs(n: int, width: float, n_candidates: int, n_rounds: int, share: float) -> list[tuple[int, float]]:
    """Return what rows cost in each round, relative to the mean: in the first ones more candidates are kept.

    The n-th row that a row meets is one of its k nearest so far with probability k / n.

    Parameters
    ----------
    n : int
        Rows.
    width : float
        Coordinates of a pair, in those of float32.
    n_candidates, n_rounds : int
    share : float
        Of the work, before candidates are ranked; a row costs the mean there.
    """
    met = n * np.arange(n_rounds + 1) / n_rounds
    kept = np.where(met > n_candidates, n_candidates * (1.0 + np.log(np.maximum(met / n_candidates, 1.0))), met)
    work = (SELECTION + width) * np.diff(met) / 2.0 + _KEPT * np.diff(kept)
    begins = (n * share * np.arange(n_rounds) / n_rounds).astype(int)
    return [*zip(begins.tolist(), (work / work.mean()).tolist(), strict=True), (int(n * share), 1.0)]


def _widened(candidates: Indices, k: int) -> Indices:
    """Return at least k columns, added ones without candidates."""
    missing = k - candidates.shape[1]
    return candidates if missing <= 0 else np.pad(candidates, ((0, 0), (0, missing)), constant_values=-1)


def scale_for(deviation: float, dtype: np.dtype[Any]) -> float:
    """Return a power of two that brings `deviation` to about 1; 1 if its square is harmless."""
    exponent = math.frexp(deviation)[1]
    if deviation == 0.0 or abs(exponent) <= _SAFE_EXPONENT:
        return 1.0
    return math.ldexp(1.0, min(-exponent, 120 if dtype == np.float32 else 1000))  # itself a number of that type


def _check_range(X: Values, mean: npt.NDArray[np.float64], largest: float) -> None:
    """Raise ValueError if distances between rows leave the range of float32."""
    held = np.finfo(np.float32)
    if largest == 0.0 or float(held.tiny) <= largest <= float(held.max) / (2.0 * math.sqrt(X.shape[1])):
        return
    row, column = _farthest(X, mean)
    if largest < 1.0:
        fact = f"the largest difference from the mean is {largest:.3g}"
        remedy = f"Pass X * 1e{-math.floor(math.log10(largest))}."
    else:
        fact = f"row {row}, column {column} is {X[row, column]:.3g}"
        remedy = (
            f"Pass X * 1e-{math.floor(math.log10(abs(float(X[row, column]))))}, or mend the value if it is a mistake."
        )
    raise ValueError(message("X", "of distances in the range of float32, 1.2e-38 to 3.4e38", fact=fact, remedy=remedy))


def _warn_of_lost_digits(X: Values, some: Values, mean: npt.NDArray[np.float64], scale: float) -> None:
    """Warn if some values are so huge that at their scale the squares of most rows leave the range of float32."""
    usual = float(np.median(np.abs(some * scale - np.median(some * scale, axis=0)).max(axis=1)))
    if 0.0 < usual < 2.0**-_LOST_EXPONENT:
        row, column = _farthest(X, mean)
        text = (
            f"row {row}, column {column} of X is {X[row, column]:.3g}, beside which the differences of the other rows "
            "are lost: their neighbours mean nothing. Mend the value, leave the row out or take logarithms."
        )
        warn(text, DataWarning)


def _farthest(X: Values, mean: npt.NDArray[np.float64]) -> tuple[int, int]:
    """Return row and column of the value farthest from the mean of its column."""
    with np.errstate(over="ignore"):
        place = np.argmax(np.abs(X - mean))
    row, column = divmod(int(place), X.shape[1])
    return row, column


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


def far_rows(centred: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Return which new rows lie so far out that squares may leave the range of float32 at the table's scale."""
    far: npt.NDArray[np.bool_] = np.abs(centred).max(axis=1) > 2.0 ** (_SAFE_EXPONENT + 1)
    return far


def _unsettled(
    centred: npt.NDArray[np.float32], farthest: Distances, cutoffs: npt.NDArray[np.float32]
) -> npt.NDArray[np.intp]:
    """Return the rows where rounding may have hidden a neighbour.

    A product form |a|^2 + |b|^2 - 2ab of D terms errs by about (4 + sqrt(D)) eps (|a| + |b|)^2, and a missed neighbour
    has |b| <= |a| + its distance. If the largest true distance kept plus this error stays below the smallest product
    form left out, nothing was missed. A distance of zero cannot be improved upon.
    """
    n_features = centred.shape[1]
    norms = np.sqrt(squared_lengths(centred, np.float64))
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
    *,
    squared: bool = False,
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
    indices[rows], distances[rows] = points.scan(queries[rows], own, indices.shape[1], squared=squared)
