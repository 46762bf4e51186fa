"""Trust in each row where the ranks of all rows from it are too many to find: they are counted over a sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._run import current_run
from gnomon.evaluation.anchors import DistanceRows, mixed
from gnomon.evaluation.layout import Layout
from gnomon.evaluation.neighborhoods import Neighborhoods
from gnomon.evaluation.scores import rank_penalty_scale

__all__ = ["EstimatedTrust", "TrustEstimate", "estimate_trust"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class EstimatedTrust:
    """Trust in every row, estimated without bias from a random sample of rows.

    Attributes
    ----------
    trustworthiness, continuity : ndarray of shape (n,), float64
        As `Evaluation.per_point`.
    trustworthiness_error, continuity_error : ndarray of shape (n,), float64
        Their standard errors, by the sample.
    triplet_accuracy : ndarray of shape (n,), float64
        Share of disjoint random pairs of the sample in the same order of distance on both sides; a tie on one side
        counts half.
    n_references : int
        Rows in the sample.
    """

    trustworthiness: Floats
    trustworthiness_error: Floats
    continuity: Floats
    continuity_error: Floats
    triplet_accuracy: Floats
    n_references: int


class _Excess:
    """Of each row the sum of r - k over neighbours of one side, with r their rank on the other side, where r > k.

    Such a neighbour is farther away than all k, so r - k is one more than the number of rows that are nearer, apart
    from the row and its k. Their share is that in the sample.
    """

    def __init__(self, counted: npt.NDArray[np.bool_], others: Any, own: Any, references: Ints, bounds: Any) -> None:
        n, k = own.shape
        self.bounds = np.ascontiguousarray(np.where(counted, bounds, -np.inf).T)  # (k, n)
        self.n_counted = counted.sum(axis=1)
        self.sums, self.squares = np.zeros(n, np.int64), np.zeros(n, np.int64)
        is_reference = np.zeros(n, dtype=np.bool_)
        is_reference[references] = True
        # Entries of the neighbours that are references: those whose rank is sought, and the row's own k.
        self.row, self.slot = np.nonzero(is_reference[others])
        self.sought, self.counted = others[self.row, self.slot], counted[self.row, self.slot]
        self.near, at = np.nonzero(is_reference[own])
        self.nearest = own[self.near, at]
        self.population = n - 1 - k
        self.sampled = len(references) - is_reference.astype(np.int64) - is_reference[own].sum(axis=1)

    def add(self, some: Ints, distances: npt.NDArray[Any]) -> None:
        """Count for references `some`, of distances (len(some), n) to all rows."""
        self.bounds = self.bounds.astype(distances.dtype, copy=False)
        _core.count_below_bounds(distances, self.bounds, self.sums, self.squares, current_run().n_threads)
        self._correct(some, lambda at, row: distances[at, row])

    def add_in_map(self, some: Ints, places: Floats) -> None:
        """Count for references `some`, of squared distances in the map, where all rows have `places` (n, d)."""
        _core.count_below_in_map(places, some, self.bounds, self.sums, self.squares, current_run().n_threads)
        self._correct(some, lambda at, row: _squares_between(places, some[at], row))

    def _correct(self, some: Ints, distance: Callable[[Ints, Ints], npt.NDArray[Any]]) -> None:
        """Take back counts of the row itself and its neighbours on this side, and of a row for its own rank.

        `distance` are those from some of `some`, by their positions, to rows.
        """
        n, bounds = len(self.sums), self.bounds
        place = np.full(n, -1, dtype=np.int64)
        place[some] = np.arange(len(some))
        here = place[self.sought] >= 0
        row, slot, itself = self.row[here], self.slot[here], place[self.sought[here]]
        own = self.counted[here] & (distance(itself, row) < bounds[slot, row])
        around = place[self.nearest] >= 0
        near = place[self.nearest[around]] * n + self.near[around]
        left_out = np.concatenate([near, np.arange(len(some)) * n + some])
        pairs, inverse = np.unique(np.concatenate([left_out, itself * n + row]), return_inverse=True)
        kept = np.ones(len(pairs), dtype=np.int64)
        kept[inverse[: len(left_out)]] = 0
        reference, seen = np.divmod(pairs, n)
        before = (distance(reference, seen) < bounds[:, seen]).sum(axis=0)
        of_itself = np.bincount(inverse[len(left_out) :][own], minlength=len(pairs))
        after = kept * (before - of_itself)
        np.add.at(self.sums, seen, after - before)
        np.add.at(self.squares, seen, after**2 - before**2)

    def scores(self, scale: float) -> tuple[Floats, Floats]:
        """Return 1 - the sums times `scale`, and the standard errors."""
        m = np.maximum(self.sampled, 1).astype(np.float64)
        mean = self.sums / m
        variance = np.maximum(self.squares / m - mean**2, 0.0) * m / np.maximum(m - 1, 1)
        left_out = np.maximum(1.0 - m / self.population, 0.0)
        errors = scale * self.population * np.sqrt(variance * left_out / m)
        return 1.0 - scale * (self.n_counted + self.population * mean), errors


class TrustEstimate:
    """Trust in every row as it is counted, while the distances of a random sample of rows to all rows come by.

    Parameters
    ----------
    layout : Layout of n rows
    near : Neighborhoods
        Of these rows, k < n / 2 on each side.
    """

    def __init__(self, layout: Layout, near: Neighborhoods) -> None:
        self.layout, self._near = layout, near
        self._halves, self._n_pairs = np.zeros((2, layout.n_samples), dtype=np.int64)

    def begin(self, references: Ints, rows: DistanceRows) -> None:
        """Learn which rows are the sample; with all rows the ranks are exact, but for ties."""
        near = self._near
        bounds = near.data_distances[:, :, 1] / rows.unit
        bounds = bounds**2 if rows.squared else bounds
        in_map = near.map_distances[:, :, 0] ** 2
        self._references, self._together = references, rows.n_together
        self._intruders = _Excess(near.false, near.in_map, near.in_data, references, bounds)
        self._extruders = _Excess(near.missing, near.in_data, near.in_map, references, in_map)

    def add(self, some: Ints, distances: npt.NDArray[Any]) -> None:
        """Count for some rows of the sample, of distances (len(some), n) to all rows; they come in random order."""
        self._intruders.add(some, distances)
        pairs = _pairs(len(some), self._together)
        before: Floats | None = None
        for first, last, places in self.layout.seen_from(some):
            places = np.ascontiguousarray(places)
            self._extruders.add_in_map(some[first:last], places)
            self._compare(some, distances, pairs[(pairs >= first) & (pairs + 1 < last)], places, places)
            if before is not None:
                self._compare(some, distances, pairs[pairs + 1 == first], before, places)
            before = places

    def _compare(self, some: Ints, distances: npt.NDArray[Any], pairs: Ints, first: Floats, second: Floats) -> None:
        """Count the pairs, positions of their first rows, that each row sees in the same order on both sides."""
        if not len(pairs):
            return
        _core.count_agreeing(distances, first, second, some, pairs, self._halves, current_run().n_threads)
        self._n_pairs += len(pairs)
        for at in pairs.tolist():  # no row is one of its own pair
            pair = some[at : at + 2]
            squares = np.stack([_squares_between(first, pair[:1], pair), _squares_between(second, pair[1:], pair)])
            orders = (_order_of(*values) for values in (distances[at : at + 2, pair], squares))
            self._halves[pair] -= 2 - np.abs(np.subtract(*orders))
            self._n_pairs[pair] -= 1

    def result(self) -> EstimatedTrust:
        """Return what the sample says."""
        scale = rank_penalty_scale(self.layout.n_samples, self._near.n_neighbors)
        trust, trust_error = self._intruders.scores(scale)
        continuity, continuity_error = self._extruders.scores(scale)
        return EstimatedTrust(
            trustworthiness=trust,
            trustworthiness_error=trust_error,
            continuity=continuity,
            continuity_error=continuity_error,
            triplet_accuracy=0.5 * self._halves / np.where(self._n_pairs > 0, self._n_pairs, np.nan),
            n_references=len(self._references),
        )


def estimate_trust(
    X: Any, layout: Layout, near: Neighborhoods, references: Ints, *, metric: str, seed: int
) -> EstimatedTrust:
    """Estimate the trust in every row from the distances to a random sample of rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, n_features), or (n, n) of distances
    layout, near : as for `TrustEstimate`
    references : ndarray of shape (m,), int64
        Different rows, drawn at random.
    metric : str
    seed : int
        Orders the sample, so that its pairs are random.
    """
    rows = DistanceRows(X, metric, near.n_neighbors, mixed(references, seed))
    found = TrustEstimate(layout, near)
    found.begin(references, rows)
    for some, distances in rows:
        found.add(some, distances)
    return found.result()


def _pairs(n: int, n_together: int) -> Ints:
    """Return where pairs of entries of a list begin that follow each other, each pair among `n_together` entries."""
    parts = [np.arange(first, min(first + n_together, n) - 1, 2) for first in range(0, n, n_together)]
    return np.concatenate(parts).astype(np.int64)


def _squares_between(places: Floats, rows: Ints, others: Ints) -> Floats:
    """Return squared distances between places, coordinate by coordinate as kernels add them."""
    squares: Floats = sum((column**2 for column in (places[others] - places[rows]).T), np.zeros(1))
    return squares


def _order_of(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
    """Return 1 where the second is larger, -1 where it is smaller, else 0."""
    return (second > first).view(np.int8) - (second < first).view(np.int8)
