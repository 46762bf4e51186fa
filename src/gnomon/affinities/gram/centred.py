"""The Gram matrix H K H of any other, where H subtracts the mean."""

from __future__ import annotations

import numpy as np

from gnomon.affinities.gram.source import Float64Array, Rows, Source
from gnomon.linalg import Eigenpairs

__all__ = ["CentredSource"]


class CentredSource:
    """H K H of a source of K, whose entries are k_ij minus the means of row i and column j plus the mean of all.

    Parameters
    ----------
    source : Source
        One product with it is taken here.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        n = source.n_samples
        self._means: Float64Array = source.matvec(np.full((n, 1), 1.0 / n))[:, 0]
        self._means -= self._means.mean() / 2.0  # one half of the mean of all in each of the two that are subtracted

    @property
    def n_samples(self) -> int:
        """Order of the matrix."""
        return self._source.n_samples

    @property
    def semidefinite(self) -> bool | None:
        """Whether K, and with it H K H, is known to be positive semidefinite."""
        return self._source.semidefinite

    def matvec(self, Y: Float64Array) -> Float64Array:
        """Return H K H Y."""
        return self._source.centred_matvec(Y)

    def centred_matvec(self, Y: Float64Array) -> Float64Array:
        """Return H K H Y."""
        return self._source.centred_matvec(Y)

    def block(self, rows: Rows, columns: Rows) -> Float64Array:
        """Return the entries in the given rows and columns."""
        left = self._means if rows is None else self._means[rows]
        right = self._means if columns is None else self._means[columns]
        return np.asarray(self._source.block(rows, columns) - left[:, None] - right, dtype=np.float64)

    def diagonal(self) -> Float64Array:
        """Return the diagonal."""
        return np.asarray(self._source.diagonal() - 2.0 * self._means, dtype=np.float64)

    def centred_squared_norm(self) -> float:
        """Return the sum of the squared entries."""
        return self._source.centred_squared_norm()

    def leading_eigenpairs(self, n_vectors: int) -> Eigenpairs | None:
        """Return the largest eigenvalues with their vectors if there is a short way to them, else None."""
        return self._source.leading_eigenpairs(n_vectors)
