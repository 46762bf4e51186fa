"""How many points of a map lie where: exact counts behind a page that shows a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message

__all__ = ["DensityGrid", "count_points", "positions_of_all"]

_SIDE = 512


@dataclass(frozen=True)
class DensityGrid:
    """Counts of points in cells of a rectangle.

    Attributes
    ----------
    counts : ndarray of shape (height, width), uint32
        The first row is that of the smallest second coordinate.
    low, high : tuple (x, y)
        Corners of the rectangle: the smallest and the largest coordinates.
    """

    counts: npt.NDArray[np.uint32]
    low: tuple[float, float]
    high: tuple[float, float]


def count_points(embedding: npt.NDArray[Any]) -> DensityGrid | None:
    """Count the points of a plane map in 512 x 512 cells; None if the map has three dimensions or no point a place.

    Parameters
    ----------
    embedding : ndarray of shape (n, 2 or 3)
        Rows that are not finite are not counted.
    """
    points = np.asarray(embedding)
    points = points[np.isfinite(points).all(axis=1)].astype(np.float64)
    if points.shape[1] != 2 or not len(points):
        return None
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    cells = np.minimum((points - low) / span * _SIDE, _SIDE - 1).astype(np.int64)
    counts = np.bincount(cells[:, 1] * _SIDE + cells[:, 0], minlength=_SIDE * _SIDE)
    x, y = (low + span).tolist()
    return DensityGrid(counts.reshape(_SIDE, _SIDE).astype(np.uint32), (float(low[0]), float(low[1])), (x, y))


def positions_of_all(given: Any, shown: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the positions of all rows of a larger map, of as many dimensions as those that are shown; or raise."""
    found = np.asarray(given)
    if found.ndim != 2 or found.shape[1] != shown.shape[1] or len(found) < len(shown) or found.dtype.kind not in "iuf":
        rule = f"numbers of shape (n, {shown.shape[1]}), n at least {len(shown):,}"
        raise ValueError(message(f"all_positions of shape {found.shape}", rule))
    return found
