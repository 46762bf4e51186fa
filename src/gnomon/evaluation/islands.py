"""Islands of a map: its parts between which the density of points falls."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.evaluation.gaps.falls import BRIDGE, FEWEST_ROWS
from gnomon.evaluation.gaps.saddles import Landscape
from gnomon.geometry.check import has_place

__all__ = ["find_islands"]

_ROWS = 1000  # that are looked at: time and memory grow with their square
Ints = npt.NDArray[np.int64]


def find_islands(Y: Any) -> tuple[Ints, Ints]:
    """Return the rows looked at that lie in islands of a map, and which island each lies in; none of a single one.

    Islands have gaps between them as `judge_gaps` finds them: falls of density below a quarter of the lower peak.
    Whether the data have these gaps is another question.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_components)
        The map; NaN where a row has no place.

    Returns
    -------
    rows : ndarray of shape (n_found,), int64
        Ascending, of at most 1,000 rows drawn at random.
    island : ndarray of shape (n_found,), int64
        Counted from 0; an island has at least 30 of the rows looked at.
    """
    places = np.asarray(Y, dtype=np.float64)
    rows = np.flatnonzero(has_place(places)).astype(np.int64)
    if len(rows) > _ROWS:
        rows = rows[np.sort(np.random.default_rng(0).choice(len(rows), _ROWS, replace=False))]
    if len(rows) < 2 * FEWEST_ROWS:
        return rows[:0], rows[:0]
    islands = Landscape.of(places[rows] - places[rows].mean(axis=0)).islands(-math.log(BRIDGE), FEWEST_ROWS)
    return rows[islands >= 0], islands[islands >= 0]
