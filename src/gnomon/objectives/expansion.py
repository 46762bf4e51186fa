"""A loss of pairs to second order at a map: gradient, and the slopes and curvatures that make the Hessian."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import row_distances
from gnomon._threads import in_order, single_threaded_blas

__all__ = ["Expansion", "TermExpansion", "blocks", "flat", "squared_distances", "unflat", "without_own"]

Float64 = npt.NDArray[np.float64]
Factors = tuple[Float64, Float64]

_BLOCK = 256  # rows at a time


@dataclass(frozen=True)
class TermExpansion:
    """A term at a map, with gradient_i = 4 sum_j S_ij (y_i - y_j) and dS_ij/ds_ij = C_ij.

    Attributes
    ----------
    energy : float
    gradient : ndarray of shape (n_samples, n_components)
    coefficients : callable
        Some rows -> S and C of them, both (n_rows, n_samples), 0 on the diagonal; not the part of low rank.
    factors : (ndarray of shape (r, n_components * n_samples), ndarray of shape (r,)) or None
        The part of the Hessian that normalisers add, ``factors[0].T @ diag(factors[1]) @ factors[0]``, component by
        component.
    attraction : ndarray of shape (n_samples, n_components) or None
        The attractive half of the gradient, where a term has both.
    """

    energy: float
    gradient: Float64
    coefficients: Callable[[slice], tuple[Float64, Float64]]
    factors: Factors | None = None
    attraction: Float64 | None = None


@dataclass(frozen=True)
class Expansion:
    """A loss at a map.

    Its Hessian has the blocks -4 (S_ij I + 2 C_ij (y_i - y_j)(y_i - y_j)') for i != j, those of the diagonal being
    minus the sum of their row, plus the parts of low rank, all summed over the terms.

    Attributes
    ----------
    Y : ndarray of shape (n_samples, n_components)
    loss : float
    gradient : ndarray of shape (n_samples, n_components)
    attraction : float
        Norm of the attractive half of the gradient, to which the gradient is compared.
    terms : sequence of TermExpansion
    """

    Y: Float64
    loss: float
    gradient: Float64
    attraction: float
    terms: Sequence[TermExpansion]

    @property
    def relative_gradient(self) -> float:
        """Norm of the gradient over that of its attractive half."""
        return float(np.linalg.norm(self.gradient)) / self.attraction if self.attraction else 0.0

    def coefficients(self, rows: slice) -> tuple[Float64, Float64]:
        """Return S and C of some rows, summed over the terms."""
        S, C = self.terms[0].coefficients(rows)
        for term in self.terms[1:]:
            slopes, bends = term.coefficients(rows)
            S += slopes
            C += bends
        return S, C

    @property
    def factors(self) -> list[Factors]:
        """The parts of low rank."""
        return [term.factors for term in self.terms if term.factors is not None]

    def hessian(self) -> Float64:
        """Return the Hessian, (n_components * n_samples)^2, component by component."""
        n, d = self.Y.shape
        H = np.zeros((d * n, d * n))
        every = np.arange(n)

        def fill(rows: slice) -> None:
            S, C = self.coefficients(rows)
            here = every[rows]
            for a in range(d):
                across = self.Y[rows, a, None] - self.Y[None, :, a]
                for b in range(a + 1):
                    part = 2.0 * C * across * (across if b == a else self.Y[rows, b, None] - self.Y[None, :, b])
                    if a == b:
                        part += S
                    part *= -4.0
                    part[here - rows.start, here] = -part.sum(axis=1)
                    H[a * n + rows.start : a * n + rows.stop, b * n : (b + 1) * n] = part
                    if a != b:
                        H[b * n + rows.start : b * n + rows.stop, a * n : (a + 1) * n] = part

        with single_threaded_blas():
            for _ in in_order(fill, list(blocks(n))):
                pass
            for vectors, weights in self.factors:
                H += vectors.T @ (weights[:, None] * vectors)
        return H

    def product(self, vector: Float64) -> Float64:
        """Return the Hessian times a vector of n_components * n_samples numbers, block by block of rows."""
        n, d = self.Y.shape
        V = unflat(vector, d)

        def part(rows: slice) -> Float64:
            S, C = self.coefficients(rows)
            across = self.Y[rows, None, :] - self.Y[None, :, :]
            change = V[rows, None, :] - V[None, :, :]
            along = 2.0 * C * np.einsum("ijd,ijd->ij", across, change)
            return np.asarray(4.0 * (np.einsum("ij,ijd->id", S, change) + np.einsum("ij,ijd->id", along, across)))

        with single_threaded_blas():
            found = flat(np.concatenate(list(in_order(part, list(blocks(n))))))
            for vectors, weights in self.factors:
                found += vectors.T @ (weights * (vectors @ vector))
        return found

    def own_blocks(self) -> Float64:
        """Return the blocks of the Hessian on its diagonal, (n_samples, n_components, n_components)."""
        n, d = self.Y.shape

        def part(rows: slice) -> Float64:
            S, C = self.coefficients(rows)
            across = self.Y[rows, None, :] - self.Y[None, :, :]
            found = 8.0 * np.einsum("ij,ija,ijb->iab", C, across, across)
            found += 4.0 * S.sum(axis=1)[:, None, None] * np.eye(d)
            return np.asarray(found)

        with single_threaded_blas():
            found = np.concatenate(list(in_order(part, list(blocks(n)))))
            for vectors, weights in self.factors:
                shaped = vectors.reshape(len(weights), d, n)
                found += np.einsum("r,rai,rbi->iab", weights, shaped, shaped)
        return found


def blocks(n: int, height: int = _BLOCK) -> Iterator[slice]:
    """Yield blocks of so many rows."""
    for first in range(0, n, height):
        yield slice(first, min(first + height, n))


def squared_distances(Y: Float64, rows: slice) -> Float64:
    """Return |y_i - y_j|^2 of some rows to all."""
    return row_distances(Y[rows], Y, squared=True)


def without_own(values: Float64, rows: slice) -> Float64:
    """Set what some rows have with themselves to 0, in place, and return it."""
    own = np.arange(rows.start, rows.stop)
    values[own - rows.start, own] = 0.0
    return values


def flat(V: Float64) -> Float64:
    """Return an array (n, d, ...) as (d n, ...), component by component."""
    return np.ascontiguousarray(np.swapaxes(V, 0, 1)).reshape((-1, *V.shape[2:]))


def unflat(vector: Float64, d: int) -> Float64:
    """Return an array (d n, ...) as (n, d, ...)."""
    return np.swapaxes(vector.reshape((d, -1, *vector.shape[1:])), 0, 1)
