"""A given similarity matrix, dense or sparse, of any signature."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gnomon._validation import message
from gnomon.affinities.gram.source import Float64Array, Rows, centred
from gnomon.linalg import Eigenpairs, dense_rows

__all__ = ["MatrixSource", "check_symmetric"]

_BLOCK = 512  # rows that are looked at together
_ASYMMETRY = {True: 1e-5, False: 1e-10}  # of the largest entry, for float32 and for float64: rounding of products


def check_symmetric(K: Any) -> Any:
    """Return K as float64, ndarray or CSR, made exactly symmetric; raise ValueError if it is not a similarity.

    Parameters
    ----------
    K : array-like or sparse matrix of shape (n_samples, n_samples)
        May differ from its transpose by rounding: 1e-10 of the largest entry, or 1e-5 if it is float32.
    """
    single = getattr(K, "dtype", None) == np.float32
    sparse = bool(sp.issparse(K))
    matrix: Any = sp.csr_array(K, dtype=np.float64) if sparse else np.asarray(K, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise ValueError(message(f"a similarity of shape {matrix.shape}", "a square matrix"))
    if not np.isfinite(matrix.data if sparse else matrix).all():
        raise ValueError(message("the similarity", "finite"))
    largest = float(abs(matrix).max())
    asymmetry, row = 0.0, 0
    for begin in range(0, matrix.shape[0], _BLOCK):
        part = slice(begin, begin + _BLOCK)
        differences = np.abs(dense_rows(matrix[part]) - dense_rows(matrix[:, part]).T).max(axis=1)
        if float(differences.max()) > asymmetry:
            asymmetry, row = float(differences.max()), begin + int(differences.argmax())
    if asymmetry > _ASYMMETRY[single] * largest:
        fact = f"row {row} and column {row} differ by up to {asymmetry:.3g}, the largest entry is {largest:.3g}"
        remedy = "Pass (K + K.T) / 2 if that is what you mean."
        raise ValueError(message("the similarity", "symmetric", fact=fact, remedy=remedy))
    if asymmetry == 0.0:
        return matrix
    return sp.csr_array((matrix + matrix.T) / 2.0) if sparse else (matrix + matrix.T) / 2.0


class MatrixSource:
    """K as a matrix.

    Parameters
    ----------
    K : ndarray or CSR of shape (n_samples, n_samples), float64
        Symmetric. Kept as it is.
    semidefinite : bool or None, default=None
        Whether K is known to be positive semidefinite.
    """

    def __init__(self, K: Any, *, semidefinite: bool | None = None) -> None:
        self._matrix = K
        self.semidefinite = semidefinite

    @property
    def n_samples(self) -> int:
        """Order of K."""
        return int(self._matrix.shape[0])

    def matvec(self, Y: Float64Array) -> Float64Array:
        """Return K Y."""
        return np.asarray(self._matrix @ Y, dtype=np.float64)

    def centred_matvec(self, Y: Float64Array) -> Float64Array:
        """Return H K H Y."""
        return centred(self.matvec(centred(Y)))

    def block(self, rows: Rows, columns: Rows) -> Float64Array:
        """Return the entries in the given rows and columns."""
        some = self._matrix if columns is None else self._matrix[:, columns]
        return dense_rows(some if rows is None else some[rows])

    def diagonal(self) -> Float64Array:
        """Return the diagonal of K."""
        return np.array(self._matrix.diagonal(), dtype=np.float64)

    def centred_squared_norm(self) -> float:
        """Return the sum of the squared entries of H K H."""
        means = self.matvec(np.full((self.n_samples, 1), 1.0 / self.n_samples))[:, 0]
        total, mean = 0.0, float(means.mean())
        for begin in range(0, self.n_samples, _BLOCK):
            part = slice(begin, begin + _BLOCK)
            entries = dense_rows(self._matrix[part]) - means[part, None] - (means - mean)
            total += float(np.vdot(entries, entries))
        return total

    def leading_eigenpairs(self, n_vectors: int) -> Eigenpairs | None:
        """Return None: there is no way shorter than products."""
        return None
