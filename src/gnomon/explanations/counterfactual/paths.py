"""Paths through the data from one row to others, and changed rows along them.

The shortest paths in the neighbour graph are followed to the first place inside a region of the map, and on from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.affinities.geodesics import PathGraph
from gnomon.explanations.counterfactual.region import Landing, Region
from gnomon.explanations.rows import ColumnScales, dense_rows_of
from gnomon.neighbors import NeighborGraph, find_bridges

if TYPE_CHECKING:
    from gnomon.explanations.explanation import Explanation

__all__ = [
    "KINDS",
    "Placing",
    "Route",
    "Way",
    "best_way",
    "find_routes",
    "go_on",
    "path_graph",
    "routes_to",
    "shortest_path",
    "try_routes",
]

Array = npt.NDArray[np.float64]
_AVERAGED = 15  # neighbours in a local mean, at most
_STEPS = 24  # places tried along a route, then again between the last outside and the first inside
_FURTHER = 3  # places tried from there to the end


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


@dataclass(frozen=True)
class Way:
    """A route, how far to go on it, and where that leads.

    Attributes
    ----------
    route : Route
    kind : str
        One of `KINDS`.
    share : float in (0, 1]
        Part of the route that is gone.
    landing : Landing
    row : ndarray of shape (n_features,)
        The changed row there, within the range of the data.
    """

    route: Route
    kind: str
    share: float
    landing: Landing
    row: Array


@dataclass(frozen=True)
class Placing:
    """The map as a function of rows: puts changed rows into the form of the data and says where they land.

    Attributes
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
    i : int
        The row that is changed; it does not count as a point of the map.
    region : Region
    transform : callable
    """

    X: Any
    i: int
    region: Region
    transform: Callable[[Any], Any]

    def like(self, rows: Array) -> Any:
        """Return rows in the form of the data."""
        given: Any = rows.astype(self.X.dtype) if self.X.dtype in (np.float32, np.float64) else rows
        return type(self.X)(given) if hasattr(self.X, "tocsr") else given

    def landings(self, rows: Array) -> list[Landing]:
        """Place rows (n, n_features) and say where they lie."""
        places = np.asarray(self.transform(self.like(rows)), dtype=np.float64)
        return self.region.landings(places, without=self.i)


def find_routes(
    explanation: Explanation, i: int, region: Region, graph: NeighborGraph, n_ways: int, *, who: str
) -> list[tuple[Route, str]]:
    """Return routes of every kind to the nearest rows inside the region."""
    paths = path_graph(explanation._X, graph, explanation._n_threads)
    lengths = paths.lengths_from(np.array([i], dtype=np.int32), n_threads=explanation._n_threads)[0]
    candidates = region.core()
    candidates = candidates[np.isfinite(lengths[candidates])]
    if not len(candidates):
        raise ValueError(
            message(
                who,
                "target",
                "joined to the point by a path of neighbours",
                fact="the neighbour graph is in pieces",
                remedy="Pass a graph with more neighbours.",
            )
        )
    nearest = candidates[np.argsort(lengths[candidates], kind="stable")[:n_ways]]
    routes = []
    for end in nearest:
        rows = shortest_path(paths, lengths, int(end))
        for route, kind in zip(routes_to(explanation._X, graph, rows), KINDS, strict=True):
            if route.arc[-1] > 0:
                routes.append((route, kind))
    if not routes:
        raise ValueError(message(who, "target", "rows other than duplicates of the point"))
    return routes


def try_routes(routes: list[tuple[Route, str]], placing: Placing, scales: ColumnScales) -> list[Way]:
    """Go along each route until it lands in the region, at first in large steps, then between two of them."""
    shares = [np.linspace(0.0, 1.0, _STEPS + 1)[1:] for _ in routes]
    best: list[Way | None] = [None] * len(routes)
    for _ in range(2):
        rows = [
            np.clip(route.at(s), scales.low, scales.high)
            for (route, _), some in zip(routes, shares, strict=True)
            for s in some
        ]
        landings = placing.landings(np.array(rows))
        at = 0
        for r, ((route, kind), some) in enumerate(zip(routes, shares, strict=True)):
            tried = [Way(route, kind, float(s), landings[at + k], rows[at + k]) for k, s in enumerate(some)]
            at += len(some)
            inside = [way for way in tried if way.landing.inside]
            found = inside[0] if inside else min(tried, key=lambda way: way.landing.distance)
            known = best[r]
            if known is None or (found.landing.inside and (not known.landing.inside or found.share < known.share)):
                best[r] = known = found
            step = 1.0 / _STEPS
            shares[r] = known.share - step + np.linspace(0.0, step, _STEPS + 1)[1:-1]
    return [way for way in best if way is not None]


def best_way(ways: list[Way], own: Array) -> tuple[Way, list[Way]]:
    """Return the way to take, and the ways of its kind that arrive.

    Single rows on a way bring their own noise into the answer, local means do not: the first kind that arrives is
    taken, and of its ways the one with the smallest change. If none arrives it is the one that comes nearest.
    """
    arrived = [way for way in ways if way.landing.inside]
    if not arrived:
        return min(ways, key=lambda way: way.landing.distance), []
    first = min(KINDS.index(way.kind) for way in arrived)
    alike = [way for way in arrived if way.kind == KINDS[first]]
    return min(alike, key=lambda way: float(np.linalg.norm(way.row - own))), alike


def go_on(ways: list[Way], placing: Placing, scales: ColumnScales) -> list[Way]:
    """Return the ways, and the same ways gone further where that lands in the region too."""
    steps = np.arange(1, _FURTHER + 1) / _FURTHER
    further = [(way, float(s)) for way in ways for s in way.share + (1.0 - way.share) * steps if s > way.share]
    if not further:
        return ways
    rows = np.array([np.clip(way.route.at(s), scales.low, scales.high) for way, s in further])
    longer = [
        Way(way.route, way.kind, s, landing, row)
        for (way, s), landing, row in zip(further, placing.landings(rows), rows, strict=True)
    ]
    return ways + [one for one in longer if one.landing.inside]
