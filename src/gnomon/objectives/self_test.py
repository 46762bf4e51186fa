"""Is a gradient the derivative of its loss? A test for losses of one's own."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import Integer, Real, Rule, check_parameters

__all__ = ["gradient_error"]

_RULES: dict[str, Rule] = {
    "n_directions": Integer(low=1),
    "step": Real(low=0.0, low_open=True),
    "seed": Integer(low=0),
}


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
