"""What a search for eigenpairs is asked and answers, their signs, and the dense solution of small problems."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._printed import ShortRepr
from gnomon.linalg.eigen.dense import symmetric_eigen
from gnomon.linalg.orthonormal import orthonormalised, with_draws, without
from gnomon.linalg.products import SparseTimes
from gnomon.linalg.products import product as multiply

__all__ = [
    "LARGEST_DENSE",
    "Eigenpairs",
    "OutOfTimeError",
    "Search",
    "Semidefinite",
    "column_signs",
    "dense_largest",
    "dense_smallest",
    "with_signs",
]

Float64Array = npt.NDArray[np.float64]

LARGEST_DENSE = 600  # rows; the dense eigenproblem then takes some hundredths of a second
_ALONG_KNOWN = 1e-9  # of a unit vector: more is left where little stood beside the known vector
_ROUNDING = 1e-13  # residuals below this share of the norm of the matrix are rounding


def column_signs(columns: Float64Array) -> Float64Array:
    """Return the sign, 1 or -1, of the entry of largest magnitude of each column; 1 for columns of zeros."""
    largest = np.abs(columns).argmax(axis=0)
    return np.where(columns[largest, np.arange(columns.shape[1])] < 0.0, -1.0, 1.0)


def with_signs(vectors: Float64Array) -> Float64Array:
    """Return the columns with the entry of largest magnitude of each positive."""
    return np.ascontiguousarray(vectors * column_signs(vectors))


@dataclass(frozen=True)
class Eigenpairs(ShortRepr):
    """Eigenvalues at one end of the spectrum of a symmetric operator and their vectors.

    Attributes
    ----------
    values : ndarray of shape (n_vectors,), float64
        From the end of the spectrum inwards: rising for the smallest, falling for the largest.
    vectors : ndarray of shape (n_samples, n_vectors), float64
        Orthonormal columns; the entry of largest magnitude of each is positive.
    residuals : ndarray of shape (n_vectors,), float64
        |A v - value v| of each vector.
    converged : bool
        Whether the residuals are below the tolerance or the rounding of the products.
    solver : {"dense", "lanczos", "arpack", "multilevel", "factor", "descent"}
        How they were found.
    out_of_time : bool
        Whether the time budget or the caller ended the search; the result may then depend on the machine's speed.
    other_end : float or None
        The eigenvalue at the other end of the spectrum, where it was asked for: never beyond it up to rounding.
    """

    values: Float64Array
    vectors: Float64Array
    residuals: Float64Array
    converged: bool
    solver: str
    out_of_time: bool = False
    other_end: float | None = None


class OutOfTimeError(Exception):
    """The time budget is spent, or the caller wishes to stop."""


@dataclass(frozen=True)
class Search:
    """How many pairs are wanted, how exactly, and what ends the search; see `eigenpairs`."""

    n_vectors: int
    tolerance: float
    seed: int = 0
    max_products: int | None = None
    deadline: float = math.inf  # by time.monotonic
    report: Callable[..., bool] | None = None
    turn: float = 0.0

    @property
    def seconds_left(self) -> float:
        """Return what is left of the time budget, infinity without one."""
        return max(self.deadline - time.monotonic(), 0.0)

    def stopped(self, done: int, total: int, *, at_most: bool = True) -> bool:
        """Report; return whether the caller or the time budget ends the search."""
        ended = self.report is not None and bool(self.report(done, total, at_most=at_most))
        return ended or time.monotonic() > self.deadline

    def look_up(self, done: int, total: int, *, at_most: bool = True) -> None:
        """Report; raise OutOfTimeError if the caller or the time budget ends the search."""
        if self.stopped(done, total, at_most=at_most):
            raise OutOfTimeError


class Semidefinite:
    """A sparse positive semidefinite matrix whose smallest pairs are wanted, a known null vector left out.

    Parameters
    ----------
    matrix : CSR of shape (n_samples, n_samples)
    known : ndarray of shape (n_samples,) or None

    Attributes
    ----------
    times : SparseTimes
        Its product with columns.
    norm : float
        The largest sum of magnitudes of a row, at least the largest eigenvalue.
    """

    def __init__(self, matrix: Any, known: npt.ArrayLike | None) -> None:
        self.matrix, self.n = matrix, int(matrix.shape[0])
        self.times = SparseTimes(matrix)
        self.norm = float(abs(matrix).sum(axis=1).max()) if matrix.nnz else 0.0
        self.known: Float64Array | None = None
        if known is not None:
            vector = np.asarray(known, dtype=np.float64)
            self.known = vector / np.sqrt(np.square(vector).sum())

    def without_known(self, X: Float64Array) -> Float64Array:
        """Return columns orthogonal to the known vector."""
        return X if self.known is None else without(X, self.known)

    def rayleigh_ritz(self, vectors: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return the eigenvalues in a space, its vectors by rising eigenvalue, and their residuals."""
        lengths = np.linalg.norm(vectors, axis=0)
        basis = orthonormalised(self.without_known(vectors / np.where(lengths > 0.0, lengths, 1.0)))
        if self._lacks_directions(basis):  # columns that repeat others: any direction does in their place
            basis = orthonormalised(self.without_known(with_draws(basis, 0)))
        images = self.times(basis)
        small = multiply(basis.T, images)
        values, rotation = (part[..., ::-1] for part in symmetric_eigen((small + small.T) / 2.0))
        found = multiply(basis, rotation)
        residuals: Float64Array = np.linalg.norm(multiply(images, rotation) - found * values, axis=0)
        return values, found, residuals

    def _lacks_directions(self, basis: Float64Array) -> bool:
        """Say whether columns are zero, or still have a part along the known vector."""
        if not basis.any(axis=0).all():
            return True
        return self.known is not None and float(np.abs(multiply(basis.T, self.known)).max(initial=0.0)) > _ALONG_KNOWN

    def limit(self, values: Float64Array, tolerance: float) -> float:
        """Return the residual below which pairs with these eigenvalues have converged."""
        return max(tolerance * float(values[-1]), _ROUNDING * self.norm)


def dense_largest(
    product: Callable[[Float64Array], Float64Array], n_samples: int, n_vectors: int, *, other_end: bool = False
) -> Eigenpairs:
    """Find the largest pairs of an operator; all its eigenvalues if the other end of the spectrum is wanted too."""
    matrix = product(np.eye(n_samples))
    matrix = (matrix + matrix.T) / 2.0
    values, vectors = symmetric_eigen(matrix, n_vectors)
    lowest = float(values[-1]) if other_end else None
    values, vectors = values[:n_vectors], with_signs(vectors)
    residuals = np.linalg.norm(multiply(matrix, vectors) - vectors * values, axis=0)
    return Eigenpairs(values, vectors, residuals, True, "dense", other_end=lowest)


def dense_smallest(
    matrix: Float64Array, n_vectors: int, known: Float64Array | None, beyond: float, *, overwrite: bool = False
) -> tuple[Float64Array, Float64Array]:
    """Return the smallest eigenvalues of a matrix and their vectors, the known unit vector left out.

    Its eigenvalue is raised by ``beyond``, past the far end of the spectrum, so that no other vector mixes with it. The
    matrix, of float64, is kept unless `overwrite`.
    """
    below = matrix if overwrite else matrix.copy()
    if known is not None:
        raised = np.outer(known, known)
        raised *= beyond
        below += raised
        del raised
    values, vectors = symmetric_eigen(np.negative(below, out=below), n_vectors)
    return -values[:n_vectors], vectors
