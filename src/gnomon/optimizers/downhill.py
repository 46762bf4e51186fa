"""Whether a loss falls along minus its gradient, as far as its numbers can tell."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gnomon.objectives.base import check_gradient

__all__ = ["LEAST_FALL", "fall_downhill"]

LEAST_FALL = 0.25
"""Share of what the gradient says that a loss falls by at least along minus a gradient that is its own."""

_LENGTHS = (1e-4, 1e-3, 1e-2, 1e-1)  # of the moves, in units of the spread of the points
_TOLD = 30.0  # of the noise of a loss: by how much a move should change it
_N_NUDGES = 4
_NUDGE = 2.0  # coordinates in units of what the number type can tell

Float64Array = npt.NDArray[np.float64]


class _Descended(Protocol):
    def loss(self, Y: Any) -> float: ...
    def gradient(self, Y: Any) -> npt.NDArray[Any]: ...


def fall_downhill(objective: _Descended, Y: npt.NDArray[np.floating]) -> float:
    """Return by how much a loss falls along minus its gradient, as a share of what the gradient says.

    By differences over two lengths, the shortest that change the loss by far more than its noise, which is what nudges
    of the points by about their rounding change it by: rounding in whatever numbers it is summed, and chance, if it is
    drawn anew each time. Of two shares the larger is taken: a kink alone is no rise.

    Parameters
    ----------
    objective : object with loss(Y) and gradient(Y)
    Y : ndarray of shape (n_samples, n_components)
        Where; not changed.

    Returns
    -------
    float
        1 where the two agree, -1 for the wrong sign; NaN where no move that is short against the spread of the points
        tells, as near a minimum or amid much noise.
    """
    spread = _norm(Y.astype(np.float64) - Y.mean(axis=0))
    if spread == 0.0:
        return math.nan
    gradient = check_gradient(objective, objective.gradient(Y), Y).astype(np.float64)
    norm = _norm(gradient)
    if not 0.0 < norm < math.inf:
        return math.nan
    noise = _noise(objective, Y)
    found: list[float] = []
    for length in _LENGTHS:
        move = (length * spread / norm) * gradient
        up, down = ((Y + way * move).astype(Y.dtype) for way in (1.0, -1.0))
        expected = float((gradient * (up.astype(np.float64) - down)).sum())  # of the moves as they were rounded
        if not expected > _TOLD * noise:
            continue
        share = (float(objective.loss(up)) - float(objective.loss(down))) / expected
        if math.isfinite(share):
            found.append(share)
        if len(found) == 2:
            return max(found)
    return math.nan


def _noise(objective: _Descended, Y: npt.NDArray[np.floating]) -> float:
    """Return by how much nudges of the points change a loss, or by how much float64 rounds it."""
    loss = float(objective.loss(Y))
    rng = np.random.default_rng(0)
    eps = _NUDGE * float(np.finfo(Y.dtype).eps)
    changes = [
        abs(float(objective.loss((Y * (1.0 + eps * rng.choice([-1.0, 1.0], size=Y.shape))).astype(Y.dtype))) - loss)
        for _ in range(_N_NUDGES)
    ]
    return max(*changes, 10.0 * float(np.finfo(np.float64).eps) * abs(loss))


def _norm(values: Float64Array) -> float:
    return math.sqrt(np.square(values).sum())  # no BLAS, whose sums depend on the number of threads
