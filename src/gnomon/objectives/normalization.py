"""Affinities as probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.objectives.edges import Edges

if TYPE_CHECKING:
    from gnomon.affinities import Affinities

__all__ = ["negative_entropy", "positive_total"]

_BLOCK = 1 << 18  # values brought to double at a time: a graph may hold ten million


def positive_total(affinities: Affinities) -> tuple[npt.NDArray[np.float32], float]:
    """Return the values and their sum in double, or raise ValueError unless all are finite and the sum is positive."""
    values = Edges.from_affinities(affinities).values
    exact = affinities.matrix.data if affinities.matrix.dtype == np.float64 else values
    total = float(exact.sum(dtype=np.float64))
    if total <= 0:
        raise ValueError(message("affinities", "positive somewhere"))
    return values, total


def negative_entropy(values: npt.NDArray[np.float32], total: float) -> float:
    """Return the sum of p log p over the shares p = value / total, in double; shares of 0 add nothing."""
    result = 0.0
    for first in range(0, values.size, _BLOCK):
        shares = values[first : first + _BLOCK].astype(np.float64) / total
        shares = shares[shares > 0]
        result += float(np.sum(shares * np.log(shares)))
    return result
