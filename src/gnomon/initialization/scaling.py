"""Bring a start to the size that a method expects."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas
from gnomon.linalg import column_signs

__all__ = ["principal_rotation", "rescale", "rescale_to_box"]


def rescale(embedding: npt.ArrayLike, standard_deviation: float = 1e-4) -> npt.NDArray[np.float32]:
    """Centre an embedding and scale it so that its first column has a given standard deviation, as t-SNE starts.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Finite.
    standard_deviation : float > 0, default=1e-4
        Of the first column; of all entries where the first column is constant.

    Returns
    -------
    ndarray of shape (n_samples, n_components), float32
        Zero where all points coincide.
    """
    centred = np.array(embedding, dtype=np.float64)
    centred -= centred.mean(axis=0)
    largest = float(np.abs(centred).max(initial=0.0))
    if largest == 0.0:
        return centred.astype(np.float32)
    centred /= largest  # squares of any finite entry stay in range
    spread = float(centred[:, 0].std())
    if spread < 1e-12:
        spread = float(np.sqrt(np.mean(centred**2)))
    return (centred * (standard_deviation / spread)).astype(np.float32)


def rescale_to_box(embedding: npt.ArrayLike, size: float = 10.0) -> npt.NDArray[np.float32]:
    """Scale each axis of an embedding to [0, size], as UMAP starts.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Finite.
    size : float > 0, default=10.0
        Side of the box. A constant axis goes to its middle.

    Returns
    -------
    ndarray of shape (n_samples, n_components), float32
    """
    points = np.array(embedding, dtype=np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    extent = high - low
    unit = np.divide(points - low, extent, out=np.full_like(points, 0.5), where=extent > 0.0)
    scaled: npt.NDArray[np.float64] = unit * size
    return scaled.astype(np.float32)


def principal_rotation(Y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the rotation or reflection A for which Y @ A lies along its principal axes.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_components)
        Finite numbers.

    Returns
    -------
    ndarray of shape (n_components, n_components), float64
        Orthogonal. Columns are the axes of falling spread, each with the farthest point on its positive side, so for
        an orthogonal R, Y @ R rotated by its own A is Y rotated by its own, up to rounding; axes of equal spread, which
        cannot be told apart, are any.
    """
    centred = Y.astype(np.float64) - Y.mean(axis=0, dtype=np.float64)
    with single_threaded_blas():
        axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
        rotated = centred @ axes
    found: npt.NDArray[np.float64] = np.ascontiguousarray(axes * column_signs(rotated))
    return found
