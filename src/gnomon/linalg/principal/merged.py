"""Triangular factors and products of centred rows, merged from those of blocks to those of the whole table.

BLAS and LAPACK calls of one thread each; the caller enters `gnomon._threads.single_threaded_blas` around `merge`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import inner, product, sparse_product
from gnomon._threads import in_order, single_threaded_blas

__all__ = ["CentredFactor", "CentredProduct"]

Float64Array = npt.NDArray[np.float64]

_ROWS = 2048  # of a dense table that are worked on at a time


@dataclass(frozen=True)
class CentredFactor:
    """Number, mean and triangular factor of rows: R of Xc = Q R, where the mean is taken away.

    R'R is the scatter matrix, but R has its singular values with all digits, where the scatter matrix loses those below
    1e-8 of the largest. Factors of parts of a table are merged to that of the whole (TSQR): the factor of both, one
    over the other, and of one row for the gap between their means.

    Attributes
    ----------
    count : int
        Rows.
    mean : ndarray of shape (n_features,), float64
    factor : ndarray of shape (min(count, n_features), n_features), float64

    References
    ----------
    .. [1] Demmel, Grigori, Hoemmen & Langou, "Communication-optimal parallel and sequential QR and LU factorizations",
       SIAM Journal on Scientific Computing 34, 2012.
    .. [2] Chan, Golub & LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances",
       COMPSTAT 1982, eq. 2.1.
    """

    count: int
    mean: Float64Array
    factor: Float64Array

    @classmethod
    def of(cls, X: npt.NDArray[Any]) -> CentredFactor:
        """Compute the factor of an ndarray of shape (n_rows, n_features), of one row at least."""
        rows, width = X.shape
        mean = _mean(X)
        step = max(_ROWS, 4 * width)

        def factor(begin: int) -> Float64Array:
            return _triangle(np.asarray(X[begin : begin + step], dtype=np.float64) - mean)

        with single_threaded_blas():
            parts = list(in_order(factor, range(0, rows, step)))
            return cls(rows, mean, parts[0] if len(parts) == 1 else _triangle(np.concatenate(parts)))

    def merge(self, other: CentredFactor) -> CentredFactor:
        """Return the factor of the rows of both."""
        count, gap = self.count + other.count, other.mean - self.mean
        between = np.sqrt(self.count * other.count / count) * gap
        with single_threaded_blas():
            factor = _triangle(np.concatenate([self.factor, other.factor, between[None]]))
        return CentredFactor(count, self.mean + gap * (other.count / count), factor)


@dataclass(frozen=True)
class CentredProduct:
    """Number and mean of rows, and Xc' Xc V of the rows Xc without their mean, for few columns V.

    Attributes
    ----------
    count : int
        Rows.
    mean : ndarray of shape (n_features,), float64
    scores : ndarray of shape (n_columns,), float64
        V' mean.
    product : ndarray of shape (n_features, n_columns), float64
    squared_norm : float
        Sum of all squared entries of Xc.
    """

    count: int
    mean: Float64Array
    scores: Float64Array
    product: Float64Array
    squared_norm: float

    @classmethod
    def of(cls, X: Any, V: Float64Array) -> CentredProduct:
        """Compute the product of an ndarray or CSR of shape (n_rows, n_features), which is not densified, with V."""
        rows, mean = int(X.shape[0]), _mean(X)
        with single_threaded_blas():
            if not isinstance(X, np.ndarray):
                table = X.astype(np.float64, copy=False)
                scores = sparse_product(table, V) - product(V.T, mean)
                pulled = sparse_product(table.T, scores) - np.outer(mean, scores.sum(axis=0))
                gaps = (table.data - mean[table.indices]) ** 2
                absent = rows - np.bincount(table.indices, minlength=mean.size)
                return cls(rows, mean, product(V.T, mean), np.asarray(pulled), float(gaps.sum() + absent @ mean**2))

            def part(begin: int) -> tuple[Float64Array, float]:
                centred = np.asarray(X[begin : begin + _ROWS], dtype=np.float64) - mean
                return product(centred.T, product(centred, V)), inner(centred, centred)

            total, squares = np.zeros_like(V), 0.0
            for one, more in in_order(part, range(0, rows, _ROWS)):
                total += one
                squares += more
            return cls(rows, mean, mean @ V, total, squares)

    def merge(self, other: CentredProduct) -> CentredProduct:
        """Return the product of the rows of both with the same columns."""
        count, gap = self.count + other.count, other.mean - self.mean
        weight, share = self.count * other.count / count, other.count / count
        return CentredProduct(
            count,
            self.mean + gap * share,
            self.scores + (other.scores - self.scores) * share,
            self.product + other.product + np.outer(weight * gap, other.scores - self.scores),
            self.squared_norm + other.squared_norm + weight * float(np.sum(gap**2)),
        )


def _mean(X: Any) -> Float64Array:
    """Return the mean of rows; digits stay where they lie far from the origin."""
    if not isinstance(X, np.ndarray):
        return np.asarray(X.sum(axis=0, dtype=np.float64), dtype=np.float64).ravel() / int(X.shape[0])
    first = X[0].astype(np.float64)
    total = np.zeros_like(first)
    for begin in range(0, len(X), _ROWS):
        total += (X[begin : begin + _ROWS] - first).sum(axis=0)
    return np.asarray(first + total / len(X))


def _triangle(rows: Float64Array) -> Float64Array:
    return np.asarray(np.linalg.qr(rows, mode="r"))
