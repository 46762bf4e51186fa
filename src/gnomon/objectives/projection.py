"""The loss of principal component analysis, as a function of the directions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas
from gnomon._validation import message

__all__ = ["ProjectionError", "polar_factor"]

Float64Array = npt.NDArray[np.float64]


def polar_factor(U: npt.ArrayLike) -> Float64Array:
    """Return the matrix with orthonormal columns that lies nearest to U.

    Parameters
    ----------
    U : array-like of shape (n_features, n_components)
        Of full column rank.

    Returns
    -------
    ndarray of shape (n_features, n_components), float64
        A B' of the singular value decomposition U = A S B'.
    """
    with single_threaded_blas():
        left, _, right = np.linalg.svd(np.asarray(U, dtype=np.float64), full_matrices=False)
        return np.asarray(left @ right)


class ProjectionError:
    """What a projection onto the columns of U leaves of a table.

    With Xc the centred table and S = Xc' Xc,

        loss = |Xc U U' - Xc|_F^2,        gradient = 2 (S U U'U + U U' S U - 2 S U).

    Its minimisers with orthonormal columns span the leading principal directions.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Finite; centred here.

    References
    ----------
    .. [1] Tucker, "Dimensionality reduction and the Fenchel game", theorem 1.7.
    """

    dtype = np.float64
    evaluation = "exact"

    def __init__(self, X: npt.ArrayLike) -> None:
        table = np.asarray(X, dtype=np.float64)
        if table.ndim != 2 or not np.isfinite(table).all():
            raise ValueError(message("ProjectionError", f"X of shape {table.shape}", "a finite matrix"))
        centred = table - table.mean(axis=0)
        with single_threaded_blas():
            self._scatter: Float64Array = centred.T @ centred

    @property
    def n_samples(self) -> int:
        """Rows of U: the number of features."""
        return len(self._scatter)

    def loss(self, U: npt.ArrayLike) -> float:
        """Return the loss."""
        directions = np.asarray(U, dtype=np.float64)
        with single_threaded_blas():
            inside = directions.T @ self._scatter @ directions
            products = directions.T @ directions
            return float(np.trace(self._scatter) - 2.0 * np.trace(inside) + np.sum(inside * products))

    def gradient(self, U: npt.ArrayLike) -> Float64Array:
        """Return the gradient, of the shape of U."""
        directions = np.asarray(U, dtype=np.float64)
        with single_threaded_blas():
            pulled = self._scatter @ directions
            back = pulled @ (directions.T @ directions) + directions @ (directions.T @ pulled)
            return np.asarray(2.0 * (back - 2.0 * pulled))
