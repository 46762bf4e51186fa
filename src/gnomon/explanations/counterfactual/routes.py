"""Ways through the data from one row to others: shortest paths in the neighbour graph, and steps along them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.affinities.geodesics import PathGraph
from gnomon.explanations.rows import dense_rows_of
from gnomon.neighbors import NeighborGraph, find_bridges

__all__ = ["KINDS", "Route", "path_graph", "routes_to", "shortest_path"]

Array = npt.NDArray[np.float64]
_AVERAGED = 15  # neighbours in a local mean, at most


@dataclass(frozen=True)
class Route:
    """A changed row on its way.

    Attributes
    ----------
    rows : ndarray of shape (n_steps + 1,), int64
        The rows passed, the first being the row that is changed.
    stations : ndarray of shape (n_steps + 1, n_features), float64
        The changed row as it passes them; the first is the row as it is.
    arc : ndarray of shape (n_steps + 1,), float64
        Way gone so far, in the units of the data.
    """

    rows: npt.NDArray[np.int64]
    stations: Array
    arc: Array

    @classmethod
    def of(cls, rows: npt.NDArray[np.int64], stations: Array) -> Route:
        """Measure the way."""
        steps = np.linalg.norm(np.diff(stations, axis=0), axis=1)
        return cls(rows, stations, np.append(0.0, np.cumsum(steps)))

    def at(self, share: float) -> Array:
        """Return the changed row after a share of the way, in [0, 1]."""
        gone = share * self.arc[-1]
        step = int(np.clip(np.searchsorted(self.arc, gone, side="left") - 1, 0, len(self.arc) - 2))
        length = self.arc[step + 1] - self.arc[step]
        part = 0.0 if length == 0 else (gone - self.arc[step]) / length
        row: Array = self.stations[step] + part * (self.stations[step + 1] - self.stations[step])
        return row


def path_graph(X: Any, graph: NeighborGraph, n_threads: int) -> PathGraph:
    """Return the edges of the neighbour graph, with bridges between its pieces where the metric allows them."""
    values = X if X.dtype in (np.float32, np.float64) else X.astype(np.float32)
    if graph.metric == "precomputed":
        return PathGraph.of(graph)
    return PathGraph.of(graph, find_bridges(values, graph, metric=graph.metric, n_threads=n_threads))


def shortest_path(paths: PathGraph, lengths: Array, end: int) -> npt.NDArray[np.int64]:
    """Walk back from `end` to where `lengths` is 0; ties go to the smaller row number."""
    matrix = paths.matrix
    row, seen = int(end), {int(end)}
    found = [row]
    while lengths[row] > 0:
        edges = slice(matrix.indptr[row], matrix.indptr[row + 1])
        others = matrix.indices[edges]
        fresh = np.array([int(other) not in seen for other in others])
        through = np.where(fresh, lengths[others] + matrix.data[edges], np.inf)
        if not np.isfinite(through).any():
            break
        row = int(others[np.argmin(through)])
        seen.add(row)
        found.append(row)
    return np.array(found[::-1], dtype=np.int64)


KINDS = ("means", "fading", "rows")
"""Ways along a path, those that bring least noise of single rows first."""


def routes_to(X: Any, graph: NeighborGraph, rows: npt.NDArray[np.int64]) -> tuple[Route, Route, Route]:
    """Return three ways along a path of rows, in the order of `KINDS`.

    Along the means around the rows the changed row keeps what sets it apart from its own neighbourhood, and single rows
    on the way leave no trace; or what sets it apart fades in proportion to the way, so that it ends as a local mean.
    Through the rows it ends as a row of the data, with a place of its own in the map.
    """
    k = min(_AVERAGED, graph.n_neighbors)
    own = dense_rows_of(X, rows)
    means = own.copy()
    for station, row in enumerate(rows):
        used = graph.indices[row, :k] if graph.mask is None else graph.indices[row, :k][graph.mask[row, :k]]
        means[station] = np.mean(np.concatenate([own[station : station + 1], dense_rows_of(X, used)]), axis=0)
    kept = np.linspace(1.0, 0.0, len(rows))[:, None]
    stations = (own[0] + (means - means[0]), means + kept * (own[0] - means[0]), own)
    along, fading, through = (Route.of(rows, some) for some in stations)
    return along, fading, through
