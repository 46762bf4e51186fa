"""From the map back to the data: rows as a blend of charts, and the errors of a round trip from either side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon import _core
from gnomon._printed import ShortRepr
from gnomon._run import current_run
from gnomon._validation import message
from gnomon.extension.atlas.charts import BlendLaw, Charts
from gnomon.extension.atlas.forward import Forward
from gnomon.extension.atlas.lifts import Lift
from gnomon.extension.atlas.points import Candidates, Distances, MapPoints, NearestPoints, Rows
from gnomon.linalg.table import RowTable, evenly_spaced
from gnomon.neighbors import query_neighbors

__all__ = ["Inverse", "RoundTrip", "go_round", "inverse_law"]

Float64Array = npt.NDArray[np.float64]

_POWER, _COUNT = 0.0, 2.0
"""Of the weights of charts by distances in the map. Many rows of the data share a place in the map up to noise: a blend
that gave back each row at its place would give back that noise. On digits it is a fifth farther from new rows."""
_LAW_ROWS = 1000  # whose distances in the map give the law

_TRIP_ROWS = 1000


@dataclass(frozen=True)
class Inverse:
    """The blend of the charts' inverses around the places of a map.

    Attributes
    ----------
    lift : Lift
        From rows of the data to the points that are blended.
    nearest : NearestPoints
        Among the places of the map.
    table : RowTable
        The points of the rows.
    charts : Charts
    law : BlendLaw
        Of distances in the map.
    """

    lift: Lift
    nearest: NearestPoints
    table: RowTable
    charts: Charts
    law: BlendLaw

    def invert(self, places: Float64Array, own: Rows | None = None) -> Float64Array:
        """Return the rows at places of the map, (m, n_features); point own[i] takes no part in row i."""
        law = self.law

        def run(some: Float64Array, near: Candidates, _: Distances) -> tuple[npt.NDArray[Any], ...]:
            arguments = (self.charts.core, law.count, law.softness, law.power, current_run().n_threads)
            return _core.atlas_invert(self.table.core, np.ascontiguousarray(some), near, *arguments)

        rows: Float64Array = self.nearest.ask(run, places, own)[0]
        return self.lift.rows(rows)


def inverse_law(Y: Float64Array, n_neighbors: int) -> BlendLaw:
    """Return the law of the weights by distances in the map."""
    some = Y[evenly_spaced(len(Y), _LAW_ROWS)]
    _, distances = query_neighbors(Y, some, n_neighbors + 1)
    return BlendLaw.of(distances[:, 1:], power=_POWER, n_rows=_COUNT)


@dataclass(frozen=True)
class RoundTrip(ShortRepr):
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
        Squared distance of the row from its reconstruction; of periodic columns round their circles.
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
    points: MapPoints, indices: npt.NDArray[np.int32], forward: Forward, inverse: Inverse, rows: Any = None
) -> RoundTrip:
    """Send rows of a map in both directions, without themselves.

    Parameters
    ----------
    points : MapPoints
    indices : ndarray of shape (n_distinct, n_neighbors), int32
        The points' neighbours in the data.
    forward : Forward
    inverse : Inverse
    rows : array-like of row numbers, default=None
        None takes at most 1000, evenly spread.
    """
    listed = _check_rows(points.members, rows)
    own = points.members[listed]
    places = points.Y[own]
    again = forward.blend(points.in_form(inverse.invert(places, own)), own=own).positions
    map_error = np.sqrt(np.square(again - places).sum(axis=1))
    there = inverse.invert(forward.blend(points.X[own], own=own).positions, own)
    of_rows = inverse.lift.points
    data_error = np.square(of_rows(there) - of_rows(points.dense(own))).sum(axis=1)
    noise = np.array([_scatter(of_rows(points.dense(near))) for near in indices[own]])
    return RoundTrip(
        listed,
        map_error,
        map_error / forward.charts.reach[own],
        data_error,
        data_error / np.where(noise > 0.0, noise, np.inf),
    )


def _check_rows(members: npt.NDArray[np.int64], rows: Any) -> npt.NDArray[np.int64]:
    n = len(members)
    if rows is None:
        placed = np.flatnonzero(members >= 0)
        return np.asarray(placed[evenly_spaced(len(placed), _TRIP_ROWS)], dtype=np.int64)
    listed = np.atleast_1d(np.asarray(rows))
    if listed.dtype.kind not in "iu" or (listed < 0).any() or (listed >= n).any():
        raise ValueError(message("rows", f"row numbers below n_samples={n}"))
    if (members[listed] < 0).any():
        raise ValueError(message("rows", "row numbers of rows with a place"))
    return listed.astype(np.int64)


def _scatter(rows: Float64Array) -> float:
    return float(np.square(rows - rows.mean(axis=0)).sum(axis=1).mean())
