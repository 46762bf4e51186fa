"""The loss of sketch-map."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Real, Rule, check_parameters
from gnomon.kernels import Distance, SketchMapKernel
from gnomon.objectives.base import Embedding
from gnomon.objectives.composite import PairObjective
from gnomon.objectives.terms import TargetPairs

__all__ = ["SigmoidStress"]

_RULES: dict[str, Rule] = {"mixture": Real(0.0, 1.0)}


class SigmoidStress(PairObjective):
    """How far apart distances are after a sigmoid of each, the loss of sketch-map, mixed with the raw stress.

        loss = sum over i < j of w_ij [t (F(R_ij) - f(r_ij))^2 + (1 - t) (R_ij - r_ij)^2] / sum over i < j of w_ij

    with the distances R of the data and r of the embedding. Data distances push apart, those of the embedding pull.

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_samples)
        R, symmetric, finite.
    high, low : SketchMapKernel
        F and f, usually with the same sigma.
    mixture : float in [0, 1], default=1.0
        t. At 0 the loss is that of metric multidimensional scaling; a step between makes a way from one to the other.
    weights : array-like of shape (n_samples,) or (n_samples, n_samples), or None, default=None
        As for `Frobenius`; None weighs all pairs alike.

    References
    ----------
    .. [1] Ceriotti, Tribello & Parrinello, "Simplifying the representation of complex free-energy landscapes using
       sketch-map", PNAS 108, 2011, eq. 1-2.
    .. [2] Ceriotti, Tribello & Parrinello, "Demonstrating the transferability and the descriptive power of sketch-map",
       Journal of Chemical Theory and Computation 9, 2013 (weights; mixture with the raw stress, eq. 4).
    """

    @entrance("SigmoidStress")
    def __init__(
        self,
        distances: npt.ArrayLike,
        high: SketchMapKernel,
        low: SketchMapKernel,
        *,
        mixture: float = 1.0,
        weights: npt.ArrayLike | None = None,
    ) -> None:
        checked = check_parameters(_RULES, {"mixture": mixture})
        self.high, self.low, self.mixture = high, low, checked["mixture"]
        given = np.asarray(distances)
        total = _sum_of_weights(weights, len(given) if given.ndim else 0)
        common: dict[str, Any] = {"weights": weights}
        self._pairs = []
        if self.mixture > 0.0:
            self._pairs.append(TargetPairs(high.of_distances(given), low, scale=self.mixture / total, **common))
        if self.mixture < 1.0:
            self._pairs.append(TargetPairs(given, Distance(), scale=(1.0 - self.mixture) / total, **common))
        super().__init__([], self._pairs)

    def forces(self, Y: Embedding) -> tuple[Embedding, Embedding]:
        """Return the attraction and the repulsion on each point; their sum is minus the gradient."""
        halves = [pairs.halves(self._check(Y)) for pairs in self._pairs]
        of_data, of_map = (np.asarray(sum(part), dtype=np.float32) for part in zip(*halves, strict=True))
        return of_map, of_data


def _sum_of_weights(weights: npt.ArrayLike | None, n_samples: int) -> float:
    """Return the sum of w_ij over i != j; 1 where it is zero."""
    if weights is None:
        return float(n_samples) * (n_samples - 1) or 1.0
    given = np.asarray(weights, dtype=np.float64)
    if given.ndim == 1:
        return float(given.sum() ** 2 - np.square(given).sum()) or 1.0
    return float(given.sum() - np.trace(given)) or 1.0
