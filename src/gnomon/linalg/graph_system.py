"""Linear systems in the Laplacian of a graph: conjugate gradients, divided by the degrees."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.linalg.eigen.laplacian import connected_components
from gnomon.linalg.products import SparseTimes

__all__ = ["GraphSolution", "solve_graph_system"]

Float64Array = npt.NDArray[np.float64]


class GraphSolution(NamedTuple):
    """Solution of (L + a I) Z = F.

    Attributes
    ----------
    Z : ndarray of shape (n_samples, n_columns), float64
        In each connected component of mean 0 for a = 0, or 0 where it is held.
    residual : float
        Norm of what is left of F, relative to F as it was solved for; 0 where that is 0.
    n_products : int
        Products with L.
    """

    Z: Float64Array
    residual: float
    n_products: int


def solve_graph_system(
    weights: Any,
    F: npt.ArrayLike,
    *,
    held: npt.NDArray[np.bool_] | None = None,
    anchor: float = 0.0,
    tol: float = 1e-4,
    max_products: int = 500,
) -> GraphSolution:
    """Solve (L + a I) Z = F for the Laplacian L = D - W of a graph, D the degrees.

    L is 0 along shifts of a connected component: for a = 0 the part of F along these has no solution and is left out.
    Where points are held, their rows of Z are 0, their rows of F do not count, and every component should have one.

    Parameters
    ----------
    weights : sparse matrix or array of shape (n_samples, n_samples)
        W, symmetric and non-negative.
    F : array-like of shape (n_samples, n_columns)
        Right-hand sides.
    held : bool array of shape (n_samples,) or None, default=None
        Points that stay; None holds none.
    anchor : float >= 0, default=0.0
        a: springs that tie every point to 0.
    tol : float > 0, default=1e-4
        Ends where the residual is at most this share of F.
    max_products : int >= 0, default=500
        Or after so many products with L.

    Returns
    -------
    GraphSolution

    References
    ----------
    .. [1] Hestenes & Stiefel, "Methods of conjugate gradients for solving linear systems", 1952.
    """
    W = scipy.sparse.csr_array(weights, dtype=np.float64)
    degrees = np.asarray(W.sum(axis=1), dtype=np.float64)[:, None] + anchor
    labels, times = connected_components(W), SparseTimes(W)
    free = np.ones(degrees.shape) if held is None else np.where(held, 0.0, 1.0)[:, None]
    b = free * np.asarray(F, dtype=np.float64)
    loose = held is None and not anchor
    if loose:
        b = _without_means(b, labels)
    inverse = np.divide(free, degrees, out=np.zeros_like(degrees), where=degrees > 0.0)
    Z, residual = np.zeros_like(b), b.copy()
    corrected = inverse * residual
    direction, along, n_products = corrected.copy(), (residual * corrected).sum(axis=0), 0
    most = tol * float(np.sqrt(np.square(b).sum()))
    while float(np.sqrt(np.square(residual).sum())) > most and n_products < max_products:
        image = free * (degrees * direction - times(direction))
        curvature = (direction * image).sum(axis=0)
        step = np.divide(along, curvature, out=np.zeros_like(along), where=curvature > 0.0)
        Z += step * direction
        residual -= step * image
        corrected = inverse * residual
        before, along = along, (residual * corrected).sum(axis=0)
        direction = corrected + np.divide(along, before, out=np.zeros_like(along), where=before > 0.0) * direction
        n_products += 1
    left = float(np.sqrt(np.square(residual).sum()))
    Z = _without_means(Z, labels) if loose else Z
    return GraphSolution(Z, left * tol / most if most else 0.0, n_products)


def _without_means(values: Float64Array, labels: npt.NDArray[np.int32]) -> Float64Array:
    """Return the columns less their mean in each component."""
    sizes = np.bincount(labels)
    means = np.stack([np.bincount(labels, weights=column, minlength=sizes.size) for column in values.T], axis=1)
    return np.asarray(values - (means / sizes[:, None])[labels])
