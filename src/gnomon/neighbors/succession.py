"""Whether rows that follow each other in a table are alike, as those of a time series are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from gnomon.linalg import uniform_matrix
from gnomon.neighbors.distances import pair_distances

__all__ = ["Succession", "succession_of_rows"]

Floats = npt.NDArray[np.float64]

_SURE = 1e-6  # chance of so many quadruples
_FOUR = 4  # rows that are compared in three pairings
_CHANCE = 1.0 / 3.0
_FEWEST_ROWS = 40
_GONE = 0.97  # of the usual distance
_LEAST_STEP = 5  # rows that are alike over fewer are hardly fewer than they seem
_USUAL = 8  # other rows, drawn for each
_STREAM = 0x5375


@dataclass(frozen=True)
class Succession:
    """Rows of which those that follow each other are alike.

    Attributes
    ----------
    p_value : float
        Chance of so many quadruples of rows whose nearest pairs are those of the order.
    step : int
        How many rows apart the likeness is gone: their distance is 97 % of the usual one. Half of the rows where it is
        not gone before.
    n_samples : int
        Rows of the table.
    """

    p_value: float
    step: int
    n_samples: int

    def told(self, consequence: str) -> str:
        """Return what was found in words, what follows from it, and what to do.

        Parameters
        ----------
        consequence : str
            What does not hold, as the middle of a sentence.
        """
        kept = max(1, round(self.n_samples / self.step))
        return (
            "Rows that follow each other in the table are more alike than rows a little further on, as those of a time "
            "series are, or of a table sorted by its values or in small groups. Unless independent rows were only "
            f"sorted so, {consequence}: take every {self.step:,}th row, about {kept:,} in all, and look again."
        )


def succession_of_rows(X: Any, metric: str | Callable[..., float] = "euclidean", *, seed: int = 0) -> Succession | None:
    """Look whether rows that follow each other in a table are alike.

    Of each four rows in a row the two distances within pairs are summed for the three ways to pair them. In a table in
    random order each way has the smallest sum in a third of the quadruples, whatever the rows are. Where they are
    alike over a few rows the first two and the last two are it more often, which a binomial test tells without any
    assumption. A table sorted by a few classes is in random order within each, so its classes alone do not show here.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        In the order of the table.
    metric : str or callable, default="euclidean"
        As for `compute_neighbors`.
    seed : int, default=0
        Draws the rows by which the usual distance is told.

    Returns
    -------
    Succession or None
        None if no likeness is shown, which takes a chance of less than one in a million and a likeness over five rows
        at least; of fewer than 40 rows; and of distances given as a sparse matrix, which lacks most.
    """
    n = int(X.shape[0])
    if n < _FEWEST_ROWS or (metric == "precomputed" and not isinstance(X, np.ndarray)):
        return None
    p = _chance(_apart(X, np.arange(1, _FOUR), metric))
    if p > _SURE:
        return None
    step = _step_of(X, metric, seed)
    return Succession(p, step, n) if step >= _LEAST_STEP else None


def _apart(X: Any, lags: npt.NDArray[np.int64], metric: Any) -> Floats:
    """Return the distance of each row to those some rows further on, behind the last from the first on."""
    n = X.shape[0]
    others = (np.arange(n)[:, None] + lags) % n
    return pair_distances(X, others.astype(np.int32), metric=metric).astype(np.float64)


def _chance(apart: Floats) -> float:
    """Return the chance of at least as many quadruples in which the pairs of the order are nearest."""
    first = np.arange(0, len(apart) - _FOUR + 1, _FOUR)
    one, two, three = apart.T
    sums = np.stack(
        [one[first] + one[first + 2], two[first] + two[first + 1], three[first] + one[first + 1]]
    )  # 12 34, 13 24, 14 23
    least = sums.min(axis=0)
    told = (sums == least).sum(axis=0) == 1
    hits = int((told & (sums[0] == least)).sum())
    return float(scipy.special.bdtrc(hits - 1, int(told.sum()), _CHANCE)) if hits else 1.0


def _step_of(X: Any, metric: Any, seed: int) -> int:
    """Return the least number of rows apart at which rows are as far as usual, found by doubling and halving."""
    n = X.shape[0]
    others = 1 + (uniform_matrix(seed, _STREAM, (n, _USUAL)) * (n - 1)).astype(np.int64)
    usual = float(np.mean([_apart(X, np.asarray(column)[:, None], metric).mean() for column in others.T]))

    def alike(lag: int) -> bool:
        return float(_apart(X, np.array([lag]), metric)[: n - lag].mean()) < _GONE * usual

    low, high = 0, 1
    while high < n // 2 and alike(high):
        low, high = high, min(2 * high, n // 2)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if alike(middle) else (low, middle)
    return high
