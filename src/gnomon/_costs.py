"""What a stage of a computation takes, bytes or nanoseconds, as a sum over the parts of a table."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Cost", "returned_late"]

_SAMPLED = 4096  # rows

_RETURNED = 2.5e7  # bytes; what is larger is given back when it is freed


def returned_late(n_bytes: float) -> float:
    """Return how much of freed memory the allocator keeps for what comes next.

    Parameters
    ----------
    n_bytes : float

    Returns
    -------
    float
    """
    return min(n_bytes, _RETURNED)


@dataclass(frozen=True)
class Cost:
    """An amount that grows with the shape of a table.

    Attributes
    ----------
    fixed : float, default=0.0
        Whatever the table.
    row : float, default=0.0
        For each row.
    entry : float, default=0.0
        For each number stored.
    neighbor : float, default=0.0
        For each neighbour of each row.
    pair : float, default=0.0
        For each pair of rows, (i, j) and (j, i) both.
    product : float, default=0.0
        For each number of each pair of rows.
    full : float, default=0.0
        For each number and each row or feature, whichever are fewer, as of full decompositions.
    square : float, default=0.0
        For each pair of features.
    sample : float, default=0.0
        For each number of a sample of evenly spaced rows, at most 4096.
    """

    fixed: float = 0.0
    row: float = 0.0
    entry: float = 0.0
    neighbor: float = 0.0
    pair: float = 0.0
    product: float = 0.0
    full: float = 0.0
    square: float = 0.0
    sample: float = 0.0

    def of(self, n_samples: float, n_features: float = 0.0, n_neighbors: float = 0.0) -> float:
        """Return the amount for a table.

        Parameters
        ----------
        n_samples : float >= 0
        n_features : float >= 0, default=0.0
            Numbers stored for a row.
        n_neighbors : float >= 0, default=0.0
            Of each row.

        Returns
        -------
        float
        """
        n = float(n_samples)
        return (
            self.fixed
            + n * (self.row + self.entry * n_features + self.neighbor * n_neighbors)
            + n * n * (self.pair + self.product * n_features)
            + self.full * n * n_features * min(n, n_features)
            + self.square * n_features * n_features
            + self.sample * _n_sampled(n) * n_features
        )


def _n_sampled(n_samples: float) -> float:
    return n_samples / max(1.0, math.ceil(n_samples / _SAMPLED))
