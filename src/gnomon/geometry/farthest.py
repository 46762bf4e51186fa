"""How odd the largest of many values are, by the fall of those that are large but not the largest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import exp, expm1, log, log1p

__all__ = ["Tail"]

Float64Array = npt.NDArray[np.float64]

_LEAST_SLOPE = 1e-3  # less is what rounding leaves of equal values


@dataclass(frozen=True)
class Tail:
    """The upper tail of positive values, as a power of them, whatever the few largest are.

    Of values with such a tail the gaps between the logarithms of neighbours in rank, times the rank, are independent
    and exponential [1]_. Those between two ranks so tell how far out the larger ones lie, exactly, though the slope is
    learned. Tails that fall faster, as normal ones do, have smaller gaps than it says.

    Attributes
    ----------
    base : float > 0
        The largest value that is learned from.
    slope : float > 0
        Mean gap: by so much the logarithm grows where a tail falls to 1/e.
    n_beyond : float > 0
        Values that lie beyond the base, of which nothing is learned.
    n_gaps : int >= 1
        Gaps that the slope is the mean of.

    References
    ----------
    .. [1] Renyi, "On the theory of order statistics", Acta Math. Hung. 4, 1953; Hill, "A simple general approach to
       inference about the tail of a distribution", Annals of Statistics 3, 1975.
    """

    base: float
    slope: float
    n_beyond: float
    n_gaps: int

    @classmethod
    def learn(cls, values: Float64Array, n_beyond: int, n_gaps: int, *, n_hidden: int = 0, times: float = 1.0) -> Self:
        """Learn the tail of some values.

        Parameters
        ----------
        values : ndarray of shape (n,), float64, positive
        n_beyond : int >= 1
            The largest ones, of which nothing is learned.
        n_gaps : int in [1, n + n_hidden - n_beyond - 1]
        n_hidden : int in [0, n_beyond], default=0
            How many of these were left out of the values already.
        times : float >= 1, default=1.0
            Values that each of these stands for.
        """
        first, last = n_beyond - n_hidden, n_beyond - n_hidden + n_gaps
        ordered = log(-np.sort(np.partition(-values, last)[: last + 1]))
        ranks = np.arange(n_beyond + 1, n_beyond + n_gaps + 1)
        gaps = ranks * (ordered[first:last] - ordered[first + 1 : last + 1])
        slope = max(float(gaps.mean()), _LEAST_SLOPE)
        return cls(float(exp(ordered[first])), slope, n_beyond * times, n_gaps)

    def expected(self, values: Float64Array) -> Float64Array:
        """Return of how many of all values, at most on average, each is exceeded; infinite up to the base."""
        farther = log(np.maximum(values, self.base) / self.base) / self.slope
        found: Float64Array = self.n_beyond * exp(-self.n_gaps * log1p(farther / self.n_gaps))
        return np.where(values > self.base, found, np.inf)

    def chance(self, values: Float64Array) -> Float64Array:
        """Return how likely, at most, any of all values is as large as each; 1 up to the base."""
        return np.minimum(1.0, self.expected(values))

    def limit(self, chance: float) -> float:
        """Return the value beyond which `chance` is less."""
        farther = self.n_gaps * expm1(float(log(self.n_beyond / chance)) / self.n_gaps)
        return float(self.base * exp(self.slope * max(farther, 0.0)))
