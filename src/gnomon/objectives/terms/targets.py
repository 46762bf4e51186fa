"""A sum over all pairs, each with a similarity of its own to reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._arithmetic import inner, row_distances
from gnomon._cached import cached_property
from gnomon._entrance import part
from gnomon._run import current_run
from gnomon._threads import in_order
from gnomon._validation import message
from gnomon.linalg import check_symmetric
from gnomon.objectives.base import Embedding
from gnomon.objectives.expansion import TermExpansion, blocks, squared_distances, without_own
from gnomon.objectives.pairs import compile_kernel, pair_force
from gnomon.objectives.terms.base import Draws, Float64, RowShares, curved, drawn_force, entries

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel

__all__ = ["TargetPairs"]


_BLOCK = 512  # rows compared at a time
_OF_LARGEST = 1e-6  # by which entries of a target may differ from those across: rounding of differences
_TINY = 1e-300  # squared distance below which points coincide


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
        is left out. "inverse" and "inverse_square" take 1 / t and 1 / t^2, which then follow the targets. None weighs
        all pairs 1.
    dtype : type, default=float32
        In which targets and weights are kept.
    scale : float, default=1.0
        Factor.
    """

    @part("TargetPairs")
    def __init__(
        self,
        target: npt.ArrayLike,
        kernel: OutputKernel,
        *,
        centered: bool = False,
        weights: str | npt.ArrayLike | None = None,
        dtype: type = np.float32,
        scale: float = 1.0,
    ) -> None:
        self.target = _check_target(target, dtype)
        self.power = {"inverse": 1, "inverse_square": 2}[weights] if isinstance(weights, str) else 0
        if self.power:
            with np.errstate(divide="ignore"):
                weights = np.where(self.target > 0.0, self.target ** float(-self.power), 0.0)
        self.weights, self.factors = _check_weights(weights, len(self.target), dtype, centered=centered)
        if centered:
            _center(self.target)
        self.kernel = kernel
        self.centered = centered
        self.scale = scale
        self.compiled_kernel = compile_kernel(kernel)

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return int(self.target.shape[0])

    @property
    def largest_pair(self) -> float:
        """Largest magnitude of scale * w_ij, the diagonal included."""
        if self.factors.size:
            return abs(self.scale) * float(self.factors.max()) ** 2
        return abs(self.scale) * (float(self.weights.max()) if self.weights.size else 1.0)

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
            Y, self.target, self.compiled_kernel, self.centered, self.weights, self.factors, current_run().n_threads
        )
        return self.scale * energy, np.asarray(np.float32(-4.0 * self.scale) * force)

    def sampled_force(self, Y: Embedding, draws: Draws) -> Embedding:
        """Return an unbiased estimate of the force from the points drawn.

        Half of a point's partners are drawn all alike, the others in proportion to w_ij |t_ij|; each counts by how
        likely it was to be drawn either way. Few large targets are then met as often as they weigh.
        """
        if self.centered:
            fact, remedy = "the means of whole rows do not follow from a few pairs", "Use centered=False."
            raise ValueError(message("centered=True", "False to be sampled", fact=fact, remedy=remedy))
        n, n_draws = self.n_samples, draws.n_draws
        by_target = n_draws // 2
        points, drawn_how_often = draws.points, np.full(draws.points.shape, (n_draws - by_target) / n)
        if by_target:
            points = np.hstack([points[:, by_target:], self._shares.draw(draws.uniform[:, :by_target])])
            drawn_how_often += by_target * self._shares.probabilities(points)
        weights = self.scale * self._weights_at(points) / drawn_how_often
        targets = entries(self.target, points)
        own, given = (
            drawn_force(Y, points, part, law, self.kernel, self.compiled_kernel)
            for law, part in (("square", weights), ("value", -2.0 * weights * targets))
        )
        return own + given

    @cached_property
    def _shares(self) -> RowShares:
        """Draws in proportion to w_ij |t_ij|; a factor of a whole row does not count."""
        if self.weights.size:
            return RowShares(self.weights * self.target)
        return RowShares(self.factors * self.target if self.factors.size else self.target)

    def _weights_at(self, points: npt.NDArray[np.int32]) -> Float64 | float:
        """Return w_ij of each row i and some points j."""
        if self.factors.size:
            factors = self.factors.astype(np.float64)
            return np.asarray(factors[:, None] * factors[points])
        if not self.weights.size:
            return 1.0
        return entries(self.weights, points).astype(np.float64)

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
        return self.scale * inner(weighted, bracket), -8.0 * self.scale * pair_force(weighted * slopes, Y)

    def expand(self, Y: Float64) -> TermExpansion:
        """Return the term to second order at a map, in float64; points that coincide exert no force."""
        if self.centered:
            raise ValueError(message("centered=True", "False", fact="centred pairs are not separate"))

        def part(rows: slice) -> tuple[Float64, Float64, Float64, Float64]:
            values, first, _ = self._kernel_at(Y, rows, bent=False)
            target = self.target[rows].astype(np.float64)
            weights = self.rows_of_weights(rows)
            errors = without_own(values - target, rows)
            energies = (weights * np.square(errors)).sum(axis=1)
            forces = pair_force(weights * errors * first, Y[rows], Y)
            pulls = (pair_force(weights * without_own(part, rows) * first, Y[rows], Y) for part in (values, target))
            return (energies, forces, *pulls)

        done = list(in_order(part, list(blocks(self.n_samples))))
        energies, forces, own, targets = (np.concatenate(parts) for parts in zip(*done, strict=True))
        falls = bool(self.kernel.derivative(np.ones(1))[0] < 0)

        def coefficients(rows: slice) -> tuple[Float64, Float64]:
            values, first, second = self._kernel_at(Y, rows)
            factor = 2.0 * self.scale * self.rows_of_weights(rows)
            errors = values - self.target[rows]
            bends = factor * (np.square(first) + errors * second)
            return without_own(factor * errors * first, rows), without_own(bends, rows)

        return TermExpansion(
            self.scale * float(energies.sum()),
            8.0 * self.scale * forces,
            coefficients,
            attraction=-8.0 * self.scale * targets if falls else 8.0 * self.scale * own,
        )

    def _kernel_at(self, Y: Float64, rows: slice, *, bent: bool = True) -> tuple[Float64, Float64, Float64]:
        """Return k, k' and k'' of some rows, the slopes 0 where points coincide."""
        s = squared_distances(Y, rows)
        apart = s > _TINY
        bends = np.where(apart, curved(self.kernel).second_derivative(s), 0.0) if bent else np.zeros_like(s)
        return self.kernel.value(s), np.where(apart, self.kernel.derivative(s), 0.0), bends

    def share(self, Y: Float64, Z: Float64) -> Float64 | None:
        """Return None: every pair is its own."""
        return None

    def pull(
        self, Y: Float64, Z: Float64, heads: npt.NDArray[np.intp], tails: npt.NDArray[np.intp], share: Float64 | None
    ) -> Float64:
        """Return the derivatives of the products of Z with the gradient by the targets of pairs."""
        across = Y[heads[:, None]] - Y[tails]
        along = np.einsum("lkd,lkdq->lkq", across, Z[heads[:, None]] - Z[tails])
        return np.asarray(self._by_target(across, heads[:, None], tails)[:, :, None] * along)

    def push(
        self,
        Y: Float64,
        heads: npt.NDArray[np.intp],
        tails: npt.NDArray[np.intp],
        changes: Float64,
        found: Float64,
    ) -> None:
        """Add what changes of the targets of pairs do to the gradient."""
        across = Y[heads] - Y[tails]
        moves = (self._by_target(across, heads, tails)[:, None] * across)[:, :, None] * changes[:, None, :]
        np.add.at(found, heads, moves)
        np.add.at(found, tails, -moves)

    def _by_target(self, across: Float64, heads: npt.NDArray[np.intp], tails: npt.NDArray[np.intp]) -> Float64:
        """Return the derivative of 4 S_ij of pairs by their targets, on which weights may depend."""
        s = np.square(across).sum(axis=-1)
        target = self.target[heads, tails].astype(np.float64)
        if self.factors.size:
            weights = np.asarray(self.factors, dtype=np.float64)[heads] * self.factors[tails]
        else:
            weights = self.weights[heads, tails].astype(np.float64) if self.weights.size else np.ones_like(s)
        errors = self.kernel.value(s) - target
        change = -weights
        if self.power:
            safe = np.where(target > 0.0, target, np.inf)
            change = change + errors * (-self.power * safe ** (-self.power - 1.0))
        slopes = np.where(s > _TINY, self.kernel.derivative(s), 0.0)
        return np.asarray(8.0 * self.scale * np.where(heads == tails, 0.0, change * slopes))

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
        s = row_distances(Y, Y, squared=True)
        slopes = np.array(self.kernel.derivative(s))
        np.fill_diagonal(slopes, 0.0)
        return self.kernel.value(s), slopes

    def _bracket(self, matrix: Float64) -> Float64:
        if self.centered:
            return np.asarray(matrix - matrix.mean(axis=0) - matrix.mean(axis=1)[:, None] + matrix.mean())
        off = np.array(matrix)
        np.fill_diagonal(off, 0.0)
        return off


def _check_target(target: npt.ArrayLike, dtype: type) -> npt.NDArray[Any]:
    matrix = np.asarray(target)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        fact = f"found {type(target).__name__}" if matrix.ndim == 0 else ""
        raise ValueError(message(f"target of shape {matrix.shape}", "a square matrix", fact=fact))
    compact: npt.NDArray[Any] = np.array(matrix, dtype=dtype, order="C")
    for first in range(0, len(compact), _BLOCK):
        rows = slice(first, first + _BLOCK)
        if not np.isfinite(compact[rows]).all():
            raise ValueError(message("target", "finite"))
    check_symmetric(compact, "target", of_largest=_OF_LARGEST)
    return compact


def _check_weights(
    weights: npt.ArrayLike | None, n_samples: int, dtype: type, *, centered: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return weights of pairs and factors of them, of which one or both are empty."""
    none: tuple[npt.NDArray[Any], npt.NDArray[Any]] = np.empty((0, 0), dtype=dtype), np.empty(0, dtype=dtype)
    if weights is None:
        return none
    if centered:
        raise ValueError(message("weights", "None with centered=True", fact="centred pairs are not separate"))
    given: npt.NDArray[Any] = np.array(weights, dtype=dtype, order="C")
    if given.shape not in ((n_samples,), (n_samples, n_samples)):
        rule = f"of shape (n_samples, n_samples) or (n_samples,) with n_samples={n_samples}"
        raise ValueError(message(f"weights of shape {given.shape}", rule))
    if not np.isfinite(given).all() or (given < 0.0).any():
        raise ValueError(message("weights", "finite and >= 0"))
    if given.ndim == 1:
        return none[0], given
    check_symmetric(given, "weights")
    return given, none[1]


def _center(matrix: npt.NDArray[np.float32]) -> None:
    """Subtract row and column means in place; the rest then sums to 0 in each row."""
    means = matrix.mean(axis=1, dtype=np.float64)
    halved = means - means.mean() / 2.0
    for first in range(0, len(matrix), _BLOCK):
        rows = slice(first, first + _BLOCK)
        matrix[rows] = matrix[rows] - halved[rows, None] - halved[None, :]
