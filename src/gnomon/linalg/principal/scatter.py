"""Mean and scatter matrix of a table, of blocks of its rows, and of all blocks together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._entrance import entrance, part
from gnomon._memory import ALWAYS_THERE, require_memory
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.linalg.products import sum_of_squares

__all__ = ["LARGEST_DENSE_SIDE", "Moments", "centring_memory", "centring_seconds", "require_scatter_memory"]

Float64Array = npt.NDArray[np.float64]

LARGEST_DENSE_SIDE = 2000  # the eigenproblem of this side takes about a second
_ROWS = 2048  # of a block: its product costs far more than adding it
_SQUARE, _CUBE = 0.014, 0.07  # nanoseconds of one core for a product of the scatter, and of the eigenproblem


@dataclass(frozen=True)
class Moments:
    """Number, mean and scatter matrix of rows: all that principal components of them need.

    Moments of parts of a table are merged to those of the whole, in any order, up to rounding.

    Attributes
    ----------
    count : int
        Rows.
    mean : ndarray of shape (n_features,), float64
    scatter : ndarray of shape (n_features, n_features), float64
        Sum over rows of (x - mean)(x - mean)', symmetric.

    References
    ----------
    .. [1] Chan, Golub & LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances",
       COMPSTAT 1982, eq. 2.1.
    """

    count: int
    mean: Float64Array
    scatter: Float64Array

    @classmethod
    @part("Moments")
    def of(cls, X: Any) -> Moments:
        """Compute the moments of a table.

        Parameters
        ----------
        X : ndarray of float32 or float64, or CSR, of shape (n_rows, n_features)
            Finite, one row at least. CSR is written out 2048 rows at a time.

        Raises
        ------
        MemoryError
            If matrices of n_features x n_features do not fit in memory.
        ValueError
            If squares leave the range of float64.
        """
        require_scatter_memory(X.shape[1])
        if isinstance(X, np.ndarray):
            X = np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)
            mean = np.asarray(_core.column_means(X, current_run().n_threads))
        else:
            mean = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / X.shape[0]

        def centred(begin: int) -> Float64Array:
            rows = X[begin : begin + _ROWS]
            return np.asarray((rows if isinstance(X, np.ndarray) else rows.toarray()) - mean, dtype=np.float64)

        with np.errstate(over="ignore", invalid="ignore"):
            scatter = sum_of_squares(centred, X.shape[0], X.shape[1], step=_ROWS)
        return cls(int(X.shape[0]), mean, _in_range(scatter))

    @entrance("Moments")
    def merge(self, other: Moments) -> Moments:
        """Return the moments of the rows of both."""
        if self.mean.shape != other.mean.shape:
            fact = f"{self.mean.size} and {other.mean.size}"
            raise ValueError(message("merged parts", "of the same number of features", fact=fact))
        count = self.count + other.count
        shift = other.mean - self.mean
        with np.errstate(over="ignore", invalid="ignore"):
            scatter = self.scatter + other.scatter
            scatter += np.outer(shift * (self.count * other.count / count), shift)
        # Rounding of the product makes the two halves differ in the last digit.
        return Moments(count, self.mean + shift * (other.count / count), _in_range((scatter + scatter.T) / 2))


def centring_memory(n_samples: int, n_features: float, itemsize: int = 4) -> float:
    """Return the bytes that few principal components of a table take beyond it.

    Blocks of rows centred, or of columns where there are more, one for each thread, and matrices of the shorter side
    unless it is long.

    Parameters
    ----------
    n_samples, n_features : int, float
    itemsize : int, default=4
        Bytes of a number in a block.

    Returns
    -------
    float
    """
    side, length = min(n_samples, n_features), max(n_samples, n_features)
    step = 2 * _ROWS if length >= 16 * _ROWS else _ROWS
    square = 1.0 * side * side if side <= LARGEST_DENSE_SIDE else 0.0
    block = itemsize * (side * min(length, step) + square)  # of a table, and its product
    whole = 20.0 * square  # in double, and its eigenvectors
    if length <= step:
        return 1.05 * max(block + 8.0 * square, whole)
    return min(current_run().n_threads + 1.0, length / step / 1.25) * block + whole


def centring_seconds(n_samples: int, n_features: float) -> float:
    """Return the seconds of one core that few principal components of a table take on the reference machine.

    Parameters
    ----------
    n_samples, n_features : int, float

    Returns
    -------
    float
    """
    side, length = min(n_samples, n_features), max(n_samples, n_features)
    return 1e-9 * (_SQUARE * length * side * side + _CUBE * min(side, LARGEST_DENSE_SIDE) ** 3 + 1e6)


def _in_range(scatter: Float64Array) -> Float64Array:
    if not np.isfinite(scatter).all():
        remedy = "Rescale the data."
        raise ValueError(message("X", "one whose squares are within the range of float64", remedy=remedy))
    return scatter


def require_scatter_memory(n_features: int) -> None:
    """Raise MemoryError if scatter matrix, that of a block and eigenvectors do not fit in memory."""
    needed = 4 * 8 * float(n_features) ** 2
    if needed < ALWAYS_THERE:
        return
    require_memory(
        f"X of {n_features} columns",
        needed,
        fact=f"matrices of {n_features} x {n_features}",
        remedy="Fit all rows at once with solver='gram' or 'randomized', or project them onto fewer columns first.",
    )
