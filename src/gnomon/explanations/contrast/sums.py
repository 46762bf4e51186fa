"""Sums over rows of a table, a block of them at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["BLOCK", "sum_deviations"]

Array = npt.NDArray[np.float64]

BLOCK = 1 << 22
"""Numbers of a table made dense at a time."""
_HELD = 1 << 17  # deviations at a time


def sum_deviations(X: Any, rows: npt.NDArray[np.intp], center: Array, *, squared: bool = False) -> Array:
    """Return the sums of the deviations of some rows from a center, or of their squares.

    By blocks that stay in a cache. Each begins with the sums of those before: rows are added one by one.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    rows : ndarray of int
    center : ndarray of shape (n_features,), float64
    squared : bool, default=False

    Returns
    -------
    ndarray of shape (n_features,), float64
    """
    step = max(1, _HELD // len(center))
    held = np.empty((min(step, len(rows)) + 1, len(center)))
    for begin in range(0, len(rows), step):
        some = X[rows[begin : begin + step]]
        block = held[1 : len(some) + 1]
        np.subtract(some, center, out=block)
        if squared:
            np.square(block, out=block)
        held[0] = held[: len(some) + 1].sum(axis=0) if begin else block.sum(axis=0)
    sums: Array = held[0]
    return sums
