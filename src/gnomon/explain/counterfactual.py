"""The smallest change along the data that brings a point elsewhere in the map, checked by placing the changed row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon._validation import Integer, check_parameters, message
from gnomon.explain.answer import Answer, Column
from gnomon.explain.landing import Landing, Region, target_rows
from gnomon.explain.local import local_deviation
from gnomon.explain.routes import KINDS, Route, path_graph, routes_to, shortest_path
from gnomon.explain.rows import ColumnScales, column_scales, find_row
from gnomon.neighbors import NeighborGraph, compute_neighbors

if TYPE_CHECKING:
    from gnomon.explain.explanation import Explanation

__all__ = ["Counterfactual", "counterfactual"]

_WHO = "counterfactual"
_STEPS = 24  # places tried along a route, then again between the last outside and the first inside
Array = npt.NDArray[np.float64]
Transform = Callable[[Any], Any]


@dataclass(frozen=True, kw_only=True)
class Counterfactual(Answer):
    """Features by how much they change on the shortest way from a point to a region of the map.

    Attributes
    ----------
    index : int
        Row number of the point.
    effect : ndarray of shape (n_features,), float64
        Change of each feature, in standard deviations of the feature over all rows.
    error : ndarray of shape (n_features,), float64
        Standard deviation of that change over the ways to other rows of the target that arrive; NaN if only one does.
    change : ndarray of shape (n_features,), float64
        The same change in units of the feature.
    local_change : ndarray of shape (n_features,), float64
        In local standard deviations around the point; NaN where the feature changes but does not vary there.
    values : ndarray of shape (n_features,), float64
        Values before the change.
    row : ndarray of shape (n_total_features,), float64
        The changed row, all features in the order of the data.
    reached : bool
        Whether the changed row, placed by the map itself, lands in the target: most of its nearest points there are of
        the target, and they are near.
    start, landed : ndarray of shape (n_components,)
        Place of the point, and of the changed row.
    distance : float
        From there to the nearest point of the target, in units of the map; 0 if reached.
    label : object or None
        The label of most points near the landing place.
    novelty : float or None
        How unlike the data the changed row is, in the terms of the given function.
    route : {"means", "fading", "rows"}
        Whether the way leads along local means of the data, the row keeping what sets it apart from its neighbours or
        losing it on the way, or through rows. The first of these that arrives is taken.
    n_ways : int
        Ways that arrive, of those tried.
    fidelity : float in [0, 1]
        How far the local linear maps along the way foretell where the changed row lands: one minus the squared length
        of the miss over that of the displacement, 0 if negative.
    cosine, ratio : float
        Cosine between foretold and true displacement; ratio of their lengths.
    """

    _question: ClassVar[str] = "counterfactual"
    _per_feature: ClassVar[tuple[str, ...]] = ("change", "local_change", "values")
    _facts: ClassVar[tuple[str, ...]] = (
        "index",
        "reached",
        "start",
        "landed",
        "distance",
        "label",
        "novelty",
        "route",
        "n_ways",
        "cosine",
        "ratio",
    )
    _columns: ClassVar[tuple[Column, ...]] = (
        Column("change (SD)", "effect", "error"),
        Column("from", "values"),
        Column("by", "change"),
    )

    index: int
    change: Array
    local_change: Array
    values: Array
    row: Array = field(repr=False)
    reached: bool
    start: Array
    landed: Array
    distance: float
    label: Any
    novelty: float | None
    route: str
    n_ways: int
    cosine: float
    ratio: float

    def headline(self) -> str:
        """Return where the changed row lands."""
        place = "(" + ", ".join(f"{x:.3g}" for x in self.landed) + ")"
        text = f"point {self.index}, changed, lands at {place}"
        text += ", in the target" if self.reached else f", not in the target but {self.distance:.3g} away from it"
        if self.label is not None:
            text += f", among points of label {self.label}"
        if self.novelty is not None:
            text += f", novelty {self.novelty:.2f}"
        return text + f"; the local linear maps foretell {self.fidelity:.0%} of the way"


@dataclass(frozen=True)
class _Way:
    """A route, how far to go on it, and where that leads."""

    route: Route
    kind: str
    share: float
    landing: Landing
    row: Array


def counterfactual(
    explanation: Explanation,
    i: int,
    *,
    transform: Transform,
    target: Any = None,
    position: Any = None,
    labels: Any = None,
    graph: NeighborGraph | None = None,
    n_ways: int = 5,
    novelty: Callable[[Any], Any] | None = None,
) -> Counterfactual:
    """Say what would have to change in a row for its point to lie elsewhere in the map.

    From the row, shortest paths in the neighbour graph of the data lead to the nearest rows of the target that lie amid
    others of it. The row is moved along each path, so that it changes as the data change, and at steps on the way
    placed anew by `transform`; the smallest change that lands in the target is refined and reported, with where it
    truly lands. Ways along local means of the data go before ways through single rows. If none does, the answer is the
    change that comes nearest, and `reached` is False. Features stay within the range of the data.

    Parameters
    ----------
    explanation : Explanation
        Of the map.
    i : int
        Row number of the point.
    transform : callable
        Takes rows (n, n_features), sparse if the data are, returns their places (n, n_components); such as the
        ``transform`` of the fitted method.
    target : label, mask or row numbers, default=None
        A single value is a label, and `labels` must be given; anything longer says which rows.
    position : array-like of shape (n_components,), default=None
        Instead of `target`: a place in the map; its 15 nearest points are the target.
    labels : array-like of shape (n_samples,), default=None
    graph : NeighborGraph, default=None
        Neighbours in the data; computed in Euclidean distance by default.
    n_ways : int >= 1, default=5
        Rows of the target to which ways are tried; their spread is the error.
    novelty : callable, default=None
        Takes rows like `transform`, returns how unlike the data they are, such as ``Map.novelty``.

    Returns
    -------
    Counterfactual
        Sorted by the absolute change in standard deviations.

    Raises
    ------
    ValueError
        If the point has no place or lies in the target already, or no path leads there.
    """
    n_ways = check_parameters(_WHO, {"n_ways": Integer(1)}, {"n_ways": n_ways})["n_ways"]
    X, n = explanation._X, explanation.n_samples
    i = find_row(i, n, who=_WHO)
    if not np.isfinite(explanation.places[i]).all():
        raise ValueError(message(_WHO, f"row {i}", "a point with a place in the map"))
    wanted = target_rows(explanation.places, target, position, labels, who=_WHO)
    if wanted[i]:
        raise ValueError(message(_WHO, f"row {i}", "outside the target", fact="it belongs to it"))
    region = Region.of(explanation.places, wanted, labels)
    if graph is None:
        graph = compute_neighbors(_floats(X), min(explanation.n_neighbors, n - 1), n_threads=explanation._n_threads)
    scales = column_scales(X)
    routes = _find_routes(explanation, i, region, graph, n_ways)
    ways = _try_routes(X, routes, region, transform, scales, i)
    return _answer(explanation, i, ways, len(routes), scales, novelty)


def _floats(X: Any) -> Any:
    values = X if X.dtype in (np.float32, np.float64) else X.astype(np.float32)
    return values if hasattr(values, "tocsr") else np.ascontiguousarray(values)


def _find_routes(
    explanation: Explanation, i: int, region: Region, graph: NeighborGraph, n_ways: int
) -> list[tuple[Route, str]]:
    paths = path_graph(explanation._X, graph, explanation._n_threads)
    lengths = paths.lengths_from(np.array([i], dtype=np.int32), n_threads=explanation._n_threads)[0]
    candidates = region.core()
    candidates = candidates[np.isfinite(lengths[candidates])]
    if not len(candidates):
        raise ValueError(
            message(
                _WHO,
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
        raise ValueError(message(_WHO, "target", "rows other than duplicates of the point"))
    return routes


def _try_routes(
    X: Any, routes: list[tuple[Route, str]], region: Region, transform: Transform, scales: ColumnScales, i: int
) -> list[_Way]:
    """Go along each route until it lands in the region, at first in large steps, then between two of them."""
    shares = [np.linspace(0.0, 1.0, _STEPS + 1)[1:] for _ in routes]
    best: list[_Way | None] = [None] * len(routes)
    for _ in range(2):
        rows = [
            np.clip(route.at(s), scales.low, scales.high)
            for (route, _), some in zip(routes, shares, strict=True)
            for s in some
        ]
        landings = region.landings(np.asarray(transform(_like(X, np.array(rows))), dtype=np.float64), without=i)
        at = 0
        for r, ((route, kind), some) in enumerate(zip(routes, shares, strict=True)):
            tried = [_Way(route, kind, float(s), landings[at + k], rows[at + k]) for k, s in enumerate(some)]
            at += len(some)
            inside = [way for way in tried if way.landing.inside]
            found = inside[0] if inside else min(tried, key=lambda way: way.landing.distance)
            known = best[r]
            if known is None or (found.landing.inside and (not known.landing.inside or found.share < known.share)):
                best[r] = known = found
            step = 1.0 / _STEPS
            shares[r] = known.share - step + np.linspace(0.0, step, _STEPS + 1)[1:-1]
    return [way for way in best if way is not None]


def _like(X: Any, rows: Array) -> Any:
    """Return rows in the form of the data."""
    given: Any = rows.astype(X.dtype) if X.dtype in (np.float32, np.float64) else rows
    if hasattr(X, "tocsr"):
        given = type(X)(given)
    return given


def _answer(
    explanation: Explanation,
    i: int,
    ways: list[_Way],
    n_tried: int,
    scales: ColumnScales,
    novelty: Callable[[Any], Any] | None,
) -> Counterfactual:
    own = explanation._X[[i]]
    own = np.asarray(own.toarray() if hasattr(own, "toarray") else own, dtype=np.float64).ravel()
    arrived = [way for way in ways if way.landing.inside]
    if arrived:
        # Single rows on a way bring their own noise into the answer; local means do not.
        first = min(KINDS.index(way.kind) for way in arrived)
        plain = [way for way in arrived if way.kind == KINDS[first]]
        best = min(plain, key=lambda way: float(np.linalg.norm(way.row - own)))
    else:
        best = min(ways, key=lambda way: way.landing.distance)
    change = best.row - own
    alike = [way.row - own for way in arrived if way.kind == best.kind]
    spread = np.std(alike, axis=0, ddof=1) if len(alike) > 1 else np.full(len(change), np.nan)
    deviation = local_deviation(explanation, i)
    local = np.divide(change, deviation, out=np.full(len(change), np.nan), where=deviation > 0)
    local[change == 0] = 0.0
    start = np.array(explanation.places[i])
    told, true = _foretold(explanation, best), best.landing.place - start
    length = float(np.linalg.norm(true))
    effect = scales.in_deviations(change)
    order = np.argsort(-np.abs(effect), kind="stable")
    return Counterfactual(
        features=[explanation.feature_names[f] for f in order],
        indices=order.astype(np.int64),
        effect=effect[order],
        error=np.where(scales.deviation > 0, scales.in_deviations(spread), 0.0)[order],
        fidelity=max(0.0, 1.0 - float(np.sum((told - true) ** 2)) / length**2) if length > 0 else float("nan"),
        index=i,
        change=change[order],
        local_change=local[order],
        values=own[order],
        row=best.row,
        reached=best.landing.inside,
        start=start,
        landed=best.landing.place,
        distance=0.0 if best.landing.inside else best.landing.distance,
        label=best.landing.label,
        novelty=None
        if novelty is None
        else float(np.asarray(novelty(_like(explanation._X, best.row[None, :]))).ravel()[0]),
        route=best.kind,
        n_ways=len(arrived),
        cosine=float(told @ true) / max(float(np.linalg.norm(told)) * length, np.finfo(float).tiny),
        ratio=float(np.linalg.norm(told)) / max(length, np.finfo(float).tiny),
    )


def _foretold(explanation: Explanation, way: _Way) -> Array:
    """Add up what the local linear maps at both ends of each step say of it."""
    route, told = way.route, np.zeros(explanation.n_components)
    gone = way.share * route.arc[-1]
    axes = [explanation.axes(int(row)) if explanation.mask[row] else None for row in route.rows]
    for step, (start, end) in enumerate(zip(route.arc[:-1], route.arc[1:], strict=True)):
        if start >= gone or end == start:
            continue
        part = min(1.0, (gone - start) / (end - start))
        moved = part * (route.stations[step + 1] - route.stations[step])
        ends = [one for one in axes[step : step + 2] if one is not None]
        if ends:
            told += sum(one @ moved for one in ends) / len(ends)
    return told
