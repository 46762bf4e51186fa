"""What new rows that are like those of a map give by chance, for any number of them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import scipy.special

from gnomon._arithmetic import exp, log

__all__ = [
    "chance_of_farther",
    "chance_of_fewer",
    "chance_of_more",
    "chance_of_shift",
    "counts_beyond",
    "largest_shift",
]

Float64Array = npt.NDArray[np.float64]

_COUNTED = 1000  # new rows up to which a sum over them has its exact distribution
_USUAL = 0.05
_SHIFT = 1.358  # what Kolmogorov's statistic stays below in 95 of 100 draws


def counts_beyond(n_old: int, n_new: int, rank: int) -> Float64Array:
    """Return how likely it is that so many new rows or more have a score above the rank-th lowest of the old ones.

    Exact if the scores of all rows are exchangeable: the share beyond it is Beta(n_old - rank + 1, rank), the number of
    new rows beta-binomial. Equal scores make it smaller.

    Parameters
    ----------
    n_old, n_new : int >= 1
    rank : int in [1, n_old]

    Returns
    -------
    ndarray of shape (n_new + 1,), float64
        For 0, 1, ... n_new rows.
    """
    beyond = np.arange(n_new + 1.0)
    ln = scipy.special.gammaln
    above, below = n_old - rank, rank - 1
    ways = ln(beyond + above + 1) - ln(beyond + 1) + ln(n_new - beyond + below + 1) - ln(n_new - beyond + 1)
    ways += ln(n_old + 1) + ln(n_new + 1) - ln(above + 1) - ln(below + 1) - ln(n_old + n_new + 1)
    found: Float64Array = np.minimum(np.cumsum(exp(ways)[::-1])[::-1], 1.0)
    return found


def chance_of_farther(lower: npt.NDArray[np.integer], n_old: int) -> float:
    """Return how likely it is that new rows have scores that are together so high among those of old ones.

    By Fisher's sum of the logarithms of their p-values, with the error that the old rows share, which counts where the
    new ones are many [1]_.

    Parameters
    ----------
    lower : ndarray of shape (n_new,), int in [0, n_old]
        For each new row the number of old ones that have a lower score.
    n_old : int >= 1

    References
    ----------
    .. [1] Bates, Candes, Lei, Romano & Sesia, "Testing for outliers with conformal p-values", Annals of Statistics 51,
       2023.
    """
    n_new = len(lower)
    total = -float(log((n_old + 1.0 - lower) / (n_old + 1.0)).sum())
    root = math.sqrt(1.0 + n_new / n_old)
    return float(scipy.special.gammaincc(n_new, (total + n_new * (root - 1.0)) / root))


def chance_of_fewer(old: npt.NDArray[np.integer], n_new: int, total: float) -> float:
    """Return how likely it is that n_new counts like the old ones sum to no more than a total.

    Parameters
    ----------
    old : ndarray of shape (n_old,), int >= 0
        One of 0 is added to them, so that a single new count is never less likely than in n_old + 1 draws.
    n_new : int >= 1
        Up to 1000 the sum has its exact distribution, above the normal one.
    total : float
    """
    shares = np.bincount(np.append(old, 0)) / (len(old) + 1.0)
    values = np.arange(len(shares))
    if n_new > _COUNTED:
        mean = float((values * shares).sum())
        variance = float(((values - mean) ** 2 * shares).sum())
        spread = math.sqrt(n_new * variance)
        return float(scipy.special.ndtr((total - n_new * mean) / spread)) if spread > 0.0 else float(total >= 0.0)
    size = n_new * (len(shares) - 1) + 1
    sums = np.fft.irfft(np.fft.rfft(shares, 2 * size) ** n_new, 2 * size)[:size]
    return float(np.clip(sums[: max(math.floor(total) + 1, 0)].sum(), 0.0, 1.0))


def chance_of_more(old: int, n_old: int, new: int, n_new: int) -> float:
    """Return how likely it is that so many of the rows that have something are new ones, or more, by Fisher's test.

    Parameters
    ----------
    old, new : int >= 0
        Old and new rows that have it.
    n_old, n_new : int >= 1
    """
    total = old + new
    counts = np.arange(new, min(total, n_new) + 1.0)
    ln = scipy.special.gammaln
    ways = ln(n_new + 1) - ln(counts + 1) - ln(n_new - counts + 1)
    ways += ln(n_old + 1) - ln(total - counts + 1) - ln(n_old - total + counts + 1)
    ways -= ln(n_old + n_new + 1) - ln(total + 1) - ln(n_old + n_new - total + 1)
    return min(float(exp(ways).sum()), 1.0)


def largest_shift(n_old: float, n_new: int, *, n_compared: int = 1) -> float:
    """Return what the largest difference of two distributions of like rows stays below in 95 of 100 draws [1]_.

    Parameters
    ----------
    n_old : float >= 1
        Old rows, or as many as they count for where some count more than others.
    n_new : int >= 1
    n_compared : int >= 1, default=1
        Differences of which this holds for the largest.

    References
    ----------
    .. [1] Stephens, "Use of the Kolmogorov-Smirnov, Cramer-von Mises and related statistics without extensive tables",
       J. R. Stat. Soc. B 32, 1970.
    """
    usual = _SHIFT if n_compared == 1 else float(scipy.special.kolmogi(_USUAL / n_compared))
    return min(usual / _root(n_old, n_new), 1.0)


def chance_of_shift(shift: float, n_old: float, n_new: int) -> float:
    """Return how likely the largest difference of two distributions of like rows is as large, see `largest_shift`."""
    return float(scipy.special.kolmogorov(shift * _root(n_old, n_new)))


def _root(n_old: float, n_new: int) -> float:
    root = math.sqrt(n_old * n_new / (n_old + n_new))
    return root + 0.12 + 0.11 / root
