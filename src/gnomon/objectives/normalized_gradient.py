"""An objective whose gradient has length 1, for descents of which only the direction counts."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["NormalizedGradient"]


class _Differentiable(Protocol):
    @property
    def n_samples(self) -> int: ...

    def loss(self, Y: Any) -> float: ...

    def gradient(self, Y: Any) -> npt.NDArray[Any]: ...


class NormalizedGradient:
    """The loss of an objective with its gradient divided by the Frobenius norm of the gradient.

    A gradient of zero stays zero. What is returned as the gradient is the gradient of no function, so that bounds that
    rest on one, such as the gap of a `FenchelGame`, do not hold for the loss.

    Parameters
    ----------
    objective : object with loss(Y), gradient(Y) and n_samples
        Such as `ProjectionError`, of float64.
    """

    dtype = np.float64
    evaluation = "exact"

    def __init__(self, objective: _Differentiable) -> None:
        self._objective = objective

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
