"""Matrices of random numbers whose rows are functions of (seed, stream, row), and random directions made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon import _core
from gnomon._run import current_run
from gnomon._threads import single_threaded_blas

__all__ = ["draw_by_weight", "normal_matrix", "random_directions", "uniform_matrix"]

_STREAM_NORMAL, _STREAM_SPARSE = 105, 106


def uniform_matrix(seed: int, stream: int, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Draw independent numbers, uniform in [0, 1).

    Parameters
    ----------
    seed : int in [0, 2**63)
        The seed of the computation.
    stream : int >= 0
        Names the purpose: equal seeds with different streams give independent numbers.
    shape : (int, int)
        Rows and columns; row i does not depend on the number of rows.

    Returns
    -------
    ndarray of the given shape, float64
    """
    matrix: npt.NDArray[np.float64] = _core.uniform_matrix(seed, stream, shape[0], shape[1], current_run().n_threads)
    return matrix


def normal_matrix(seed: int, stream: int, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Draw independent standard normal numbers.

    Parameters
    ----------
    seed : int in [0, 2**63)
        The seed of the computation.
    stream : int >= 0
        Names the purpose: equal seeds with different streams give independent numbers.
    shape : (int, int)
        Rows and columns; row i does not depend on the number of rows.

    Returns
    -------
    ndarray of the given shape, float64
    """
    matrix: npt.NDArray[np.float64] = _core.normal_matrix(seed, stream, shape[0], shape[1], current_run().n_threads)
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


def random_directions(variant: str, n_directions: int, n_features: int, *, seed: int) -> Any:
    """Draw a matrix C with E |C x|^2 = |x|^2 for every x.

    Parameters
    ----------
    variant : {"gaussian", "orthonormal", "sparse"}
        "gaussian": normal entries of variance 1 / n_directions. "orthonormal": orthonormal rows, uniformly
        distributed, times sqrt(n_features / n_directions). "sparse": entries are 0 but for a share
        1 / sqrt(n_features) of them, on average.
    n_directions : int >= 1
        At most n_features for "orthonormal".
    n_features : int >= 1
    seed : int in [0, 2**63)

    Returns
    -------
    ndarray, or csr_array if sparse, of shape (n_directions, n_features), float64
    """
    if variant == "sparse":
        return _sparse_directions(n_directions, n_features, seed)
    normal = normal_matrix(seed, _STREAM_NORMAL, (n_features, n_directions))
    if variant == "gaussian":
        return np.ascontiguousarray(normal.T) / np.sqrt(n_directions)
    with single_threaded_blas():
        basis, triangle = np.linalg.qr(normal)
    signs = np.where(np.diag(triangle) < 0.0, -1.0, 1.0)  # without them the directions would not be uniform
    return np.ascontiguousarray((basis * signs).T) * np.sqrt(n_features / n_directions)


def _sparse_directions(n_directions: int, n_features: int, seed: int) -> scipy.sparse.csr_array:
    density = 1.0 / np.sqrt(n_features)
    size = 1.0 / np.sqrt(density * n_directions)
    uniform = uniform_matrix(seed, _STREAM_SPARSE, (n_features, n_directions))
    feature, direction = np.nonzero(uniform < density)
    entries = np.where(uniform[feature, direction] < density / 2.0, -size, size)
    return scipy.sparse.csr_array((entries, (direction, feature)), shape=(n_directions, n_features))
