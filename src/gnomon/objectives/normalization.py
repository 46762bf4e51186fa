"""Affinities as probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.objectives.edges import Edges

if TYPE_CHECKING:
    from gnomon.affinities import Affinities

__all__ = ["positive_total"]


def positive_total(affinities: Affinities, *, who: str) -> tuple[npt.NDArray[np.float64], float]:
    """Return the values in float64 and their sum, or raise ValueError unless all are finite and the sum is positive."""
    values = Edges.from_affinities(affinities, who=who).values.astype(np.float64)
    total = float(values.sum())
    if total <= 0:
        raise ValueError(message(who, "affinities", "positive somewhere"))
    return values, total
