"""Which features carry a changed row through the map, and the fewest of them that bring it where all together do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import length

if TYPE_CHECKING:
    from gnomon.data.column_scales import ColumnScales
    from gnomon.explanations.counterfactual.paths import Candidate
    from gnomon.explanations.explanation import Explanation

__all__ = ["Attribution", "Order", "direction", "fewest_features", "irreducible"]

Array = npt.NDArray[np.float64]
_SIZES = 16  # sets tried at a time for each order
_PARTS = 16  # of many units that are dropped together at first


def direction(start: Array, end: Array) -> Array:
    """Return the unit vector from one place to another; zero for the same place, NaN for one that is unknown."""
    step = end - start
    size = length(step)
    return step / size if size != 0 else np.zeros_like(step)


class Attribution:
    """Displacements in the map predicted for each feature along a path, by the local linear maps at its rows.

    On each step the map is taken as the mean of the linear maps at both ends, so for an affine map whose local maps
    are exact a feature's displacement is its column times its change. Rows without a local map are passed over.

    Parameters
    ----------
    explanation : Explanation
    own : ndarray of shape (n_features,)
        The row before the change.
    scales : ColumnScales
        The range of the data, within which changed rows stay.
    """

    def __init__(self, explanation: Explanation, own: Array, scales: ColumnScales) -> None:
        self.explanation = explanation
        self._own = own
        self._scales = scales
        self._axes: dict[int, Array] = {}

    def _axes_at(self, row: int) -> Array:
        if row not in self._axes:
            self._axes[row] = self.explanation.axes(row)
        return self._axes[row]

    def _steps(self, candidate: Candidate) -> list[tuple[Array, list[int]]]:
        """Return the changes, one a step, that lead to the changed row, and the rows with a local map at its ends."""
        path = candidate.path
        taken = candidate.share * path.arc[-1]
        n_steps = max(1, int(np.count_nonzero(path.arc[:-1] < taken)))
        passed = np.clip(path.stations[1:n_steps], self._scales.low, self._scales.high)
        changes = np.diff(np.concatenate([self._own[None], passed, candidate.row[None]]), axis=0)
        mask = self.explanation.mask
        return [(change, [int(r) for r in path.rows[s : s + 2] if mask[r]]) for s, change in enumerate(changes)]

    def displacements(self, candidate: Candidate) -> Array:
        """Return the predicted displacement by each feature, (n_components, n_features), in units of the map.

        Their sum over the features is the displacement that is predicted of the row as a whole.
        """
        total = np.zeros((self.explanation.n_components, len(self._own)))
        for change, ends in self._steps(candidate):
            for row in ends:
                total += self._axes_at(row) * (change / len(ends))
        return total

    def errors(self, candidate: Candidate, toward: Array) -> Array:
        """Return standard errors of the displacements in a direction, (n_features,).

        The linear maps along a path share neighbours: their errors are added up as if they were one and the same, which
        is the most that they can come to.
        """
        total = np.zeros((len(toward), len(self._own)))
        known: dict[int, Array] = {}
        for change, ends in self._steps(candidate):
            for row in ends:
                if row not in known:
                    known[row] = self.explanation.axes_error(row)
                total += np.where(change == 0, 0.0, known[row] * np.abs(change) / len(ends))
        errors: Array = np.sqrt(np.sum((toward[:, None] * total) ** 2, axis=0))
        return errors


@dataclass(frozen=True)
class Order:
    """A changed row, and the order in which its features are taken into the set.

    Attributes
    ----------
    row : ndarray of shape (n_features,)
        The changed row, all features changed.
    features : ndarray of int64
        Those that change, most important first.
    ends : ndarray of int64 or None, default=None
        Where features change together, as the categories of a column do: how many features the first of these units
        have, the first two, and so on. None if each changes by itself.
    """

    row: Array
    features: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64] | None = None

    @classmethod
    def by(cls, weight: Array, own: Array, row: Array, units: npt.NDArray[np.int64] | None = None) -> Order:
        """Sort the features that change by the size of a weight, larger changes first where it is the same.

        Features of the same number in `units` change together, by the sum of their weights.
        """
        if units is None:
            units = np.arange(len(row))
        size, moved = (np.bincount(units, one)[units] for one in (np.nan_to_num(weight), np.abs(row - own)))
        order = np.lexsort((units, -moved, -np.abs(size)))
        features = order[(row != own)[order]].astype(np.int64)
        return cls(row, features, np.flatnonzero(np.diff(units[features], append=-1)) + 1)

    @property
    def n_units(self) -> int:
        """How many features, or sets of them that change together, there are."""
        return len(self.features if self.ends is None else self.ends)

    def chosen(self, size: int) -> npt.NDArray[np.int64]:
        """Return the features of the first units."""
        return self.features[: size if self.ends is None or not size else self.ends[size - 1]]

    def first(self, size: int, own: Array) -> Array:
        """Return the row with the features of the first units changed and all others as they were."""
        changed, features = own.copy(), self.chosen(size)
        changed[features] = self.row[features]
        return changed


def fewest_features(own: Array, orders: list[Order], arrives: Callable[[Array], list[bool]]) -> tuple[int, int]:
    """Return the order whose first units arrive with fewest of them, and how many; the first of equal orders.

    Sizes are tried from few to many, then between the last that fails and the first that arrives. All features of an
    order must arrive; an order that cannot fall below what another reaches is given up.

    Parameters
    ----------
    own : ndarray of shape (n_features,)
        The row before the change.
    orders : list of Order
    arrives : callable
        Takes rows (n, n_features), says of each whether it arrives.
    """
    below = [0] * len(orders)  # the largest size known to fail, and the smallest known to arrive
    above = [order.n_units for order in orders]
    first = True
    while True:
        goal = min(above)
        open_orders = [o for o in range(len(orders)) if above[o] - below[o] > 1 and below[o] + 1 < goal]
        if not open_orders:
            best = int(np.argmin(above))
            return best, above[best]
        space = np.geomspace if first else np.linspace
        sizes = [np.unique(np.round(space(below[o] + 1, above[o] - 1, _SIZES)).astype(np.int64)) for o in open_orders]
        rows = [orders[o].first(int(s), own) for o, some in zip(open_orders, sizes, strict=True) for s in some]
        landed = iter(arrives(np.array(rows)))
        for o, some in zip(open_orders, sizes, strict=True):
            told = np.array([next(landed) for _ in some])
            hit = int(np.argmax(told)) if told.any() else len(some)
            below[o] = int(some[hit - 1]) if hit else below[o]
            above[o] = int(some[hit]) if hit < len(some) else above[o]
        first = False


def irreducible(
    own: Array,
    row: Array,
    units: list[npt.NDArray[np.int64]],
    arrives: Callable[[Array], list[bool]],
    fewest: int = 1,
) -> list[npt.NDArray[np.int64]]:
    """Return those of some units without any one of which the row no longer arrives.

    Parameters
    ----------
    own : ndarray of shape (n_features,)
        The row before the change.
    row : ndarray of shape (n_features,)
        The changed row; with the features of all units changed it arrives.
    units : list of ndarray of int64
        Features that change together, those that are to be dropped first in front.
    arrives : callable
        Takes rows (n, n_features), says of each whether it arrives.
    fewest : int >= 0, default=1
        Units that stay at least.
    """

    def dropped(without: list[int]) -> Array:
        changed = own.copy()
        for u in set(range(len(left))) - set(without):
            changed[left[u]] = row[left[u]]
        return changed

    left = list(units)
    size = max(1, len(left) // _PARTS)  # of many features some are dropped together first
    while len(left) > fewest:
        parts = [list(range(start, min(start + size, len(left)))) for start in range(0, len(left), size)]
        told = arrives(np.array([dropped(part) for part in parts]))
        free = [part for part, good in zip(parts, told, strict=True) if good]
        if free:
            sums = [[u for part in free[: k + 1] for u in part] for k in range(len(free))]
            told = [True, *arrives(np.array([dropped(one) for one in sums[1:]]))] if len(free) > 1 else [True]
            gone = set(sums[max(k for k, good in enumerate(told) if good)])
            left = [unit for u, unit in enumerate(left) if u not in gone]
        elif size == 1:
            break
        size = size if free and size <= len(left) else max(1, size // 4)
    return left
