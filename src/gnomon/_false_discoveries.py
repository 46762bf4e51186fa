"""P-values of many tests, adjusted; `scipy.stats`, which has the same, takes as long to load as a small map to make."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import log1p

__all__ = ["adjusted_p_values", "are_discoveries", "normal_deviations"]


def adjusted_p_values(p_values: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return the least false-discovery rates at which each is significant [1]_.

    Parameters
    ----------
    p_values : ndarray of any shape
        In [0, 1]; NaN where there was no test.

    Returns
    -------
    ndarray of the same shape, float64
        At least the p-value, NaN where it is NaN.

    References
    ----------
    .. [1] Benjamini & Hochberg, "Controlling the false discovery rate", J. R. Stat. Soc. B 57, 1995.
    """
    adjusted = np.full(p_values.shape, np.nan)
    known = np.isfinite(p_values)
    tested = p_values[known].astype(np.float64)
    order = np.argsort(tested, kind="stable")
    ranks = np.arange(1, len(tested) + 1)
    least = np.minimum.accumulate((tested[order] * (len(tested) / ranks))[::-1])[::-1]
    rates = np.empty(len(tested))
    rates[order] = np.minimum(least, 1.0)
    adjusted[known] = rates
    return adjusted


def are_discoveries(p_values: npt.NDArray[np.floating], alpha: float) -> npt.NDArray[np.bool_]:
    """Return which tests are significant at a rate of false discoveries: ``adjusted_p_values(p_values) <= alpha``.

    Parameters
    ----------
    p_values : ndarray of any shape
        In [0, 1], all known.
    alpha : float in (0, 1)
    """
    small = p_values <= alpha  # no other is one, and their ranks are the lowest
    ordered = np.sort(p_values[small])
    below = np.flatnonzero(ordered * (p_values.size / np.arange(1, len(ordered) + 1)) <= alpha)
    if not len(below):
        return np.zeros(p_values.shape, dtype=np.bool_)
    found: npt.NDArray[np.bool_] = p_values <= ordered[below[-1]]
    return found


def normal_deviations(
    ratio: npt.NDArray[np.float64], degrees: npt.NDArray[np.float64] | float
) -> npt.NDArray[np.float64]:
    """Return the normal deviations whose tails bound those of Student's distribution from above [1]_.

    From 20 degrees of freedom on they are at most a fifth larger, down to 1e-14; from three on at most three times.

    Parameters
    ----------
    ratio : ndarray of any shape, float64
        Student's ratios, at least 0; they may be infinite.
    degrees : ndarray of a shape that goes with it, or float
        Degrees of freedom.

    Returns
    -------
    ndarray, float64

    References
    ----------
    .. [1] Wallace, "Bounds on normal approximations to Student's and the chi-square distributions", Ann. Math. Stat.
       30, 1959.
    """
    with np.errstate(over="ignore"):
        squared: npt.NDArray[np.float64] = np.sqrt(degrees * log1p(ratio**2 / degrees))
    return (8.0 * degrees + 1.0) / (8.0 * degrees + 3.0) * squared
