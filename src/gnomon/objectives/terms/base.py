"""What a term of a loss is, and its sums over pairs estimated from a few of them, drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._cached import cached_property
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.kernels import CurvedKernel, CustomLaw
from gnomon.kernels.laws import LAWS, evaluate_law
from gnomon.linalg import uniform_matrix
from gnomon.objectives.base import Embedding

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel
    from gnomon.objectives.expansion import TermExpansion

__all__ = ["Draws", "Float64", "RowShares", "Term", "check_law", "curved", "drawn_force", "entries", "named"]

Float64 = npt.NDArray[np.float64]
_STREAM = 0x64726177  # "draw"
_BLOCK = 512  # rows at a time in float64


class Term(Protocol):
    """Part of a loss: E = sum over ordered pairs i != j of a_ij F(k(s_ij)), with a_ij symmetric.

    Its force on a point is minus its gradient, -4 sum_j a_ij F'(k_ij) k'(s_ij) (y_i - y_j).

    Attributes
    ----------
    kernel : OutputKernel
        k.
    """

    kernel: OutputKernel

    @property
    def n_samples(self) -> int:
        """Number of points."""
        ...

    def force(self, Y: Embedding, base: Embedding | None = None) -> Embedding:
        """Return the force on each point, added to `base` where that is given, in a new array."""
        ...

    def energy(self, Y: Embedding) -> float:
        """Return E."""
        ...

    def energy_and_force(self, Y: Embedding) -> tuple[float, Embedding]:
        """Return both, in one pass where the sum allows it."""
        ...

    def sampled_force(self, Y: Embedding, draws: Draws) -> Embedding:
        """Return an unbiased estimate of the force from the points drawn, or the force itself where that is cheap.

        Raises ValueError if drawn pairs do not tell the mean.
        """
        ...

    def expand(self, Y: Float64) -> TermExpansion:
        """Return the term to second order at a map, in float64; its kernel needs a second derivative."""
        ...

    def share(self, Y: Float64, Z: Float64) -> Float64 | None:
        """Return what `pull` needs of directions Z (n_samples, n_components, q) once for all pairs, (..., q)."""
        ...

    def pull(
        self, Y: Float64, Z: Float64, heads: npt.NDArray[np.intp], tails: npt.NDArray[np.intp], share: Float64 | None
    ) -> Float64 | float:
        """Return the derivatives of the products of Z with the gradient by the affinities of pairs, both directions.

        The pairs are heads (m,) with tails (m, k); the answer is (m, k, q), or 0 where a term has no affinities.
        """
        ...

    def push(
        self,
        Y: Float64,
        heads: npt.NDArray[np.intp],
        tails: npt.NDArray[np.intp],
        changes: Float64,
        found: Float64,
    ) -> None:
        """Add what changes (E, f) of the affinities of E pairs, both directions, do to the gradient, (n, d, f)."""
        ...

    def reference(self, Y: Float64) -> tuple[float, Float64]:
        """Return energy and force summed over pairs in float64, the oracle of the compiled sums."""
        ...


def check_law(law: str | CustomLaw, kernel: OutputKernel) -> str | CustomLaw:
    """Return the law if the kernel allows it, or raise ValueError."""
    if not isinstance(law, CustomLaw) and law not in LAWS:
        names = ", ".join(repr(name) for name in LAWS)
        raise ValueError(message(f"law={law!r}", f"one of {names}, or a CustomLaw"))
    similarity = law.needs_similarity if isinstance(law, CustomLaw) else law.startswith("log")
    if similarity and not kernel.bounded:
        raise ValueError(
            message(
                f"kernel={kernel}",
                "a similarity between 0 and 1",
                fact=f"the loss takes the logarithm of k or 1 - k, law={law!r}",
                remedy="Use a kernel such as Cauchy() or Gaussian().",
            )
        )
    return law


def curved(kernel: OutputKernel) -> CurvedKernel:
    """Return the kernel if it has a second derivative, or raise TypeError."""
    if not isinstance(kernel, CurvedKernel):
        raise TypeError(message(f"kernel={kernel}", "one with second_derivative(squared_distances)"))
    return kernel


def named(law: str | CustomLaw) -> str:
    """Return the name of a law that the compiled sums know."""
    assert isinstance(law, str)  # others are summed in NumPy
    return law


@dataclass(frozen=True)
class Draws:
    """The points drawn for each point in one epoch: a function of seed, epoch and point alone.

    Attributes
    ----------
    n_samples : int
        Number of points.
    n_draws : int >= 1
        Points drawn for each.
    seed, epoch : int >= 0
        Decide the draws.
    """

    n_samples: int
    n_draws: int
    seed: int
    epoch: int

    @cached_property
    def uniform(self) -> Float64:
        """Independent numbers in [0, 1), of shape (n_samples, n_draws)."""
        stream = (_STREAM << 31) | self.epoch
        return uniform_matrix(self.seed, stream, (self.n_samples, self.n_draws))

    @cached_property
    def points(self) -> npt.NDArray[np.int32]:
        """Points drawn all alike, (n_samples, n_draws); a point may draw itself, which exerts no force."""
        return (self.uniform * self.n_samples).astype(np.int32)


class RowShares:
    """Draws of a point's partners in proportion to weights of the pairs.

    Parameters
    ----------
    weights : ndarray of shape (n_samples, n_samples)
        Of either sign; their sizes count, the diagonal does not. A row of zeros draws all points alike.
    """

    def __init__(self, weights: npt.NDArray[np.floating]) -> None:
        n = len(weights)
        self._heights = np.empty((n, n), dtype=np.float32)
        for first in range(0, n, _BLOCK):
            sizes = np.abs(weights[first : first + _BLOCK], dtype=np.float64)
            own = np.arange(len(sizes))
            sizes[own, first + own] = 0.0
            sizes[~sizes.any(axis=1)] = 1.0
            heights = np.cumsum(sizes, axis=1)
            self._heights[first : first + _BLOCK] = heights / heights[:, -1:]

    def draw(self, uniform: Float64) -> npt.NDArray[np.int32]:
        """Return for each row the points that numbers in [0, 1), of shape (n_samples, n_draws), decide."""
        n = len(self._heights)
        low, width = np.zeros(uniform.shape, dtype=np.intp), n - 1  # the answer lies in [low, low + width]
        while width:
            half = width // 2
            low += np.where(entries(self._heights, low + half) > uniform, 0, half + 1)
            width = max(half, width - half - 1)
            np.minimum(low, n - 1 - width, out=low)
        return low.astype(np.int32)

    def probabilities(self, points: npt.NDArray[np.int32]) -> Float64:
        """Return how likely each row draws some points, those of the heights as they are stored."""
        lower = np.where(points > 0, entries(self._heights, np.maximum(points - 1, 0)), 0.0)
        return np.asarray(entries(self._heights, points) - lower)


def entries(matrix: npt.NDArray[Any], columns: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return matrix[i, columns[i, l]] for each row i of a row-major square matrix."""
    n = len(matrix)
    return np.asarray(matrix.ravel().take(n * np.arange(n)[:, None] + columns))


def drawn_force(
    Y: Embedding,
    points: npt.NDArray[np.int32],
    weights: Float64,
    law: str | CustomLaw,
    kernel: OutputKernel,
    compiled: _core.OutputKernel | None,
) -> Embedding:
    """Return -4 sum_l w_il F'(k_il) k'_il (y_i - y_l) over the points l drawn for each i.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_components), float32
        The map.
    points : ndarray of shape (n_samples, n_draws), int32
        l.
    weights : ndarray of shape (n_samples, n_draws), float64
        w.
    law : {"value", "log", "log_deficit", "square"} or CustomLaw
        F.
    kernel : OutputKernel
        k.
    compiled : compiled kernel or None
        The same where law and kernel are compiled; None sums in NumPy.

    Returns
    -------
    ndarray of shape (n_samples, n_components), float32
    """
    n, n_draws = points.shape
    if compiled is None:
        away = Y.astype(np.float64)[:, None] - Y[points]
        slopes = evaluate_law(law, kernel, np.square(away).sum(axis=2))[1]
        slopes = np.where(points == np.arange(n)[:, None], 0.0, weights * slopes)
        return np.asarray(-4.0 * np.einsum("il,ild->id", slopes, away), dtype=Y.dtype)
    drawn = _core.Graph(
        np.arange(0, n * n_draws + 1, n_draws), points.ravel(), np.asarray(weights, dtype=np.float32).ravel()
    )
    nothing = np.empty((0, Y.shape[1]), dtype=np.float32)
    return _core.edge_sums(drawn, Y, compiled, named(law), -4.0, nothing, 1.0, current_run().n_threads)
