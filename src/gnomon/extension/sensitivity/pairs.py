"""A loss of pairs at a point: its gradient, and the slopes and curvatures that its second derivatives are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from gnomon._threads import in_order, single_threaded_blas
from gnomon.extension.sensitivity.row_weights import Float64

__all__ = ["PairLoss", "Pairs", "blocks", "flat", "squared_distances", "unflat"]

_BLOCK = 256  # rows at a time


@dataclass(frozen=True)
class Pairs:
    """A loss at one map, with gradient_i = 4 sum_j S_ij (y_i - y_j) and dS_ij/ds_ij = C_ij.

    Its Hessian has the blocks -4 (S_ij I + 2 C_ij (y_i - y_j)(y_i - y_j)') for i != j, those of the diagonal being
    minus the sum of their row, plus ``factors[0].T @ diag(factors[1]) @ factors[0]``.

    Attributes
    ----------
    Y : ndarray of shape (n_samples, n_components)
    loss : float
    gradient : ndarray of shape (n_samples, n_components)
    attraction : float
        Norm of the attractive half of the gradient, to which the gradient is compared.
    factors : (ndarray of shape (r, n_components * n_samples), ndarray of shape (r,)) or None
        Part of low rank that normalisers add, component by component.
    """

    Y: Float64
    loss: float
    gradient: Float64
    attraction: float
    factors: tuple[Float64, Float64] | None = None

    @property
    def relative_gradient(self) -> float:
        """Norm of the gradient over that of its attractive half."""
        return float(np.linalg.norm(self.gradient)) / self.attraction if self.attraction else 0.0


class PairLoss(ABC):
    """A loss of the distances between points of a map and of data, in float64, twice differentiable.

    It is an `Objective`, which optimizers take. A subclass evaluates in `evaluate`, gives S and C of some rows in
    `coefficients`, and the mixed second derivatives in `pull` and `push`.
    """

    dtype = np.float64
    evaluation = "exact"

    def __init__(self, X: Float64, *, n_threads: int = 1) -> None:
        self.X = X
        self.n_samples = len(X)
        self.n_threads = n_threads
        self._seen: Pairs | None = None

    @abstractmethod
    def evaluate(self, Y: Float64) -> Pairs:
        """Return the loss at Y with all that the other functions need of it."""

    @abstractmethod
    def coefficients(self, pairs: Pairs, rows: slice) -> tuple[Float64, Float64]:
        """Return S and C of some rows, (n_rows, n_samples), 0 on the diagonal; not the part of low rank."""

    @abstractmethod
    def share(self, pairs: Pairs, Z: Float64) -> Float64 | None:
        """Return what `pull` needs of directions Z (n_samples, n_components, q) once for all rows, or None."""

    @abstractmethod
    def pull(self, pairs: Pairs, Z: Float64, i: int, share: Float64 | None) -> Float64:
        """Return the derivative by x_i of the products of q directions Z with the gradient: (q, n_features)."""

    @abstractmethod
    def push(self, pairs: Pairs, i: int) -> Float64:
        """Return the derivative of the gradient by x_i, (n_samples, n_components, n_features)."""

    def pairs_at(self, Y: npt.ArrayLike) -> Pairs:
        """Return the loss at Y; the last map seen costs nothing."""
        points = np.ascontiguousarray(Y, dtype=np.float64)
        if self._seen is None or not np.array_equal(self._seen.Y, points):
            with single_threaded_blas():
                self._seen = self.evaluate(points.copy())
        return self._seen

    def loss(self, Y: npt.ArrayLike) -> float:
        """Return the loss."""
        return self.pairs_at(Y).loss

    def gradient(self, Y: npt.ArrayLike) -> Float64:
        """Return the gradient."""
        return self.pairs_at(Y).gradient.copy()

    def loss_and_gradient(self, Y: npt.ArrayLike) -> tuple[float, Float64]:
        """Return both."""
        pairs = self.pairs_at(Y)
        return pairs.loss, pairs.gradient.copy()

    def forces(self, Y: npt.ArrayLike) -> tuple[Float64, Float64]:
        """Return minus the gradient as one force, and nothing."""
        gradient = self.pairs_at(Y).gradient
        return -gradient, np.zeros_like(gradient)

    def evaluation_for(self, n_components: int) -> str:
        """Return how forces are evaluated: "exact"."""
        return self.evaluation

    def hessian(self, Y: npt.ArrayLike) -> Float64:
        """Return the Hessian, (n_components * n_samples)^2, component by component."""
        pairs = self.pairs_at(Y)
        n, d = pairs.Y.shape
        H = np.zeros((d * n, d * n))
        every = np.arange(n)

        def fill(rows: slice) -> None:
            S, C = self.coefficients(pairs, rows)
            here = every[rows]
            for a in range(d):
                across = pairs.Y[rows, a, None] - pairs.Y[None, :, a]
                for b in range(a + 1):
                    part = 2.0 * C * across * (across if b == a else pairs.Y[rows, b, None] - pairs.Y[None, :, b])
                    if a == b:
                        part += S
                    part *= -4.0
                    part[here - rows.start, here] = -part.sum(axis=1)
                    H[a * n + rows.start : a * n + rows.stop, b * n : (b + 1) * n] = part
                    if a != b:
                        H[b * n + rows.start : b * n + rows.stop, a * n : (a + 1) * n] = part

        with single_threaded_blas():
            for _ in in_order(fill, list(blocks(n)), self.n_threads):
                pass
            if pairs.factors is not None:
                vectors, weights = pairs.factors
                H += vectors.T @ (weights[:, None] * vectors)
        return H

    def product(self, Y: npt.ArrayLike, vector: Float64) -> Float64:
        """Return the Hessian times a vector of n_components * n_samples numbers, block by block of rows."""
        pairs = self.pairs_at(Y)
        n, d = pairs.Y.shape
        V = unflat(vector, d)

        def part(rows: slice) -> Float64:
            S, C = self.coefficients(pairs, rows)
            across = pairs.Y[rows, None, :] - pairs.Y[None, :, :]
            change = V[rows, None, :] - V[None, :, :]
            along = 2.0 * C * np.einsum("ijd,ijd->ij", across, change)
            return np.asarray(4.0 * (np.einsum("ij,ijd->id", S, change) + np.einsum("ij,ijd->id", along, across)))

        with single_threaded_blas():
            found = flat(np.concatenate(list(in_order(part, list(blocks(n)), self.n_threads))))
            if pairs.factors is not None:
                vectors, weights = pairs.factors
                found += vectors.T @ (weights * (vectors @ vector))
        return found

    def own_blocks(self, Y: npt.ArrayLike) -> Float64:
        """Return the blocks of the Hessian on its diagonal, (n_samples, n_components, n_components)."""
        pairs = self.pairs_at(Y)
        n, d = pairs.Y.shape

        def part(rows: slice) -> Float64:
            S, C = self.coefficients(pairs, rows)
            across = pairs.Y[rows, None, :] - pairs.Y[None, :, :]
            found = 8.0 * np.einsum("ij,ija,ijb->iab", C, across, across)
            found += 4.0 * S.sum(axis=1)[:, None, None] * np.eye(d)
            return np.asarray(found)

        with single_threaded_blas():
            found = np.concatenate(list(in_order(part, list(blocks(n)), self.n_threads)))
            if pairs.factors is not None:
                vectors, weights = pairs.factors
                shaped = vectors.reshape(len(weights), d, n)
                found += np.einsum("r,rai,rbi->iab", weights, shaped, shaped)
        return found


def blocks(n: int) -> Iterator[slice]:
    """Yield blocks of rows."""
    for first in range(0, n, _BLOCK):
        yield slice(first, min(first + _BLOCK, n))


def squared_distances(Y: Float64, rows: slice) -> Float64:
    """Return |y_i - y_j|^2 of some rows to all."""
    return cdist(Y[rows], Y, "sqeuclidean")


def flat(V: Float64) -> Float64:
    """Return an array (n, d, ...) as (d n, ...), component by component."""
    return np.ascontiguousarray(np.swapaxes(V, 0, 1)).reshape((-1, *V.shape[2:]))


def unflat(vector: Float64, d: int) -> Float64:
    """Return an array (d n, ...) as (n, d, ...)."""
    return np.swapaxes(vector.reshape((d, -1, *vector.shape[1:])), 0, 1)
