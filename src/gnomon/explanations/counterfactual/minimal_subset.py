"""The fewest features of a change that still bring the row where all of them together do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Order", "fewest_features"]

_SIZES = 16  # sets tried at a time for each order
Array = npt.NDArray[np.float64]


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
