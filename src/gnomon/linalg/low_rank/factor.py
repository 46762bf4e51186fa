"""A symmetric positive semidefinite matrix of low rank, held as a factor, and what finds one may ask of a matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gnomon._threads import single_threaded_blas

__all__ = ["LowRank", "SymmetricAccess"]

Float64Array = npt.NDArray[np.float64]


class SymmetricAccess(Protocol):
    """A symmetric matrix of order n_samples of which products and single columns can be had, but never all of it."""

    @property
    def n_samples(self) -> int:
        """Order of the matrix."""
        ...

    def matvec(self, Y: Float64Array) -> Float64Array:
        """Return the product with Y of shape (n_samples, n_columns)."""
        ...

    def block(self, rows: npt.NDArray[np.intp] | None, columns: npt.NDArray[np.intp]) -> Float64Array:
        """Return the entries in the given rows (None: all) and columns."""
        ...

    def diagonal(self) -> Float64Array:
        """Return the n_samples entries on the diagonal."""
        ...


@dataclass(frozen=True)
class LowRank:
    """The approximation B B' of a symmetric matrix K.

    Attributes
    ----------
    B : ndarray of shape (n_samples, rank), float64
        The factor; its rank may be lower than asked for, where K has no more to give.
    method : {"randomized", "nystrom", "cholesky"}
        How it was found.
    residual_trace : float
        Sum of the diagonal of K - B B', not below 0. Known without looking at K again.
    bounded : bool
        Whether K - B B' is known to be positive semidefinite. `residual_trace` then bounds each of its eigenvalues.
    landmarks : ndarray of shape (n_landmarks,), intp, or None
        The columns of K that were read, in the order they were chosen; None if products were used.
    """

    B: Float64Array
    method: str
    residual_trace: float
    bounded: bool
    landmarks: npt.NDArray[np.intp] | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.B.shape[0])

    @property
    def rank(self) -> int:
        """Number of columns of the factor."""
        return int(self.B.shape[1])

    @property
    def error_bound(self) -> float:
        """Bound on the spectral norm of K - B B', up to rounding; infinite where none is known."""
        return self.residual_trace if self.bounded else float("inf")

    def matvec(self, Y: Float64Array) -> Float64Array:
        """Return B (B' Y) for Y of shape (n_samples, n_columns)."""
        with single_threaded_blas():
            product: Float64Array = self.B @ (self.B.T @ Y)
        return product

    def centred(self) -> LowRank:
        """Return the approximation H B B' H of H K H, where H subtracts the mean; bounds of the error stay valid."""
        return replace(self, B=self.B - self.B.mean(axis=0))
