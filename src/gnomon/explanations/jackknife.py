"""Standard errors from what is found when one part of the points is left out at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["jackknife_error", "mean_of_blocks", "places_in_blocks"]

_BLOCKS = 32

Array = npt.NDArray[np.float64]


def jackknife_error(without: Array) -> Array:
    """Return the standard error of what was found, from what is found without each of its n parts, (n, ...)."""
    n = len(without)
    error: Array = np.sqrt((n - 1) / n * np.sum((without - without.mean(axis=0)) ** 2, axis=0))
    return error


def mean_of_blocks(sums: Array, sizes: npt.NDArray[Any]) -> tuple[Array, Array]:
    """Return the mean over all points, from the sums over blocks of them, and its standard error.

    The error comes from leaving out one block at a time: the blocks, not the points, count as independent. `sizes` may
    be sums of weights; blocks of weight 0 take no part. NaN for a single block.
    """
    useful = sizes > 0
    total, weight = sums.sum(axis=0), float(sizes.sum())
    if np.count_nonzero(useful) < 2:
        return total / weight, np.full(len(total), np.nan)
    return total / weight, jackknife_error((total - sums[useful]) / (weight - sizes[useful])[:, None])


def places_in_blocks(places: Array, n_blocks: int = _BLOCKS) -> list[npt.NDArray[np.intp]]:
    """Split places into about equally many blocks by halving them along their wider side, again and again."""
    blocks = [np.arange(len(places))]
    while len(blocks) < n_blocks:
        largest = max(range(len(blocks)), key=lambda b: len(blocks[b]))
        rows = blocks[largest]
        if len(rows) < 4:
            break
        side = int(np.argmax(np.ptp(places[rows], axis=0)))
        order = rows[np.argsort(places[rows, side], kind="stable")]
        blocks[largest : largest + 1] = [order[: len(order) // 2], order[len(order) // 2 :]]
    return blocks
