"""Errors of a linear fit to a table: of a projection in squares, of a low-rank matrix by Huber's function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._threads import single_threaded_blas
from gnomon._validation import message
from gnomon.linalg import Moments, centred_products, spectral_bounds

__all__ = ["HuberFit", "ProjectionError", "polar_factor"]

Float64Array = npt.NDArray[np.float64]


def polar_factor(U: npt.ArrayLike) -> Float64Array:
    """Return the matrix with orthonormal columns that lies nearest to U.

    Parameters
    ----------
    U : array-like of shape (n_features, n_components)
        Of full column rank; of lower rank the nearest is not unique, and one of them is returned.

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

    Its minimisers with orthonormal columns span the leading principal directions. S is written out only where it is
    smaller than the table; else S U = Xc' (Xc U).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Finite; centred here. Sparse input is not densified.

    References
    ----------
    .. [1] Tucker, "Dimensionality reduction and the Fenchel game", theorem 1.7.
    """

    dtype = np.float64
    evaluation = "exact"

    @entrance("ProjectionError")
    def __init__(self, X: Any) -> None:
        is_sparse = hasattr(X, "tocsr")
        table = X.tocsr() if is_sparse else np.ascontiguousarray(X, dtype=np.float64)
        if table.ndim != 2 or not np.isfinite(table.data if is_sparse else table).all():
            raise ValueError(message(f"X of shape {table.shape}", "a finite matrix"))
        self._n_features = int(table.shape[1])
        self._scatter: Float64Array | None = None
        with single_threaded_blas():
            if self._n_features <= table.shape[0] and not is_sparse:
                self._scatter = Moments.of(table).scatter
                self._squared_norm = float(np.trace(self._scatter))
            else:
                self._products = centred_products(table)
                self._squared_norm = self._products.squared_norm

    @property
    def n_samples(self) -> int:
        """Rows of U: the number of features."""
        return self._n_features

    def scatter_times(self, U: npt.ArrayLike) -> Float64Array:
        """Return S U."""
        directions = np.asarray(U, dtype=np.float64)
        with single_threaded_blas():
            if self._scatter is None:
                return self._products.gram_times(directions)
            return np.asarray(self._scatter @ directions)

    def largest_eigenvalue(self, *, seed: int = 0) -> float:
        """Return an upper bound of the largest eigenvalue of S, at most a few per cent above it."""
        return max(spectral_bounds(self.scatter_times, self._n_features, seed=seed)[1], 0.0)

    def safe_step(self, U0: npt.NDArray[Any]) -> float:
        """Return 1 / (12 lambda_1 max(1, |U0|^2)), a step along the gradient that lowers the loss.

        It did so in all experiments, but U may leave the ball of the start by about a hundredth of its radius, so
        that this is no proof: search the step if the loss must not rise.
        """
        with single_threaded_blas():
            size = max(1.0, float(np.linalg.norm(U0, 2)) ** 2)
        bound = 12.0 * self.largest_eigenvalue() * size
        return 1.0 / bound if bound > 0.0 else 1.0

    def loss(self, U: npt.ArrayLike) -> float:
        """Return the loss."""
        directions = np.asarray(U, dtype=np.float64)
        with single_threaded_blas():
            inside = directions.T @ self.scatter_times(directions)
            products = directions.T @ directions
            return float(self._squared_norm - 2.0 * np.trace(inside) + np.sum(inside * products))

    def gradient(self, U: npt.ArrayLike) -> Float64Array:
        """Return the gradient, of the shape of U."""
        directions = np.asarray(U, dtype=np.float64)
        with single_threaded_blas():
            pulled = self.scatter_times(directions)
            back = pulled @ (directions.T @ directions) + directions @ (directions.T @ pulled)
            return np.asarray(2.0 * (back - 2.0 * pulled))


class HuberFit:
    """The sum of Huber's function of the entries of L - X.

        h(e) = e^2 / 2 where |e| <= threshold, else threshold (|e| - threshold / 2),      gradient = clip(L - X).

    Convex, and its gradient has the Lipschitz constant 1. It is what is left of |L + S - X|^2 / 2 + threshold |S|_1
    when the sparse part S is chosen best.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Finite.
    threshold : float > 0
        Errors below it count as noise, in the units of X.

    References
    ----------
    .. [1] Huber, "Robust estimation of a location parameter", Annals of Mathematical Statistics 35, 1964.
    """

    dtype = np.float64

    @entrance("HuberFit")
    def __init__(self, X: npt.ArrayLike, threshold: float) -> None:
        self._table = np.asarray(X, dtype=np.float64)
        if self._table.ndim != 2 or not np.isfinite(self._table).all():
            raise ValueError(message(f"X of shape {self._table.shape}", "a finite matrix"))
        if not (math.isfinite(threshold) and threshold > 0.0):
            raise ValueError(message(f"threshold={threshold!r}", "a number > 0"))
        self.threshold = float(threshold)

    @property
    def n_samples(self) -> int:
        """Rows of the table."""
        return len(self._table)

    def loss(self, L: npt.ArrayLike) -> float:
        """Return the loss."""
        sizes = np.abs(np.asarray(L, dtype=np.float64) - self._table)
        small = np.minimum(sizes, self.threshold)
        return float(np.sum(small * (sizes - 0.5 * small)))

    def gradient(self, L: npt.ArrayLike) -> Float64Array:
        """Return the gradient, of the shape of L."""
        return np.clip(np.asarray(L, dtype=np.float64) - self._table, -self.threshold, self.threshold)
