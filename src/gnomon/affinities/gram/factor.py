"""Gram matrices B B' of a table or a factor, of which no n x n matrix is ever formed."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from gnomon.affinities.gram.source import Float64Array, Rows
from gnomon.linalg import Eigenpairs, with_signs

__all__ = ["FactorSource"]

_LARGEST_SVD = 1e9  # n r min(n, r) of a full singular value decomposition: some tenths of a second
_LARGEST_SCATTER = 4096  # columns of a factor whose r x r products are formed at once
_BLOCK = 1024


class FactorSource:
    """K = B B' for B of shape (n_samples, rank), which is centred once: H K H = (HB) (HB)'.

    Parameters
    ----------
    B : ndarray or CSR of shape (n_samples, rank)
        Rows of a table or of a factor. CSR is never densified: its mean is subtracted from products.
    """

    semidefinite = True

    def __init__(self, B: Any) -> None:
        self._sparse = bool(sp.issparse(B))
        self._rows: Any
        self._mean: Float64Array
        if self._sparse:
            self._rows = sp.csr_array(B, dtype=np.float64)
            self._mean = np.asarray(self._rows.sum(axis=0), dtype=np.float64).ravel() / self.n_samples
        else:
            table = np.asarray(B, dtype=np.float64)
            self._mean = table.mean(axis=0)
            self._rows = table - self._mean
        self._offset = self._mean  # of the rows whose inner products K holds, from the centred ones

    def centred(self) -> FactorSource:
        """Return the source of H K H, which shares the table."""
        other = copy.copy(self)
        other._offset = np.zeros_like(self._mean)
        return other

    @property
    def _shift(self) -> Float64Array:
        """What to add to a stored row to make it a row of B."""
        return self._offset - self._mean if self._sparse else self._offset

    @property
    def n_samples(self) -> int:
        """Order of K."""
        return int(self._rows.shape[0])

    def _times(self, V: Float64Array) -> Float64Array:
        """Return HB V."""
        product: Float64Array = self._rows @ V
        return product - self._mean @ V if self._sparse else product

    def _transposed_times(self, Y: Float64Array) -> Float64Array:
        """Return (HB)' Y."""
        product: Float64Array = self._rows.T @ Y
        return product - np.outer(self._mean, Y.sum(axis=0)) if self._sparse else product

    def matvec(self, Y: Float64Array) -> Float64Array:
        """Return K Y."""
        image = self._transposed_times(Y) + np.outer(self._offset, Y.sum(axis=0))
        return self._times(image) + self._offset @ image

    def centred_matvec(self, Y: Float64Array) -> Float64Array:
        """Return H K H Y."""
        return self._times(self._transposed_times(Y))

    def _chosen(self, rows: Rows) -> Float64Array:
        some = self._rows if rows is None else self._rows[rows]
        return np.asarray((some.toarray() if self._sparse else some) + self._shift, dtype=np.float64)

    def block(self, rows: Rows, columns: Rows) -> Float64Array:
        """Return the entries in the given rows and columns."""
        right = self._chosen(columns)
        if rows is None:
            return np.asarray(self._rows @ right.T + self._shift @ right.T, dtype=np.float64)
        return self._chosen(rows) @ right.T

    def diagonal(self) -> Float64Array:
        """Return the squared lengths of the rows of B."""
        if self._sparse:
            squares = np.asarray(self._rows.multiply(self._rows).sum(axis=1), dtype=np.float64).ravel()
        else:
            squares = np.einsum("ij,ij->i", self._rows, self._rows)
        lengths = squares + 2.0 * (self._rows @ self._shift) + self._shift @ self._shift
        return np.asarray(np.maximum(lengths, 0.0), dtype=np.float64)

    def centred_squared_norm(self) -> float:
        """Return the sum of the squared entries of H K H, through the smaller of (HB)'(HB) and (HB)(HB)'."""
        n, rank = self._rows.shape
        if not self._sparse and min(n, rank) <= _LARGEST_SCATTER:
            products = self._rows.T @ self._rows if rank <= n else self._rows @ self._rows.T
            return float(np.vdot(products, products))
        total = 0.0
        for begin in range(0, min(n, rank), _BLOCK):
            units = np.eye(min(n, rank), min(_BLOCK, min(n, rank) - begin), -begin)
            image = self._transposed_times(self._times(units)) if rank <= n else self.centred_matvec(units)
            total += float(np.vdot(image, image))
        return total

    def leading_eigenpairs(self, n_vectors: int) -> Eigenpairs | None:
        """Return squared singular values and left singular vectors of a small dense HB."""
        n, rank = self._rows.shape
        if self._sparse or n_vectors > min(n, rank) or n * rank * min(n, rank) > _LARGEST_SVD:
            return None
        left, lengths, _ = scipy.linalg.svd(self._rows, full_matrices=False, check_finite=False)
        values, vectors = lengths[:n_vectors] ** 2, with_signs(left[:, :n_vectors])
        residuals = np.linalg.norm(self.centred_matvec(vectors) - vectors * values, axis=0)
        return Eigenpairs(values, vectors, residuals, True, "dense")
