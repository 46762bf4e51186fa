"""A sum over all pairs, each with a similarity of its own to reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from gnomon import _core
from gnomon._validation import message
from gnomon.objectives.base import Embedding
from gnomon.objectives.edges import compile_kernel
from gnomon.objectives.pair_force import pair_force
from gnomon.objectives.terms.base import Float64

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel

__all__ = ["TargetPairs"]


_BLOCK = 512  # rows compared at a time


class TargetPairs:
    """scale * sum over pairs i != j of w_ij (k_ij - t_ij)^2, or |H (K - T) H|_F^2 with the centring matrix H.

    Parameters
    ----------
    target : array-like of shape (n_samples, n_samples)
        Symmetric t_ij, kept in float32, centred where `centered` is.
    kernel : OutputKernel
        k.
    centered : bool, default=False
        Subtract row and column means of K - T; the diagonal then counts.
    weights : array-like of shape (n_samples, n_samples) or (n_samples,), or None, default=None
        w_ij, symmetric and >= 0, or u with w_ij = u_i u_j; kept in float32, the diagonal not used. A pair of weight 0
        is left out. None weighs all pairs 1.
    scale : float, default=1.0
        Factor.
    n_threads : int, default=1
        Does not change the result.
    who : str
        Opens the error text.
    """

    def __init__(
        self,
        target: npt.ArrayLike,
        kernel: OutputKernel,
        *,
        centered: bool = False,
        weights: npt.ArrayLike | None = None,
        scale: float = 1.0,
        n_threads: int = 1,
        who: str = "TargetPairs",
    ) -> None:
        self.target = _check_target(target, who=who)
        self.weights, self.factors = _check_weights(weights, len(self.target), centered=centered, who=who)
        if centered:
            _center(self.target)
        self.kernel = kernel
        self.centered = centered
        self.scale = scale
        self.n_threads = n_threads
        self.compiled_kernel = compile_kernel(kernel)

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return int(self.target.shape[0])

    def force(self, Y: Embedding, base: Embedding | None = None) -> Embedding:
        """Return the force on each point, added to `base` where that is given."""
        force = self.energy_and_force(Y)[1]
        return force if base is None else np.asarray(base + force)

    def energy(self, Y: Embedding) -> float:
        """Return the energy."""
        return self.energy_and_force(Y)[0]

    def energy_and_force(self, Y: Embedding) -> tuple[float, Embedding]:
        """Return both, from one evaluation of the pairs."""
        if self.compiled_kernel is None:
            energy, reference = self.reference(Y.astype(np.float64))
            return energy, np.asarray(reference, dtype=Y.dtype)
        force, energy = _core.target_sums(
            Y, self.target, self.compiled_kernel, self.centered, self.weights, self.factors, self.n_threads
        )
        return self.scale * energy, np.asarray(np.float32(-4.0 * self.scale) * force)

    def halves(self, Y: Embedding) -> tuple[Embedding, Embedding]:
        """Return the force of the targets, +8 sum_j t_ij k'_ij (y_i - y_j), and that of the similarities themselves."""
        similarities, slopes = self._similarities(Y.astype(np.float64))
        parts = [
            8.0 * self.scale * sign * pair_force(self._bracket(matrix) * self._pair_weights * slopes, Y)
            for sign, matrix in ((1.0, self.target.astype(np.float64)), (-1.0, similarities))
        ]
        return np.asarray(parts[0], dtype=Y.dtype), np.asarray(parts[1], dtype=Y.dtype)

    def reference(self, Y: Float64) -> tuple[float, Float64]:
        """Return energy and force in float64, all pairs at once."""
        similarities, slopes = self._similarities(Y)
        bracket = self._bracket(similarities - self.target)
        weighted = bracket * self._pair_weights
        return self.scale * float(np.vdot(weighted, bracket)), -8.0 * self.scale * pair_force(weighted * slopes, Y)

    def rows_of_weights(self, rows: slice) -> Float64 | float:
        """Return w_ij of some rows i in float64, or 1; the diagonal has no meaning."""
        if self.factors.size:
            return np.outer(self.factors[rows], self.factors.astype(np.float64))
        return self.weights[rows].astype(np.float64) if self.weights.size else 1.0

    @property
    def _pair_weights(self) -> Float64 | float:
        """w_ij in float64, or 1."""
        return self.rows_of_weights(slice(None))

    def _similarities(self, Y: Float64) -> tuple[Float64, Float64]:
        """Return k and dk/ds between all points; a point and itself exert no force."""
        s = cdist(Y, Y, "sqeuclidean")
        slopes = np.array(self.kernel.derivative(s))
        np.fill_diagonal(slopes, 0.0)
        return self.kernel.value(s), slopes

    def _bracket(self, matrix: Float64) -> Float64:
        if self.centered:
            return np.asarray(matrix - matrix.mean(axis=0) - matrix.mean(axis=1)[:, None] + matrix.mean())
        off = np.array(matrix)
        np.fill_diagonal(off, 0.0)
        return off


def _check_target(target: npt.ArrayLike, *, who: str) -> npt.NDArray[np.float32]:
    matrix = np.asarray(target)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        fact = f"found {type(target).__name__}" if matrix.ndim == 0 else ""
        raise ValueError(message(who, f"target of shape {matrix.shape}", "a square matrix", fact=fact))
    compact = np.array(matrix, dtype=np.float32, order="C")
    for first in range(0, len(compact), _BLOCK):
        rows = slice(first, first + _BLOCK)
        if not np.isfinite(compact[rows]).all():
            raise ValueError(message(who, "target", "finite"))
        if not np.allclose(compact[rows], compact[:, rows].T, rtol=1e-4, atol=1e-6):
            raise ValueError(message(who, "target", "symmetric", remedy="Pass (T + T.T) / 2."))
    return compact


def _check_weights(
    weights: npt.ArrayLike | None, n_samples: int, *, centered: bool, who: str
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return weights of pairs and factors of them, of which one or both are empty."""
    none = np.empty((0, 0), dtype=np.float32), np.empty(0, dtype=np.float32)
    if weights is None:
        return none
    if centered:
        raise ValueError(message(who, "weights", "None with centered=True", fact="centred pairs are not separate"))
    given = np.array(weights, dtype=np.float32, order="C")
    if given.shape not in ((n_samples,), (n_samples, n_samples)):
        rule = f"of shape (n_samples, n_samples) or (n_samples,) with n_samples={n_samples}"
        raise ValueError(message(who, f"weights of shape {given.shape}", rule))
    if not np.isfinite(given).all() or (given < 0.0).any():
        raise ValueError(message(who, "weights", "finite and >= 0"))
    if given.ndim == 1:
        return none[0], given
    for first in range(0, n_samples, _BLOCK):
        rows = slice(first, first + _BLOCK)
        if not np.allclose(given[rows], given[:, rows].T, rtol=1e-4, atol=0.0):
            raise ValueError(message(who, "weights", "symmetric", remedy="Pass (W + W.T) / 2."))
    return given, none[1]


def _center(matrix: npt.NDArray[np.float32]) -> None:
    """Subtract row and column means in place; the rest then sums to 0 in each row."""
    means = matrix.mean(axis=1, dtype=np.float64)
    halved = means - means.mean() / 2.0
    for first in range(0, len(matrix), _BLOCK):
        rows = slice(first, first + _BLOCK)
        matrix[rows] = matrix[rows] - halved[rows, None] - halved[None, :]
