"""What an objective is."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["Embedding", "Objective"]

Embedding = npt.NDArray[np.float32]
"""Points of an embedding, or a vector for each: float32 of shape (n_samples, n_components), row-major."""


class Objective(Protocol):
    """A loss of the embedding and the forces that lower it.

    The objectives here depend on distances within the embedding alone: moving or rotating it changes nothing. They work
    in float32 unless a `dtype` says float64.
    """

    @property
    def n_samples(self) -> int:
        """Number of points."""
        ...

    @property
    def evaluation(self) -> str:
        """How the sum over pairs is evaluated in two dimensions: "exact", "interpolated", "tree" or "sampled"."""
        ...

    def evaluation_for(self, n_components: int) -> str:
        """Return how the sum over pairs is evaluated in n_components dimensions."""
        ...

    def loss(self, Y: npt.NDArray[Any]) -> float:
        """Return the loss."""
        ...

    def gradient(self, Y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the gradient of the loss."""
        ...

    def forces(self, Y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the attraction and the repulsion on each point; their sum is minus the gradient."""
        ...
