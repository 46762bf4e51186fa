"""How many rows lie at the border of two groups, as near to the one as to the other, in the units of each place.

The fall of density on the best path is held against the densest rows of the groups. Where groups come nearest in a
place far denser than the rest of them, it is still denser than that rest. So no fall is seen, though rows of the two do
not mix there either. Here each row is measured by the radius of its own place instead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.evaluation.gaps.lines import THIN
from gnomon.evaluation.gaps.saddles import N_NEIGHBORS
from gnomon.linalg import row_products

__all__ = ["Border", "Radii"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Windows = Literal["narrow", "near", "wide"]

_HALF = 0.0625  # half the width of a window, of the distance of those beside
_LEAST = 0.37  # times the median deviation of a group, a quarter of a standard one: half the width of a window at least
_BESIDE = 2.0  # places from which on rows of an even line have all their neighbours; far ones tell of its bends
_NEAREST = 0.05  # share of a group's rows that are nearer
_EVEN = 1.0  # half the width of a window up to which an even line holds as many rows between as beside
_WIDE = 0.5  # half the width of a wide window, of the nearer place beside: windows meet
_FEW = 2  # rows between that are strays: where groups go over into each other there are more
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
        self._nearest: dict[bytes, Floats] = {}

    def to(self, group: Mask, k: int = N_NEIGHBORS) -> Floats:
        """Return the distance of each row to its k-th neighbour in a group, of 15 at most, or to the last of fewer."""
        asked = group.tobytes()
        if asked not in self._nearest:
            self._nearest[asked] = self._of(group)
        nearest = self._nearest[asked]
        return np.sqrt(np.maximum(nearest[:, min(k, nearest.shape[1]) - 1], 0.0))

    def nearest(self, rows: Mask) -> Floats:
        """Return the distance of each row to the nearest of some rows, of one at least, but itself."""
        squares: Floats = self._squares[:, np.flatnonzero(rows)].min(axis=1)
        return np.sqrt(np.maximum(squares, 0.0))

    def _of(self, group: Mask) -> Floats:
        """Return the squared distances of each row to its nearest neighbours in a group, rising."""
        columns = np.flatnonzero(group)
        k = min(N_NEIGHBORS, len(columns) - 1)
        found = np.empty((len(group), k))
        for start in range(0, len(group), _BLOCK):
            rows = slice(start, start + _BLOCK)
            found[rows] = np.sort(np.partition(self._squares[rows][:, columns], k - 1, axis=1)[:, :k], axis=1)
        return found


@dataclass(frozen=True)
class Border:
    """Rows of two groups counted in windows of equal width, by how much farther the other group is than their own.

    A row is placed at the distance to its k-th neighbour in the other group over that to the k-th in its own, less 1,
    rows of the second group at minus this: a row as near to both is at 0. Along an even line rows lie evenly in these
    places too, k / 2 to a unit.

    Attributes
    ----------
    between : int
        In the window at 0.
    peak : int
        In the window at the median of the group with fewer rows there, or where the median is beyond 2, at 2 or
        where the nearest twentieth of the group ends.
    in_order : bool
        Whether the medians of the two are on the sides of their groups: else the two are mixed.
    fewer : int
        Of the rows between, those of the group that has fewer of them.
    width : float
        Half that of a window.
    near : int or None
        The peak of rows that are no farther from a row between than from their k-th neighbour of the other group, told
        in narrow windows where three rows are between. Turns of a roll face each other along their whole length, and go
        over into each other in one place alone: there as many rows may be between as beside.
    """

    between: int
    peak: int
    in_order: bool
    fewer: int = 0
    width: float = 0.0
    near: int | None = None

    @property
    def where_they_meet(self) -> Border:
        """The border near its rows between alone."""
        return self if self.near is None else replace(self, peak=self.near)

    @classmethod
    def of(cls, radii: Radii, a: Mask, b: Mask, k: int = N_NEIGHBORS, *, windows: Windows = "narrow") -> Self:
        """Count the rows of two groups without rows in common, of at least two rows each.

        Narrow windows tell places apart best. Wide ones hold the most rows, without one in two of them; near ones are
        as wide but for the place beside, which is where the nearest rows end that have each other as neighbours: along
        an even line, in the same width there are as many rows between as beside.
        """
        to_a, to_b = radii.to(a, k), radii.to(b, k)
        own, other = np.where(a, to_a, to_b), np.where(a, to_b, to_a)
        least = float(own[(a | b) & (own > 0.0)].min(initial=np.inf))
        if not np.isfinite(least):  # rows of each group are all equal
            return cls(0, 0, False)
        places = np.where(a, 1.0, -1.0) * (np.maximum(other, least) / np.maximum(own, least) - 1.0)
        first, second = (float(np.median(places[rows])) for rows in (a, b))
        spread = min(float(np.median(np.abs(places[rows] - np.median(places[rows])))) for rows in (a, b))
        most = k // 2 if windows == "near" else None
        beside = np.array([_beside(places[a], first, most), -_beside(-places[b], -second, most)])
        width = _WIDE * float(np.abs(beside).min())
        if windows == "narrow":
            width = min(max(_HALF * (beside[0] - beside[1]), _LEAST * spread), width)
        inside = (np.abs(places[:, None] - [0.0, *beside]) <= width) & (a | b)[:, None]
        between, *peaks = np.count_nonzero(inside, axis=0)
        near = peaks
        if windows == "narrow" and between > _FEW:
            near = np.count_nonzero(inside[:, 1:] & (radii.nearest(inside[:, 0]) <= other)[:, None], axis=0)
        fewer = min(int(np.count_nonzero(np.abs(places[rows]) <= width)) for rows in (a, b))
        return cls(int(between), int(min(peaks)), first > 0.0 > second, fewer, width, int(min(near)))

    def is_sharp(self, share: float, alpha: float) -> bool:
        """Return whether surely fewer rows lie at the border than beside it, and by count below a share of those."""
        fewer = scipy.special.bdtr(self.between, self.between + self.peak, 0.5) <= alpha
        return bool(self.in_order and fewer and self.between < share * self.peak)

    def is_below(self, share: float, alpha: float) -> bool:
        """Return whether the rows at the border are surely fewer than a share of those beside it."""
        surely = scipy.special.bdtr(self.between, self.between + self.peak, share / (1.0 + share)) <= alpha
        return bool(self.in_order and surely)

    def fall(self, alpha: float) -> tuple[float, float, float]:
        """Return by how much the logarithm of density falls at the border, with the ends of its interval, by counts.

        Each end is missed in a share `alpha` of cases. The fall itself counts half a row more, of both.
        """
        n, few = self.between + self.peak, float(self.between)
        most = float(scipy.special.bdtri(few, n, alpha)) if self.peak else 1.0
        least = float(scipy.special.bdtri(few - 1.0, n, 1.0 - alpha)) if self.between else 0.0
        ends = [
            math.inf if share <= 0.0 else math.log(1.0 / share - 1.0) if share < 1.0 else -math.inf
            for share in (most, least)
        ]
        return math.log((self.peak + 0.5) / (self.between + 0.5)), ends[0], ends[1]

    def is_thin(self, alpha: float) -> bool:
        """Return whether rows surely thin out at the border, as between two clusters of `gnomon.find_clusters`.

        Not where windows reach beyond the rows that have each other as neighbours: there even lines hold fewer.
        """
        fewer = scipy.special.bdtr(self.between, self.between + self.peak, 0.5) <= alpha
        return bool(self.in_order and fewer and self.between <= THIN * self.peak and self.width <= _EVEN)

    def joins(self, share: float, alpha: float) -> bool:
        """Return whether the rows at the border are surely more than a share of those beside it, or the two are mixed.

        They are of both groups: where one has surely fewer than half of them, twice as many as it has count.
        """
        if not self.in_order:
            return True
        lopsided = scipy.special.bdtr(self.fewer, self.between, 0.5) <= alpha
        between = 2 * self.fewer if lopsided else self.between
        return bool(scipy.special.bdtrc(between - 1, between + self.peak, share / (1.0 + share)) <= alpha)


def _beside(places: Floats, median: float, most: int | None) -> float:
    """Return where a group is counted beside the border: where rows are many, but not far from it.

    At least a twentieth of its rows are nearer, or as many as `most`.
    """
    nearest = float(np.quantile(places, _NEAREST))
    if most is not None and most < len(places):
        nearest = min(nearest, float(np.partition(places, most)[most]))
    return min(median, max(_BESIDE, nearest))
