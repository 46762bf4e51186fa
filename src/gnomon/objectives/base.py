"""What an objective is, the check of a gradient against its loss, and a gradient divided by its norm."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import SEED, Integer, Real, Rule, check_parameters

__all__ = ["Embedding", "NormalizedGradient", "Objective", "gradient_error"]

Embedding = npt.NDArray[np.float32]
"""Points of an embedding, or a vector for each: float32 of shape (n_samples, n_components), row-major."""
_RULES: dict[str, Rule] = {
    "n_directions": Integer(low=1),
    "step": Real(low=0.0, low_open=True),
    "seed": SEED,
}


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


class _Differentiable(Protocol):
    def loss(self, Y: npt.NDArray[Any]) -> float: ...
    def gradient(self, Y: npt.NDArray[Any]) -> npt.NDArray[Any]: ...


@entrance("gradient_error")
def gradient_error(
    objective: _Differentiable, Y: npt.ArrayLike, *, n_directions: int = 5, step: float = 1e-5, seed: int = 0
) -> float:
    """Compare the gradient of an objective with central finite differences of its loss.

    Objectives that offer ``reference``, a float64 evaluation of both, are tested by it; of others the loss and the
    gradient themselves are taken, whose float32 differences are only good to about 1e-2.

    Parameters
    ----------
    objective : Objective
        Anything with ``loss(Y)`` and ``gradient(Y)``.
    Y : array-like of shape (n_samples, n_components)
        Where to test; best where no two points lie closer than about 0.03, the floor of -log(1 - k).
    n_directions : int >= 1, default=5
        Random directions, normal.
    step : float > 0, default=1e-5
        Step along a direction, in units of the embedding.
    seed : int >= 0, default=0
        Decides the directions.

    Returns
    -------
    float
        Largest difference between derivative and finite difference along a direction, over the norm of the gradient
        times that of the direction: about 1e-8 where both agree.
    """
    checked = check_parameters(_RULES, {"n_directions": n_directions, "step": step, "seed": seed})
    points = np.array(Y, dtype=np.float64)
    reference = getattr(objective, "reference", None)

    def loss(at: npt.NDArray[np.float64]) -> float:
        return float(objective.loss(at) if reference is None else reference(at)[0])

    gradient = np.asarray(objective.gradient(points) if reference is None else reference(points)[1], dtype=np.float64)
    size = float(np.linalg.norm(gradient)) or 1.0
    rng, worst = np.random.default_rng(checked["seed"]), 0.0
    for _ in range(checked["n_directions"]):
        direction = rng.normal(size=points.shape)
        ahead, behind = loss(points + checked["step"] * direction), loss(points - checked["step"] * direction)
        difference = (ahead - behind) / (2.0 * checked["step"]) - float(np.sum(gradient * direction))
        worst = max(worst, abs(difference) / (size * float(np.linalg.norm(direction))))
    return worst


class _DifferentiableOfSamples(_Differentiable, Protocol):
    @property
    def n_samples(self) -> int: ...


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

    def __init__(self, objective: _DifferentiableOfSamples) -> None:
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
