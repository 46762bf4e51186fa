"""Which entries of each row come first, the same on every processor also where some are equal."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["first_columns"]


def first_columns(order: npt.NDArray[np.floating], k: int) -> npt.NDArray[np.intp]:
    """Return the k columns of each row that come first, ascending by (order, column).

    NumPy's `argpartition` alone takes other ones of equal entries on another processor.

    Parameters
    ----------
    order : ndarray of shape (n_rows, n_columns)
        Without NaN.
    k : int in [1, n_columns]

    Returns
    -------
    ndarray of shape (n_rows, k), intp
    """
    chosen = np.sort(np.argpartition(order, k - 1, axis=1)[:, :k], axis=1)
    last = np.take_along_axis(order, chosen, axis=1).max(axis=1, keepdims=True)
    for row in np.flatnonzero((order <= last).sum(axis=1) > k):  # ties at the end: those of least number
        chosen[row] = np.sort(np.argsort(order[row], kind="stable")[:k])
    keys = np.take_along_axis(order, chosen, axis=1)
    return np.take_along_axis(chosen, np.argsort(keys, axis=1, kind="stable"), axis=1)
