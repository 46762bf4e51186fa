"""What an objective is, the check of a gradient against its loss, and a gradient divided by its norm."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import SEED, Integer, Real, Rule, check_parameters, message

__all__ = ["Embedding", "NormalizedGradient", "Objective", "check_gradient", "gradient_error"]

Embedding = npt.NDArray[np.float32]
"""Points of an embedding, or a vector for each: float32 of shape (n_samples, n_components), row-major."""
_RULES: dict[str, Rule] = {
    "n_directions": Integer(low=1),
    "step": Real(low=0.0, low_open=True),
    "seed": SEED,
}
_LENGTHS = (1.0, 10.0, 100.0)  # of the steps
_LONGEST = 3.0  # coordinate of the direction of the gradient, in units of random ones
_EXACT, _APPROXIMATE = 1e-4, 0.1  # of the forces: what sums in float32, and trees and meshes, differ from float64 by


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

    Where loss and gradient agree with ``reference``, a float64 evaluation of both that sums of terms offer, as well as
    the objective's sums tell them, the reference is compared, which has eight digits; else the loss and the gradient
    themselves.

    Parameters
    ----------
    objective : Objective
        Anything with ``loss(Y)`` and ``gradient(Y)``.
    Y : array-like of shape (n_samples, n_components)
        Where to test: not where the gradient is next to nothing, as in a finished map, and best where no two points lie
        closer than about 0.03, the floor of -log(1 - k).
    n_directions : int >= 1, default=5
        Random directions, normal; the direction of the gradient is one more.
    step : float > 0, default=1e-5
        Step along a direction, in units of the embedding. Steps ten and a hundred times as long are tried too, and the
        one counts whose difference comes closest to the gradient: rounding in float32 hides short ones.
    seed : int >= 0, default=0
        Decides the directions.

    Returns
    -------
    float
        Largest difference between derivative and finite difference along a direction, over the larger of them, or over
        what is usual of a direction where both are small by chance. About 1e-8 where loss and gradient agree in
        float64, less than 1e-2 in float32 and 3e-2 by a tree or mesh, some tenths of sampled gradients, which are
        estimates; 0.5 of a gradient half as large, 2 of one with the wrong sign, infinite of one that is not finite.

    Raises
    ------
    ValueError
        If the gradient is not of the shape of Y.
    """
    checked = check_parameters(_RULES, {"n_directions": n_directions, "step": step, "seed": seed})
    points = np.array(Y, dtype=np.float64)
    loss, gradient = _tested(objective, points)
    if not np.isfinite(gradient).all():
        return math.inf
    size = float(np.linalg.norm(gradient))
    rng, worst = np.random.default_rng(checked["seed"]), 0.0
    directions = [rng.normal(size=points.shape) for _ in range(checked["n_directions"])]
    if size > 0.0:
        directions.append(_LONGEST / float(np.abs(gradient).max()) * gradient)
    for direction in directions:
        slope, usual = float(np.sum(gradient * direction)), size * float(np.sqrt(np.square(direction).mean()))
        errors = []
        for length in checked["step"] * np.array(_LENGTHS):
            difference = (loss(points + length * direction) - loss(points - length * direction)) / (2.0 * length)
            if math.isfinite(difference):
                largest = max(abs(difference), abs(slope), usual)
                errors.append(abs(difference - slope) / largest if largest else 0.0)
        worst = max(worst, min(errors, default=math.inf))
    return worst


def _tested(
    objective: _Differentiable, points: npt.NDArray[np.float64]
) -> tuple[Callable[[npt.NDArray[np.float64]], float], npt.NDArray[np.float64]]:
    """Return the loss and the gradient that are compared: those of the reference, where it stands for the others."""

    def own(at: npt.NDArray[np.float64]) -> float:
        return float(objective.loss(at))

    gradient = check_gradient(objective, objective.gradient(points), points).astype(np.float64)
    reference = getattr(objective, "reference", None)
    if reference is None or not np.isfinite(gradient).all():
        return own, gradient
    loss, exact = reference(points)
    sizes = [np.linalg.norm(exact)]
    forces = objective.forces(points) if hasattr(objective, "forces") else ()
    sizes += [np.linalg.norm(np.asarray(part, dtype=np.float64)) for part in forces if np.shape(part) == points.shape]
    told = getattr(objective, "evaluation_for", lambda n_components: "exact")(points.shape[-1])
    tolerance = _EXACT if told == "exact" else _APPROXIMATE
    differ = float(np.linalg.norm(gradient - exact)) > tolerance * float(max(sizes))
    if differ or abs(own(points) - loss) > tolerance * max(abs(loss), 1.0):
        return own, gradient
    return lambda at: float(reference(at)[0]), np.asarray(exact, dtype=np.float64)


def check_gradient(objective: object, gradient: Any, Y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the gradient of an objective as an array, or raise ValueError if it is not of the shape of the points.

    Parameters
    ----------
    objective : Objective
        Named in the error.
    gradient : ndarray of shape (n_samples, n_components)
        What its ``gradient(Y)`` returned.
    Y : ndarray of shape (n_samples, n_components)
        The points.
    """
    if np.shape(gradient) != Y.shape:
        what = f"gradient(Y) of {type(objective).__name__}"
        raise ValueError(message(what, f"of the shape {Y.shape} of Y", fact=f"found {np.shape(gradient)}"))
    return np.asarray(gradient)


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
