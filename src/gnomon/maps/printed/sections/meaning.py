"""What the map means: the features that move points, its axes, and how many dimensions the data have."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon._printed import ordinal
from gnomon.evaluation.words import grade
from gnomon.maps.cautions import without_cautions
from gnomon.maps.hubs import hubs_told, neighbor_lists
from gnomon.maps.printed.markup import drawing, join, table, tag
from gnomon.maps.printed.subject import Section, Subject
from gnomon.maps.together import directions_together, directions_told
from gnomon.maps.verdicts import shown_verdicts
from gnomon.plot import plot_dimension

__all__ = ["axes", "axis_fits", "dimension", "features"]

_TOP = 12
_TOP_OF_AXIS = 6
_FEWEST_ROWS = 30
_OF_FITS = "the mean over points of a fit to 20 neighbours of each, not chosen by what is held out and not averaged"
_OF_NEAREST = (
    "maximum likelihood on a row's nearest neighbours alone, 20 at most, where noise counts as dimensions and borders "
    "and few rows take some away"
)
_OF_AXIS = {
    "good": "the axis stands for features",
    "fair": "the axis stands for features in part",
    "poor": "do not read a meaning into this axis",
}


def features(subject: Subject) -> Section | None:
    """Return the features that move points most, with errors, the steadiness of their direction, and the fidelity."""
    result, explanation = subject.map, subject.map.explain()
    if not explanation.mask.any():
        return None
    found = result.importance(groups=subject.groups).head(_TOP)
    rows = [
        [feature, f"{effect:.3g} ± {error:.1g}", f"{100 * share:.1f} %"]
        for feature, effect, error, share in zip(found.features, found.effect, found.error, found.share, strict=True)
    ]
    caption = "Mean way on the map, in its units, that a point goes for one local standard deviation of the feature."
    median = float(np.nanmedian(explanation.r2))
    words = (
        f"Around a point the features explain {100 * median:.0f} % of where its neighbours lie (median R2 of the "
        f"explanations, each neighbour predicted from the others). The fit: {explanation.describe_fit()}."
        f"{_beside_the_measure(subject, 'local_r2', _OF_FITS)}"
    )
    groups = {} if subject.groups is None else subject.groups.groups
    shown = [f"{name}: {', '.join(members)}" for name, members in groups.items() if name in set(found.features)]
    told = tag("p", f"Features that go together along the map: {'; '.join(shown)}.") if shown else None
    judged = shown_verdicts(result) is not None
    apart = "; ".join(one.told(judged=judged) for one in result._told_apart() if one is not None)
    parted = tag("p", f"That is within neighbourhoods. Of groups of points: {apart}.") if apart else None
    body = join([tag("p", words), parted, table(["feature", "moves points by", "share"], rows, caption), told])
    return Section("What moves points", body)


def _beside_the_measure(subject: Subject, name: str, how: str) -> str:
    """Say how a number differs from the measure of the whole map that looks like it; empty if it was not taken."""
    value = subject.scores.get(name, math.nan)
    title = name.replace("_", " ")
    return f" The measure {title}, {value:.3g}, is another number: {how}." if math.isfinite(value) else ""


def axis_fits(subject: Subject) -> list[Any]:
    """Return for each axis of a flat map what changes along it, over all rows."""
    result = subject.map
    places = np.asarray(result.embedding, dtype=np.float64)
    known = places[np.isfinite(places).all(axis=1)]
    if result.surface is not None or len(known) < _FEWEST_ROWS:
        return []
    return [result.axis(_line(known, j), width=4.0 * float(np.ptp(known, axis=0).max())) for j in range(known.shape[1])]


def _line(places: npt.NDArray[np.float64], j: int) -> npt.NDArray[np.float64]:
    """Return the ends of a line along an axis through the middle that holds all points."""
    low, high = places[:, j].min(), places[:, j].max()
    line = np.tile((places.min(axis=0) + places.max(axis=0)) / 2, (2, 1))
    line[:, j] = low, high
    return line


def axes(subject: Subject) -> Section | None:
    """Return what changes along each axis of the map, and how much of the place on it the features foretell."""
    parts: list[Any] = []
    for j, found in enumerate(axis_fits(subject)):
        top = found.head(_TOP_OF_AXIS)
        side = ("horizontal", "vertical", "third")[j] if j < 3 else ordinal(j + 1)
        parts.append(tag("h3", f"The {side} axis"))
        parts.append(
            tag(
                "p",
                f"All features together foretell {100 * found.fidelity:.0f} % of where a point lies along it (R2, each "
                f"point from the others, linear): {_OF_AXIS[grade('local_r2', found.fidelity) or 'poor']}.",
            )
        )
        listed = zip(top.features, top.effect, top.error, top.rho, top.beyond_chance, strict=True)
        rows = [
            [feature, f"{effect:+.2f} ± {error:.2f}", f"{rho:+.2f}"]
            for feature, effect, error, rho, beyond_chance in listed
            if beyond_chance
        ]
        if rows:
            parts.append(table(["feature", "change over what points cover (SD)", "rank correlation"], rows))
        else:
            parts.append(tag("p", "No feature changes along it beyond chance."))
    if not parts:
        return None
    note = (
        "An axis of a nonlinear map has no unit, and the map may be rotated or mirrored without change. What changes "
        "along an axis is a fact of the picture as it is printed here; arrows at single points say more."
    )
    return Section("What changes along the axes", join([tag("p", note), *parts]))


def dimension(subject: Subject) -> Section:
    """Return how many coordinates the data need, with interval, cautions and all estimates."""
    found = without_cautions(subject.map, subject.map.intrinsic_dimension())
    shown = int(subject.map.embedding.shape[1])
    if not np.isfinite(found.value):
        return Section("How many dimensions the data have", tag("p", found.summary()))
    first = found.summary().splitlines()[0]
    kept = "cannot" if found.is_above(shown) else "may not"
    lost = (
        f"The map has {shown}: it {kept} keep all of this, so trust neighbourhoods more than distances."
        if found.n_components > shown
        else f"The map has {shown}, which can keep this."
    )
    caution = tag("p", found.caution, class_="caution") if found.caution else None
    together = directions_told(directions_together(subject.map), found.value) if found.n_common is None else ""
    told = tag("p", together) if together else None
    words = f"Estimates of the intrinsic dimension with their {found.confidence:.0%} intervals."
    return Section(
        "How many dimensions the data have",
        join(
            [
                tag("p", first, " ", lost, _beside_the_measure(subject, "intrinsic_dimension", _OF_NEAREST)),
                caution,
                told,
                tag("p", hubs_told(neighbor_lists(subject.map))),
                drawing(plot_dimension(found), words, key="dimension"),
            ]
        ),
    )
