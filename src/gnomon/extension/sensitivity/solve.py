"""Systems in the Hessian of a loss, without the rigid motions: these displacements change no loss of distances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
import scipy.sparse.linalg

from gnomon._memory import require_memory
from gnomon._threads import single_threaded_blas
from gnomon._validation import message
from gnomon.extension.sensitivity.data_loss import DataLoss
from gnomon.objectives.expansion import flat, unflat
from gnomon.objectives.terms import Float64

__all__ = ["MOST_DENSE", "DenseSystem", "IterativeSystem", "System", "hessian_system", "rigid_motions", "without"]

_LEAST = 1e-10  # length of a motion, relative to the longest, below which it moves nothing
MOST_DENSE = 10_000
"""Unknowns, points times components, up to which "auto" factorises the Hessian: 800 MB and half a minute."""

_MARGIN = 2.0  # how far beyond the most negative curvature the damping goes
_FIRST = 1e-5  # damping tried first where there is negative curvature, in units of the typical one


def rigid_motions(Y: Float64) -> Float64:
    """Return an orthonormal basis of the shifts and rotations of a map, (n_components * n_samples, r).

    There are d shifts and d (d - 1) / 2 rotations in d dimensions, fewer where the points span fewer dimensions.
    """
    n, d = Y.shape
    centered = Y - Y.mean(axis=0)
    motions = []
    for a in range(d):
        shift = np.zeros((n, d))
        shift[:, a] = 1.0 / np.sqrt(n)
        motions.append(flat(shift))
    scale = float(np.linalg.norm(centered)) or 1.0
    for a in range(d):
        for b in range(a):
            rotation = np.zeros((n, d))
            rotation[:, a], rotation[:, b] = centered[:, b] / scale, -centered[:, a] / scale
            motions.append(flat(rotation))
    U, lengths, _ = np.linalg.svd(np.stack(motions, axis=1), full_matrices=False)
    return np.asarray(U[:, lengths > _LEAST * lengths[0]])


def without(motions: Float64, V: Float64) -> Float64:
    """Return V (rows, q) less its part along the motions."""
    return np.asarray(V - motions @ (motions.T @ V))


class System(ABC):
    """The pseudo-inverse of the Hessian: least displacements, without rigid motions.

    Attributes
    ----------
    damping : float
        Added to the Hessian's diagonal, 0 at a minimum.
    smallest : float
        Smallest curvature of the loss along displacements that are no rigid motions, before damping; NaN if unknown.
    typical : float
        Median of the Hessian's diagonal, to compare with.
    """

    damping: float
    smallest: float
    typical: float

    @abstractmethod
    def solve(self, B: Float64) -> Float64:
        """Return H^+ B for B of shape (n_components * n_samples, q)."""


class DenseSystem(System):
    """A Cholesky factorisation of H + tau N N', N the rigid motions.

    Where H has negative curvature, and no damping is given, twice the most negative one is added to its diagonal.
    """

    def __init__(self, loss: DataLoss, Y: Float64, *, damping: float | None = None) -> None:
        n, d = Y.shape
        what, fact = f"a map of {n:,} points in {d} dimensions", "the Hessian and its factor"
        remedy = "Use solver='iterative'."
        require_memory(what, 12.0 * (n * d) ** 2 + 4e7, fact=fact, remedy=remedy)
        with single_threaded_blas():
            self._motions = rigid_motions(Y)
            self.damping = 0.0 if damping is None else damping
            if not self._factorise(loss, Y):
                if damping is not None:
                    raise ValueError(_too_little(damping))
                self.damping = _FIRST * self.typical
                while not self._factorise(loss, Y):
                    self.damping *= 10.0
            self.smallest = 1.0 / _largest(self._inverse, n * d, self._motions) - self.damping
            if damping is None and self.smallest < 0.0:
                self.damping = _MARGIN * -self.smallest
                self._factorise(loss, Y)

    def _factorise(self, loss: DataLoss, Y: Float64) -> bool:
        """Factorise with the damping at hand, or return False where the matrix is not positive definite."""
        H = self._deflated(loss, Y)
        try:
            self._factor = scipy.linalg.cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
        except scipy.linalg.LinAlgError:
            return False
        return True

    def _deflated(self, loss: DataLoss, Y: Float64) -> Float64:
        """Return P H P + tau N N' + damping I with the projection P = I - N N'."""
        H, N = loss.hessian(Y), self._motions
        diagonal = np.diagonal(H)
        self.typical = float(np.median(np.abs(diagonal)))
        HN = H @ N
        inner = N.T @ HN + float(np.abs(diagonal).mean()) * np.eye(N.shape[1])
        H += np.hstack([N, HN, N]) @ np.vstack([-HN.T, -N.T, inner @ N.T])
        H[np.diag_indices(len(H))] += self.damping
        return H

    def _inverse(self, B: Float64) -> Float64:
        return np.asarray(scipy.linalg.cho_solve(self._factor, B, check_finite=False))

    def solve(self, B: Float64) -> Float64:
        """Return H^+ B."""
        with single_threaded_blas():
            return without(self._motions, self._inverse(without(self._motions, B)))


class IterativeSystem(System):
    """MINRES with products of the Hessian, preconditioned by the points' own blocks.

    A product sums over all pairs. The smallest curvature is not known, so negative curvature goes unseen.
    """

    def __init__(
        self, loss: DataLoss, Y: Float64, *, damping: float | None = None, tol: float = 1e-8, max_iter: int = 5000
    ) -> None:
        with single_threaded_blas():
            self._motions = rigid_motions(Y)
        self._loss, self._Y, self._tol, self._max_iter = loss, Y, tol, max_iter
        self.damping, self.smallest = damping or 0.0, np.nan
        own = loss.expand(Y).own_blocks()
        self.typical = float(np.median(np.abs(np.einsum("iaa->ia", own))))
        values, vectors = np.linalg.eigh(own)
        values = np.maximum(np.abs(values), 1e-3 * self.typical) + self.damping
        self._blocks = np.einsum("iab,ib,icb->iac", vectors, 1.0 / values, vectors)

    def solve(self, B: Float64) -> Float64:
        """Return H^+ B, column by column; raise where one does not converge."""
        size, d = len(B), self._Y.shape[1]

        def product(v: Float64) -> Float64:
            inside = without(self._motions, v.reshape(-1, 1))[:, 0]
            return (
                without(self._motions, self._loss.expand(self._Y).product(inside)[:, None])[:, 0]
                + self.damping * inside
            )

        def precondition(v: Float64) -> Float64:
            points = unflat(v.ravel(), d)
            return np.ascontiguousarray(np.einsum("iab,ib->ia", self._blocks, points).T).ravel()

        operator: Any = scipy.sparse.linalg.LinearOperator((size, size), matvec=product, dtype=np.float64)
        before: Any = scipy.sparse.linalg.LinearOperator((size, size), matvec=precondition, dtype=np.float64)
        found = np.empty_like(B)
        with single_threaded_blas():
            for q, column in enumerate(without(self._motions, B).T):
                solution, failed = scipy.sparse.linalg.minres(
                    operator, column, M=before, rtol=self._tol, maxiter=self._max_iter
                )
                if failed:
                    what, rule = f"{self._max_iter} iterations", "enough for MINRES to converge"
                    raise ValueError(message(what, rule, remedy="Pass damping > 0."))
                found[:, q] = solution
            return without(self._motions, found)


def hessian_system(loss: DataLoss, Y: Float64, *, solver: str, damping: float | None) -> System:
    """Return the system of a loss at a map: solver "dense", "iterative", or "auto" by the number of unknowns."""
    if solver == "dense" or (solver == "auto" and Y.size <= MOST_DENSE):
        return DenseSystem(loss, Y, damping=damping)
    return IterativeSystem(loss, Y, damping=damping)


def _largest(product: Any, size: int, motions: Float64) -> float:
    """Return the largest eigenvalue of a symmetric operator, by Lanczos from a fixed start without rigid motions."""

    def inside(v: npt.NDArray[np.float64]) -> Float64:
        return without(motions, product(without(motions, v.reshape(-1, 1))))[:, 0]

    operator: Any = scipy.sparse.linalg.LinearOperator((size, size), matvec=inside, dtype=np.float64)
    start = without(motions, np.cos(np.arange(1.0, size + 1.0))[:, None])[:, 0]
    found = scipy.sparse.linalg.eigsh(
        operator, k=1, which="LA", v0=start, tol=1e-4, ncv=min(size - 1, 20), return_eigenvectors=False
    )
    return float(found[0])


def _too_little(damping: float) -> str:
    remedy = "Pass damping=None, or polish=True to go on to a minimum first."
    return message(f"damping={damping:g}", "more than the most negative curvature", remedy=remedy)
