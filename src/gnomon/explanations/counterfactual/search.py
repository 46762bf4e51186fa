"""What would have to change in a row for its point to lie elsewhere: the search, and its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from gnomon._arithmetic import inner, length
from gnomon._entrance import entrance
from gnomon._false_discoveries import are_discoveries, normal_p_values
from gnomon._validation import Boolean, Integer, Options, check_parameters, message
from gnomon.data.column_scales import ColumnScales, column_scales
from gnomon.data.tensors import is_module
from gnomon.explanations.answer import Answer, Column
from gnomon.explanations.counterfactual.attribution import (
    Attribution,
    Order,
    direction,
    fewest_features,
    irreducible,
)
from gnomon.explanations.counterfactual.metric import RowMetric
from gnomon.explanations.counterfactual.paths import (
    Candidate,
    Placing,
    best_candidate,
    find_paths,
    further_candidates,
    try_paths,
)
from gnomon.explanations.counterfactual.plausibility import Plausibility
from gnomon.explanations.counterfactual.region import Region, target_rows
from gnomon.explanations.local import along, local_deviation
from gnomon.explanations.rows import dense_rows_of, find_row
from gnomon.explanations.why import LOW_R2
from gnomon.linalg import dense_rows
from gnomon.linalg.table import evenly_spaced
from gnomon.neighbors import NeighborGraph, check_graph

if TYPE_CHECKING:
    from gnomon.explanations.explanation import Explanation

__all__ = ["Counterfactual", "counterfactual"]

Array = npt.NDArray[np.float64]
_SORTS = {"contribution": "effect", "change": "change_sd"}
_COMPARED = 1000  # rows of the target, and of the others, that say what tells them apart
_FALSE = 0.01  # share of chance among the features that are found to, on the mean
Transform = Callable[[Any], Any]


@dataclass(frozen=True, kw_only=True)
class Counterfactual(Answer):
    """Features by how much they carry a point to a region of the map, and which of them are needed to get there.

    Attributes
    ----------
    index : int
        Row number of the point.
    effect : ndarray of shape (n_features,), float64
        Contribution: displacement by the change of the feature, along the line from the start to the landing place, in
        units of the map. The local linear maps are added up along the path; the contributions sum to what they
        predict of the whole change. NaN if the changed row has no place.
    error : ndarray of shape (n_features,), float64
        Standard error of the contribution, at most: the errors of the local maps on the path, taken as one.
    change : ndarray of shape (n_features,), float64
        Change in units of the feature.
    change_sd : ndarray of shape (n_features,), float64
        The same change in standard deviations of the feature over all rows.
    spread : ndarray of shape (n_features,), float64
        Standard deviation of `change_sd` over the first places in the target on the paths to other rows of it; NaN
        if only one arrives.
    local_change : ndarray of shape (n_features,), float64
        In local standard deviations around the point; NaN where the feature changes but does not vary there.
    needed : ndarray of shape (n_features,), bool
        Whether the feature is of the smallest set found whose change alone brings the row into the target, by the map
        itself, and leaves it plausible. None of the set can be left out: without it the row does not arrive. None is
        needed if the target is not reached, or by no plausible row.
    values : ndarray of shape (n_features,), float64
        Values before the change.
    row, needed_row : ndarray of shape (n_total_features,), float64
        The changed row, and the row with only the needed features changed, all features in the order of the data.
    reached : bool
        Whether the changed row, placed by the map itself, lands in the target: most of its nearest points there are of
        the target, and they are near.
    n_needed : int or None
        Number of features needed; None if the target is not reached, or by no plausible row.
    n_changed : int
        Number of features that differ in the changed row.
    start, landed : ndarray of shape (n_components,)
        Place of the point, and of the changed row.
    distance : float
        From there to the nearest point of the target, in units of the map; 0 if reached.
    label : object or None
        The label of most points near the landing place.
    plausible : bool or None
        Whether the changed row is like the data and like those of the target; None if that was not asked or the target
        is not reached. If it is False no plausible row was found on the paths, and no feature is said to be needed.
    target_share, needed_target_share : float or None
        Share of the target among the nearest rows of the data of the two changed rows, in the map's own metric; None
        if `plausible` is.
    novelty, needed_novelty : float or None
        How unlike the data the two changed rows are, in the terms of the given function.
    route : {"means", "fading", "rows"}
        Whether the path leads along local means of the data, the row keeping what sets it apart from its neighbours or
        losing it on the path, or through rows. The first of these that arrives is taken.
    share : float in (0, 1]
        Part of the path that the change goes.
    n_paths : int
        Paths that arrive, of those tried, at a plausible row if that was asked.
    fidelity : float in [0, 1]
        How far the local linear maps along the path predict where the changed row lands: one minus the squared length
        of the miss over that of the displacement, 0 if negative. Where it is low the path crosses a tear of the map,
        and contributions mean little; what is needed was tried and holds.
    cosine, ratio : float
        Cosine between predicted and true displacement; ratio of their lengths.
    """

    _question: ClassVar[str] = "counterfactual"
    _per_feature: ClassVar[tuple[str, ...]] = (
        "contribution",
        "change",
        "change_sd",
        "spread",
        "local_change",
        "values",
        "needed",
    )
    _facts: ClassVar[tuple[str, ...]] = (
        "index",
        "reached",
        "n_needed",
        "n_changed",
        "start",
        "landed",
        "distance",
        "label",
        "plausible",
        "target_share",
        "needed_target_share",
        "novelty",
        "needed_novelty",
        "route",
        "share",
        "n_paths",
        "cosine",
        "ratio",
    )
    _columns: ClassVar[tuple[Column, ...]] = (
        Column("needed", "needed"),
        Column("contribution", "effect", "error"),
        Column("from", "values", of_features=True),
        Column("by", "change"),
        Column("by (SD)", "change_sd"),
    )

    index: int
    change: Array
    change_sd: Array
    spread: Array
    local_change: Array
    needed: npt.NDArray[np.bool_]
    values: Array
    row: Array = field(repr=False)
    needed_row: Array = field(repr=False)
    reached: bool
    n_needed: int | None
    n_changed: int
    start: Array
    landed: Array
    distance: float
    label: Any
    plausible: bool | None
    target_share: float | None
    needed_target_share: float | None
    novelty: float | None
    needed_novelty: float | None
    route: str
    share: float
    n_paths: int
    cosine: float
    ratio: float

    @property
    def contribution(self) -> Array:
        """Another name of the effect."""
        return self.effect

    def headline(self) -> str:
        """Return where the changed row lands, what it takes, and how far contributions may be believed."""
        place = "(" + ", ".join(f"{x:.3g}" for x in self.landed) + ")"
        text = f"point {self.index}, changed, lands at {place}"
        text += ", in the target" if self.reached else f", not in the target but {self.distance:.3g} away from it"
        if self.label is not None:
            text += f", among points of label {self.label}"
        if self.novelty is not None:
            text += f", novelty {self.novelty:.2f}"
        if self.plausible is False:
            text += "\nno row on the paths to the target is plausible: none like the data and like those of the target"
        if self.n_needed is not None:
            text += f"\nof {self.n_changed} features that change {self.n_needed} are enough"
            text += "" if self.needed_novelty is None else f", novelty {self.needed_novelty:.2f}"
            if self.needed_target_share is not None:
                text += f", {self.needed_target_share:.0%} of its nearest rows of the target"
        text += f"; the local linear maps predict {self.fidelity:.0%} of the displacement"
        if not self.fidelity >= LOW_R2:
            text += ": contributions mean little" + ("" if self.n_needed is None else ", what is needed holds")
        return text


@entrance("counterfactual")
def counterfactual(
    explanation: Explanation,
    i: int,
    *,
    transform: Transform,
    target: Any = None,
    position: Any = None,
    labels: Any = None,
    graph: NeighborGraph | None = None,
    n_paths: int = 5,
    novelty: Callable[[Any], Any] | None = None,
    minimize: Literal["features", "distance"] = "features",
    sort_by: Literal["contribution", "change"] = "contribution",
    plausible: bool = True,
    categories: Sequence[Any] = (),
) -> Counterfactual:
    """Say what would have to change in a row for its point to lie elsewhere in the map.

    From the row, shortest paths in the neighbour graph of the data lead to the nearest rows of the target that lie
    among others of it. The row is moved along each path, so that it changes as the data change, and at steps on it
    placed anew by `transform`, until it lands in the target. Paths along local means of the data go before paths
    through single rows. Of the change, features are then set back to their values in the row as long as it still lands
    in the target and is plausible: first those of small contribution, or first those of small change in the units in
    which neighbours are measured, whichever leaves fewer. Of these each is set back in turn, first those that tell
    the target least from other rows, until none can be: what is left are the features needed. A change of a column of
    whole numbers is a whole number where the row then still arrives. If no path arrives, the answer is the change that
    comes nearest, and `reached` is False; if none arrives at a plausible row, `plausible` of the answer is False.
    Features stay within the range of the data. Paths, changes and nearness are measured as the neighbours of the map
    are: in the metric of the graph, and standardised if the explanation is.

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
        A single value is a label, also a number written as text, and `labels` must be given; anything longer says
        which rows.
    position : array-like of shape (n_components,), default=None
        Instead of `target`: a place in the map; its 15 nearest points are the target.
    labels : array-like of shape (n_samples,), default=None
        A label for each row, for `target` and to say among which points the changed row lands.
    graph : NeighborGraph, default=None
        Neighbours in the data; None takes those of the explanation.
    n_paths : int >= 1, default=5
        Rows of the target to which paths are tried.
    novelty : callable, default=None
        Takes rows like `transform`, returns how unlike the data they are, such as ``Map.novelty``.
    minimize : {"features", "distance"}, default="features"
        "features" goes as far on the paths as leaves fewest features needed: on each path that arrives, four places
        between the first in the target and the end are tried. "distance" stops at the first place of the path with the
        smallest change, where nearly all of it is needed.
    sort_by : {"contribution", "change"}, default="contribution"
        Features needed come first; among them, and among the others, sort by the absolute contribution or by the
        absolute change in standard deviations.
    plausible : bool, default=True
        Whether changed rows must be like the data and like those of the target, all changed or only what is needed:
        the target's share among the nearest rows of the data, in the metric of `graph`, and the distance to the target
        over that to all others [1]_ must be at least as good as at nine tenths of the target's own rows, and the
        `novelty`, if given, at most 0.95. Without it a few features that move the map are enough, and rows arrive that
        nobody would take for one of the target. With a precomputed metric, or a target of one row, only novelty is
        asked.
    categories : sequence of sequences of int, default=()
        Column numbers of features that indicate, by 0 and 1, the categories of one and the same column: a changed row
        has one whole category, and they change together. ``Map.counterfactual`` passes those of its table.

    Returns
    -------
    Counterfactual

    Raises
    ------
    ValueError
        If the point has no place or lies in the target already, or no path leads there.

    References
    ----------
    .. [1] Jiang, Kim, Guan & Gupta, "To trust or not to trust a classifier", NeurIPS 2018.
    """
    rules: dict[str, Any] = {
        "n_paths": Integer(1),
        "minimize": Options("features", "distance"),
        "sort_by": Options(*_SORTS),
        "plausible": Boolean(),
    }
    given = {"n_paths": n_paths, "minimize": minimize, "sort_by": sort_by, "plausible": plausible}
    checked = check_parameters(rules, given)
    if is_module(transform):
        rule, fact = "a function of an array of rows", f"found a torch module, {type(transform).__name__}"
        remedy = "Wrap it: lambda X: module(torch.as_tensor(X, dtype=torch.float32)).detach().numpy()."
        raise TypeError(message("transform", rule, fact=fact, remedy=remedy))
    X, n = explanation._X, explanation.n_samples
    i = find_row(i, n)
    if not np.isfinite(explanation.places[i]).all():
        raise ValueError(message(f"row {i}", "a point with a place in the map"))
    wanted = target_rows(explanation.places, target, position, labels)
    if wanted[i]:
        raise ValueError(message(f"row {i}", "outside the target", fact="it belongs to it"))
    if graph is None:
        graph = explanation.graph
    else:
        check_graph(graph, n)
    scales, own = column_scales(X), dense_rows_of(X, [i])[0]
    metric = RowMetric.of(explanation, graph)
    asked = Plausibility.of(explanation._fitted, i, wanted, metric, novelty) if checked["plausible"] else None
    indicated = tuple(np.asarray(columns, dtype=np.int64) for columns in categories)
    placing = Placing(X, i, Region.of(explanation.places, wanted, labels), transform, metric, asked, indicated)
    paths = find_paths(explanation, i, placing.region, graph, checked["n_paths"], metric, asked)
    best, alike = best_candidate(candidates := try_paths(paths, placing, scales), own, metric)
    attribution = Attribution(explanation, own, scales)
    kept = np.zeros(len(own), dtype=np.bool_)
    if alike and best.membership.arrived:
        tried = (
            further_candidates([best, *(one for one in alike if one is not best)], placing, scales)
            if minimize == "features"
            else [best]
        )
        best, kept = _minimal_subset(attribution, tried, own, placing, explanation.places[i])
    table = _table(attribution, best, alike, scales, own)
    keys = (-np.nan_to_num(np.abs(table[name])) for name in ("change_sd", _SORTS[sort_by]))
    order = np.lexsort((*keys, ~kept))
    return Counterfactual(
        features=[explanation.feature_names[f] for f in order],
        indices=order.astype(np.int64),
        needed=kept[order],
        **{name: column[order] for name, column in table.items()},
        **_facts(attribution, placing, best, own, kept, novelty),
        n_paths=sum(one.membership.arrived for one in candidates),
    )


def _minimal_subset(
    attribution: Attribution, candidates: list[Candidate], own: Array, placing: Placing, start: Array
) -> tuple[Candidate, npt.NDArray[np.bool_]]:
    """Return the candidate of which fewest features are needed, and a mask of them."""
    orders, units = [], _units(len(own), placing.categories)
    for candidate in candidates:
        contribution = along(direction(start, candidate.membership.place), attribution.displacements(candidate))
        change = placing.metric.changes(candidate.row - own)
        orders += [Order.by(weight, own, candidate.row, units) for weight in (contribution, change)]

    best, size = fewest_features(own, orders, _arrives(placing))
    candidate, features = candidates[best // 2], orders[best].chosen(size)
    return _without_what_can_go(
        candidate, own, [features[units[features] == u] for u in np.unique(units[features])], placing
    )


def _arrives(placing: Placing) -> Callable[[Array], list[bool]]:
    return lambda rows: [at.arrived for at in placing.memberships(rows)]


def _without_what_can_go(
    candidate: Candidate, own: Array, units: list[npt.NDArray[np.int64]], placing: Placing
) -> tuple[Candidate, npt.NDArray[np.bool_]]:
    """Set back what is not needed of the changes that arrive, and return the changed row and a mask of what is left.

    Features that do not tell the target from other rows beyond chance go first. For these it is enough that the row
    stays in the target, its nearest rows are of it and its novelty is low: in how near the row lies to the middle of
    the target their changes count too, but they make it no more one of the target.
    """
    apart, related = _told_apart(placing, np.concatenate(units))
    starts = np.append(0, np.cumsum([len(unit) for unit in units]))
    parts = [slice(a, b) for a, b in pairwise(starts)]
    order = np.argsort([apart[part].max() for part in parts], kind="stable")
    units, chance = [units[u] for u in order], [not related[parts[u]].any() for u in order]
    firm = [unit for unit, other in zip(units, chance, strict=True) if not other]
    loose = placing
    if placing.plausibility is not None and firm:
        loose = replace(placing, plausibility=placing.plausibility.without_ratio())
        base = own.copy()
        base[np.concatenate(firm)] = candidate.row[np.concatenate(firm)]
        others = [unit for unit, other in zip(units, chance, strict=True) if other]
        units = irreducible(base, candidate.row, others, _arrives(loose), fewest=0) + firm
    candidate = _in_whole_numbers(candidate, own, np.sort(np.concatenate(units)), placing, loose)
    changed = own.copy()
    changed[np.concatenate(units)] = candidate.row[np.concatenate(units)]
    if placing.plausibility is not None:
        bounds = placing.plausibility.as_good_as(placing.like(changed[None]))
        placing = replace(placing, plausibility=bounds)
    kept = np.zeros(len(own), dtype=np.bool_)
    kept[np.concatenate(irreducible(own, candidate.row, units, _arrives(placing)))] = True
    return candidate, kept


def _units(n_features: int, categories: tuple[npt.NDArray[np.int64], ...]) -> npt.NDArray[np.int64]:
    """Return a number for each feature, the same for features that change together."""
    units = np.arange(n_features)
    for columns in categories:
        units[columns] = columns[0]
    return units


def _told_apart(placing: Placing, features: npt.NDArray[np.int64]) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Return how far each feature tells the target from other rows, and whether it does beyond chance.

    By the test of Mann and Whitney of the values and of their distances from the median, among at most a thousand rows
    of the target and of the others, at a rate of false discoveries of 1 %.
    """
    from scipy.stats import rankdata

    sides = [np.flatnonzero(side) for side in (placing.region.wanted, ~placing.region.wanted)]
    rows = [side[evenly_spaced(len(side), _COMPARED)] for side in sides]
    n, m = map(len, rows)
    values = dense_rows_of(placing.X, np.concatenate(rows), features)
    away = []
    for measured in (values, np.abs(values - np.median(values, axis=0))):
        auc = (rankdata(measured, axis=0)[:n].sum(axis=0) - n * (n + 1) / 2) / (n * m)
        away.append(np.abs(auc - 0.5))
    deviations = np.stack(away) / np.sqrt((n + m + 1) / (12.0 * n * m))
    found = are_discoveries(normal_p_values(deviations), _FALSE)
    return np.maximum(*away), np.logical_or(*found)


def _in_whole_numbers(
    candidate: Candidate, own: Array, features: npt.NDArray[np.int64], placing: Placing, loose: Placing
) -> Candidate:
    """Return the changed row with whole numbers in the needed columns that hold no others, where it still arrives.

    All are taken to the nearest, or all away from the row as it is, or as many as still arrive, with all features
    changed and, as `loose` has it, with those needed alone.
    """
    values = dense_rows(placing.X[:, features])
    broken = features[(values == np.round(values)).all(axis=0) & (candidate.row != np.round(candidate.row))[features]]
    if not len(broken):
        return candidate
    given, before = candidate.row[broken], own[broken]
    away = np.where(given > before, np.ceil(given), np.floor(given))
    nearest = np.where(np.round(given) == before, away, np.round(given))
    tried = [nearest, away, *(np.append(nearest[:k], given[k:]) for k in range(len(broken) - 1, 0, -1))]
    rows = np.tile(candidate.row, (len(tried), 1))
    rows[:, broken] = tried
    alone = np.tile(own, (len(tried), 1))
    alone[:, features] = rows[:, features]
    for row, whole, needed in zip(rows, placing.memberships(rows), loose.memberships(alone), strict=True):
        if whole.arrived and needed.arrived:
            return replace(candidate, row=row, membership=whole)
    return candidate


def _table(
    attribution: Attribution, candidate: Candidate, alike: list[Candidate], scales: ColumnScales, own: Array
) -> dict[str, Any]:
    """Return the columns of the answer, one entry a feature."""
    explanation, i = attribution.explanation, int(candidate.path.rows[0])
    change = candidate.row - own
    changes = [scales.in_deviations(one.row - own) for one in alike]
    deviation = local_deviation(explanation, i)
    local = np.divide(change, deviation, out=np.full(len(change), np.nan), where=deviation > 0)
    local[change == 0] = 0.0
    toward = direction(explanation.places[i], candidate.membership.place)
    return {
        "effect": along(toward, attribution.displacements(candidate)),
        "error": attribution.errors(candidate, toward),
        "change": change,
        "change_sd": scales.in_deviations(change),
        "spread": np.std(changes, axis=0, ddof=1) if len(changes) > 1 else np.full(len(change), np.nan),
        "local_change": local,
        "values": own,
    }


def _facts(
    attribution: Attribution,
    placing: Placing,
    candidate: Candidate,
    own: Array,
    kept: npt.NDArray[np.bool_],
    novelty: Any,
) -> dict[str, Any]:
    """Return what is said of the change as a whole."""
    start, membership = np.array(attribution.explanation.places[placing.i]), candidate.membership
    told, true = attribution.displacements(candidate).sum(axis=1), membership.place - start
    moved, predicted = length(true), length(told)
    tiny = np.finfo(float).tiny
    needed_row = np.where(kept, candidate.row, own)
    rows = placing.like(np.stack([candidate.row, needed_row]))
    unlike: list[Any] = [None, None]
    if novelty is not None:
        unlike = np.asarray(novelty(rows), dtype=np.float64).ravel().tolist()
    asked = placing.plausibility if membership.inside else None
    shares: list[Any] = [None, None] if asked is None or asked.neighbors is None else asked.shares(rows).tolist()
    return {
        "index": placing.i,
        "fidelity": max(0.0, 1.0 - float(np.sum((told - true) ** 2)) / moved**2) if moved > 0 else float("nan"),
        "cosine": inner(told, true) / max(predicted * moved, tiny),
        "ratio": predicted / max(moved, tiny),
        "row": candidate.row,
        "needed_row": needed_row,
        "reached": membership.inside,
        "n_needed": int(kept.sum()) if membership.arrived else None,
        "n_changed": int(np.count_nonzero(candidate.row != own)),
        "start": start,
        "landed": membership.place,
        "distance": 0.0 if membership.inside else membership.distance,
        "label": membership.label,
        "plausible": None if asked is None else membership.plausible,
        "target_share": shares[0],
        "needed_target_share": shares[1] if membership.arrived else None,
        "novelty": unlike[0],
        "needed_novelty": unlike[1] if membership.arrived else None,
        "route": candidate.kind,
        "share": candidate.share,
    }
