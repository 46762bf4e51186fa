"""All that is known of each point by itself: a column for each diagnostic, and its false and missing neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon._entrance import entrance
from gnomon._printed import Printed
from gnomon._validation import message
from gnomon.evaluation.estimated_ranks import EstimatedTrust, TrustEstimate, estimate_trust
from gnomon.evaluation.evaluation import Evaluation, evaluate_with_trust
from gnomon.evaluation.layout import Layout, places_of
from gnomon.evaluation.neighborhoods import Neighborhoods, compare_neighborhoods
from gnomon.evaluation.point_columns import POINT_SCORES
from gnomon.explanations.answer import format_number, format_table
from gnomon.explanations.ranked import names_of_rows
from gnomon.explanations.rows import find_row
from gnomon.maps.cautions import cautioned_evaluation
from gnomon.neighbors import NeighborGraph, among_rows

if TYPE_CHECKING:
    from gnomon.maps.result import Map

__all__ = ["Placed", "PointNeighbors", "PointScores", "list_neighbors", "score_points", "told_quantile"]

_ROUNDING = 1e-12  # of the largest value: what rounding leaves where the median is taken off

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PointScores(Mapping[str, Floats], Printed):
    """What is known of each point of a map; a mapping of names to columns, as ``pandas.DataFrame`` takes it.

    Attributes
    ----------
    columns : dict of str to ndarray of shape (n_samples,), float64
        By the names of `gnomon.evaluation.POINT_SCORES`, those of them that the map has. NaN where a row has none, such
        as a row without a place in the map.
    errors : dict of str to ndarray of shape (n_samples,), float64
        Standard errors of "trustworthiness" and "continuity" where they are estimated, 0 where they are exact; empty
        if all are exact.
    n_neighbors : int
        Neighbours of each row that were looked at on either side.
    n_references : int
        Rows from which the estimates are; the ranks of all rows from these are exact. n_samples if all are.
    """

    columns: dict[str, Floats]
    errors: dict[str, Floats]
    n_neighbors: int
    n_references: int

    def __getitem__(self, name: str) -> Floats:
        if name not in self.columns:
            fact = f"this map has {', '.join(self.columns)}"
            raise KeyError(message(f"column {name!r}", "one of the diagnostics of a point", fact=fact))
        return self.columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return of each column how many rows have it, its quantiles 0.05, 0.5 and 0.95, and what it says."""
        return {
            "n_neighbors": self.n_neighbors,
            "n_references": self.n_references,
            "columns": {name: _described(name, values) for name, values in self.columns.items()},
        }

    def summary(self) -> str:
        """Return a table of the columns: the typical value, and what one in twenty rows is below and above."""
        header = ["of each point", "5 %", "median", "95 %", "rows"]
        lines = [
            [POINT_SCORES[name].title, *(told_quantile(one[q]) for q in ("low", "median", "high")), f"{one['n']:,}"]
            for name, one in self.to_dict()["columns"].items()
        ]
        text = format_table(header, lines)
        if self.errors:
            largest = max(float(np.nanmax(errors)) for errors in self.errors.values())
            text += (
                f"\nranks of {self.n_references:,} rows are exact; for the others they are estimated from these "
                f"(standard error of trustworthiness and continuity at most {largest:.3f})"
            )
        return text

    def __str__(self) -> str:
        return self.summary()


@dataclass(frozen=True, kw_only=True)
class PointNeighbors(Printed):
    """Neighbours of one row that are false or missing, the nearest first.

    Attributes
    ----------
    index : int
        The row asked about.
    kind : str
        "false": neighbours in the map that are none in the data; "missing": in the data and not in the map.
    rows : ndarray of shape (n_listed,), int64
        Row numbers.
    names : list of str or None
        Their names, if the points of the map have names.
    data_distance, map_distance : ndarray of shape (n_listed,), float64
        How far away they are on either side.
    data_radius, map_radius : float
        How far away the last neighbour is on either side.
    n_neighbors : int
        Neighbours that were looked at on either side.
    """

    index: int
    kind: str
    rows: npt.NDArray[np.int64]
    names: list[str] | None
    data_distance: Floats
    map_distance: Floats
    data_radius: float
    map_radius: float
    n_neighbors: int

    def __len__(self) -> int:
        return len(self.rows)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by columns, as ``pandas.DataFrame`` and ``polars.DataFrame`` take it."""
        names = {} if self.names is None else {"name": list(self.names)}
        distances = {"data_distance": self.data_distance.tolist(), "map_distance": self.map_distance.tolist()}
        return {"row": self.rows.tolist(), **names, **distances}

    def to_dict(self) -> dict[str, Any]:
        """Return the table with plain Python values, one record for each row listed."""
        columns = self.columns()
        records = [dict(zip(columns, entry, strict=True)) for entry in zip(*columns.values(), strict=True)]
        facts = {name: getattr(self, name) for name in ("index", "n_neighbors", "data_radius", "map_radius")}
        return {"question": f"{self.kind} neighbors", **facts, "rows": records}

    def headline(self) -> str:
        """Return the line above the printed table."""
        here, there = ("map", "data") if self.kind == "false" else ("data", "map")
        return (
            f"row {self.index}: {len(self)} of its {self.n_neighbors} neighbours in the {here} are none in the {there} "
            f"(the last of those is at {format_number(self.data_radius)} in the data, "
            f"{format_number(self.map_radius)} in the map)"
        )

    def __str__(self) -> str:
        if not len(self):
            return self.headline()
        table = self.columns()
        cells = [
            [str(v) if not isinstance(v, float) else format_number(v) for v in column] for column in table.values()
        ]
        header = [name.replace("data_", "data ").replace("map_", "map ") for name in table]
        return f"{self.headline()}\n{format_table(header, list(zip(*cells, strict=True)))}"


@dataclass(frozen=True)
class Placed:
    """The rows of a map that have a place: their numbers, places and neighbourhoods."""

    rows: npt.NDArray[np.int64]
    layout: Layout
    near: Neighborhoods


def _place(result: Map) -> Placed:
    """Return the rows with a place, found once."""
    if result._placed is not None:
        return result._placed
    rows = np.flatnonzero(np.isfinite(result.embedding).all(axis=1)).astype(np.int64)
    places = result.embedding if result.surface is None else result.surface.read(result.embedding)
    n_neighbors = max(1, min(result._nearest().n_neighbors, (len(rows) - 1) // 2))  # as `evaluate`
    values, graph = _values(result, rows), result._nearest().nearest(n_neighbors)
    if len(rows) < result.n_samples:
        places, graph = places[rows], _graph_among(graph, rows)
    layout = places_of(np.asarray(places, dtype=np.float64), result.surface)
    near = compare_neighborhoods(values, layout, graph, metric=result.metric)
    result._placed = Placed(rows, layout, near)
    return result._placed


def _values(result: Map, rows: npt.NDArray[np.int64]) -> Any:
    """Return the values, or the distances, of some rows."""
    values = result._mapped().values
    if len(rows) == result.n_samples:
        return values
    return among_rows(values, rows, result.metric)


def _graph_among(graph: NeighborGraph, rows: npt.NDArray[np.int64]) -> NeighborGraph:
    """Return the graph of some rows, without neighbours that are others."""
    number = np.full(graph.n_samples, -1, dtype=np.int32)
    number[rows] = np.arange(len(rows), dtype=np.int32)
    indices = number[graph.indices[rows]]
    mask = indices >= 0
    if graph.mask is not None:
        mask &= graph.mask[rows]
    distances = np.where(mask, graph.distances[rows], np.inf).astype(np.float32)
    return NeighborGraph(np.maximum(indices, 0), distances, mask, metric=graph.metric)


def _anchors(evaluation: Evaluation, placed: Placed) -> npt.NDArray[np.int64]:
    """Return which of the rows with a place have exact ranks."""
    return np.flatnonzero(np.isfinite(evaluation.per_point["trustworthiness"][placed.rows])).astype(np.int64)


def _trust(result: Map, placed: Placed) -> tuple[npt.NDArray[np.int64], EstimatedTrust | None]:
    """Evaluate the map; return its anchors among the rows with a place, and the trust in all unless all are anchors.

    By one look at the distances, or a second one if the map was evaluated before.
    """
    if result._evaluation is None:
        trust = TrustEstimate(placed.layout, placed.near)
        result._evaluation = cautioned_evaluation(result, evaluate_with_trust(trust=trust, **result._to_evaluate()))
        anchors = _anchors(result._evaluation, placed)
        return anchors, trust.result() if len(anchors) < len(placed.rows) else None
    anchors = _anchors(result._evaluation, placed)
    if len(anchors) == len(placed.rows):
        return anchors, None
    values, seed = _values(result, placed.rows), result._evaluation.random_state
    return anchors, estimate_trust(values, placed.layout, placed.near, anchors, metric=result.metric, seed=seed)


@entrance("point_scores", keeps_name=True)
def score_points(result: Map) -> PointScores:
    """Put all that is known of each point into columns; see `Map.point_scores`."""
    explanation, placed, n = result.explain(), _place(result), result.n_samples
    anchors, found = _trust(result, placed)
    evaluation = result.evaluate()
    columns: dict[str, npt.NDArray[Any]] = {name: values.copy() for name, values in evaluation.per_point.items()}
    errors: dict[str, Floats] = {}
    if found is not None:
        others = np.delete(np.arange(len(placed.rows)), anchors)
        for name in ("trustworthiness", "continuity", "triplet_accuracy"):
            columns[name][placed.rows[others]] = getattr(found, name)[others]
        for name in ("trustworthiness", "continuity"):
            errors[name] = np.where(np.isfinite(columns[name]), 0.0, np.nan)
            errors[name][placed.rows[others]] = getattr(found, f"{name}_error")[others]

    def spread(values: Any) -> Floats:
        full = np.full(n, np.nan)
        full[placed.rows] = values
        return full

    near, distortion = placed.near, explanation.distortion
    for name, values in zip(("false_neighbors", "missing_neighbors"), near.counts(), strict=True):
        columns[name] = spread(values)
    for name, reach in zip(("reach_of_false", "reach_of_missing"), near.reaches(), strict=True):
        columns[name] = spread(reach)
    columns["radius_ratio"] = spread(near.radius_ratio())
    columns["stretch"] = distortion.log_area / math.log(2.0)
    columns["anisotropy"] = distortion.anisotropy
    if distortion.tear is not None:
        columns["torn"] = np.where(explanation.mask, distortion.tear, np.nan)
    columns["r2"] = explanation.r2
    columns["outlier"] = result._thin_rows(1).scores
    suspects = result._doubts(1)
    if suspects is not None:
        columns["label_doubt"] = suspects.scores
    columns["local_dimension"] = result.intrinsic_dimension().local
    ordered = {name: np.asarray(columns[name], dtype=np.float64) for name in POINT_SCORES if name in columns}
    known = {name: values for name, values in ordered.items() if not np.isnan(values).all()}
    return PointScores(known, errors, evaluation.n_neighbors, len(anchors))


@entrance("neighbors of a point")
def list_neighbors(result: Map, i: int, kind: str) -> PointNeighbors:
    """Return the false or the missing neighbours of a row; see `Map.false_neighbors`."""
    i, placed = find_row(i, result.n_samples), _place(result)
    at = int(np.searchsorted(placed.rows, i))
    near = placed.near
    here = at < len(placed.rows) and placed.rows[at] == i
    side, found = (1, near.in_map) if kind == "false" else (0, near.in_data)
    mask = getattr(near, kind)[at] if here else np.zeros(near.n_neighbors, dtype=np.bool_)
    at = at if here else 0
    rows = placed.rows[found[at][mask]]
    known = near.known[at]
    return PointNeighbors(
        index=i,
        kind=kind,
        rows=rows,
        names=names_of_rows(result.point_names, rows),
        data_distance=near.data_distances[at, mask, side],
        map_distance=near.map_distances[at, mask, side],
        data_radius=float(near.data_distances[at, known, 0].max(initial=0.0)) if here else float("nan"),
        map_radius=float(near.map_distances[at, :, 1].max(initial=0.0)) if here else float("nan"),
        n_neighbors=near.n_neighbors,
    )


def _described(name: str, values: Floats) -> dict[str, Any]:
    known = values[np.isfinite(values)]
    quantiles: list[float | None] = [None] * 3
    if len(known):
        rounding = _ROUNDING * float(np.abs(known).max())  # of a median that is 0 by definition
        quantiles = [0.0 if abs(q) <= rounding else q for q in np.quantile(known, [0.05, 0.5, 0.95]).tolist()]
    told = dict(zip(("low", "median", "high"), quantiles, strict=True))
    one = POINT_SCORES[name]
    return {"says": one.says, "stands_out": one.stands_out, "n": len(known), **told}


def told_quantile(value: float | None) -> str:
    """Return a quantile of a diagnostic as tables of people show it."""
    return "-" if value is None else f"{value:.3g}"
