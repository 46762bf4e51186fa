"""Gram matrices of an input kernel, evaluated some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from gnomon._run import current_run
from gnomon._threads import ThreadPool
from gnomon._validation import message
from gnomon.affinities.gram.source import Float64Array, Rows, centred
from gnomon.kernels.inputs import InputKernel
from gnomon.linalg import Eigenpairs

__all__ = ["KernelSource"]

_BLOCK = 256  # rows whose similarities to all others are held at a time, by each thread
_PROBE = 64  # rows on which a user's kernel is tried

_Part = TypeVar("_Part")


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
        sparse = bool(sp.issparse(X))
        self._rows: Any = sp.csr_array(X, dtype=np.float64) if sparse else np.asarray(X, dtype=np.float64)
        if kernel.of_differences and not sparse:  # distances of rows far from the origin keep their digits
            self._rows = self._rows - self._rows.mean(axis=0)
        self._diagonal: Float64Array = kernel.diagonal(self._rows)
        if kernel.semidefinite is None:
            self._probe()

    def _probe(self) -> None:
        """Refuse a kernel that is seen not to be symmetric."""
        some = self._rows[np.unique(np.linspace(0, self.n_samples - 1, min(self.n_samples, _PROBE)).astype(np.intp))]
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
        return np.concatenate(list(self._each_strip(lambda _, strip: strip @ Y)))

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
            return float(np.vdot(entries, entries))

        return float(sum(self._each_strip(squares)))

    def leading_eigenpairs(self, n_vectors: int) -> Eigenpairs | None:
        """Return None: there is no way shorter than products."""
        return None
