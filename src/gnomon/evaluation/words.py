"""From a measure to a word and a plain sentence: the one rule that the page, the report and figures share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

__all__ = [
    "NOTHING",
    "READINGS",
    "Reading",
    "Statement",
    "grade",
    "grade_groups",
    "grade_stretch",
    "grade_torn",
    "in_words",
    "percent",
    "title_of",
    "unlike_in_words",
    "verdict",
]


@dataclass(frozen=True)
class Reading:
    """How a measure of a map is read.

    Attributes
    ----------
    title : str
        What people see.
    says : callable
        From the value and the number of neighbours to a sentence.
    bounds : (float, float) or None
        Shares of the way from chance to best from which on the measure is "good", and "fair"; None if it is not graded.
    chance : float
        Where it is not known from the data.
    """

    title: str
    says: Callable[[float, int], str]
    bounds: tuple[float, float] | None = None
    chance: float = 0.0


def percent(share: float) -> str:
    """Return a share in per cent: whole numbers from 10 on, two digits below."""
    value = 100.0 * share
    return f"{value:.0f}" if value >= 9.95 else f"{value:.2g}"


@dataclass(frozen=True)
class Statement:
    """A sentence of a verdict, and the grade that it stands for.

    Attributes
    ----------
    aspect : str
        "near", "nearest", "far" or "groups"; "all" of a map that knows nothing.
    grade : {"good", "fair", "poor"}
        The worst of its measures.
    text : str
    """

    aspect: str
    grade: str
    text: str


def _share(value: float) -> str:
    return f"{100 * max(0.0, value):.0f} %"


def _sign(value: float) -> str:
    return "too few dimensions" if value < 0 else "more dimensions than it needs"


_RANKS, _KEPT, _ORDER, _CORRELATION, _LABELS = (0.85, 0.6), (0.4, 0.15), (0.6, 0.3), (0.8, 0.5), (0.85, 0.6)
_FIT, _NEAREST = (0.7, 0.4), (2 / 3, 0.15)

READINGS: dict[str, Reading] = {
    "auc_rnx": Reading(
        "neighbourhoods of every size",
        lambda v, k: f"Over neighbourhoods of every size, {_share(v)} of what can be kept beyond chance is kept.",
        _KEPT,
    ),
    "topographic_product": Reading(
        "topographic product", lambda v, k: f"The order of near distances says that the map has {_sign(v)}."
    ),
    "steadiness": Reading(
        "steadiness", lambda v, k: f"Clusters seen on the map hold together in the data to {_share(v)}."
    ),
    "cohesiveness": Reading(
        "cohesiveness", lambda v, k: f"Clusters of the data hold together on the map to {_share(v)}."
    ),
    "topology_h0": Reading("pieces", lambda v, k: f"The scales at which pieces join agree to {_share(v)}."),
    "topology_h1": Reading("loops", lambda v, k: f"Loops agree to {_share(v)}."),
    "intrinsic_dimension": Reading("dimension", lambda v, k: f"The data are about {v:.1f}-dimensional."),
    "dimension_ratio": Reading("dimension ratio", lambda v, k: f"The map has {v:.2f} of the dimensions of the data."),
    "q_global": Reading("large neighbourhoods", lambda v, k: f"{_share(v)} of large neighbourhoods are kept."),
    "shepard": Reading(
        "large distances",
        lambda v, k: f"Distances on the map and in the data have a rank correlation of {v:.2f}.",
        _CORRELATION,
    ),
    "pearson": Reading(
        "proportional distances", lambda v, k: f"The correlation of the distances is {v:.2f}.", _CORRELATION
    ),
    "stress": Reading("stress", lambda v, k: f"At the best scale distances are wrong by {_share(v)} of their size."),
    "raw_stress": Reading("raw stress", lambda v, k: "Speaks only of maps in the units of the data."),
    "non_metric_stress": Reading(
        "non-metric stress", lambda v, k: f"After any increasing change distances are wrong by {_share(v)}."
    ),
    "random_triplets": Reading(
        "order of distances",
        lambda v, k: f"Asked which of two rows is nearer to a third, the map is right {_share(v)} of the time.",
        _ORDER,
        0.5,
    ),
    "centroid_triplets": Reading(
        "order of classes",
        lambda v, k: f"Asked which of two classes is nearer to a third, the map is right {_share(v)} of the time.",
        _ORDER,
        0.5,
    ),
    "trustworthiness": Reading(
        "trustworthiness",
        lambda v, k: "Points shown close together are close in the data; 1 means no false neighbours.",
        _RANKS,
        0.5,
    ),
    "continuity": Reading(
        "continuity",
        lambda v, k: "Points close in the data stay together; 1 means that nothing was torn apart.",
        _RANKS,
        0.5,
    ),
    "neighborhood_preservation": Reading(
        "neighbours kept",
        lambda v, k: f"Of the {k} nearest neighbours of a point in the data, {_share(v)} are also nearest on the map.",
        _NEAREST,
    ),
    "q_local": Reading("small neighbourhoods", lambda v, k: f"{_share(v)} of small neighbourhoods are kept.", _NEAREST),
    "mrre_false": Reading(
        "ranks on the map", lambda v, k: "How well neighbours on the map have their rank in the data.", _RANKS, 0.5
    ),
    "mrre_missing": Reading(
        "ranks in the data", lambda v, k: "How well neighbours in the data have their rank on the map.", _RANKS, 0.5
    ),
    "local_radius_correlation": Reading(
        "densities",
        lambda v, k: f"How dense points lie on the map goes with how dense they are in the data by {v:.2f}.",
        _CORRELATION,
    ),
    "knn_accuracy": Reading(
        "labels from neighbours",
        lambda v, k: f"The map neighbours of a point give its label {_share(v)} of the time.",
        _LABELS,
    ),
    "knn_r2": Reading(
        "labels from neighbours (R²)",
        lambda v, k: f"The mean of a point's map neighbours tells {_share(v)} of its label's variance.",
        _FIT,
    ),
    "neighborhood_hit": Reading(
        "neighbours of the label", lambda v, k: f"{_share(v)} of the {k} nearest on the map have the label.", _LABELS
    ),
    "silhouette": Reading("silhouette", lambda v, k: "How much nearer the own class is on the map than the next."),
    "distance_consistency": Reading(
        "centres of classes", lambda v, k: f"{_share(v)} of points lie nearest to the centre of their class.", _LABELS
    ),
    "local_r2": Reading(
        "local linearity",
        lambda v, k: f"Linear fits to 20 neighbours, each fit alone, tell {_share(v)} of where the neighbours lie.",
        _FIT,
    ),
    "triplet_accuracy": Reading(
        "order of distances",
        lambda v, k: (
            f"Asked which of two points is nearer to a third, the map is right {_share(v)} of the time (chance: 50 %)."
        ),
        _ORDER,
        0.5,
    ),
}
"""How each measure of `gnomon.evaluate` and of a scorecard is read.

The bounds are of the way from chance to best: .85 of it is a trustworthiness of .93, .6 one of .8; an order of
distances of .8 (.6 of the way from one half) and a rank correlation of .8 go together for normal deviates. Of the
neighbours that a map shows the share that is not kept is false: a third of them at most where it is "good".
"""

_GRADES = ("good", "fair", "poor")
_TORN_BY_CHANCE = 0.05
_SENTENCES = {
    "near": {
        "good": "Points that lie close together are close in the data.",
        "fair": "Points that lie close together are mostly close in the data.",
        "poor": "Points that lie close together are often not close in the data.",
    },
    "nearest": {
        "good": "Which of them are the nearest can mostly be read too: {true}.",
        "fair": "Which of them are the nearest can be read only in part: {true}.",
        "poor": "Do not read which of them are the nearest: {true}.",
    },
    "far": {
        "good": "Over the whole map, what lies farther apart is mostly farther apart in the data{figure}{unknown}.",
        "fair": "Over the whole map, what lies farther apart is only roughly so in the data{figure}{unknown}.",
        "poor": "Do not read over the whole map what is far and what is near{figure}.",
    },
    "groups": {
        "good": "Distances between groups mean something: they keep their ratios to within {within} %.",
        "fair": "Distances between groups are only a rough guide: {unlike}.",
        "poor": "Do not read distances between groups: {unlike}.",
    },
}
NOTHING = (
    "The map keeps no more of the data than places drawn at random: read nothing from it. If it should keep more, see "
    "whether its rows are in the order of those of the data."
)
"""What is said of a map that knows nothing."""

_AT_CHANCE = {"trustworthiness": 0.05, "continuity": 0.05, "neighborhood_preservation": 0.05, "shepard": 0.1}
_UNKNOWN = "; of single distances between groups this says nothing"
_ASPECTS = {
    "near": ("trustworthiness", "continuity"),
    "nearest": ("neighborhood_preservation",),
    "far": ("shepard", "triplet_accuracy", "random_triplets"),
}


def title_of(name: str) -> str:
    """Return what people call a measure."""
    return READINGS[name].title if name in READINGS else name.replace("_", " ").replace("neighbor", "neighbour")


def grade(name: str, value: float, chance: float | None = None) -> str | None:
    """Return how good the value of a measure is, by its share of the way from chance to best.

    Parameters
    ----------
    name : str
        Of a measure of `gnomon.evaluate` or of a scorecard.
    value : float
    chance : float or None, default=None
        What a map that knows nothing gets; None takes that of the measure.

    Returns
    -------
    {"good", "fair", "poor"} or None
        None for a measure that is not graded, and for NaN. A value at chance level is poor, however high.
    """
    reading = READINGS.get(name)
    share = _share_of_way(name, value, chance)
    if share is None or reading is None or reading.bounds is None:
        return None
    good, fair = (bound - 1e-9 for bound in reading.bounds)  # a bound itself is reached
    return "good" if share >= good else "fair" if share >= fair else "poor"


def _share_of_way(name: str, value: float, chance: float | None) -> float | None:
    """Return how far from chance to the best of a measure a value is; None where there is no way."""
    reading = READINGS.get(name)
    if reading is None or not math.isfinite(value):
        return None
    start = reading.chance if chance is None else chance
    return None if start >= 1.0 else (value - start) / (1.0 - start)


def _is_at_chance(scores: Mapping[str, float], chances: Mapping[str, float | None]) -> bool:
    """Return whether a map keeps neighbours and distances as one that knows nothing does."""
    ways = {name: _share_of_way(name, scores.get(name, math.nan), chances.get(name)) for name in _AT_CHANCE}
    return all(way is not None and way < _AT_CHANCE[name] for name, way in ways.items())


def grade_torn(share: float) -> str:
    """Return how far gaps on a map can be read as gaps in the data, by the share of points that are torn.

    One in twenty whole neighbourhoods is called torn (`gnomon.distortion`): up to that is "good", up to twice "fair".
    """
    return "good" if share <= _TORN_BY_CHANCE else "fair" if share <= 2.0 * _TORN_BY_CHANCE else "poor"


def grade_stretch(factor: float) -> str:
    """Return how far areas can be compared, by how much more the map stretches one place than another.

    Up to twice is "good", up to eight times (a diameter more than doubles) "fair".
    """
    return "good" if factor <= 2.0 else "fair" if factor <= 8.0 else "poor"


def grade_groups(factor: float) -> str:
    """Return how far distances between groups can be read, by how much longer one is drawn than another as long.

    Up to one and a half times, the factor from which `gnomon.evaluation.find_illusions` asks, is "good", up to three
    "fair".
    """
    return "good" if factor <= 1.5 else "fair" if factor <= 3.0 else "poor"


def unlike_in_words(factor: float) -> str:
    """Say how much longer a map draws one distance between groups than another that is as long in the data."""
    if not math.isfinite(factor):
        return "some are not drawn at all"
    return f"one is drawn {factor:.2g} times as long as another that is as long in the data"


def in_words(name: str, value: float, n_neighbors: int) -> str:
    """Return a plain sentence for the value of a measure; empty for one that has none."""
    return READINGS[name].says(value, n_neighbors) if name in READINGS and math.isfinite(value) else ""


def _true_of_shown(share: float, n_neighbors: int) -> str:
    """Say how many of the nearest that a map shows are the nearest in the data."""
    n_true = round(max(0.0, share) * n_neighbors)
    how_many = f"about {n_true}" if n_true else "hardly any"
    return f"{how_many} of the {n_neighbors} nearest that are shown are true ones ({_share(share)})"


def verdict(
    scores: Mapping[str, float],
    chances: Mapping[str, float | None] | None = None,
    n_neighbors: int = 15,
    groups: float | None = None,
) -> list[Statement]:
    """Say how far a map can be believed, in sentences of which none claims more than its measures allow.

    Each aspect has the worst grade of its measures: what lies close together by trustworthiness and continuity, which
    points are the nearest by the neighbours kept, what lies far apart over the whole map by rank correlation and order
    of distances. Most pairs of rows are of two groups or of one, so that these say little of how far one group is from
    another beside a third: that is asked of their centres.

    Parameters
    ----------
    scores : mapping of str to float
        Measures of `gnomon.evaluate` or of a scorecard; those that are missing say nothing.
    chances : mapping of str to float, default=None
        Chance levels by the same names.
    n_neighbors : int, default=15
        Of which the share of neighbours kept is.
    groups : float or None, default=None
        How much longer one distance between groups is drawn than another as long, ``Evaluation.group_distances``.

    Returns
    -------
    list of Statement
        At most one for each of the aspects "near", "nearest", "far" and "groups"; one of "all" alone if neighbours,
        their ranks and distances are kept as by places drawn at random.
    """
    known = chances or {}
    if _is_at_chance(scores, known):
        return [Statement("all", "poor", NOTHING)]
    true = _true_of_shown(scores.get("neighborhood_preservation", 0.0), n_neighbors)
    figure = f" (rank correlation {scores['shepard']:.2f})" if "shepard" in scores else ""
    unknown = _UNKNOWN if groups is None else ""
    told = []
    for aspect, names in _ASPECTS.items():
        found = [grade(name, scores[name], known.get(name)) for name in names if name in scores]
        worst = max((one for one in found if one), key=_GRADES.index, default=None)
        if worst is not None:
            words = _SENTENCES[aspect][worst].format(true=true, figure=figure, unknown=unknown)
            told.append(Statement(aspect, worst, words))
    if groups is not None:
        worst = grade_groups(groups)
        within = 0 if math.isinf(groups) else max(1, math.ceil(100.0 * (groups - 1.0)))
        words = _SENTENCES["groups"][worst].format(within=within, unlike=unlike_in_words(groups))
        told.append(Statement("groups", worst, words))
    return told
