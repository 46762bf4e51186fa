"""Gram matrices of an input kernel: evaluated some rows at a time, or once and held as the upper half."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._run import current_run
from gnomon._threads import ThreadPool, in_order
from gnomon._validation import message
from gnomon.affinities.gram_sources import Float64Array, Rows, centred
from gnomon.kernels.inputs import InputKernel
from gnomon.linalg import Eigenpairs, inner, product
from gnomon.linalg.table import evenly_spaced

__all__ = ["KernelSource", "TriangleSource", "symmetric_matrix"]

_BLOCK = 256  # rows whose similarities to all others are held at a time, by each thread
_PROBE = 64  # rows on which a user's kernel is tried

_Part = TypeVar("_Part")
_STRIP = 256  # rows held together
_TILE = 1024  # columns evaluated together: a strip of them stays in the cache from the distances to the kernel


class KernelSource:
    """K_ij = k(x_i, x_j), of which a block of 256 rows is held for each thread.

    Parameters
    ----------
    kernel : InputKernel
        The similarity.
    X : ndarray or CSR of shape (n_samples, n_features)
        The rows; turned to float64.
    """

    def __init__(self, kernel: InputKernel, X: Any) -> None:
        self.kernel = kernel
        self.semidefinite = kernel.semidefinite
        sparse = bool(scipy.sparse.issparse(X))
        self._rows: Any = scipy.sparse.csr_array(X, dtype=np.float64) if sparse else np.asarray(X, dtype=np.float64)
        if kernel.of_differences and not sparse:  # distances of rows far from the origin keep their digits
            self._rows = self._rows - self._rows.mean(axis=0)
        self._diagonal: Float64Array = kernel.diagonal(self._rows)
        if kernel.semidefinite is None:
            self._probe()

    def _probe(self) -> None:
        """Refuse a kernel that is seen not to be symmetric."""
        some = self._rows[evenly_spaced(self.n_samples, _PROBE)]
        values = self.kernel.block(some, some)
        difference, largest = float(np.abs(values - values.T).max()), float(np.abs(values).max())
        if difference > 1e-10 * largest:
            fact = f"f(A, A) differs from its transpose by up to {difference:.3g}, its largest entry is {largest:.3g}"
            raise ValueError(message("similarity", "symmetric, f(A, B) = f(B, A)'", fact=fact))

    @property
    def n_samples(self) -> int:
        """Order of K."""
        return int(self._rows.shape[0])

    def _strip(self, begin: int) -> Float64Array:
        """Return the similarities of a block of rows to all rows; those of rows with themselves are exact."""
        strip = self.kernel.block(self._rows[begin : begin + _BLOCK], self._rows)
        own = np.arange(strip.shape[0])
        strip[own, begin + own] = self._diagonal[begin : begin + _BLOCK]
        return strip

    def _each_strip(self, use: Callable[[int, Float64Array], _Part]) -> Iterator[_Part]:
        """Yield use(begin, strip) of all blocks in order, whichever thread computed them."""
        begins = range(0, self.n_samples, _BLOCK)

        def work(begin: int) -> _Part:
            return use(begin, self._strip(begin))

        if current_run().n_threads == 1 or len(begins) == 1:
            yield from map(work, begins)
            return
        with ThreadPool() as pool:
            yield from pool.map(work, begins)

    def matvec(self, Y: Float64Array) -> Float64Array:
        """Return K Y."""
        return np.concatenate(list(self._each_strip(lambda _, strip: product(strip, Y))))

    def centred_matvec(self, Y: Float64Array) -> Float64Array:
        """Return H K H Y."""
        return centred(self.matvec(centred(Y)))

    def block(self, rows: Rows, columns: Rows) -> Float64Array:
        """Return the entries in the given rows and columns."""
        some = self._rows if rows is None else self._rows[rows]
        others = self._rows if columns is None else self._rows[columns]
        values = self.kernel.block(some, others)
        numbers = np.arange(self.n_samples)
        left, right = numbers if rows is None else rows, numbers if columns is None else columns
        _, own, place = np.intersect1d(left, right, return_indices=True)
        values[own, place] = self._diagonal[left[own]]
        return values

    def tile(self, rows: slice, columns: slice) -> Float64Array:
        """Return the similarities of two runs of rows; those of rows with themselves only up to rounding."""
        return self.kernel.block(self._rows[rows], self._rows[columns])

    def diagonal(self) -> Float64Array:
        """Return the diagonal of K."""
        return self._diagonal.copy()

    def diagonal_part(self, rows: npt.NDArray[np.intp]) -> Float64Array:
        """Return some entries of the diagonal."""
        return self._diagonal[rows]

    def centred_squared_norm(self) -> float:
        """Return the sum of the squared entries of H K H."""
        means = self.matvec(np.full((self.n_samples, 1), 1.0 / self.n_samples))[:, 0]
        mean = float(means.mean())

        def squares(begin: int, strip: Float64Array) -> float:
            entries = strip - means[begin : begin + _BLOCK, None] - (means - mean)
            return inner(entries, entries)

        return float(sum(self._each_strip(squares)))

    def leading_eigenpairs(self, n_vectors: int) -> Eigenpairs | None:
        """Return None: products with K are the cheapest."""
        return None


class TriangleSource:
    """K_ij = k(x_i, x_j) for j not before i's strip of 256 rows; the other half is the same numbers.

    It takes 4 n_samples^2 bytes and half the evaluations of the kernel.

    Parameters
    ----------
    source : KernelSource
        Evaluates the kernel; single columns are asked of it again.
    """

    def __init__(self, source: KernelSource) -> None:
        self._source = source
        self._strips: list[Float64Array] = list(_each(source, lambda begin: _strip(source, begin)))

    @property
    def n_samples(self) -> int:
        """Order of K."""
        return self._source.n_samples

    @property
    def semidefinite(self) -> bool | None:
        """Whether K is known to be positive semidefinite."""
        return self._source.semidefinite

    def matvec(self, Y: Float64Array) -> Float64Array:
        """Return K Y."""
        image = np.zeros((self.n_samples, Y.shape[1]))

        def work(begin: int) -> tuple[Float64Array, Float64Array]:
            strip = self._strips[begin // _STRIP]
            end = begin + strip.shape[0]
            return product(strip, Y[begin:]), product(strip[:, end - begin :].T, Y[begin:end])

        for begin, (own, others) in zip(_begins(self.n_samples), in_order(work, _begins(self.n_samples)), strict=True):
            end = begin + own.shape[0]
            image[begin:end] += own
            image[end:] += others
        return image

    def centred_matvec(self, Y: Float64Array) -> Float64Array:
        """Return H K H Y."""
        return centred(self.matvec(centred(Y)))

    def block(self, rows: Rows, columns: Rows) -> Float64Array:
        """Return the entries in the given rows and columns."""
        if rows is None and columns is None:
            return symmetric_matrix(self._source)
        return self._source.block(rows, columns)

    def diagonal(self) -> Float64Array:
        """Return the diagonal of K."""
        return self._source.diagonal()

    def centred_squared_norm(self) -> float:
        """Return the sum of the squared entries of H K H."""
        means = self.matvec(np.full((self.n_samples, 1), 1.0 / self.n_samples))[:, 0]
        mean = float(means.mean())

        def squares(begin: int) -> float:
            strip = self._strips[begin // _STRIP]
            end = begin + strip.shape[0]
            entries = strip - means[begin:end, None] - (means[begin:] - mean)
            own, others = entries[:, : end - begin], entries[:, end - begin :]
            return inner(own, own) + 2.0 * inner(others, others)

        return float(sum(in_order(squares, _begins(self.n_samples))))

    def leading_eigenpairs(self, n_vectors: int) -> Eigenpairs | None:
        """Return None: products with K are the cheapest."""
        return None


def symmetric_matrix(source: KernelSource) -> Float64Array:
    """Return all of K, exactly symmetric, from half the evaluations of the kernel."""
    n = source.n_samples
    K = np.empty((n, n))

    def work(begin: int) -> None:
        strip = _strip(source, begin)
        end = begin + strip.shape[0]
        K[begin:end, begin:] = strip
        K[end:, begin:end] = strip[:, end - begin :].T

    for _ in _each(source, work):
        pass
    return K


def _begins(n_samples: int) -> range:
    return range(0, n_samples, _STRIP)


def _each(source: KernelSource, work: Callable[[int], _Part]) -> Iterator[_Part]:
    """Yield work(begin) of all strips in order."""
    return in_order(work, _begins(source.n_samples))


def _strip(source: KernelSource, begin: int) -> Float64Array:
    """Return rows begin to begin + 256 of K from column begin on; its leading square is symmetric."""
    n = source.n_samples
    rows = np.arange(begin, min(begin + _STRIP, n))
    strip = np.empty((rows.size, n - begin))
    for first in range(begin, n, _TILE):
        last = min(first + _TILE, n)
        strip[:, first - begin : last - begin] = source.tile(slice(begin, begin + rows.size), slice(first, last))
    own = strip[:, : rows.size]
    lower = np.tril_indices(rows.size, -1)
    own.T[lower] = own[lower]
    np.fill_diagonal(own, source.diagonal_part(rows))
    return strip
