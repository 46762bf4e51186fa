"""The loss of one new point among the fixed points of a map, for each loss that a map may have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from gnomon.kernels import OutputKernel

__all__ = ["PairTerm", "PlacementLoss"]


@dataclass(frozen=True)
class PairTerm:
    """scale * F(k(s)) of a pair of points at squared distance s.

    Attributes
    ----------
    kernel : OutputKernel
        k.
    law : {"value", "log", "log_deficit", "square"}
        F, see `gnomon.kernels.laws`.
    scale : float
    """

    kernel: OutputKernel
    law: str
    scale: float = 1.0


@dataclass(frozen=True)
class PlacementLoss:
    """What a new point at y minimises among the fixed points z.

        L(y) = sum_j p_j A(|y - z_j|^2) + link(R),    R = sum_l v_l B(|y - z_l|^2).

    The affinities p of the new row sum to 1; A attracts to its neighbours, B repels from all points.

    Attributes
    ----------
    attraction, repulsion : PairTerm
        A and B.
    strength : float
        Factor c of the repulsion.
    link : {"sum", "log", "contrast"}, default="sum"
        "sum": c R. "log": c log R. "contrast": sum_j p_j log(k_j + c R), k the kernel of A.
    charges : ndarray of shape (n_samples,), float64, or None, default=None
        v; None for 1.
    """

    attraction: PairTerm
    repulsion: PairTerm
    strength: float
    link: str = "sum"
    charges: npt.NDArray[np.float64] | None = field(default=None, compare=False)

    @classmethod
    def of_divergence(cls, kernel: OutputKernel, normalizer: float, n_samples: int) -> PlacementLoss:
        """Return t-SNE's, sum_j p_j (-log k_j) + n / Z sum_l k_l, with the normaliser Z of the map held fixed.

        A new row adds to the divergence 2 / n times this, if its affinities to the fitted rows are p_j / n in both
        directions.

        Parameters
        ----------
        kernel : OutputKernel
        normalizer : float > 0
            Z, the sum of the similarities of all ordered pairs of the map.
        n_samples : int
        """
        return cls(PairTerm(kernel, "log"), PairTerm(kernel, "value"), n_samples / normalizer)

    @classmethod
    def of_conditional_divergence(cls, kernel: OutputKernel) -> PlacementLoss:
        """Return SNE's, the divergence of the row's own distribution: sum_j p_j (-log k_j) + log sum_l k_l."""
        return cls(PairTerm(kernel, "log"), PairTerm(kernel, "value"), 1.0, "log")

    @classmethod
    def of_cross_entropy(
        cls, kernel: OutputKernel, repulsion: float, n_samples: int, charges: npt.ArrayLike | None = None
    ) -> PlacementLoss:
        """Return that of sampled repulsion, sum_j p_j (-log k_j) + m / (2 n) sum_l v_l (-log(1 - k_l)).

        The repulsion of a point grows with the sum of its affinities, so that their normalised values suffice.

        Parameters
        ----------
        kernel : OutputKernel
        repulsion : float >= 0
            m, the repulsions for each attraction times their strength.
        n_samples : int
        charges : array-like of shape (n_samples,) or None, default=None
            v, how often a point is drawn, 1 on average.
        """
        given: Any = None if charges is None else np.asarray(charges, dtype=np.float64)
        strength = repulsion / (2.0 * n_samples)
        return cls(PairTerm(kernel, "log"), PairTerm(kernel, "log_deficit"), strength, "sum", given)

    @classmethod
    def of_contrast(cls, kernel: OutputKernel, n_noise: int, n_samples: int) -> PlacementLoss:
        """Return InfoNCE's, sum_j p_j (-log k_j + log(k_j + m mean_l k_l)), the noise replaced by its mean.

        Parameters
        ----------
        kernel : OutputKernel
        n_noise : int >= 1
            m.
        n_samples : int
        """
        return cls(PairTerm(kernel, "log"), PairTerm(kernel, "value"), n_noise / n_samples, "contrast")

    @classmethod
    def of_values(
        cls,
        attraction: OutputKernel,
        repulsion: OutputKernel,
        strength: float,
        charges: npt.ArrayLike | None = None,
    ) -> PlacementLoss:
        """Return -sum_j p_j k_j + c sum_l v_l h_l of two kernels k and h.

        Parameters
        ----------
        attraction, repulsion : OutputKernel
            k and h.
        strength : float >= 0
            c.
        charges : array-like of shape (n_samples,) or None, default=None
            v.
        """
        given: Any = None if charges is None else np.asarray(charges, dtype=np.float64)
        return cls(PairTerm(attraction, "value", -1.0), PairTerm(repulsion, "value"), strength, "sum", given)
