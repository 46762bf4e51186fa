"""Matrices of random numbers whose rows are functions of (seed, stream, row)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon import _core

__all__ = ["draw_by_weight", "normal_matrix", "uniform_matrix"]


def uniform_matrix(seed: int, stream: int, shape: tuple[int, int], *, n_threads: int = 1) -> npt.NDArray[np.float64]:
    """Draw independent numbers, uniform in [0, 1).

    Parameters
    ----------
    seed : int in [0, 2**63)
        The seed of the computation.
    stream : int >= 0
        Names the purpose: equal seeds with different streams give independent numbers.
    shape : (int, int)
        Rows and columns; row i does not depend on the number of rows.
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    ndarray of the given shape, float64
    """
    matrix: npt.NDArray[np.float64] = _core.uniform_matrix(seed, stream, shape[0], shape[1], n_threads)
    return matrix


def normal_matrix(seed: int, stream: int, shape: tuple[int, int], *, n_threads: int = 1) -> npt.NDArray[np.float64]:
    """Draw independent standard normal numbers.

    Parameters
    ----------
    seed : int in [0, 2**63)
        The seed of the computation.
    stream : int >= 0
        Names the purpose: equal seeds with different streams give independent numbers.
    shape : (int, int)
        Rows and columns; row i does not depend on the number of rows.
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    ndarray of the given shape, float64
    """
    matrix: npt.NDArray[np.float64] = _core.normal_matrix(seed, stream, shape[0], shape[1], n_threads)
    return matrix


def draw_by_weight(weights: npt.NDArray[np.float64], uniform: float) -> int:
    """Return an index, drawn with probability proportional to its weight.

    Parameters
    ----------
    weights : ndarray of shape (n,), float64
        Not negative, positive somewhere. An index of weight 0 is never drawn.
    uniform : float in [0, 1)
        The random number that decides.
    """
    heights = np.cumsum(weights)
    below = min(uniform * float(heights[-1]), float(np.nextafter(heights[-1], 0.0)))
    return int(np.searchsorted(heights, below, side="right"))
