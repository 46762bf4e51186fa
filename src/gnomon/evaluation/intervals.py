"""A value from a sample of rows, with the interval that holds the value of all rows at a stated rate."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon._arithmetic import product

__all__ = ["Estimate", "Sampling"]

Floats = npt.NDArray[np.float64]

_RESAMPLES = 200
_STREAM = 0x626F


@dataclass(frozen=True)
class Estimate:
    """A value, and its interval; None where the value is exact or too little is known to say."""

    value: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Sampling:
    """How rows were drawn, at random and each at most once, and the confidence of intervals.

    Attributes
    ----------
    n_rows : int
        Rows in all.
    n_drawn : int
        Rows drawn; all of them make every value exact.
    confidence : float in (0, 1)
    """

    n_rows: int
    n_drawn: int
    confidence: float = 0.95

    @property
    def unseen(self) -> float:
        """Share of the rows not drawn, by which the variance of a sample without replacement is smaller."""
        return 1.0 - self.n_drawn / self.n_rows

    def mean(self, values: npt.NDArray[np.floating]) -> Estimate:
        """Estimate the mean over all rows from values of the rows drawn; NaN values are of rows that do not count."""
        known = values[np.isfinite(values)]
        if not known.size:
            return Estimate(math.nan)
        value = float(np.mean(known))
        if known.size < 2:
            return Estimate(value)
        return self._around(value, float(np.var(known, ddof=1)) / known.size, known.size - 1)

    def of_sums(self, statistic: Callable[[npt.NDArray[Any]], Floats], sums: npt.NDArray[Any]) -> Estimate:
        """Estimate a smooth function of sums over the rows, by the jackknife.

        Parameters
        ----------
        statistic : callable
            From sums of shape (..., q) to values of shape (...).
        sums : ndarray of shape (n_parts, q)
            What each row drawn, or each of a few random groups of as many, adds.
        """
        total, m = sums.sum(axis=0), len(sums)
        value = float(statistic(total))
        without = statistic(total - sums)
        if m < 3 or not np.isfinite(without).all():
            return Estimate(value)
        return self._around(value, float(np.var(without)) * (m - 1), m - 1)

    def of_resampled(
        self, statistic: Callable[[npt.NDArray[Any]], Floats], sums: npt.NDArray[Any], seed: int
    ) -> Estimate:
        """Estimate a function of sums that jumps, such as by where a curve is highest, by the bootstrap over groups.

        Parameters
        ----------
        statistic : callable
            From sums of shape (q,) to a value.
        sums : ndarray of shape (n_groups, q)
            What each of a few random groups of as many rows adds.
        seed : int
            Draws the groups.
        """
        value, m = float(statistic(sums.sum(axis=0))), len(sums)
        if self.unseen <= 0.0 or m < 3:
            return Estimate(value)
        drawn = np.random.default_rng((seed, _STREAM)).integers(m, size=(_RESAMPLES, m))
        times = np.stack([np.bincount(one, minlength=m) for one in drawn])
        values = [float(statistic(one)) for one in product(times, sums)]
        return self._around(value, float(np.var(values, ddof=1)) * m / (m - 1), m - 1)

    def of_groups(self, value: float, groups: npt.ArrayLike) -> Estimate:
        """Estimate anything from its value over all rows drawn, and over random groups of as many of them each."""
        parts = np.asarray(groups, dtype=np.float64)
        parts = parts[np.isfinite(parts)]
        if len(parts) < 2:
            return Estimate(value)
        return self._around(value, float(np.var(parts, ddof=1)) / len(parts), len(parts) - 1)

    def of_correlation(self, x: Floats, y: Floats) -> Estimate:
        """Estimate the correlation of two values of a row from the rows drawn, by its influence function."""
        if len(x) < 2:
            return Estimate(math.nan)
        a, b = x - x.mean(), y - y.mean()
        size = float(np.sqrt(np.square(a).sum() * np.square(b).sum()))
        if not size > 0:
            return Estimate(math.nan)
        value = float((a * b).sum()) / size
        a, b = a / a.std(), b / b.std()
        influence = a * b - 0.5 * value * (a * a + b * b)
        return self._around(value, float(np.var(influence)) / len(x), len(x) - 1)

    def _around(self, value: float, variance: float, degrees: int) -> Estimate:
        if self.unseen <= 0.0:
            return Estimate(value)
        half = float(scipy.special.stdtrit(degrees, 0.5 + self.confidence / 2.0)) * math.sqrt(variance * self.unseen)
        return Estimate(value, (value - half, value + half))
