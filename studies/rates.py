"""A share of trials, with its interval."""

from __future__ import annotations

import scipy.special

__all__ = ["told_share", "wilson"]


def wilson(found: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's interval of a rate of which so many trials of all were found.

    Parameters
    ----------
    found, trials : int
    confidence : float, default=0.95

    Returns
    -------
    (float, float)
    """
    z = float(scipy.special.ndtri(0.5 + confidence / 2.0))
    share = found / trials
    middle = share + z * z / (2.0 * trials)
    half = z * ((share * (1.0 - share) + z * z / (4.0 * trials)) / trials) ** 0.5
    return max((middle - half) / (1.0 + z * z / trials), 0.0), min((middle + half) / (1.0 + z * z / trials), 1.0)


def told_share(found: int, trials: int) -> str:
    """Return how many of all, and the interval in percent."""
    if not trials:
        return "none asked"
    low, high = wilson(found, trials)
    return f"{found} of {trials} [{100.0 * low:.0f}, {100.0 * high:.0f}] %"
