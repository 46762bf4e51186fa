"""What a term of a loss is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.kernels.laws import LAWS
from gnomon.objectives.base import Embedding

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel

__all__ = ["Float64", "Term", "check_law"]

Float64 = npt.NDArray[np.float64]


class Term(Protocol):
    """Part of a loss: E = sum over ordered pairs i != j of a_ij F(k(s_ij)), with a_ij symmetric.

    Its force on a point is minus its gradient, -4 sum_j a_ij F'(k_ij) k'(s_ij) (y_i - y_j).
    """

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

    def reference(self, Y: Float64) -> tuple[float, Float64]:
        """Return energy and force summed over pairs in float64, the oracle of the compiled sums."""
        ...


def check_law(law: str, kernel: OutputKernel, *, who: str) -> str:
    """Return the law if the kernel allows it, or raise ValueError."""
    if law not in LAWS:
        raise ValueError(message(who, f"law={law!r}", "one of " + ", ".join(repr(name) for name in LAWS)))
    if law.startswith("log") and not kernel.bounded:
        raise ValueError(
            message(
                who,
                f"kernel={kernel}",
                "a similarity between 0 and 1",
                fact=f"the loss takes the logarithm of k or 1 - k, law={law!r}",
                remedy="Use a kernel such as Cauchy() or Gaussian().",
            )
        )
    return law
