"""The one formula behind every gradient: sum_j C_ij (y_i - y_j)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["pair_force"]


def pair_force(coefficients: Any, Y: npt.ArrayLike, sources: npt.ArrayLike | None = None) -> npt.NDArray[np.float64]:
    """Return sum_j C_ij (y_i - z_j) for each row i, in float64.

    Parameters
    ----------
    coefficients : array or sparse matrix of shape (n_rows, n_sources)
        C; its cost is its number of entries times n_components.
    Y : array-like of shape (n_rows, n_components)
        Points that feel the force.
    sources : array-like of shape (n_sources, n_components) or None, default=None
        Points z_j that exert it; None takes Y.

    Returns
    -------
    ndarray of shape (n_rows, n_components), float64
    """
    points = np.asarray(Y, dtype=np.float64)
    others = points if sources is None else np.asarray(sources, dtype=np.float64)
    middle = others.mean(axis=0)  # the two parts nearly cancel where the map lies far from the origin
    totals = np.asarray(coefficients.sum(axis=1)).reshape(-1, 1)
    return np.asarray(totals * (points - middle) - coefficients @ (others - middle))
