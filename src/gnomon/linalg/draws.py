"""Matrices of random numbers whose rows are functions of (seed, stream, row)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon import _core

__all__ = ["normal_matrix", "uniform_matrix"]


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
