"""How densities of two groups of rows compare, by distances to neighbours in as many dimensions as the data have."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import log
from gnomon._run import current_run
from gnomon.geometry import DimensionEstimate, intrinsic_dimension
from gnomon.geometry.dimension_estimators import mackay_ghahramani
from gnomon.neighbors import query_neighbors, without_own

__all__ = [
    "FEWEST_BALLS",
    "ROUNDING",
    "Densities",
    "apart_balls",
    "compare_equal_shares",
    "dimension_of_groups",
    "neighbors_of",
    "some_rows",
]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]

FEWEST_BALLS = 3
"""Neighbourhoods without common rows that a group must have room for."""
ROUNDING = 1e-6
"""Of a distance: what equal ones, in single precision, may differ by."""
_DIMENSION_ROWS = 500  # of each group, that tell its dimension
_UNLIKE = 1.25  # times as many rows: groups are also compared by equal shares of them
_SHARED_ROWS = 2500  # of the larger group, whose neighbours are looked for then
_MOST_FOUND = 2_500_000  # neighbours of all of them


def some_rows(mask: Mask, at_most: int, draw: np.random.Generator) -> Rows:
    """Return the rows of a mask, a random sample of more than `at_most`, in any order."""
    rows = np.flatnonzero(mask)
    return draw.choice(rows, min(len(rows), at_most), replace=False)


def neighbors_of(values: Any, rows: Rows, k: int, metric: str) -> tuple[npt.NDArray[np.int32], npt.NDArray[Any]]:
    """Return the neighbours of some rows among all, themselves not counted."""
    return without_own(*query_neighbors(values, values[rows], k + 1, metric=metric), rows)


def apart_balls(order: Rows, balls: npt.NDArray[Any], n: int) -> Rows:
    """Return those rows of an order whose neighbourhoods have no row in common with those of any before.

    Parameters
    ----------
    order : ndarray of int64
        Numbers of rows of `balls`.
    balls : ndarray of shape (n_rows, n_near), int
        The neighbourhood of each, itself counted.
    n : int
        Rows that there are.
    """
    free, chosen = np.ones(n, dtype=np.bool_), []
    for one in order:
        near = balls[one]
        if free[near].all():
            chosen.append(one)
            free[near] = False
    return np.array(chosen, dtype=np.int64)


@dataclass(frozen=True)
class Densities:
    """How densities of two groups compare by distances to neighbours, in any number of dimensions.

    In d dimensions the logarithm of the density of the first over that of the second is d times `closer` and `counted`.

    Attributes
    ----------
    closer : float
        Difference of the means of the logarithms of distances: by how much neighbours of the first are closer.
    spread, freedom : float
        Standard error of that, at least what rounding may add, and its degrees of freedom by Welch and Satterthwaite.
    counted : float
        Logarithm of the ratio of neighbours counted, of the first to the second.
    """

    closer: float
    spread: float
    freedom: float
    counted: float = 0.0

    @classmethod
    def of(cls, first: Floats, second: Floats, counted: float = 0.0) -> Densities:
        """Compare logarithms of distances around places of two groups."""
        parts = [float(np.var(logs, ddof=1)) / len(logs) for logs in (first, second)]
        squares = sum(part**2 / (len(logs) - 1) for part, logs in zip(parts, (first, second), strict=True))
        freedom = max(1.0, sum(parts) ** 2 / max(squares, float(np.finfo(np.float64).tiny)))
        return cls(float(second.mean() - first.mean()), max(math.sqrt(sum(parts)), ROUNDING), freedom, counted)

    def p_value(self, dimension: DimensionEstimate) -> float:
        """Return the larger of those at both ends of the dimension, 1 where they are on both sides of equal density."""
        one, other = (self.closer + self.counted / d for d in (dimension.low, dimension.high))
        if one * other <= 0.0:
            return 1.0
        return float(2.0 * scipy.special.stdtr(self.freedom, -min(abs(one), abs(other)) / self.spread))

    def interval(self, dimension: DimensionEstimate, alpha: float) -> tuple[float, float]:
        """Return the ends of the logarithm of the ratio of densities, over the interval of the dimension."""
        wide = float(scipy.special.stdtrit(self.freedom, 1.0 - alpha / 2.0)) * self.spread
        low, high = (
            [d * end + self.counted for d in (dimension.low, dimension.high)]
            for end in (self.closer - wide, self.closer + wide)
        )
        return min(low), max(high)


def dimension_of_groups(
    values: Any, masks: tuple[Mask, Mask], metric: str, distances: Floats, alpha: float, draw: np.random.Generator
) -> DimensionEstimate:
    """Return the intrinsic dimension of two groups: the mean of both, and the hull of their intervals.

    Where neither has rows enough to tell it is that by distances to the neighbours at hand, which falls short where
    dimensions are many, and has no upper end.

    Parameters
    ----------
    values : table of shape (n_samples, n_features)
    masks : two masks of shape (n_samples,)
    metric : str
    distances : ndarray of shape (n_rows, n_neighbors), float64
        To neighbours at hand.
    alpha : float
        How often each interval may miss.
    draw : Generator
        Chooses 500 rows of a larger group.
    """
    found = []
    for mask in masks:
        rows = values[np.sort(some_rows(mask, _DIMENSION_ROWS, draw))]
        seed = current_run().seed
        told = intrinsic_dimension(rows, metric=metric, confidence=1.0 - alpha, random_state=seed).estimates["growth"]
        if math.isfinite(told.value):
            found.append(told)
    if found:
        value = sum(one.value for one in found) / len(found)
        return DimensionEstimate(value, min(one.low for one in found), max(one.high for one in found))
    k = distances.shape[1]
    nearby = mackay_ghahramani(distances, range(k, k + 1))
    if not math.isfinite(nearby.value):
        return DimensionEstimate(1.0, 1.0, math.inf)
    return DimensionEstimate(max(1.0, nearby.value), min(1.0, nearby.low), math.inf)


def compare_equal_shares(
    values: Any, masks: tuple[Mask, Mask], logs: list[Floats], metric: str, k: int, draw: np.random.Generator
) -> Densities | None:
    """Compare groups of unlike numbers of rows by neighbourhoods that are as large a share of each.

    Of a small group more rows lie near its border, where a part of each neighbourhood is empty: by as many neighbours
    of both it seems less dense. By equal shares both have as much of a border.

    Parameters
    ----------
    values : table of shape (n_samples, n_features)
    masks : two masks of shape (n_samples,)
    logs : two ndarray, float64
        Logarithms of the distances to the k-th neighbours around places of both groups; those of the smaller stay.
    metric : str
    k : int
    draw : Generator

    Returns
    -------
    Densities or None
        None for groups of like numbers of rows.
    """
    n, counts = int(values.shape[0]), [int(np.count_nonzero(mask)) for mask in masks]
    large = int(counts[1] > counts[0])
    if counts[large] < _UNLIKE * counts[1 - large]:
        return None
    more = round(k * counts[large] / counts[1 - large])
    radii = np.empty(0)
    if more < n:
        rows = np.sort(some_rows(masks[large], min(_SHARED_ROWS, _MOST_FOUND // more), draw))
        indices, distances = neighbors_of(values, rows, more, metric)
        chosen = apart_balls(draw.permutation(len(rows)), np.column_stack([rows, indices]), n)
        radii = np.asarray(distances[chosen, -1], dtype=np.float64)
        radii = radii[radii > 0.0]
    if len(radii) < FEWEST_BALLS:
        return Densities(0.0, math.inf, 1.0)  # nothing is sure
    counted = float(scipy.special.digamma(more) - scipy.special.digamma(k))
    return Densities.of(logs[0], log(radii), -counted) if large else Densities.of(log(radii), logs[1], counted)
