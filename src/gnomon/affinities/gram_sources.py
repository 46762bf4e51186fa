"""What a Gram matrix is computed from: a matrix, a factor or table B of B B', and any of these centred."""

from __future__ import annotations

import copy
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import SparseTimes, squared_lengths
from gnomon._cached import cached_property
from gnomon._validation import message
from gnomon.linalg import (
    Eigenpairs,
    check_symmetric,
    dense_rows,
    inner,
    inner_products,
    product,
    symmetric_eigen,
    with_signs,
)
from gnomon.linalg.principal.spectra import LARGEST_SVD

__all__ = [
    "CentredSource",
    "FactorSource",
    "Float64Array",
    "MatrixSource",
    "Rows",
    "Source",
    "centred",
    "eigenpairs_memory",
    "symmetrized",
]

Float64Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp] | None
"""Row numbers; None for all."""
_BLOCK = 512  # rows that are looked at together
_ASYMMETRY = {True: 1e-5, False: 1e-10}  # of the largest entry, for float32 and for float64: rounding of products
_TOLD_BY_SQUARES = 1e-6  # eigenvalues above this share of the largest keep ten digits where inner products are summed
_LARGEST_SCATTER = 4096  # columns of a factor whose r x r products are formed at once
_KRYLOV_ROW = 1000.0  # bytes of a row of the vectors that an iteration holds
_FACTOR_BLOCK = 1024  # of its rows or columns, whichever are fewer


class Source(Protocol):
    """A symmetric matrix K of order n_samples. H below is the matrix that subtracts the mean."""

    @property
    def n_samples(self) -> int:
        """Order of K."""
        ...

    @property
    def semidefinite(self) -> bool | None:
        """Whether K is known to be positive semidefinite; None where that is not known."""
        ...

    def matvec(self, Y: Float64Array) -> Float64Array:
        """Return K Y."""
        ...

    def centred_matvec(self, Y: Float64Array) -> Float64Array:
        """Return H K H Y."""
        ...

    def block(self, rows: Rows, columns: Rows) -> Float64Array:
        """Return the entries in the given rows and columns."""
        ...

    def diagonal(self) -> Float64Array:
        """Return the diagonal of K."""
        ...

    def centred_squared_norm(self) -> float:
        """Return the sum of the squared entries of H K H."""
        ...

    def leading_eigenpairs(self, n_vectors: int) -> Eigenpairs | None:
        """Return the largest eigenvalues of H K H with their vectors if a direct solution is cheap, else None."""
        ...


def centred(Y: Float64Array) -> Float64Array:
    """Return H Y: the columns minus their means."""
    return np.asarray(Y - Y.mean(axis=0), dtype=np.float64)


def symmetrized(K: Any) -> Any:
    """Return K as float64, ndarray or CSR, made exactly symmetric; raise ValueError if it is not a similarity.

    Parameters
    ----------
    K : array-like or sparse matrix of shape (n_samples, n_samples)
        May differ from its transpose by rounding: 1e-10 of the largest entry, or 1e-5 if it is float32.
    """
    single = getattr(K, "dtype", None) == np.float32
    sparse = bool(scipy.sparse.issparse(K))
    matrix: Any = scipy.sparse.csr_array(K, dtype=np.float64) if sparse else np.asarray(K, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise ValueError(message(f"a similarity of shape {matrix.shape}", "a square matrix"))
    if not np.isfinite(matrix.data if sparse else matrix).all():
        raise ValueError(message("the similarity", "finite"))
    check_symmetric(matrix, "the similarity", of_entry=0.0, of_largest=_ASYMMETRY[single])
    if (matrix != matrix.T).nnz == 0 if sparse else np.array_equal(matrix, matrix.T):
        return matrix
    return scipy.sparse.csr_array((matrix + matrix.T) / 2.0) if sparse else (matrix + matrix.T) / 2.0


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
        if isinstance(self._matrix, np.ndarray):
            return product(self._matrix, Y)
        return self._sparse_times(Y)

    @cached_property
    def _sparse_times(self) -> SparseTimes:
        return SparseTimes(self._matrix)

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
            total += inner(entries, entries)
        return total

    def leading_eigenpairs(self, n_vectors: int) -> Eigenpairs | None:
        """Return None: products with K are the cheapest."""
        return None


class FactorSource:
    """K = B B' for B of shape (n_samples, rank), which is centred once: H K H = (HB) (HB)'.

    Parameters
    ----------
    B : ndarray or CSR of shape (n_samples, rank)
        Rows of a table or of a factor. CSR is never densified: its mean is subtracted from products.
    """

    semidefinite = True

    def __init__(self, B: Any) -> None:
        self._sparse = bool(scipy.sparse.issparse(B))
        self._rows: Any
        self._mean: Float64Array
        if self._sparse:
            self._rows = scipy.sparse.csr_array(B, dtype=np.float64)
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
        if self._sparse:
            return np.asarray(self._sparse_times(V) - product(V.T, self._mean))
        return product(self._rows, V)

    def _transposed_times(self, Y: Float64Array) -> Float64Array:
        """Return (HB)' Y."""
        if not self._sparse:
            return product(self._rows.T, Y)
        return np.asarray(self._sparse_transposed_times(Y) - np.outer(self._mean, Y.sum(axis=0)))

    @cached_property
    def _sparse_times(self) -> SparseTimes:
        return SparseTimes(self._rows)

    @cached_property
    def _sparse_transposed_times(self) -> SparseTimes:
        return SparseTimes(self._rows.T)

    def matvec(self, Y: Float64Array) -> Float64Array:
        """Return K Y."""
        image = self._transposed_times(Y) + np.outer(self._offset, Y.sum(axis=0))
        return self._times(image) + product(image.T, self._offset)

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
            shift = product(right, self._shift)
            return np.asarray((self._sparse_times(right.T) if self._sparse else product(self._rows, right.T)) + shift)
        return product(self._chosen(rows), right.T)

    def diagonal(self) -> Float64Array:
        """Return the squared lengths of the rows of B."""
        along = self._sparse_times(self._shift) if self._sparse else product(self._rows, self._shift)
        squares = squared_lengths(self._rows).astype(np.float64, copy=False)
        lengths = squares + 2.0 * along + inner(self._shift, self._shift)
        return np.asarray(np.maximum(lengths, 0.0), dtype=np.float64)

    def centred_squared_norm(self) -> float:
        """Return the sum of the squared entries of H K H, through the smaller of (HB)'(HB) and (HB)(HB)'."""
        n, rank = self._rows.shape
        if not self._sparse and min(n, rank) <= _LARGEST_SCATTER:
            products = inner_products(self._rows if rank <= n else self._rows.T)
            return inner(products, products)
        total = 0.0
        for begin in range(0, min(n, rank), _FACTOR_BLOCK):
            units = np.eye(min(n, rank), min(_FACTOR_BLOCK, min(n, rank) - begin), -begin)
            image = self._transposed_times(self._times(units)) if rank <= n else self.centred_matvec(units)
            total += inner(image, image)
        return total

    def leading_eigenpairs(self, n_vectors: int) -> Eigenpairs | None:
        """Return squared singular values and left singular vectors of a small dense HB."""
        n, rank = self._rows.shape
        if self._sparse or n_vectors > min(n, rank) or n * rank * min(n, rank) > LARGEST_SVD:
            return None
        values, left = self._by_squares(n_vectors)
        if not values[-1] > _TOLD_BY_SQUARES * values[0]:
            left, lengths, _ = scipy.linalg.svd(self._rows, full_matrices=False, check_finite=False)
            values, left = np.square(lengths[:n_vectors]), left[:, :n_vectors]
        vectors = with_signs(left)
        residuals = np.linalg.norm(self.centred_matvec(vectors) - vectors * values, axis=0)
        return Eigenpairs(values, vectors, residuals, True, "dense")

    def _by_squares(self, n_vectors: int) -> tuple[Float64Array, Float64Array]:
        """Return the same by the inner products of the columns or rows, whichever are fewer."""
        n, rank = self._rows.shape
        values, vectors = symmetric_eigen(inner_products(self._rows if rank < n else self._rows.T), n_vectors)
        values = values[:n_vectors]
        if rank < n:
            vectors = product(self._rows, vectors) / np.sqrt(np.where(values > 0.0, values, 1.0))
        return values, vectors


def eigenpairs_memory(n_samples: int, rank: float, *, dense: bool = True) -> float:
    """Return the bytes that the squared norm and the leading eigenvectors of H K H take beyond a factor of K.

    Parameters
    ----------
    n_samples, rank : int, float
        Shape of the factor B.
    dense : bool, default=True
        Whether it is a table, of which a small one is decomposed in full.

    Returns
    -------
    float
    """
    n, side = float(n_samples), min(n_samples, rank)
    if dense and n * rank * side <= LARGEST_SVD:  # a copy, vectors on both sides, and LAPACK's workspace
        return 8.0 * (n * rank + n * side + side * rank + 4.0 * side * side)
    scatter = 8.0 * side * side if dense and side <= _LARGEST_SCATTER else 0.0
    return scatter + _KRYLOV_ROW * n


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
        """Return the largest eigenvalues with their vectors if a direct solution is cheap, else None."""
        return self._source.leading_eigenpairs(n_vectors)
