"""Whether new rows that are unlike the old ones lie together, as a group does that the map has not seen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.special

from gnomon.linalg.table import evenly_spaced
from gnomon.neighbors import RowSearch, without_own

__all__ = ["rows_together"]

Rows = npt.NDArray[np.int64]

_FEWEST = 5  # rows of a group
_BY_CHANCE = 0.001
_RARE = 0.1  # how often at most a row has so many new ones nearer than any old one
_LEAST_NEAR = 2
_FAVOUR = 2.0  # odds of a new row to be nearest where a row is known to lie far from the old ones
_SAMPLE = 1000


def rows_together(X: Any, X_new: Any, unusual: Rows) -> Rows:
    """Return those of the unusual rows that lie together, farther from any old row than from one another.

    Among rows of one distribution the nearest row of any is an old one as often as their share says, wherever it lies.
    Rows count that have several new ones nearer than the nearest old one, more than that share gives; of these the most
    that are linked to each other.

    Parameters
    ----------
    X, X_new : ndarray or CSR of shape (n_old, n_columns) and (n_new, n_columns)
        In coordinates that were not learned from the old rows, to which new ones would lie otherwise.
    unusual : ndarray of int64
        New rows that are unlike the old ones. Of more than 1000 evenly spaced ones are looked at.

    Returns
    -------
    ndarray of int64
        Rows of X_new in ascending order, at least 5; empty if there is nothing beyond chance.
    """
    none = np.empty(0, dtype=np.int64)
    n_old, n_new = int(X.shape[0]), int(X_new.shape[0])
    if len(unusual) < _FEWEST or n_old < 1:
        return none
    odds = _FAVOUR * (n_new - 1) / n_old
    share = odds / (1.0 + odds)
    k = max(_LEAST_NEAR, math.ceil(math.log(_RARE) / math.log(share)))
    if k > n_new - 1:
        return none
    rows = unusual[evenly_spaced(len(unusual), _SAMPLE)]
    chosen = X_new[rows]
    near, distances = without_own(*RowSearch.of(X_new, k + 1).find(chosen), rows)
    to_old = RowSearch.of(X, 1).find(chosen)[1][:, 0]
    linked = distances[:, k - 1] < to_old
    group = _largest_piece(rows[linked], near[linked])
    group = np.intersect1d(group, unusual)
    count = int(np.count_nonzero(np.isin(rows[linked], group)))
    if count < _FEWEST or scipy.special.bdtrc(count - 1, len(rows), share**k) > _BY_CHANCE:
        return none
    return group.astype(np.int64)


def _largest_piece(rows: Rows, near: npt.NDArray[Any]) -> Rows:
    """Return the rows of the largest connected piece of the graph from each row to those near it."""
    whose = {int(row): at for at, row in enumerate(rows)}
    left, best = set(whose), set[int]()
    while left:
        found, open_rows = set[int](), [min(left)]
        while open_rows:
            row = open_rows.pop()
            if row in found:
                continue
            found.add(row)
            if row in whose:
                open_rows += [int(other) for other in near[whose[row]]]
            open_rows += [int(rows[at]) for at in np.flatnonzero((near == row).any(axis=1))]
        left -= found
        best = found if len(found) > len(best) else best
    return np.array(sorted(best), dtype=np.int64)
