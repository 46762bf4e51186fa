"""What a term of a loss is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.kernels import CurvedKernel, CustomLaw
from gnomon.kernels.laws import LAWS
from gnomon.objectives.base import Embedding

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel
    from gnomon.objectives.expansion import TermExpansion
    from gnomon.objectives.terms.draws import Draws

__all__ = ["Float64", "Term", "check_law", "curved", "named"]

Float64 = npt.NDArray[np.float64]


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
        """Return the force on each point, added to `base` where that is given."""
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
