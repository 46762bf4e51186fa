"""What can be read in this map and what not, each by the measure that says so."""

from __future__ import annotations

import numpy as np

from gnomon.evaluation.words import grade, grade_groups, grade_stretch, grade_torn, unlike_in_words
from gnomon.maps.printed.markup import Markup, join, listing, tag
from gnomon.maps.printed.subject import Section, Subject

__all__ = ["cautions"]

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
    lines = []
    for what, (name, figure) in _ASKED.items():
        if name not in subject.scores:
            continue
        value, chance = subject.scores[name], subject.chances.get(name)
        word = grade(name, value, chance)
        if word is None or (subject.map.caution and name == "knn_accuracy"):
            continue
        beside = "" if chance is None else f", {chance:.2f} by chance"
        lines.append(_line(word, what, f"{figure} {value:.2f}{beside}"))
    if subject.group_distances is not None:
        factor = subject.group_distances
        lines.append(_line(grade_groups(factor), "distances between groups", unlike_in_words(factor)))
    lines += _of_points(subject)
    return Section("What to read in it, and what not", listing(lines, class_="verdict"))


def _line(word: str, what: str, why: str) -> Markup:
    return join([tag("b", f"{_READ[word]}: ", class_=word), f"{what} ({why})"])


def _of_points(subject: Subject) -> list[Markup]:
    """Return what the diagnostics of points and the dimension say against reading."""
    result, lines = subject.map, []
    scores = result.point_scores()
    if "torn" in scores:
        torn = float(np.nanmean(scores["torn"]))
        word = grade_torn(torn)
        told = f"{100 * torn:.0f} % of the neighbourhoods in the data lie in two parts on the map"
        lines.append(_line(word, "gaps as gaps in the data", f"{told}; 5 % are to be expected"))
    if "stretch" in scores:
        low, high = np.nanquantile(scores["stretch"], [0.05, 0.95])
        factor = 2.0 ** float(high - low)
        told = f"stretched {factor:.3g} times as much in one place as in another, over nine points in ten"
        lines.append(_line(grade_stretch(factor), "areas", told))
    return lines
