"""Strategies of online convex optimization with weighted losses, the same for both players of the game.

In round t a player with the losses l_1, l_2, ... of weights alpha_1, alpha_2, ... picks a point z_t and pays
alpha_t l_t(z_t). What a strategy may know of the losses is in `Past`; a prescient one, its name ends in "Plus", sees
l_t before it picks. D is the divergence of the family of losses.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._validation import message
from gnomon.optimizers.fenchel.domains import Domain

__all__ = [
    "FTL",
    "FTRL",
    "OMD",
    "BestRespPlus",
    "ConjugateLosses",
    "FTLPlus",
    "Family",
    "LinearLosses",
    "OMDPlus",
    "OptimisticFTL",
    "Past",
    "Player",
]

Points = npt.NDArray[np.float64]


class Family(Protocol):
    """Losses that a player meets, each made by a point of the opponent; sums of them are known by sums of points."""

    def leader(self, total: Points, weight: float) -> Points:
        """Return the point of least summed loss, for opponent's points of the weighted sum `total`."""
        ...

    def proximal(self, total: Points, weight: float, center: Points, gamma: float) -> Points:
        """Return the point z at which the summed loss plus D(z, center) / gamma is least."""
        ...


@dataclass(frozen=True)
class LinearLosses:
    """The first player's losses <x, y> on a domain.

    Parameters
    ----------
    domain : Domain
    """

    domain: Domain

    def leader(self, total: Points, weight: float) -> Points:
        """Ask the linear oracle."""
        return self.domain.best(total)

    def proximal(self, total: Points, weight: float, center: Points, gamma: float) -> Points:
        """Ask the Bregman projection."""
        return self.domain.proximal(gamma * total, center)


class ConjugateLosses:
    """The second player's losses f*(y) - <x, y>, played by the point u of which y = grad f(u).

    f* is never needed: the sum of such losses is least where u is the weighted mean of the points x, and with the
    divergence of f* itself every strategy is a mean.
    """

    def leader(self, total: Points, weight: float) -> Points:
        """Return the weighted mean."""
        return np.asarray(total / weight)

    def proximal(self, total: Points, weight: float, center: Points, gamma: float) -> Points:
        """Return the mean with the center as a further point of weight 1 / gamma."""
        return np.asarray((gamma * total + center) / (gamma * weight + 1.0))


@dataclass(frozen=True)
class Past:
    """What a player knows before round t.

    Attributes
    ----------
    start : ndarray
        Where the player begins.
    previous : ndarray
        The point of round t - 1, or the start.
    total : ndarray
        Sum of the opponent's points of the rounds before t, each times its weight.
    weight : float
        Sum of these weights; 0 in the first round.
    last : ndarray or None
        The opponent's point of round t - 1; in the first round its start, None if it has none.
    last_weight : float
        Weight of round t - 1; 0 in the first round.
    """

    start: Points
    previous: Points
    total: Points
    weight: float
    last: Points | None
    last_weight: float


class Player(ABC):
    """A strategy.

    Attributes
    ----------
    prescient : bool
        Whether it sees the loss of a round before it picks its point.
    """

    prescient: ClassVar[bool] = False

    @abstractmethod
    def play(self, family: Family, past: Past, weight: float, current: Points | None) -> Points:
        """Return the point for a round of some weight; `current` is the opponent's point, None if not prescient."""


def _check_rate(name: str, value: float) -> float:
    if not (math.isfinite(value) and value > 0.0):
        raise ValueError(message(f"{name}={value!r}", "a number > 0"))
    return float(value)


class FTL(Player):
    """Follow the leader: argmin of the losses so far; the start in the first round."""

    def play(self, family: Family, past: Past, weight: float, current: Points | None) -> Points:
        """Return the leader of the rounds before."""
        return family.leader(past.total, past.weight) if past.weight > 0.0 else past.start


class FTLPlus(Player):
    """Be the leader: argmin of the losses so far, that of the round included."""

    prescient = True

    def play(self, family: Family, past: Past, weight: float, current: Points | None) -> Points:
        """Return the leader of the rounds up to this one."""
        assert current is not None
        return family.leader(past.total + weight * current, past.weight + weight)


class FTRL(Player):
    """Follow the regularised leader: argmin of the losses so far plus D(z, start) / eta.

    Parameters
    ----------
    eta : float > 0
        Large: little regularisation.
    """

    @entrance("FTRL")
    def __init__(self, eta: float) -> None:
        self.eta = _check_rate("eta", eta)

    def play(self, family: Family, past: Past, weight: float, current: Points | None) -> Points:
        """Return the regularised leader of the rounds before."""
        return family.proximal(past.total, past.weight, past.start, self.eta)


class OMD(Player):
    """Online mirror descent: argmin of the last loss plus D(z, last point) / gamma; the start in the first round.

    Parameters
    ----------
    gamma : float > 0
        The step.
    """

    @entrance("OMD")
    def __init__(self, gamma: float) -> None:
        self.gamma = _check_rate("gamma", gamma)

    def play(self, family: Family, past: Past, weight: float, current: Points | None) -> Points:
        """Step against the loss of the round before."""
        if past.last is None or past.last_weight == 0.0:
            return past.start
        return family.proximal(past.last_weight * past.last, past.last_weight, past.previous, self.gamma)


class OMDPlus(Player):
    """Online mirror descent that sees the loss of the round: argmin of it plus D(z, last point) / gamma.

    Parameters
    ----------
    gamma : float > 0
        The step.
    """

    prescient = True

    @entrance("OMDPlus")
    def __init__(self, gamma: float) -> None:
        self.gamma = _check_rate("gamma", gamma)

    def play(self, family: Family, past: Past, weight: float, current: Points | None) -> Points:
        """Step against the loss of this round."""
        assert current is not None
        return family.proximal(weight * current, weight, past.previous, self.gamma)


class OptimisticFTL(Player):
    """Follow the leader as if the loss of the round were the one before; the start where there was none."""

    def play(self, family: Family, past: Past, weight: float, current: Points | None) -> Points:
        """Return the leader of the rounds before and of the guess."""
        if past.last is None:
            return past.start
        return family.leader(past.total + weight * past.last, past.weight + weight)


class BestRespPlus(Player):
    """Best response: argmin of the loss of the round alone."""

    prescient = True

    def play(self, family: Family, past: Past, weight: float, current: Points | None) -> Points:
        """Return the best point against the opponent's."""
        assert current is not None
        return family.leader(weight * current, weight)
