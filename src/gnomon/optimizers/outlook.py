"""When a descent that ends by a tolerance is expected to end."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = ["Outlook"]

_SINCE = (0.25, 0.5, 0.75)  # shares of the iterations from which on a fall is fitted, each on its own
_FEWEST = 3  # reports that a fall is fitted to
_AGREE = 1.2  # largest ratio of the iterations left by two of these falls
_NOISE = 0.08  # largest distance from the fitted fall, as share of what the longest falls by
_FARTHEST = 50.0  # exponent

Floats = npt.NDArray[np.float64]


class Outlook:
    """Foresees the last iteration from how the quantity falls that is held against a tolerance.

    Some descents fall by the same factor in each iteration, others as a power of their number. Whichever fits better is
    extended to the tolerance, from three moments on; an end is told where these agree and the fall is steady. Where it
    is not, no number is better than a wrong one.

    Parameters
    ----------
    max_iter : int
        Iteration after which the descent ends in any case.
    """

    def __init__(self, max_iter: int) -> None:
        self.max_iter = max_iter
        self._seen: list[tuple[int, float]] = []  # iterations, and logarithms of the quantity over its tolerance

    def look(self, iteration: int, excess: float | None, *, over: bool = False) -> tuple[bool, int | None]:
        """Return whether the descent may end early, and the iteration after which it is expected to; None if unknown.

        Parameters
        ----------
        iteration : int >= 1
            Iterations done.
        excess : float or None
            How many times its tolerance the quantity is now; infinite if that is not known, None if there is none.
        over : bool, default=False
            Whether the descent has ended.
        """
        if over or excess is None:
            return over, iteration if over else None
        if 0.0 < excess < math.inf:
            self._seen.append((iteration, math.log(excess)))
        return True, self._end(iteration)

    def _end(self, now: int) -> int | None:
        if not self._seen or self._seen[-1][0] != now:  # what was seen before says little of now
            return None
        iterations, heights = np.array(self._seen).T
        found = []
        for share in _SINCE:
            since = iterations >= share * now
            if since.sum() < _FEWEST:
                return None
            left, noise = _fall(iterations[since], heights[since])
            if share == _SINCE[0] and noise > _NOISE * abs(heights[since][0] - heights[-1]):
                return None
            found.append(min(left, self.max_iter - now))
        if not 0.0 < max(found) <= _AGREE * min(found):
            return None
        return now + max(round(math.prod(found) ** (1.0 / len(found))), 1)


def _fall(iterations: Floats, heights: Floats) -> tuple[float, float]:
    """Return the iterations until logarithms reach 0 by the better of two laws, and their distance from it."""
    now = iterations[-1]
    by_factor, noise = _line(iterations - now, heights)
    by_power, noise_of_power = _line(np.log(iterations / now), heights)
    if noise <= noise_of_power:
        return by_factor, noise
    return float(now * math.expm1(min(by_power, _FARTHEST))), noise_of_power


def _line(places: Floats, heights: Floats) -> tuple[float, float]:
    """Return where a fitted line reaches 0, infinite if it does not fall, and the distance of the heights from it."""
    slope, height = np.polyfit(places, heights, 1)
    noise = float(np.sqrt(np.mean((slope * places + height - heights) ** 2)))
    return (math.inf if slope >= 0.0 else max(float(-height / slope), 0.0)), noise
