"""Round-trip errors: from the data to the map and back, and from the map to the data and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.extension.atlas.forward import Forward
from gnomon.extension.atlas.inverse import Inverse
from gnomon.extension.atlas.points import MapPoints, spread_evenly

__all__ = ["RoundTrip", "go_round"]

Float64Array = npt.NDArray[np.float64]

_ROWS = 1000


@dataclass(frozen=True)
class RoundTrip:
    """How well rows are found again from their places, and places from their rows, each row left out of the atlas.

    Attributes
    ----------
    rows : ndarray of shape (m,), int64
        Row numbers.
    map_error : ndarray of shape (m,), float64
        Distance in the map between the place of the row and that of its reconstruction.
    relative_map_error : ndarray of shape (m,), float64
        The same over the scale of the map around the row: the lower quartile of the distances to its neighbours.
    data_error : ndarray of shape (m,), float64
        Squared distance of the row from its reconstruction.
    relative_data_error : ndarray of shape (m,), float64
        The same over the mean squared distance of its neighbours in the data from their mean: below 1 the
        reconstruction is nearer to the row than its neighbourhood is wide.
    """

    rows: npt.NDArray[np.int64]
    map_error: Float64Array
    relative_map_error: Float64Array
    data_error: Float64Array
    relative_data_error: Float64Array


def go_round(
    points: MapPoints,
    indices: npt.NDArray[np.int32],
    forward: Forward,
    inverse: Inverse,
    rows: Any = None,
    *,
    who: str,
) -> RoundTrip:
    """Send rows of a map both ways, without themselves.

    Parameters
    ----------
    points : MapPoints
    indices : ndarray of shape (n_distinct, n_neighbors), int32
        The points' neighbours in the data.
    forward : Forward
    inverse : Inverse
    rows : array-like of row numbers, default=None
        None takes at most 1000, evenly spread.
    who : str
        Opens the error text.
    """
    listed = _check_rows(points.members, rows, who)
    own = points.members[listed]
    places = points.Y[own]
    again = forward.blend(points.alike(inverse.invert(places, own)), own=own).positions
    map_error = np.sqrt(np.square(again - places).sum(axis=1))
    there = inverse.invert(forward.blend(points.X[own], own=own).positions, own)
    data_error = np.square(there - points.dense(own)).sum(axis=1)
    noise = np.array([_scatter(points.dense(near)) for near in indices[own]])
    return RoundTrip(
        listed,
        map_error,
        map_error / forward.charts.reach[own],
        data_error,
        data_error / np.where(noise > 0.0, noise, np.inf),
    )


def _check_rows(members: npt.NDArray[np.int64], rows: Any, who: str) -> npt.NDArray[np.int64]:
    n = len(members)
    if rows is None:
        placed = np.flatnonzero(members >= 0)
        return np.asarray(placed[spread_evenly(len(placed), _ROWS)], dtype=np.int64)
    listed = np.atleast_1d(np.asarray(rows))
    if listed.dtype.kind not in "iu" or (listed < 0).any() or (listed >= n).any():
        raise ValueError(message(who, "rows", f"row numbers below n_samples={n}"))
    if (members[listed] < 0).any():
        raise ValueError(message(who, "rows", "row numbers of rows with a place"))
    return listed.astype(np.int64)


def _scatter(rows: Float64Array) -> float:
    return float(np.square(rows - rows.mean(axis=0)).sum(axis=1).mean())
