"""How many rows lie at the border of two groups, as near to the one as to the other, in the units of each place.

The fall of density on the best path is held against the densest rows of the groups. Where groups come nearest in a
place far denser than the rest of them, it is still denser than that rest. So no fall is seen, though rows of the two do
not mix there either. Here each row is measured by the radius of its own place instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.evaluation.gaps.saddles import N_NEIGHBORS
from gnomon.linalg import row_products

__all__ = ["Border", "Radii"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

_HALF = 0.0625  # half the width of a window, of the distance of those beside
_LEAST = 0.37  # times the median deviation of a group, a quarter of a standard one: half the width of a window at least
_BESIDE = 2.0  # places from which on rows of an even line have all their neighbours; far ones tell of its bends
_NEAREST = 0.05  # share of a group's rows that are nearer
_BLOCK = 256  # rows whose distances are sorted at a time


class Radii:
    """How far rows of a table have to go for neighbours in a group.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float64
    """

    def __init__(self, X: Floats) -> None:
        products = row_products(X)
        lengths = products.diagonal().copy()
        products *= -2.0
        products += lengths[:, None]
        products += lengths
        np.fill_diagonal(products, np.inf)  # no row is a neighbour of itself
        self._squares = products

    def to(self, group: Mask) -> Floats:
        """Return the distance of each row to its 15th neighbour in a group, or to the last of fewer."""
        columns = np.flatnonzero(group)
        k = min(N_NEIGHBORS, len(columns) - 1) - 1
        found = np.empty(len(group))
        for start in range(0, len(group), _BLOCK):
            rows = slice(start, start + _BLOCK)
            found[rows] = np.partition(self._squares[rows][:, columns], k, axis=1)[:, k]
        return np.sqrt(np.maximum(found, 0.0))


@dataclass(frozen=True)
class Border:
    """Rows of two groups counted in windows of equal width, by how much farther the other group is than their own.

    A row is placed at the distance to its 15th neighbour in the other group over that to the 15th in its own, less 1,
    rows of the second group at minus this: a row as near to both is at 0. Along an even line rows lie evenly in these
    places too, 7.5 to a unit.

    Attributes
    ----------
    between : int
        In the window at 0.
    peak : int
        In the window at the median of the group with fewer rows there, or where the median is beyond 2, at 2 or
        where the nearest twentieth of the group ends.
    in_order : bool
        Whether the medians of the two are on the sides of their groups: else the two are mixed.
    """

    between: int
    peak: int
    in_order: bool

    @classmethod
    def of(cls, radii: Radii, a: Mask, b: Mask) -> Self:
        """Count the rows of two groups without rows in common, of at least two rows each."""
        to_a, to_b = radii.to(a), radii.to(b)
        own, other = np.where(a, to_a, to_b), np.where(a, to_b, to_a)
        least = float(own[(a | b) & (own > 0.0)].min(initial=np.inf))
        if not np.isfinite(least):  # rows of each group are all equal
            return cls(0, 0, False)
        places = np.where(a, 1.0, -1.0) * (np.maximum(other, least) / np.maximum(own, least) - 1.0)
        first, second = (float(np.median(places[rows])) for rows in (a, b))
        spread = min(float(np.median(np.abs(places[rows] - np.median(places[rows])))) for rows in (a, b))
        beside = np.array([_beside(places[a], first), -_beside(-places[b], -second)])
        width = min(max(_HALF * (beside[0] - beside[1]), _LEAST * spread), 0.5 * float(np.abs(beside).min()))
        between, *peaks = np.count_nonzero(np.abs(places[a | b][:, None] - [0.0, *beside]) <= width, axis=0)
        return cls(int(between), int(min(peaks)), first > 0.0 > second)

    def is_sharp(self, share: float, alpha: float) -> bool:
        """Return whether surely fewer rows lie at the border than beside it, and by count below a share of those."""
        fewer = scipy.special.bdtr(self.between, self.between + self.peak, 0.5) <= alpha
        return bool(self.in_order and fewer and self.between < share * self.peak)


def _beside(places: Floats, median: float) -> float:
    """Return where a group is counted beside the border: where rows are many, but not far from it."""
    return min(median, max(_BESIDE, float(np.quantile(places, _NEAREST))))
