"""New points among fixed ones, each by its distances to these, from a start that is near.

The loss is the stress itself and majorization lowers it in every step; `MDS` and `LandmarkMDS` place rows so. Where the
loss saturates with the distance and has many minima, as in sketch-map, `place_points` searches the whole map.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon import _core

__all__ = ["place_by_distances"]

Float64Array = npt.NDArray[np.float64]


def place_by_distances(
    anchors: npt.ArrayLike,
    distances: npt.ArrayLike,
    start: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    max_iter: int = 300,
    tol: float = 1e-7,
    n_threads: int = 1,
) -> Float64Array:
    """Minimise the stress of single points, sum_j w_ij (delta_ij - |y_i - z_j|)^2, by majorization.

    Parameters
    ----------
    anchors : array-like of shape (n_anchors, n_components)
        Fixed points z.
    distances : array-like of shape (n_points, n_anchors)
        delta, >= 0.
    start : array-like of shape (n_points, n_components)
        Where the points begin; not changed.
    weights : array-like of shape (n_points, n_anchors) or None, default=None
        w, >= 0; None weighs all anchors 1. A point without a positive weight stays.
    max_iter : int >= 0, default=300
        Most steps of a point.
    tol : float >= 0, default=1e-7
        A point ends when a step is at most this share of the anchors' root mean square distance from their mean.
    n_threads : int >= 1, default=1
        Does not change the result.

    Returns
    -------
    ndarray of shape (n_points, n_components), float64
        Each row depends on its distances, weights and start alone.
    """
    Y = np.array(start, dtype=np.float64, order="C")
    Z = np.ascontiguousarray(anchors, dtype=np.float64)
    given = np.empty((0, 0)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    spread = float(np.sqrt(np.square(Z - Z.mean(axis=0)).sum(axis=1).mean()))
    delta = np.ascontiguousarray(distances, dtype=np.float64)
    _core.place_by_distances(Y, Z, delta, given, max_iter, tol * spread, n_threads)
    return Y
