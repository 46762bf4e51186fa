"""Whether a loss falls along minus its gradient, as far as its numbers can tell, and how much its noise hides."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import length
from gnomon.objectives.base import check_gradient

__all__ = ["LEAST_FALL", "fall_downhill", "hidden_by_chance", "level_of"]

LEAST_FALL = 0.25
"""Share of what the gradient says that a loss falls by at least along minus a gradient that is its own."""

_LENGTHS = (1e-4, 1e-3, 1e-2, 3e-2, 1e-1)  # of the moves, in units of the spread of the points
_TOLD = 30.0  # of the noise of a loss: by how much a move should change it to be told by one pair of points
_N_PAIRS = 16  # which together tell of a move that changes the loss by hardly more than its noise
_SURE, _FINE = 4.0, 0.05  # standard errors from LEAST_FALL at which a mean share counts, or of so fine a mean
_BENT = 0.25  # share by which two halves of the gradients on a way may differ
_N_NUDGES = 4
_NUDGE = 2.0  # coordinates in units of what the number type can tell
_SMALL = 0.01  # share of its largest norm that a gradient falls below before it may be noise itself

Float64Array = npt.NDArray[np.float64]


class _Evaluated(Protocol):
    def loss(self, Y: Any) -> float: ...


class _Descended(_Evaluated, Protocol):
    def gradient(self, Y: Any) -> npt.NDArray[Any]: ...


def fall_downhill(objective: _Descended, Y: npt.NDArray[np.floating]) -> float:
    """Return by how much a loss falls along minus its gradient, as a share of what the gradient says.

    By differences over two lengths, the shortest that change the loss by far more than its noise, which is what nudges
    of the points by about their rounding change it by: rounding in whatever numbers it is summed, and chance, if it is
    drawn anew each time. Of two shares the larger is taken: a kink alone is no rise. Where these do not tell that it
    falls, a move may be too long for one gradient, or noise too large: then the mean of several pairs of points is
    compared with the sum of the gradients on the way between them.

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
    spread = length(Y.astype(np.float64) - Y.mean(axis=0))
    if spread == 0.0:
        return math.nan
    gradient = check_gradient(objective, objective.gradient(Y), Y).astype(np.float64)
    norm = length(gradient)
    if not 0.0 < norm < math.inf:
        return math.nan
    rng = np.random.default_rng(0)
    noise = _noise(objective, Y, rng)
    moves = [_Move(objective, Y, gradient, (part * spread / norm) * gradient) for part in _LENGTHS]
    by_one = (move.share() for move in moves if move.expected > _TOLD * noise)
    told = list(islice(filter(math.isfinite, by_one), 2))
    if len(told) == 2 and max(told) >= LEAST_FALL:
        return max(told)
    by_many = (move.mean_share(noise, rng) for move in moves if move.expected > noise)
    return next(filter(math.isfinite, by_many), math.nan)


def level_of(objective: _Evaluated, Y: npt.NDArray[np.floating]) -> tuple[float, float]:
    """Return the mean of evaluations of a loss at the same points and by how much they differ.

    Parameters
    ----------
    objective : object with loss(Y)
    Y : ndarray of shape (n_samples, n_components)

    Returns
    -------
    tuple of float
        The mean, and the difference from the lowest to the highest of sixteen, about 3.5 standard deviations; 0 if two
        are equal, so that none is drawn.
    """
    values = [float(objective.loss(Y)) for _ in range(2)]
    if values[0] == values[1]:
        return values[0], 0.0
    values += [float(objective.loss(Y)) for _ in range(_N_PAIRS - len(values))]
    return float(np.mean(values)), max(values) - min(values)


def hidden_by_chance(objective: _Evaluated, Y: npt.NDArray[np.floating], share: float) -> str:
    """Return that a descent ends for the noise of its loss, as a sentence with a remedy; "" if it does not.

    Parameters
    ----------
    objective : object with loss(Y)
    Y : ndarray of shape (n_samples, n_components)
        Where no step seems to lower the loss.
    share : float
        Norm of the gradient there, of its largest: at most a hundredth of it is an end, whatever the loss.
    """
    noise = level_of(objective, Y)[1] if share > _SMALL else 0.0
    if not noise > 0.0:
        return ""
    return (
        f"The loss of {type(objective).__name__} is drawn anew whenever it is evaluated (it differs by {noise:.2g} at "
        f"the same points), which hides whether steps lower it; the gradient's norm is {share:.2g} of its largest. "
        "Use Adam or GradientDescent, which follow the gradient alone, or draw once."
    )


class _Move(NamedTuple):
    """A move along a gradient at Y and its reverse, and by how much the loss should differ between their ends."""

    objective: _Descended
    Y: npt.NDArray[np.floating]
    gradient: Float64Array
    move: Float64Array

    @property
    def expected(self) -> float:
        """The difference that the gradient at Y says of the moves as they are rounded."""
        return float((self.gradient * self._between()).sum())

    def share(self) -> float:
        """Return the difference of the loss as a share of that expected."""
        return self._difference(self.Y) / self.expected

    def mean_share(self, noise: float, rng: np.random.Generator) -> float:
        """Return the mean share of pairs of ends about nudged points; NaN if it is not sure.

        What is expected is the sum of the gradients on the way: a long way may be bent, and gradients noisy. The order
        of each pair is drawn: else a loss that takes parts of its data by turns would seem to rise or fall.
        """
        between, nodes = self._between(), (np.arange(_N_PAIRS) + 0.5) * (2.0 / _N_PAIRS) - 1.0
        slopes = np.array([(self._gradient_at(node) * between).sum() for node in nodes])
        half = np.arange(1, _N_PAIRS + 1) // 2 % 2 == 0  # as many before the middle of the way as after it
        expected = float(slopes.mean())
        if not (noise < expected < math.inf and abs(slopes[half].mean() - slopes[~half].mean()) <= _BENT * expected):
            return math.nan
        turns = rng.permutation(_N_PAIRS) % 2
        pairs = [self._difference(_nudged(self.Y, rng), down_first=bool(turn)) / expected for turn in turns]
        with np.errstate(invalid="ignore"):
            mean, error = float(np.mean(pairs)), float(np.std(pairs, ddof=1)) / math.sqrt(_N_PAIRS)
        return mean if max(abs(abs(mean) - LEAST_FALL), _FINE) >= _SURE * error else math.nan

    def _gradient_at(self, way: float) -> Float64Array:
        return np.asarray(self.objective.gradient(self._at(self.Y, way)), dtype=np.float64)

    def _at(self, Y: npt.NDArray[np.floating], way: float) -> npt.NDArray[np.floating]:
        there: npt.NDArray[np.floating] = (Y + way * self.move).astype(Y.dtype)
        return there

    def _between(self) -> Float64Array:
        return self._at(self.Y, 1.0).astype(np.float64) - self._at(self.Y, -1.0)

    def _difference(self, Y: npt.NDArray[np.floating], *, down_first: bool = False) -> float:
        if down_first:
            below = float(self.objective.loss(self._at(Y, -1.0)))
            return float(self.objective.loss(self._at(Y, 1.0))) - below
        return float(self.objective.loss(self._at(Y, 1.0))) - float(self.objective.loss(self._at(Y, -1.0)))


def _noise(objective: _Descended, Y: npt.NDArray[np.floating], rng: np.random.Generator) -> float:
    """Return by how much nudges of the points change a loss, or by how much float64 rounds it."""
    loss = float(objective.loss(Y))
    changes = [abs(float(objective.loss(_nudged(Y, rng))) - loss) for _ in range(_N_NUDGES)]
    return max(*changes, 10.0 * float(np.finfo(np.float64).eps) * abs(loss))


def _nudged(Y: npt.NDArray[np.floating], rng: np.random.Generator) -> npt.NDArray[np.floating]:
    eps = _NUDGE * float(np.finfo(Y.dtype).eps)
    nudged: npt.NDArray[np.floating] = (Y * (1.0 + eps * rng.choice([-1.0, 1.0], size=Y.shape))).astype(Y.dtype)
    return nudged
