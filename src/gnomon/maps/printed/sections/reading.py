"""What can be read in this map and what not, each by the measure that says so."""

from __future__ import annotations

import math

import numpy as np

from gnomon.evaluation.judged_metrics import rows_with_direction
from gnomon.evaluation.radii import unevenness_of_areas
from gnomon.evaluation.words import grade, grade_groups, grade_stretch, grade_torn, unlike_in_words
from gnomon.geometry.check import check_features, has_place
from gnomon.maps.printed.markup import Markup, join, listing, tag
from gnomon.maps.printed.subject import Section, Subject
from gnomon.maps.verdicts import shown_verdicts
from gnomon.neighbors.straight import has_straight_rows, straight_rows

__all__ = ["cautions"]

_NEIGHBORS = 15
_MOST_ROWS = 2000  # whose radii are compared
_READ = {"good": "can be read", "fair": "read with care", "poor": "do not read"}
_ASKED = {  # what one is tempted to read, and the measure that says whether one may
    "which points are neighbours, roughly": ("trustworthiness", "trustworthiness"),
    "which points belong together, with nothing torn apart": ("continuity", "continuity"),
    "which points are the very nearest": ("neighborhood_preservation", "share of neighbours kept"),
    "what is far and what is near, over the whole map": ("shepard", "rank correlation of distances"),
    "which of two groups is nearer to a third": ("centroid_triplets", "share of triplets of centres in order"),
    "sizes and densities of groups": ("local_radius_correlation", "correlation of local radii"),
    "classes as they are mixed on the map": ("knn_accuracy", "labels from neighbours"),
}


def cautions(subject: Subject) -> Section:
    """Say of each thing that one is tempted to read whether this map shows it, with the figure that decides."""
    lines, uneven = [], _unevenness(subject)
    for what, (name, figure) in _ASKED.items():
        if name not in subject.scores:
            continue
        value, chance = subject.scores[name], subject.chances.get(name)
        word = grade(name, value, chance)
        if word is None or (subject.map.caution and name == "knn_accuracy"):
            continue
        beside = "" if chance is None else f", {chance:.2f} by chance"
        told = f"{figure} {value:.2f}{beside}"
        if name == "local_radius_correlation" and uneven is not None:
            word = _worse(word, grade_stretch(uneven))
            told += f"; radii are stretched {math.sqrt(uneven):.3g} times as much in one place as in another"
        lines.append(_line(word, what, told))
    if subject.group_distances is not None:
        factor = subject.group_distances
        lines.append(_line(grade_groups(factor), "distances between groups", unlike_in_words(factor)))
    lines += _of_points(subject, uneven)
    return Section("What to read in it, and what not", listing(lines, class_="verdict"))


def _line(word: str, what: str, why: str) -> Markup:
    return join([tag("b", f"{_READ[word]}: ", class_=word), f"{what} ({why})"])


def _worse(*words: str) -> str:
    """Return the worst of some grades."""
    return max(words, key=list(_READ).index)


def _unevenness(subject: Subject) -> float | None:
    """Return by how much more the map stretches areas in one place than in another, by radii of neighbourhoods.

    Of at most 2,000 rows; None on surfaces and in metrics whose distances are not judged.
    """
    result = subject.map
    rows = np.flatnonzero(has_place(result.embedding))
    if result.surface is not None or not has_straight_rows(result.metric) or len(rows) <= 2 * _NEIGHBORS:
        return None
    if len(rows) > _MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, _MOST_ROWS, replace=False))
    table, Y = result._judged()
    X = check_features(table, None)[0]
    directed = rows_with_direction(X[rows], result.metric)
    rows = rows[directed]
    found = unevenness_of_areas(straight_rows(X[rows], result.metric), Y[rows], _NEIGHBORS)
    return found if math.isfinite(found) else None


def _of_points(subject: Subject, uneven: float | None) -> list[Markup]:
    """Return what the diagnostics of points and the dimension say against reading."""
    result, lines = subject.map, []
    scores = result.point_scores()
    if "torn" in scores:
        torn = float(np.nanmean(scores["torn"]))
        shown = shown_verdicts(result)
        clumps = None if shown is None else shown[0].clumps
        word, more = grade_torn(torn), ""
        if clumps is not None and clumps.are_drawn:
            word, more = _worse(word, "poor" if clumps.are_most else "fair"), f". {clumps.sentence.rstrip('.')}"
        told = f"{100 * torn:.0f} % of the neighbourhoods in the data lie in two parts on the map"
        lines.append(_line(word, "gaps as gaps in the data", f"{told}; 5 % are to be expected{more}"))
    if "stretch" in scores:
        low, high = np.nanquantile(scores["stretch"], [0.05, 0.95])
        factor, by = 2.0 ** float(high - low), "local fits"
        if uneven is not None and uneven > factor:  # fits that tell little of the places shrink
            factor, by = uneven, f"radii of {_NEIGHBORS} neighbours"
        told = f"stretched {factor:.3g} times as much in one place as in another, over nine points in ten, by {by}"
        lines.append(_line(grade_stretch(factor), "areas", told))
    return lines
