"""The Gram matrix of an input kernel, evaluated once and held as its upper half."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from gnomon._threads import in_order
from gnomon.affinities.gram.kernel import KernelSource
from gnomon.affinities.gram.source import Float64Array, Rows, centred
from gnomon.linalg import Eigenpairs

__all__ = ["TriangleSource", "symmetric_matrix"]

_STRIP = 256  # rows held together
_TILE = 1024  # columns evaluated together: a strip of them stays in the cache from the distances to the kernel

_Part = TypeVar("_Part")


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
            return strip @ Y[begin:], strip[:, end - begin :].T @ Y[begin:end]

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
            return float(np.vdot(own, own)) + 2.0 * float(np.einsum("ij,ij->", others, others))

        return float(sum(in_order(squares, _begins(self.n_samples))))

    def leading_eigenpairs(self, n_vectors: int) -> Eigenpairs | None:
        """Return None: there is no way shorter than products."""
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
