"""Distances in which groups of rows are judged, and rows laid so that straight distances order them alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import squared_lengths
from gnomon.linalg import dense_rows
from gnomon.neighbors import metric_name
from gnomon.neighbors.circles import on_circles

__all__ = ["METRICS", "JudgedMetric", "can_judge", "rows_with_direction", "straightened", "told_without"]

METRICS = ("euclidean", "cosine", "haversine", "periodic")
"""Distances in which groups are judged."""


def can_judge(metric: str) -> bool:
    """Return whether groups are judged in a distance, by its name."""
    return metric.strip().partition("(")[0] in METRICS and metric_name(metric) is not None


class JudgedMetric:
    """The name of a distance in which groups are judged, "periodic" with its periods in brackets."""

    text = "'euclidean', 'cosine', 'haversine' or 'periodic(...)' with its periods, such as 'periodic(360)'"

    def check(self, value: object) -> str:
        """Return the name."""
        if not isinstance(value, str):
            raise TypeError
        if not can_judge(value):
            raise ValueError
        return str(metric_name(value))


def straightened(X: Any, metric: str) -> Any:
    """Return rows in double whose straight distances order pairs as a metric does, or, of several angles, nearly so.

    Under the cosine they are divided by their lengths, 0 stays 0; columns with a period are circles, places on a
    sphere points of it: chords are the shorter way round as far as near rows go, and grow with it. Rows of a sparse
    table stay sparse, but for those of angles.
    """
    if metric not in ("euclidean", "cosine"):
        return np.asarray(on_circles(dense_rows(X), metric), dtype=np.float64)
    found = X.astype(np.float64, copy=metric == "cosine")
    if metric == "cosine":
        lengths = np.sqrt(squared_lengths(found))
        lengths[lengths == 0.0] = 1.0
        if isinstance(found, np.ndarray):
            found /= lengths[:, None]
        else:
            found.data /= np.repeat(lengths, np.diff(found.indptr))
    return found


def rows_with_direction(X: Any, metric: str) -> npt.NDArray[np.int64]:
    """Return the rows that a verdict can be about: under the cosine those that are not all zeros.

    A row of zeros is at cosine distance 1 from all others, so that in many dimensions it is the nearest row of most,
    and would join groups that it has no part in.
    """
    n = int(X.shape[0])
    if metric != "cosine":
        return np.arange(n)
    return np.flatnonzero(X.any(axis=1) if isinstance(X, np.ndarray) else np.asarray((X != 0).sum(axis=1)).reshape(n))


def told_without(n_zero: int) -> str:
    """Say that so many rows of zeros are left out, to go on a text; empty for none."""
    if not n_zero:
        return ""
    which = "1 row of zeros, which has" if n_zero == 1 else f"{n_zero:,} rows of zeros, which have"
    return f", without {which} no direction"
