"""An objective whose gradient has length 1, for descents of which only the direction counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.objectives.base import Objective

__all__ = ["NormalizedGradient"]


class NormalizedGradient:
    """The loss of an objective with its gradient divided by the Frobenius norm of the gradient.

    A gradient of zero stays zero. What is returned as the gradient is the gradient of no function, so that bounds that
    rest on one, such as the gap of a `FenchelGame`, do not hold for the loss.

    Parameters
    ----------
    objective : Objective
    """

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self.dtype = objective.dtype
        self.evaluation = objective.evaluation

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return self._objective.n_samples

    def loss(self, Y: npt.NDArray[Any]) -> float:
        """Return the loss."""
        return float(self._objective.loss(Y))

    def gradient(self, Y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the gradient divided by its norm, of the shape of Y."""
        gradient = self._objective.gradient(Y)
        norm = float(np.linalg.norm(gradient))
        return gradient / norm if norm > 0.0 else gradient
