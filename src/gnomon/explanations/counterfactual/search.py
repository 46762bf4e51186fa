"""What would have to change in a row for its point to lie elsewhere, checked by placing the changed row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from gnomon._validation import Integer, Options, check_parameters, message
from gnomon.explanations.counterfactual.answer import Counterfactual
from gnomon.explanations.counterfactual.attribution import Attribution, direction
from gnomon.explanations.counterfactual.minimal_subset import Order, fewest_features
from gnomon.explanations.counterfactual.paths import Placing, Way, best_way, find_routes, go_on, try_routes
from gnomon.explanations.counterfactual.region import Region, target_rows
from gnomon.explanations.local import local_deviation
from gnomon.explanations.rows import ColumnScales, column_scales, dense_rows_of, find_row
from gnomon.neighbors import NeighborGraph, check_graph

if TYPE_CHECKING:
    from gnomon.explanations.explanation import Explanation

__all__ = ["Counterfactual", "counterfactual"]

_WHO = "counterfactual"
_SORTS = {"contribution": "effect", "change": "change_sd"}
Array = npt.NDArray[np.float64]
Transform = Callable[[Any], Any]


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
    minimize: Literal["features", "distance"] = "features",
    sort_by: Literal["contribution", "change"] = "contribution",
) -> Counterfactual:
    """Say what would have to change in a row for its point to lie elsewhere in the map.

    From the row, shortest paths in the neighbour graph of the data lead to the nearest rows of the target that lie amid
    others of it. The row is moved along each path, so that it changes as the data change, and at steps on the way
    placed anew by `transform`, until it lands in the target. Ways along local means of the data go before ways through
    single rows. Of the change, features are then set back to their values in the row as long as it still lands in the
    target: first those of small contribution, or first those of small change in units of the data, whichever leaves
    fewer; these are the features needed. If no way arrives, the answer is the change that comes nearest, and `reached`
    is False. Features stay within the range of the data.

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
        A label for each row, for `target` and to say among which points the changed row lands.
    graph : NeighborGraph, default=None
        Neighbours in the data; None takes those of the explanation.
    n_ways : int >= 1, default=5
        Rows of the target to which ways are tried.
    novelty : callable, default=None
        Takes rows like `transform`, returns how unlike the data they are, such as ``Map.novelty``.
    minimize : {"features", "distance"}, default="features"
        "features" goes as far on the ways as leaves fewest features needed: on each way that arrives, four places
        between the first in the target and the end are tried. "distance" stops at the first place of the way with the
        smallest change, where nearly all of it is needed.
    sort_by : {"contribution", "change"}, default="contribution"
        Features needed come first; among them, and among the others, sort by the absolute contribution or by the
        absolute change in standard deviations.

    Returns
    -------
    Counterfactual

    Raises
    ------
    ValueError
        If the point has no place or lies in the target already, or no path leads there.
    """
    rules: dict[str, Any] = {
        "n_ways": Integer(1),
        "minimize": Options("features", "distance"),
        "sort_by": Options(*_SORTS),
    }
    given = {"n_ways": n_ways, "minimize": minimize, "sort_by": sort_by}
    checked = check_parameters(_WHO, rules, given)
    X, n = explanation._X, explanation.n_samples
    i = find_row(i, n, who=_WHO)
    if not np.isfinite(explanation.places[i]).all():
        raise ValueError(message(_WHO, f"row {i}", "a point with a place in the map"))
    wanted = target_rows(explanation.places, target, position, labels, who=_WHO)
    if wanted[i]:
        raise ValueError(message(_WHO, f"row {i}", "outside the target", fact="it belongs to it"))
    placing = Placing(X, i, Region.of(explanation.places, wanted, labels), transform)
    if graph is None:
        graph = explanation.graph
    else:
        check_graph(graph, n, who=_WHO)
    scales, own = column_scales(X), dense_rows_of(X, [i])[0]
    routes = find_routes(explanation, i, placing.region, graph, checked["n_ways"], who=_WHO)
    way, alike = best_way(ways := try_routes(routes, placing, scales), own)
    attribution = Attribution(explanation, own, scales)
    kept = np.zeros(len(own), dtype=np.bool_)
    if alike:
        tried = (
            go_on([way, *(one for one in alike if one is not way)], placing, scales)
            if minimize == "features"
            else [way]
        )
        way, kept = _needed(attribution, tried, own, placing, explanation.places[i])
    table = _table(attribution, way, alike, scales, own)
    keys = (-np.nan_to_num(np.abs(table[name])) for name in ("change_sd", _SORTS[sort_by]))
    order = np.lexsort((*keys, ~kept))
    return Counterfactual(
        features=[explanation.feature_names[f] for f in order],
        indices=order.astype(np.int64),
        needed=kept[order],
        **{name: column[order] for name, column in table.items()},
        **_facts(attribution, placing, way, own, kept, novelty),
        n_ways=sum(one.landing.inside for one in ways),
    )


def _needed(
    attribution: Attribution, ways: list[Way], own: Array, placing: Placing, start: Array
) -> tuple[Way, npt.NDArray[np.bool_]]:
    """Return the way on which fewest features are needed, and a mask of them."""
    orders = []
    for way in ways:
        contribution = direction(start, way.landing.place) @ attribution.displacements(way)
        orders += [Order.by(contribution, own, way.row), Order.by(way.row - own, own, way.row)]
    best, size = fewest_features(own, orders, lambda rows: [at.inside for at in placing.landings(rows)])
    kept = np.zeros(len(own), dtype=np.bool_)
    kept[orders[best].features[:size]] = True
    return ways[best // 2], kept


def _table(attribution: Attribution, way: Way, alike: list[Way], scales: ColumnScales, own: Array) -> dict[str, Any]:
    """Return the columns of the answer, one entry a feature."""
    explanation, i = attribution.explanation, int(way.route.rows[0])
    change = way.row - own
    changes = [scales.in_deviations(one.row - own) for one in alike]
    deviation = local_deviation(explanation, i)
    local = np.divide(change, deviation, out=np.full(len(change), np.nan), where=deviation > 0)
    local[change == 0] = 0.0
    toward = direction(explanation.places[i], way.landing.place)
    return {
        "effect": toward @ attribution.displacements(way),
        "error": attribution.errors(way, toward),
        "change": change,
        "change_sd": scales.in_deviations(change),
        "spread": np.std(changes, axis=0, ddof=1) if len(changes) > 1 else np.full(len(change), np.nan),
        "local_change": local,
        "values": own,
    }


def _facts(
    attribution: Attribution, placing: Placing, way: Way, own: Array, kept: npt.NDArray[np.bool_], novelty: Any
) -> dict[str, Any]:
    """Return what is said of the change as a whole."""
    start, landing = np.array(attribution.explanation.places[placing.i]), way.landing
    told, true = attribution.displacements(way).sum(axis=1), landing.place - start
    length, foretold = float(np.linalg.norm(true)), float(np.linalg.norm(told))
    tiny = np.finfo(float).tiny
    needed_row = np.where(kept, way.row, own)
    unlike: list[Any] = [None, None]
    if novelty is not None:
        rows = np.stack([way.row, needed_row])
        unlike = np.asarray(novelty(placing.like(rows)), dtype=np.float64).ravel().tolist()
    return {
        "index": placing.i,
        "fidelity": max(0.0, 1.0 - float(np.sum((told - true) ** 2)) / length**2) if length > 0 else float("nan"),
        "cosine": float(told @ true) / max(foretold * length, tiny),
        "ratio": foretold / max(length, tiny),
        "row": way.row,
        "needed_row": needed_row,
        "reached": landing.inside,
        "n_needed": int(kept.sum()) if landing.inside else None,
        "n_changed": int(np.count_nonzero(way.row != own)),
        "start": start,
        "landed": landing.place,
        "distance": 0.0 if landing.inside else landing.distance,
        "label": landing.label,
        "novelty": unlike[0],
        "needed_novelty": unlike[1] if landing.inside else None,
        "route": way.kind,
        "share": way.share,
    }
