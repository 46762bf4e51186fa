"""Which features carry a changed row through the map, and the fewest of them that bring it where all together do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import length

if TYPE_CHECKING:
    from gnomon.data.scaling import ColumnScales
    from gnomon.explanations.counterfactual.paths import Candidate
    from gnomon.explanations.explanation import Explanation

__all__ = ["Attribution", "Order", "direction", "fewest_features"]

Array = npt.NDArray[np.float64]
_SIZES = 16  # sets tried at a time for each order


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
    """

    row: Array
    features: npt.NDArray[np.int64]

    @classmethod
    def by(cls, weight: Array, own: Array, row: Array) -> Order:
        """Sort the features that change by the size of a weight, larger changes first where it is the same."""
        order = np.lexsort((-np.abs(row - own), -np.nan_to_num(np.abs(weight))))
        return cls(row, order[(row != own)[order]].astype(np.int64))

    def first(self, size: int, own: Array) -> Array:
        """Return the row with the first features changed and all others as they were."""
        changed = own.copy()
        changed[self.features[:size]] = self.row[self.features[:size]]
        return changed


def fewest_features(own: Array, orders: list[Order], arrives: Callable[[Array], list[bool]]) -> tuple[int, int]:
    """Return the order whose first features arrive with fewest of them, and how many; the first of equal orders.

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
    above = [len(order.features) for order in orders]
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
