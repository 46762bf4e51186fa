"""Whether a derivative that is given as a function is that of its value."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gnomon._validation import message
from gnomon.kernels.base import FloatArray

__all__ = ["SQUARED_DISTANCES", "check_slope"]

SQUARED_DISTANCES: FloatArray = np.geomspace(1.037e-4, 0.951e4, 81)
"""Where functions of a squared distance are tested: ten places for each power of ten, none of them a round number."""

_STEP = 1e-3  # of each place
_AGREE = 0.01  # of the derivative
_ABSOLUTE = 1e-6  # of the value, or of 1 where that is less: what a relative change of the place changes it by
_ROUNDINGS = 4.0
_STRAY = 0.05  # of the places, where kinks may lie

Function = Callable[[FloatArray], FloatArray]


def check_slope(name: str, value: Function, slope: Function, at: FloatArray, *, by: str, of: str) -> None:
    """Raise ValueError if a function is not the derivative of another one, by central differences.

    Places where one of them is not finite tell nothing, and single ones, where kinks may lie, are let pass.

    Parameters
    ----------
    name : str
        Of the derivative, as the user gives it.
    value, slope : callable
        Take an array of places to an array.
    at : ndarray, float64
        Places > 0.
    by : {"s", "k"}
        What the derivative is by: the squared distance or the similarity.
    of : str
        Name of the value.
    """
    middle, given = value(at), slope(at)
    wide, noise = _difference(value, at, _STEP)
    near, finer_noise = _difference(value, at, 0.5 * _STEP)
    with np.errstate(all="ignore"):
        least = _ABSOLUTE * np.maximum(1.0, np.abs(middle)) / at
        allowed = _AGREE * np.maximum(np.abs(given), np.abs(near)) + 2.0 * np.abs(wide - near)
        wrong = np.abs(given - near) > allowed + np.maximum(noise, finer_noise) + least
    known = int(np.count_nonzero(np.isfinite(given) & np.isfinite(near) & np.isfinite(wide)))
    count = int(np.count_nonzero(wrong))  # none of which is a place where something is not finite
    if count <= _STRAY * known:
        return
    places = np.flatnonzero(wrong)
    worst = places[np.abs(np.log(at[places])).argmin()]  # the nearest to 1
    fact = (
        f"at {by}={at[worst]:.3g} it is {given[worst]:.4g} and differences of {of} give {near[worst]:.4g}; wrong at "
        f"{count} of {known} places"
    )
    remedy = _remedy(given[wrong], near[wrong], at[wrong], by)
    argument = "squared distance s = d^2" if by == "s" else "similarity k"
    raise ValueError(message(name, f"that of {of} by the {argument}", fact=fact, remedy=remedy))


def _difference(value: Function, at: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
    """Return central differences, and how much of them may be rounding in the precision in which values come."""
    up, down = at * (1.0 + step), at * (1.0 - step)
    high, low = value(up), value(down)
    with np.errstate(all="ignore"):
        single = all((some.astype(np.float32) == some)[np.isfinite(some)].all() for some in (high, low))
        eps = np.finfo(np.float32 if single else np.float64).eps
        sizes = np.maximum(1.0, np.maximum(np.abs(high), np.abs(low)))
        return (high - low) / (up - down), _ROUNDINGS * float(eps) * sizes / (up - down)


def _remedy(given: FloatArray, found: FloatArray, at: FloatArray, by: str) -> str:
    """Return what is most likely wrong, where most places that are wrong agree."""
    with np.errstate(all="ignore"):
        if np.median(np.abs(given + found) / np.abs(found)) < _AGREE:
            return "Change its sign."
        if by == "s" and np.median(np.abs(given / (2.0 * np.sqrt(at)) - found) / np.abs(found)) < _AGREE:
            return "Divide the derivative by the distance d by 2 sqrt(s)."
    return "Correct one of the two functions."
