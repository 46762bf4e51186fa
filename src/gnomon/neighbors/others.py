"""Rows of a table that ask for their neighbours as if they were new ones, and leave themselves out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["without_own"]


def without_own(
    indices: npt.NDArray[np.int32], distances: npt.NDArray[np.floating], own: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Leave each row out of what it found, or the last it found if it is hidden behind copies of itself.

    Parameters
    ----------
    indices, distances : ndarray of shape (n_rows, n_neighbors + 1)
        What each row found.
    own : ndarray of shape (n_rows,)
        Number of each row in the table.

    Returns
    -------
    indices, distances : ndarray of shape (n_rows, n_neighbors)
    """
    drop = indices == own[:, None]
    drop[~drop.any(axis=1), -1] = True
    shape = (len(indices), indices.shape[1] - 1)
    return indices[~drop].reshape(shape), distances[~drop].reshape(shape)
