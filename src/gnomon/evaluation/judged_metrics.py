"""Distances in which groups of rows are judged, and the rows that a verdict can be about."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.neighbors import metric_name
from gnomon.neighbors.straight import DIRECTIONS, STRAIGHT, has_straight_rows

__all__ = ["JudgedMetric", "rows_with_direction", "told_without"]


class JudgedMetric:
    """The name of a distance in which groups are judged, "periodic" with its periods in brackets."""

    text = (
        f"{', '.join(repr(name) for name in STRAIGHT[:-1])} or 'periodic(...)' with its periods, such as "
        "'periodic(360)'"
    )

    def check(self, value: object) -> str:
        """Return the name."""
        if not isinstance(value, str):
            raise TypeError
        if not has_straight_rows(value):
            raise ValueError
        return str(metric_name(value))


def rows_with_direction(X: Any, metric: str) -> npt.NDArray[np.int64]:
    """Return the rows that a verdict can be about: under the cosine and "hellinger" those that are not all zeros.

    A row of zeros is there as far from all others as a row can be that has nothing in common with them, so that in many
    dimensions it is the nearest row of most, and would join groups that it has no part in.
    """
    n = int(X.shape[0])
    if metric not in DIRECTIONS or metric == "correlation":  # which is refused of rows without one
        return np.arange(n)
    return np.flatnonzero(X.any(axis=1) if isinstance(X, np.ndarray) else np.asarray((X != 0).sum(axis=1)).reshape(n))


def told_without(n_zero: int) -> str:
    """Say that so many rows of zeros are left out, to go on a text; empty for none."""
    if not n_zero:
        return ""
    which = "1 row of zeros, which has" if n_zero == 1 else f"{n_zero:,} rows of zeros, which have"
    return f", without {which} no direction"
