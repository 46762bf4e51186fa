"""A pull of every point towards the middle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.kernels import Linear, OutputKernel
from gnomon.objectives.base import Embedding
from gnomon.objectives.expansion import TermExpansion, without_own
from gnomon.objectives.terms.base import Draws, Float64

__all__ = ["Gravity"]


class Gravity:
    """strength * sum_i h_i |y_i - c|^2, c the mean of the points by their masses h.

    The same as strength / (2 H) sum_ij h_i h_j |y_i - y_j|^2 with H = sum_i h_i, in one pass over the points.

    Parameters
    ----------
    masses : array-like of shape (n_samples,)
        h, positive.
    strength : float >= 0
        Factor.
    of_degrees : bool, default=False
        Whether the masses are degrees of a graph and a constant, and follow its affinities.
    """

    def __init__(self, masses: npt.ArrayLike, strength: float, *, of_degrees: bool = False) -> None:
        self.masses = np.asarray(masses, dtype=np.float64)
        self.strength = strength
        self.kernel: OutputKernel = Linear()
        self.of_degrees = of_degrees
        self._total = float(self.masses.sum())

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return len(self.masses)

    def force(self, Y: Embedding, base: Embedding | None = None) -> Embedding:
        """Return the force on each point, added to `base` where that is given."""
        force = np.asarray(self.reference(Y.astype(np.float64))[1], dtype=np.float32)
        return force if base is None else np.asarray(base + force)

    def energy(self, Y: Embedding) -> float:
        """Return the energy."""
        return self.reference(Y.astype(np.float64))[0]

    def energy_and_force(self, Y: Embedding) -> tuple[float, Embedding]:
        """Return both."""
        return self.energy(Y), self.force(Y)

    def sampled_force(self, Y: Embedding, draws: Draws) -> Embedding:
        """Return the force, which takes one pass over the points."""
        return self.force(Y)

    def reference(self, Y: Float64) -> tuple[float, Float64]:
        """Return energy and force in float64."""
        away = self._away(Y)
        energy = self.strength * float((self.masses * np.square(away).sum(axis=1)).sum())
        return energy, -2.0 * self.strength * self.masses[:, None] * away

    def _away(self, Y: Float64) -> Float64:
        return np.asarray(Y - (self.masses[:, None] * Y).sum(axis=0) / self._total)

    def expand(self, Y: Float64) -> TermExpansion:
        """Return the term to second order at a map, in float64."""
        energy, force = self.reference(Y)

        def coefficients(rows: slice) -> tuple[Float64, Float64]:
            slopes = np.outer(self.strength / (2.0 * self._total) * self.masses[rows], self.masses)
            return without_own(slopes, rows), np.zeros_like(slopes)

        return TermExpansion(energy, -force, coefficients)

    def share(self, Y: Float64, Z: Float64) -> Float64 | None:
        """Return the derivatives of the products of Z with the gradient by the masses, (n_samples, q)."""
        if not self.of_degrees:
            return None
        middle = np.einsum("i,idq->dq", self.masses, Z) / self._total
        return np.asarray(2.0 * self.strength * np.einsum("id,idq->iq", self._away(Y), Z - middle))

    def pull(
        self, Y: Float64, Z: Float64, heads: npt.NDArray[np.intp], tails: npt.NDArray[np.intp], share: Float64 | None
    ) -> Float64 | float:
        """Return the derivatives of the products of Z with the gradient by the affinities of pairs."""
        return 0.0 if share is None else share[heads[:, None]] + share[tails]

    def push(
        self,
        Y: Float64,
        heads: npt.NDArray[np.intp],
        tails: npt.NDArray[np.intp],
        changes: Float64,
        found: Float64,
    ) -> None:
        """Add what changes of the affinities of pairs do to the gradient, through the masses."""
        if not self.of_degrees:
            return
        ends, every = np.concatenate([heads, tails]), np.arange(len(heads))
        ones = scipy.sparse.csr_array(
            (np.ones(len(ends)), (ends, np.tile(every, 2))), shape=(self.n_samples, len(every))
        )
        by_mass, away = np.asarray(ones @ changes), self._away(Y)
        shift = np.einsum("id,if->df", away, by_mass) / self._total
        found += 2.0 * self.strength * (away[:, :, None] * by_mass[:, None, :] - self.masses[:, None, None] * shift)
