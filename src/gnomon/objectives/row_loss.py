"""The loss of one new point among the fixed points of a map."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from gnomon.kernels import CustomLaw, OutputKernel

__all__ = ["PairTerm", "Repulsion", "RowLoss"]


@dataclass(frozen=True)
class PairTerm:
    """scale * F(k(s)) of a pair of points at squared distance s.

    Attributes
    ----------
    kernel : OutputKernel
        k.
    law : str or CustomLaw
        F, see `gnomon.kernels.laws`.
    scale : float
    """

    kernel: OutputKernel
    law: str | CustomLaw
    scale: float = 1.0


@dataclass(frozen=True)
class Repulsion:
    """What all points of a map do to a new one: R = c sum_l v_l F(k_l), or a logarithm of it.

    Attributes
    ----------
    kernel, law
        k and F.
    strength : float
        c.
    link : {"sum", "log", "contrast"}, default="sum"
        "sum": R. "log": log R. "contrast": sum_j p_j log(k_j + R), k the kernel of the attraction.
    charges : ndarray of shape (n_samples,), float64, or None, default=None
        v; None for 1.
    """

    kernel: OutputKernel
    law: str | CustomLaw
    strength: float
    link: str = "sum"
    charges: npt.NDArray[np.float64] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class RowLoss:
    """What a new point at y minimises among the fixed points z: sum_j p_j A(|y - z_j|^2) and the repulsions.

    The affinities p of the new row sum to 1; every objective divides its loss by what they do.

    Attributes
    ----------
    attractions : tuple of PairTerm
        A is their sum.
    repulsions : tuple of Repulsion
    """

    attractions: tuple[PairTerm, ...]
    repulsions: tuple[Repulsion, ...]

    @property
    def compiled(self) -> bool:
        """Whether the compiled sums know it: one attraction, one repulsion, compiled kernels."""
        parts = [(part.kernel, part.law) for part in self.attractions] + [(p.kernel, p.law) for p in self.repulsions]
        simple = len(self.attractions) == len(self.repulsions) == 1
        return simple and all(kernel.compiled and isinstance(law, str) for kernel, law in parts)
