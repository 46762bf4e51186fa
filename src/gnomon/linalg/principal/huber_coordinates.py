"""Coordinates of rows in a subspace that a few entries of any size do not move."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas

__all__ = ["huber_coordinates"]

Float64Array = npt.NDArray[np.float64]

_STEPS = 50  # each halves the distance to the minimum or better, unless nearly all entries are outliers
_BLOCK = 256


def huber_coordinates(rows: npt.ArrayLike, directions: npt.ArrayLike, threshold: float) -> Float64Array:
    """Fit each row by a combination of directions, large errors counted by their size.

    Parameters
    ----------
    rows : array-like of shape (n_rows, n_features)
        Without the centre of the subspace.
    directions : array-like of shape (n_components, n_features)
        Orthonormal.
    threshold : float > 0
        Errors below it are squared, those above count by their size (see `gnomon.objectives.HuberFit`).

    Returns
    -------
    ndarray of shape (n_rows, n_components), float64
        Of 50 reweighted least-squares fits the last; each a function of its row alone.

    References
    ----------
    .. [1] Holland & Welsch, "Robust regression using iteratively reweighted least-squares", Communications in
       Statistics 6, 1977.
    """
    table, V = np.asarray(rows, dtype=np.float64), np.asarray(directions, dtype=np.float64)
    out = np.empty((len(table), len(V)))
    with single_threaded_blas():
        for begin in range(0, len(table), _BLOCK):
            some = table[begin : begin + _BLOCK]
            found: Float64Array = some @ V.T
            for _ in range(_STEPS):
                errors = np.abs(some - found @ V)
                weights = np.minimum(1.0, threshold / np.maximum(errors, threshold))
                weighted = weights[:, None, :] * V
                normal = weighted @ V.T
                found = np.asarray(np.linalg.solve(normal, weighted @ some[:, :, None])[:, :, 0], dtype=np.float64)
            out[begin : begin + _BLOCK] = found
    return out
