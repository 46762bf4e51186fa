"""What a row does that only its table's noise moves: tables whose rows lie anew near their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.methods.aligned.neighbors_kept import (
    Nearest,
    Rows,
    distances_to,
    farther_apart,
    kept_neighbors,
    nearest_rows,
    usual_share,
)

__all__ = ["NoisyCopies", "of_lesser_noise"]

Float64Array = npt.NDArray[np.float64]
Drawn = tuple[Any, npt.NDArray[np.int64]]  # a table, and which shared row is at the place of each
_NEAR = 5  # rows whose differences are the noise, and which rows trade places with
_LEAST, _MOST = 0.1, 1.0  # of such a difference
_HALVINGS = 5
_LEAST_TRADED, _GROWTH, _TRADES = 0.02, 0.25, 60  # of rows; of those traded before; at most so many times
_MATCHINGS = 8
_METRICS = ("euclidean", "l2", "manhattan", "l1", "cityblock", "chebyshev", "linfinity", "cosine", "correlation")


class NoisyCopies:
    """Copies of a table whose rows keep as many of their neighbours as those of two tables usually do.

    To each shared row the difference of two rows near it is added, times a number that is found by halving: a tenth at
    least, one at most. Where one is not enough, or the metric compares values that may not be changed so (distances
    given, shares, angles round a circle), rows trade places with rows near them instead, one time after another. Both
    are of the table's own scale at each place; no row goes to another cluster, unless it lies near.

    Parameters
    ----------
    estimator : whose metric counts
    values : ndarray or csr_array of shape (n_rows, n_features)
    rows : ndarray of shape (n_shared,)
        The shared rows.
    nearest : ndarray of shape (n_shared, n_near), int32
        The nearest of the shared rows to each of them, as `KeptInTables` finds them.
    n_neighbors : int >= 0
        Of these, compared; 0 of rows so few that their places cannot be told to be near: copies are equal.
    target : float in [0, 1] or None
        `usual_share` that the copies are to have; None for the least noise.
    seed : int
        Of the draws by which the noise is found.
    """

    def __init__(
        self,
        estimator: Any,
        values: Any,
        rows: Rows,
        nearest: Nearest,
        n_neighbors: int,
        target: float | None,
        seed: int,
    ) -> None:
        self.estimator, self.values, self.rows, self.k = estimator, values, rows, n_neighbors
        self.nearest = nearest[:, : max(n_neighbors, _NEAR)]
        self.target, self.scale = target, _LEAST
        self.trades = estimator.metric not in _METRICS
        if n_neighbors and not self.trades and target is not None:
            self._find_scale(target, seed)

    def draw(self, seed: int) -> tuple[Drawn, Float64Array, Float64Array]:
        """Return a copy, which share of its neighbours each row keeps in it, and how much farther these lie.

        Parameters
        ----------
        seed : int

        Returns
        -------
        table, places : see `Drawn`
            Shared row ``places[i]`` is row ``rows[i]`` of the copy.
        kept : ndarray of shape (n_shared,)
        farther : ndarray of shape (n_shared,)
            See `farther_apart`.
        """
        rng, n = np.random.default_rng(seed), len(self.rows)
        if not self.k:
            return (self.values, np.arange(n)), np.full(n, np.nan), np.full(n, np.nan)
        if self.trades:
            places = self._traded(rng)
            table, found = self.values, _as_rows(self.nearest, places)
        else:
            table, places = self._moved(self.scale, rng), np.arange(n)
            found = self._found(table)
        near = [self.nearest[:, : self.k], found[:, : self.k]]
        rows = self.rows[np.argsort(places)]  # where each shared row lies in the copy
        tables = ((self.values, self.rows), (table, rows))
        distances = [[distances_to(self.estimator, *own, lists) for lists in near] for own in tables]
        return (table, places), self._kept(found), farther_apart(near, distances)

    def _find_scale(self, target: float, seed: int) -> None:
        """Find the noise with which rows keep no more than they do between the tables; trade if there is none."""

        def too_little(scale: float) -> bool:
            table = self._moved(scale, np.random.default_rng(seed))
            return usual_share(self._kept(self._found(table))) > target

        if not too_little(_LEAST):
            return
        if too_little(_MOST):
            self.trades = True
            return
        self.scale = _halved(too_little, _LEAST, _MOST)

    def _moved(self, scale: float, rng: np.random.Generator) -> Any:
        near = self.nearest[:, :_NEAR]
        around = np.concatenate([np.arange(len(near))[:, None], near], axis=1)
        around = np.where(around < 0, around[:, :1], around)
        first = rng.integers(0, around.shape[1], len(near))
        second = (first + rng.integers(1, around.shape[1], len(near))) % around.shape[1]
        one, two = (self.rows[np.take_along_axis(around, own[:, None], axis=1)[:, 0]] for own in (first, second))
        moves: Any = self.values[one] - self.values[two]
        if isinstance(moves, np.ndarray):
            table = np.array(self.values)
            table[self.rows] += (scale * moves).astype(table.dtype)
            return table
        moves = scipy.sparse.coo_array(moves)
        added: Any = (scale * moves.data, (self.rows[moves.coords[0]], moves.coords[1]))
        return scipy.sparse.csr_array(
            self.values + scipy.sparse.csr_array(added, shape=self.values.shape), dtype=self.values.dtype
        )

    def _traded(self, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Return which row is at each place once rows have traded places with near ones until they keep few enough."""
        places, traded = np.arange(len(self.rows)), 0.0
        for _ in range(_TRADES):
            share = min(1.0, max(_LEAST_TRADED, _GROWTH * traded))
            places, traded = places[_matched(self.nearest[:, :_NEAR], share, rng)], traded + share
            if self.target is None or usual_share(self._kept(_as_rows(self.nearest, places))) <= self.target:
                break
        return places

    def _found(self, table: Any) -> Nearest:
        return nearest_rows(self.estimator, table, self.rows, self.k)

    def _kept(self, nearest: Nearest) -> Float64Array:
        return kept_neighbors(self.nearest[:, : self.k], nearest[:, : self.k])


def of_lesser_noise(one: Float64Array, two: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return what goes far by chance in copies of two tables, nowhere farther than in the other at the same rank.

    Rows thrown apart in one of the tables only lie among rows that differ by much, which is no noise.

    Parameters
    ----------
    one, two : ndarrays of one shape
        Of copies of the one table and of the other; NaN counts as farthest.
    """
    orders = [np.argsort(values, axis=None, kind="stable") for values in (one, two)]
    least = np.fmin(*(values.ravel()[order] for values, order in zip((one, two), orders, strict=True)))
    found = (np.empty(one.size), np.empty(one.size))
    for values, order in zip(found, orders, strict=True):
        values[order] = least
    return found[0].reshape(one.shape), found[1].reshape(one.shape)


def _halved(too_little: Callable[[float], bool], low: float, high: float) -> float:
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if too_little(middle) else (low, middle)
    return high


def _as_rows(nearest: Nearest, places: npt.NDArray[np.int64]) -> Nearest:
    """Return the nearest rows of each row if row ``places[i]`` lies at the place of row i."""
    of_places = np.where(nearest < 0, -1, places[nearest]).astype(np.int32)
    return np.asarray(of_places[np.argsort(places)])


def _matched(near: Nearest, share: float, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return a permutation in which about a share of the rows trade places, each with one of those near it."""
    n = len(near)
    found, free = np.arange(n), rng.random(n) < share
    for _ in range(_MATCHINGS):
        asking = np.flatnonzero(free)
        asked = near[asking, rng.integers(0, near.shape[1], len(asking))].astype(np.int64)
        wanted = (asked >= 0) & free[asked]
        asking, asked = asking[wanted], asked[wanted]
        lots, least = rng.random(len(asking)), np.full(n, np.inf)
        np.minimum.at(least, asking, lots)
        np.minimum.at(least, asked, lots)
        drawn = (lots == least[asking]) & (lots == least[asked])  # the least lot of both: nobody trades twice
        one, two = asking[drawn], asked[drawn]
        found[one], found[two] = two, one
        free[one] = free[two] = False
    return found
