"""Paths through the data from one row to others, and changed rows along them.

The shortest paths in the neighbour graph are followed to the first place inside a region of the map, and on from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._validation import message
from gnomon.affinities.geodesics import PathGraph
from gnomon.data.arrays import unmasked
from gnomon.data.column_scales import ColumnScales
from gnomon.explanations.counterfactual.metric import RowMetric
from gnomon.explanations.counterfactual.plausibility import Plausibility
from gnomon.explanations.counterfactual.region import Membership, Region
from gnomon.explanations.rows import dense_rows_of
from gnomon.linalg.table import float_rows
from gnomon.neighbors import NeighborGraph, find_bridges

if TYPE_CHECKING:
    from gnomon.explanations.explanation import Explanation

__all__ = [
    "KINDS",
    "Candidate",
    "Path",
    "Placing",
    "best_candidate",
    "find_paths",
    "further_candidates",
    "path_graph",
    "paths_along",
    "shortest_path",
    "try_paths",
]

Array = npt.NDArray[np.float64]
_AVERAGED = 15  # neighbours in a local mean, at most
_STEPS = 24  # places tried along a path, then again between the last outside and the first inside
_ENDS = 200  # nearest rows of the region among which plausible ends are sought
_TIED = 1.0 + 1e-6  # times the shortest way that counts as no longer
_FURTHER = 3  # places tried from there to the end


@dataclass(frozen=True)
class Path:
    """A changed row on its path through the data.

    Attributes
    ----------
    rows : ndarray of shape (n_steps + 1,), int64
        The rows passed, the first being the row that is changed.
    stations : ndarray of shape (n_steps + 1, n_features), float64
        The changed row as it passes them; the first is the row as it is.
    arc : ndarray of shape (n_steps + 1,), float64
        Length of the path so far, in the metric of the map.
    """

    rows: npt.NDArray[np.int64]
    stations: Array
    arc: Array

    @classmethod
    def of(cls, rows: npt.NDArray[np.int64], stations: Array, metric: RowMetric) -> Path:
        """Measure the path."""
        return cls(rows, stations, np.append(0.0, np.cumsum(metric.steps(stations))))

    def at(self, share: float) -> Array:
        """Return the changed row after a share of the path, in [0, 1]."""
        reached = share * self.arc[-1]
        step = max(int(np.searchsorted(self.arc, reached, side="left")) - 1, 0)
        length = self.arc[step + 1] - self.arc[step]
        part = 0.0 if length == 0 else (reached - self.arc[step]) / length
        row: Array = self.stations[step] + part * (self.stations[step + 1] - self.stations[step])
        return row


def path_graph(X: Any, graph: NeighborGraph) -> PathGraph:
    """Return the edges of the neighbour graph, with bridges between its pieces where the metric allows them."""
    if graph.metric == "precomputed":
        return PathGraph.of(graph)
    return PathGraph.of(graph, find_bridges(float_rows(X), graph, metric=graph.metric))


def shortest_path(graph: PathGraph, lengths: Array, end: int) -> npt.NDArray[np.int64]:
    """Walk back from `end` to where `lengths` is 0; ties go to the smaller row number.

    Among copies of a row edges have no length: where they only lead to rows that were passed, another is tried.
    """
    matrix = graph.matrix
    row, seen = int(end), {int(end)}
    found = [row]
    while lengths[row] > 0:
        edges = slice(matrix.indptr[row], matrix.indptr[row + 1])
        others = matrix.indices[edges]
        through = lengths[others] + matrix.data[edges]
        fresh = np.array([int(other) not in seen for other in others]) & (through <= _TIED * through.min())
        if fresh.any():
            found.append(int(others[np.argmin(np.where(fresh, through, np.inf))]))
            seen.add(found[-1])
        else:
            found.pop()
        row = found[-1]
    return np.array(found[::-1], dtype=np.int64)


KINDS = ("means", "fading", "rows")
"""Kinds of path, those that bring least noise of single rows first."""


def paths_along(
    X: Any, graph: NeighborGraph, rows: npt.NDArray[np.int64], metric: RowMetric
) -> tuple[Path, Path, Path]:
    """Return three paths along a chain of rows, in the order of `KINDS`.

    Along the means around the rows the changed row keeps what sets it apart from its own neighbourhood, and single rows
    on the path leave no trace; or what sets it apart fades in proportion to the path, so that it ends as a local mean.
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
    along, fading, through = (Path.of(rows, some, metric) for some in stations)
    return along, fading, through


@dataclass(frozen=True)
class Candidate:
    """A path, how far to go on it, and where that leads.

    Attributes
    ----------
    path : Path
    kind : str
        One of `KINDS`.
    share : float in (0, 1]
        Part of the path that is taken.
    membership : Membership
    row : ndarray of shape (n_features,)
        The changed row there, within the range of the data.
    """

    path: Path
    kind: str
    share: float
    membership: Membership
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
    metric : RowMetric
        In which changed rows are measured.
    plausibility : Plausibility, or None
        What is asked of rows that land in the region.
    categories : tuple of ndarray of int64, default=()
        Features that indicate the categories of one and the same column: a changed row has one of them.
    """

    X: Any
    i: int
    region: Region
    transform: Callable[[Any], Any]
    metric: RowMetric
    plausibility: Plausibility | None = None
    categories: tuple[npt.NDArray[np.int64], ...] = ()

    def changed(self, path: Path, share: float, scales: ColumnScales) -> Array:
        """Return the changed row after a share of a path, within the range of the data and of whole categories."""
        row: Array = np.clip(path.at(share), scales.low, scales.high)
        for columns in self.categories:
            part = row[columns]
            if len(columns) == 1:
                row[columns] = np.round(part)
            elif part.sum() > 0.5:
                row[columns] = np.arange(len(part)) == np.argmax(part)
        return row

    def like(self, rows: Array) -> Any:
        """Return rows in the form of the data."""
        given: Any = rows.astype(self.X.dtype) if self.X.dtype in (np.float32, np.float64) else rows
        return type(self.X)(given) if hasattr(self.X, "tocsr") else given

    def memberships(self, rows: Array) -> list[Membership]:
        """Place rows (n, n_features) and say where they lie."""
        given = self.like(rows)
        places = np.asarray(unmasked(self.transform(given), name="transform(X)"), dtype=np.float64)
        if places.shape != (len(rows), self.region.places.shape[1]):
            rule = f"a place in the map for each of {len(rows):,} rows"
            raise ValueError(message(f"transform that returns an array of shape {places.shape}", rule))
        found = self.region.memberships(places, without=self.i)
        inside = np.flatnonzero([one.inside for one in found])
        if self.plausibility is not None and len(inside):
            for j, holds in zip(inside, self.plausibility.holds(given[inside]), strict=True):
                found[j] = replace(found[j], plausible=bool(holds))
        return found


def find_paths(
    explanation: Explanation,
    i: int,
    region: Region,
    graph: NeighborGraph,
    n_paths: int,
    metric: RowMetric,
    plausibility: Plausibility | None = None,
) -> list[tuple[Path, str]]:
    """Return paths of every kind to the nearest rows inside the region, plausible ones first."""
    shortest = path_graph(explanation._fitted, graph)
    lengths = shortest.lengths_from(np.array([i], dtype=np.int32))[0]
    candidates = region.core()
    candidates = candidates[np.isfinite(lengths[candidates])]
    if not len(candidates):
        raise ValueError(
            message(
                "target",
                "joined to the point by a path of neighbours",
                fact="the neighbour graph is in pieces",
                remedy="Pass a graph with more neighbours.",
            )
        )
    nearest = candidates[np.argsort(lengths[candidates], kind="stable")]
    if plausibility is not None:
        some = nearest[:_ENDS]
        holds = plausibility.holds(explanation._X[some], some)
        nearest = np.concatenate([some[holds], some[~holds]])
    nearest = nearest[:n_paths]
    paths = []
    for end in nearest:
        rows = shortest_path(shortest, lengths, int(end))
        for path, kind in zip(paths_along(explanation._X, graph, rows, metric), KINDS, strict=True):
            if path.arc[-1] > 0:
                paths.append((path, kind))
    if not paths:
        raise ValueError(message("target", "rows other than duplicates of the point"))
    return paths


def _rank(candidate: Candidate) -> tuple[int, float]:
    """Return what sorts changed rows on one path: the first that arrives, the first in the region, the nearest."""
    membership = candidate.membership
    if membership.inside:
        return (0 if membership.plausible else 1), candidate.share
    return 2, membership.distance


def try_paths(paths: list[tuple[Path, str]], placing: Placing, scales: ColumnScales) -> list[Candidate]:
    """Go along each path until it lands in the region, at first in large steps, then between two of them."""
    shares = [np.linspace(0.0, 1.0, _STEPS + 1)[1:] for _ in paths]
    best: list[Candidate | None] = [None] * len(paths)
    for _ in range(2):
        rows = [placing.changed(path, s, scales) for (path, _), some in zip(paths, shares, strict=True) for s in some]
        memberships = placing.memberships(np.array(rows))
        at = 0
        for r, ((path, kind), some) in enumerate(zip(paths, shares, strict=True)):
            tried = [Candidate(path, kind, float(s), memberships[at + k], rows[at + k]) for k, s in enumerate(some)]
            at += len(some)
            known = best[r]
            best[r] = found = min(tried if known is None else [known, *tried], key=_rank)
            step = 1.0 / _STEPS
            shares[r] = found.share - step + np.linspace(0.0, step, _STEPS + 1)[1:-1]
    return [candidate for candidate in best if candidate is not None]


def best_candidate(candidates: list[Candidate], own: Array, metric: RowMetric) -> tuple[Candidate, list[Candidate]]:
    """Return the candidate to take, and those of its kind that arrive.

    Single rows on a path bring their own noise into the answer, local means do not: the first kind that arrives is
    taken, and of its candidates the one with the smallest change. If none arrives it is the one that comes nearest.
    """
    arrived = [candidate for candidate in candidates if candidate.membership.arrived]
    arrived = arrived or [candidate for candidate in candidates if candidate.membership.inside]
    if not arrived:
        return min(candidates, key=lambda candidate: candidate.membership.distance), []
    first = min(KINDS.index(candidate.kind) for candidate in arrived)
    alike = [candidate for candidate in arrived if candidate.kind == KINDS[first]]
    return min(alike, key=lambda candidate: float(metric.steps(np.stack([own, candidate.row]))[0])), alike


def further_candidates(candidates: list[Candidate], placing: Placing, scales: ColumnScales) -> list[Candidate]:
    """Return the candidates, and the same farther along their paths where that lands in the region too."""
    steps = np.arange(1, _FURTHER + 1) / _FURTHER
    further = [
        (candidate, float(s))
        for candidate in candidates
        for s in candidate.share + (1.0 - candidate.share) * steps
        if s > candidate.share
    ]
    if not further:
        return candidates
    rows = np.array([placing.changed(candidate.path, s, scales) for candidate, s in further])
    longer = [
        Candidate(candidate.path, candidate.kind, s, membership, row)
        for (candidate, s), membership, row in zip(further, placing.memberships(rows), rows, strict=True)
    ]
    return candidates + [one for one in longer if one.membership.arrived]
