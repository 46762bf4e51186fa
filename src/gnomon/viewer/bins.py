"""Which of at most 256 bins numbers lie in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["bins_of"]

_GRID = 1 << 16
_SEARCHED = 2048  # numbers for which the grid is not worth its while


def bins_of(known: npt.NDArray[np.floating[Any]], edges: npt.NDArray[np.floating[Any]]) -> npt.NDArray[Any]:
    """Return how many edges are at most each number, of edges that may move by 1/65,535 of the range.

    To look numbers up in a grid of 65,536 steps takes a tenth of the time of a search among the edges. They are
    searched for where the grid does not part all edges: then none moves, and equal bins hold equal numbers.

    Parameters
    ----------
    known : ndarray of shape (n,), float32 or float64
        Finite.
    edges : ndarray of shape (n_edges,), at most 255
        Ascending.

    Returns
    -------
    ndarray of shape (n,), uint8 or int64
    """
    if edges.size and known.size >= _SEARCHED:
        low, high = known.min(), known.max()
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            scale = (_GRID - 1) / (high - low)
        if 0.0 < scale < np.inf:
            steps = _steps(edges, low, scale)
            if steps[0] > 0 and (steps[1:] > steps[:-1]).all():
                bins = np.cumsum(np.bincount(steps, minlength=_GRID)).astype(np.uint8)
                return np.asarray(bins[_steps(known, low, scale)])
    return np.searchsorted(edges, known, side="right")


def _steps(numbers: npt.NDArray[Any], low: Any, scale: Any) -> npt.NDArray[np.uint16]:
    found: npt.NDArray[np.uint16] = ((numbers - low) * scale).astype(np.uint16)
    return found
