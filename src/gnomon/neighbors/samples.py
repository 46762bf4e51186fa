"""What share of the true neighbours a search finds, estimated without bias from few comparisons with all rows.

A wide search, of several times the cells that are needed, finds nearly all neighbours of many rows at little cost. The
search that is judged is compared with it on these, and on a few of them both are compared with all rows: the share
found of what the wide search finds, less the mean of what this is too large by. This is the difference estimator of
two-phase sampling [1]_. The rows by which a plan is chosen are not those that say what it finds: of plans, chance
prefers those that a sample flatters.

References
----------
.. [1] Cochran, "Sampling techniques", 3rd edition, Wiley, 1977, section 12.6 with a slope of 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from gnomon.neighbors.euclidean import Distances, Indices

__all__ = ["Draw", "Estimate", "Sample", "estimate"]

Float64Array = npt.NDArray[np.float64]

_ROWS_FOR_EACH, _FEWEST, _MOST = 32, 400, 1000  # rows of the table for each of a sample, and the sample's size
_COMPARED = 64  # of these are compared with all rows
_ERRORS = 1.645  # standard errors between an estimate and a limit that is exceeded with a probability of 95%


@dataclass(frozen=True)
class Estimate:
    """A share, or an array of them, and its standard error."""

    value: Any
    error: Any

    @property
    def limit(self) -> Any:
        """What the true share exceeds with a probability of about 95%."""
        return self.value - _ERRORS * self.error


def estimate(shares: Float64Array, true: Float64Array) -> Estimate:
    """Estimate a mean from shares of many rows that are too large, and correct ones of the first of these rows.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, ...)
    true : ndarray of shape (n_compared, ...)
    """
    n, m = len(shares), len(true)
    some = shares[:m]
    excess = some - true
    spread = np.mean((some - some.mean(axis=0)) * excess, axis=0) / n
    variance = shares.var(axis=0) / n + excess.var(axis=0) / m - 2.0 * spread
    return Estimate(shares.mean(axis=0) - excess.mean(axis=0), np.sqrt(np.maximum(variance, 0.0)))


@dataclass(frozen=True)
class Draw:
    """Rows of two samples, drawn independently of each other from all rows.

    Attributes
    ----------
    rows : ndarray of shape (2 n_rows,), int32
        Those that choose a plan, then those that judge it.
    n_compared : int
        So many rows of each sample, the first ones, are compared with all rows.
    """

    rows: Indices
    n_compared: int

    @classmethod
    def of(cls, n_samples: int, rng: np.random.Generator) -> Self:
        """Draw rows of a table."""
        size = min(n_samples, max(_FEWEST, min(_MOST, n_samples // _ROWS_FOR_EACH)))
        drawn = [rng.choice(n_samples, size, replace=False) for _ in range(2)]
        return cls(np.concatenate(drawn).astype(np.int32), min(size, _COMPARED))

    @property
    def size(self) -> int:
        """Number of rows of a sample."""
        return len(self.rows) // 2

    @property
    def compared(self) -> Indices:
        """The rows that are compared with all rows, of both samples."""
        return np.concatenate([self.rows[: self.n_compared], self.rows[self.size :][: self.n_compared]])

    def samples(self, wide: Distances, true: Distances) -> tuple[Sample, Sample]:
        """Return both samples.

        Parameters
        ----------
        wide : ndarray of shape (2 n_rows, n_neighbors)
            Distances that the wide search finds, ascending.
        true : ndarray of shape (2 n_compared, n_neighbors)
            Those of the nearest rows.
        """
        n, m = self.size, self.n_compared
        return Sample(self.rows[:n], wide[:n], true[:m]), Sample(self.rows[n:], wide[n:], true[m:])


@dataclass(frozen=True)
class Sample:
    """Rows, distances that a wide search finds for them, and those of the true neighbours of the first rows."""

    rows: Indices
    wide: Distances
    true: Distances

    def recall(self, distances: Distances) -> Estimate:
        """Estimate the share of true neighbours in what a search finds; equal distances are equally good.

        Parameters
        ----------
        distances : ndarray of shape (n_rows, n_neighbors)
            What it finds for the rows of this sample.
        """
        last, m = distances.shape[1] - 1, len(self.true)
        shares = (distances <= self.wide[:, last, None]).mean(axis=1)
        return estimate(shares, (distances[:m] <= self.true[:, last, None]).mean(axis=1))

    def recall_by_probes(self, cell_rank: Indices, kept: npt.NDArray[np.bool_], n_probes: int) -> Estimate:
        """Estimate the recall of searches that look into 1, 2 and so on up to n_probes cells.

        Parameters
        ----------
        cell_rank : ndarray of shape (n_rows, n_neighbors), int32
            How many cells are nearer than that of each neighbour that the wide search finds.
        kept : ndarray of shape (n_rows, n_neighbors), bool
            Which of these neighbours are candidates once their cell is searched.

        Returns
        -------
        Estimate
            Arrays of shape (n_probes,).
        """
        k, m = cell_rank.shape[1], len(self.true)
        true = kept[:m] & (self.wide[:m, :k] <= self.true[:, k - 1, None])
        return estimate(_shares(cell_rank, kept, n_probes), _shares(cell_rank[:m], true, n_probes))


def _shares(cell_rank: Indices, kept: npt.NDArray[np.bool_], n_probes: int) -> Float64Array:
    """Return for each row the share of neighbours kept whose rank is below 1, 2 and so on up to n_probes."""
    n, k = cell_rank.shape
    found = kept & (cell_rank < n_probes)
    places = np.arange(n)[:, None] * n_probes + cell_rank
    counts = np.bincount(places[found], minlength=n * n_probes).reshape(n, n_probes)
    return np.asarray(np.cumsum(counts, axis=1) / k)
